"""Runs every snippet of docs/python.md, in order, in one place."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Server, write_policy
from test_sessions import STREAM

DOCS = Path(__file__).parents[2] / "docs" / "python.md"
SNIPPETS: list[tuple[str, str]] = re.findall(r"^```(python|ipython)\n(.*?)^```$", DOCS.read_text(), re.DOTALL | re.MULTILINE)
HOLDOUT = """
    holdouts:
      contest: {labels: labels.csv, column: label, threshold: 0.1, noise: 0.05, answers: 3}
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dict[str, Any], Server]]:
    """A folder with hospital.yaml, and a server of its own."""
    here, elsewhere = tmp_path_factory.mktemp("here"), tmp_path_factory.mktemp("elsewhere")
    (here / "labels.csv").write_text("label\n" + "1\n" * 150 + "0\n" * 50)
    write_policy(here, more=STREAM + HOLDOUT)
    server = Server(write_policy(elsewhere))
    back = Path.cwd()
    os.chdir(here)
    names: dict[str, Any] = {"TOKEN": server.token}
    yield names, server
    os.chdir(back)
    for connected in ("db", "remote"):
        if connected in names:
            names[connected].close()
    server.stop()


def test_there_are_snippets() -> None:
    text = "".join(text for _, text in SNIPPETS)
    for each in ("sqlalchemy", "pandas", "polars", "ibis", "%sql", "adbc_driver_postgresql", "%%discreet", "together", "holdouts", "streams"):
        assert each in text
    assert len(SNIPPETS) >= 18


@pytest.mark.parametrize("number", range(len(SNIPPETS)))
def test_snippet(place: tuple[dict[str, Any], Server], number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    names, server = place
    language, text = SNIPPETS[number]
    monkeypatch.setenv("DISCREET_TOKEN", server.token)
    if "plot(" in text:
        pytest.importorskip("matplotlib").use("Agg")
    host, port = server.postgres.rsplit(":", 1)
    for written, real in (
        ("https://db.example", server.url),
        ("PASSWORD@db.example:5432", f"{server.password}@{host}:{port}"),
        ("PASSWORD", server.password),
        ('"db.example"', repr(host)),
        ("port=5432", f"port={port}"),
    ):
        text = text.replace(written, real)
    if language == "python":
        exec(compile(text, f"docs/python.md, snippet {number + 1}", "exec"), names)
        return
    from IPython.core.interactiveshell import InteractiveShell

    shell: Any = InteractiveShell.instance()
    shell.run_cell(text).raise_error()
