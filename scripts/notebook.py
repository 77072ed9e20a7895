"""Runs a notebook: scripts/notebook.py NOTEBOOK OUT. Fails where a cell does, or where one says nothing that it should.

The kernel runs at the top of the repository, as the notebook's commands expect it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient


def main(path: str, out: str) -> None:
    book = nbformat.read(path, as_version=4)
    root = Path(__file__).resolve().parents[1]
    NotebookClient(book, timeout=600, resources={"metadata": {"path": str(root)}}).execute()
    nbformat.write(book, out)
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    shown = [o.get("data", {}).get("text/html", "") for cell in cells for o in cell.outputs]
    charts = sum("vegaEmbed" in html for html in shown)
    print(f"{path}: {len(cells)} cells ran, {charts} charts")
    assert charts > 0, "no chart was drawn"


if __name__ == "__main__":
    main(*sys.argv[1:])
