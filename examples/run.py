"""Runs notebooks: see run."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent


def run(path: Path, write: bool) -> None:
    """Runs one, where it leaves no files behind, and says how long it took."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(HERE / "discreet.mplstyle", folder)
        begun = time.monotonic()
        client = NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": folder}}, record_timing=False)
        client.execute()
        print(f"{path.name}: {time.monotonic() - begun:.1f} s", flush=True)
    if write:
        notebook.metadata.pop("language_info", None)  # it has the version of Python, which changes nothing
        nbformat.write(notebook, path)


def main() -> None:
    arguments = sys.argv[1:]
    names = [a for a in arguments if not a.startswith("-")]
    for path in [HERE / n for n in names] or sorted(HERE.glob("*.ipynb")):
        run(path, "--write" in arguments)


if __name__ == "__main__":
    main()
