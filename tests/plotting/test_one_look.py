"""No room has a look of its own: colours, legends and parameters of matplotlib are those of `eslabon.plotting`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import eslabon

ROOMS = Path(eslabon.__file__).parent
OWN_LOOK = {
    r"\bpyplot\b": "a figure is made by new_figure or panels",
    r"rc_context|rcParams": "parameters are those of a theme: see look",
    r"\bax(es)?\.legend\(": "legend stands beside the data",
    r"colou?r=\"(C\d|0?\.\d+|black|white|red|green|blue|gr[ae]y)\"": "a colour has a role, or its place among the curves",
    r"cmap=\"": "colour_map stands out from the paper of its theme",
}


@pytest.mark.parametrize("pattern", OWN_LOOK)
def test_there_is_one_look(pattern):
    files = [p for p in ROOMS.rglob("*.py") if p.relative_to(ROOMS).parts[0] != "plotting"]
    assert len(files) > 100
    found = [
        f"{path.relative_to(ROOMS)}:{k}: {OWN_LOOK[pattern]}"
        for path in files
        for k, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if re.search(pattern, line)
    ]
    assert not found
