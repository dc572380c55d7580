"""`eslabon --help` is a list of one-line sentences in plain English."""

import inspect
import re

import pytest
import typer
from typer.testing import CliRunner

from eslabon.cli import app

COMMANDS = typer.main.get_command(app).commands
TERMINAL = 80  # columns
BESIDE = len("│ equilibrium  ") + len(" │")  # what stands beside a sentence in the list
FOREIGN = r"left out|what (?:is|there|that|it)\b|is said|odd"  # phrases that a newcomer reads twice


def first_paragraph(name: str) -> str:
    return " ".join(inspect.cleandoc(COMMANDS[name].help).split("\n\n")[0].split())


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_introduced_by_one_short_sentence(name):
    sentence = first_paragraph(name)
    assert re.fullmatch(r"[A-Z][a-z]+ [^.]*\.", sentence), sentence
    assert len(sentence) <= TERMINAL - BESIDE, sentence


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_is_plain(name):
    assert not re.findall(FOREIGN, COMMANDS[name].help)


def test_the_list_has_a_line_for_each_command():
    shown = (
        CliRunner().invoke(app, ["--help"], env={"COLUMNS": str(TERMINAL), "TERM": "dumb"}).stdout
    )
    for name in COMMANDS:
        assert re.search(rf"│ {name} +{re.escape(first_paragraph(name))}", shown), name
