"""%discreet and %%discreet: in a notebook, the price first, and then the answer."""

from __future__ import annotations

import argparse
import shlex
from typing import Any

from ._connect import connect
from ._errors import Error
from ._sync import Database


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="%%discreet", add_help=False, exit_on_error=False)
    parser.add_argument("--epsilon")
    parser.add_argument("--error")
    parser.add_argument("--confidence")
    parser.add_argument("--db", help="the name of a variable that is connected")
    parser.add_argument("--to", help="the name of a variable for the answer")
    parser.add_argument("--free", action="store_true")
    parser.add_argument("--quote", action="store_true", help="only the price")
    parser.add_argument("where", nargs="?")
    return parser


class Magic:
    """What the magics do, for one notebook."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._db: Database | None = None

    def line(self, line: str) -> Database:
        """``%discreet hospital.yaml``, or an address with its token in DISCREET_TOKEN: connects."""
        options = _arguments().parse_args(shlex.split(line))
        if options.where:
            self._db = connect(options.where)
        return self._database(options.db)

    def _database(self, name: str | None) -> Database:
        if name is None and self._db is not None:
            return self._db  # what %discreet has opened
        found = self._shell.user_ns.get(name or "db")
        if isinstance(found, Database):
            return found
        if name:
            raise Error(f"{name} is no connection", suggestion=f"{name} = discreet.connect(...)", kind="invalid")
        raise Error("there is no connection", suggestion="%discreet policy.yaml, or db = discreet.connect(...)", kind="invalid")

    def cell(self, line: str, cell: str) -> Any:
        """``%%discreet [--epsilon 0.1 | --error 10] [--to name]``: shows the price, asks, and shows the answer."""
        from IPython.display import display

        options = _arguments().parse_args(shlex.split(line))
        db = self._database(options.db)
        settings = {k: getattr(options, k) for k in ("epsilon", "error", "confidence") if getattr(options, k) is not None}
        try:
            display(db.quote(cell, **settings))  # type: ignore[no-untyped-call]
            if options.quote:
                return None
            answer = db.ask(cell, free=options.free, **settings)
        except Error as error:
            # In a notebook its words are enough. The cell has failed all the same, or those below would go on with an older answer.
            lines = f"{type(error).__name__}: {error}".splitlines()
            error._render_traceback_ = lambda *_: lines  # type: ignore[attr-defined]
            raise
        if options.to:
            self._shell.user_ns[options.to] = answer
        return answer


def load_ipython_extension(shell: Any) -> None:
    """Is called by ``%load_ext discreet``."""
    magic = Magic(shell)
    shell.register_magic_function(magic.line, "line", "discreet")
    shell.register_magic_function(magic.cell, "cell", "discreet")
