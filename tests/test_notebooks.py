"""The notebooks of examples/: kept without outputs, and executed."""

import json
import re
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
WAITING = re.compile(
    r"eslabon: (compiling|writing) .* \.\.\."
)  # what is said where a machine takes longer than a second
LARGEST = 3_000_000  # letters of one notebook with its outputs


def test_there_are_five():
    assert [path.stem for path in NOTEBOOKS] == [
        "bond_graph_motor_and_arm", "delta", "excavator", "five_bar", "ur_like_arm",
    ]  # fmt: skip


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_kept_without_outputs(path):
    book = json.loads(path.read_text("utf-8"))
    assert set(book["metadata"]) == {"kernelspec", "language_info"}
    for cell in book["cells"]:
        assert not cell.get("outputs"), (
            f"{path.name}: clear its outputs, with jupyter nbconvert --clear-output --inplace"
        )
        assert cell.get("execution_count") is None
    first = "".join(book["cells"][0]["source"])
    assert first.startswith("# ")
    assert "pip install 'eslabon[" in first
    assert f"({path.name})" in (EXAMPLES / "README.md").read_text("utf-8")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.slow(reason="starts a kernel and runs a notebook")
def test_runs(path, tmp_path):
    import nbclient
    import nbformat

    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    nbclient.NotebookClient(
        book, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()
    outputs = [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]
    said = "".join(output.text for output in outputs if output.get("name") == "stderr")
    assert [line for line in said.splitlines() if not WAITING.fullmatch(line)] == []
    kinds = {kind for output in outputs for kind in output.get("data", ())}
    assert {"text/html", "image/png"} <= kinds
    assert len(nbformat.writes(book)) < LARGEST
