"""`eslabon view` from a shell: it says where, serves until Ctrl-C, and ends in a sentence where it cannot."""

import re
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

import eslabon as es
from eslabon.cli import main


def refused(capsys, monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["eslabon", "view", *arguments, "--no-open"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    return capsys.readouterr().err


@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows cannot send Ctrl-C to one process alone"
)
def test_it_serves_until_it_is_interrupted():
    command = [sys.executable, "-m", "eslabon", "view", "elbow", "five_bar", "--no-open"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    listening = {
        "preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
    }  # which tests in the background do not
    with subprocess.Popen(command, **pipes, **listening) as process:
        try:
            line = process.stdout.readline()
            found = re.fullmatch(
                r"elbow, five_bar at (http://127\.0\.0\.1:\d+/[\w-]{32}) \(Ctrl-C ends it\)\n", line
            )
            assert found, line
            with urllib.request.urlopen(found[1], timeout=300) as page:
                assert b"<html" in page.read()
            process.send_signal(signal.SIGINT)
            rest, complaints = process.communicate(timeout=300)
        finally:
            process.kill()
    assert process.returncode == 0
    assert rest == ""
    assert "Traceback" not in complaints


def test_what_cannot_be_viewed_ends_in_a_sentence(capsys, monkeypatch, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert f"port {port} is taken" in refused(capsys, monkeypatch, "elbow", "--port", port)
    assert "did you mean 'elbow'" in refused(capsys, monkeypatch, "elbo")
    assert "give one" in refused(
        capsys, monkeypatch, "elbow", "elbow", "--motion", _swing(tmp_path)
    )
    assert "has other joints than five_bar" in refused(
        capsys, monkeypatch, "five_bar", "--motion", _swing(tmp_path)
    )


def _swing(folder):
    return str(es.load("elbow").simulate([0.1, 0.2], None, 0.05).save(folder / "swing.npz"))
