"""The magics, in a real IPython."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

IPython = pytest.importorskip("IPython")

import discreet  # noqa: E402


@pytest.fixture
def shell() -> Any:
    from IPython.core.interactiveshell import InteractiveShell

    found: Any = InteractiveShell.instance()
    found.user_ns.pop("db", None)
    discreet.load_ipython_extension(found)  # a new one, which is not connected
    return found


def test_magic(shell: Any, policy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shell.run_line_magic("load_ext", "discreet")
    db = shell.run_line_magic("discreet", str(policy))
    assert isinstance(db, discreet.Database) and repr(db) == f"Database({policy})"
    question = "SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex"
    assert shell.run_cell_magic("discreet", "--epsilon 0.5 --quote", question) is None
    assert "price: epsilon 0.5" in capsys.readouterr().out and not db.receipts()
    answer = shell.run_cell_magic("discreet", "--epsilon 0.5 --to answer", question)
    assert answer.price.epsilon == 0.5 and shell.user_ns["answer"] is answer
    assert "price: epsilon 0.5" in capsys.readouterr().out
    assert int(shell.run_line_magic("discreet", "SELECT COUNT(*) FROM patients")) > 1000
    db.close()


def test_a_cell_that_is_refused_fails_in_a_few_words(shell: Any, policy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What stands below it would use an answer of before."""
    shell.run_line_magic("discreet", str(policy))
    for line, cell, words in [
        ("", "SELECT * FROM patients", ["RefusedError", "would show rows", "         ^"]),
        ("--foo", "SELECT COUNT(*) FROM patients", ["unrecognized arguments: --foo", "usage: %%discreet"]),
        ("--epsilon", "SELECT COUNT(*) FROM patients", ["--epsilon"]),
        ("--epsilon '0.1", "SELECT COUNT(*) FROM patients", ["quotation"]),
        ("--epsilon 1 --error 1", "SELECT COUNT(*) FROM patients", ["give --epsilon, or --error"]),
        ("--to 'a b'", "SELECT COUNT(*) FROM patients", ["not a valid variable name"]),
        ("--db nobody", "SELECT COUNT(*) FROM patients", ["nobody = discreet.connect"]),
    ]:
        capsys.readouterr()
        ran = shell.run_cell(f"%%discreet {line}\n{cell}")
        shown = capsys.readouterr()
        assert not ran.success and isinstance(ran.error_in_exec, discreet.Error)
        for word in words:
            assert word in shown.out + shown.err
        assert "magic.py" not in shown.out + shown.err
    assert shell.run_cell("%%discreet --help\n-").success
    assert "the error bar that you want" in capsys.readouterr().out
    assert not shell.run_line_magic("discreet", "").receipts()


def test_a_cell_without_a_connection(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert not shell.run_cell("%discreet nowhere.yaml").success
    assert not shell.run_cell("%%discreet\nSELECT COUNT(*) FROM patients").success
    shown = capsys.readouterr()
    assert "there is no policy file nowhere.yaml" in shown.out + shown.err and "there is no connection" in shown.out + shown.err
