"""The magics, in a real IPython."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

IPython = pytest.importorskip("IPython")

import discreet  # noqa: E402


def test_magic(policy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from IPython.core.interactiveshell import InteractiveShell

    shell: Any = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "discreet")
    db = shell.run_line_magic("discreet", str(policy))
    assert isinstance(db, discreet.Database)
    question = "SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex"
    assert shell.run_cell_magic("discreet", "--epsilon 0.5 --quote", question) is None
    assert "price: epsilon 0.5" in capsys.readouterr().out and not db.receipts()
    answer = shell.run_cell_magic("discreet", "--epsilon 0.5 --to answer", question)
    assert answer.price.epsilon == 0.5 and shell.user_ns["answer"] is answer
    assert "price: epsilon 0.5" in capsys.readouterr().out
    failed = shell.run_cell("%%discreet --to answer\nSELECT * FROM patients")
    assert isinstance(failed.error_in_exec, discreet.RefusedError), "cells below would go on with an older answer"
    shown = capsys.readouterr()
    assert "would show rows" in shown.out + shown.err and "magic.py" not in shown.out + shown.err
    db.close()
