"""%discreet and %%discreet: in a notebook, first the price, then the answer."""

from __future__ import annotations

import argparse
import re
import shlex
from typing import Any, NoReturn

from ._connect import connect
from ._errors import Error
from ._sync import Database


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Raises an error where argparse would end the program."""
        raise Error(message, suggestion=self.format_usage().strip(), kind="invalid", spent=False)


def _arguments(name: str) -> argparse.ArgumentParser:
    parser = _Parser(prog=name, add_help=False, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-h", "--help", action="store_true", help="this")
    parser.add_argument("--db", metavar="NAME", help="a variable with a connection; by default the one that %%discreet opened, or db")
    if name == "%discreet":
        parser.description = "Connects; with SELECT ... instead of a file it asks, as %%discreet does."
        parser.add_argument("where", nargs="?", metavar="FILE|ADDRESS", help="a policy, or a server with the token in DISCREET_TOKEN")
        return parser
    parser.description = "Shows the price of the SQL in the cell, asks, and shows the answer."
    parser.add_argument("--epsilon", help="what to pay")
    parser.add_argument("--error", help="the error bar that you want, at the lowest price that reaches it")
    parser.add_argument("--confidence", help="the probability of the error bars")
    parser.add_argument("--to", metavar="NAME", help="a variable for the answer")
    parser.add_argument("--free", action="store_true", help="ask only if it is free")
    parser.add_argument("--quote", action="store_true", help="only the price")
    return parser


def _parse(name: str, line: str) -> argparse.Namespace | None:
    parser = _arguments(name)
    try:
        options = parser.parse_args(shlex.split(line))
    except ValueError as error:
        parser.error(str(error))
    if options.help:
        print(parser.format_help())
        return None
    return options


class Magic:
    """What the magics do, for one notebook."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._db: Database | None = None

    def line(self, line: str) -> Any:
        """``%discreet hospital.yaml``, or an address with its token in DISCREET_TOKEN: connects. ``%discreet SELECT ...`` asks."""
        try:
            if re.match(r"\s*(select|with)\b", line, re.IGNORECASE):
                return self._ask("", line)
            options = _parse("%discreet", line)
            if options is None:
                return None
            if options.where:
                self._db = connect(options.where)
            return self._database(options.db)
        except Error as error:
            _shorten(error)
            raise

    def cell(self, line: str, cell: str) -> Any:
        """``%%discreet [--epsilon 0.1 | --error 10] [--to name]``: shows the price, asks, and shows the answer."""
        try:
            return self._ask(line, cell)
        except Error as error:
            _shorten(error)
            raise

    def _database(self, name: str | None) -> Database:
        if name is None and self._db is not None:
            return self._db  # what %discreet has opened
        found = self._shell.user_ns.get(name or "db")
        if isinstance(found, Database):
            return found
        if name:
            raise Error(f"{name} is not a connection", suggestion=f"{name} = discreet.connect(...)", kind="invalid", spent=False)
        raise Error("there is no connection", suggestion="%discreet policy.yaml, or db = discreet.connect(...)", kind="invalid", spent=False)

    def _ask(self, line: str, sql: str) -> Any:
        from IPython.display import display

        options = _parse("%%discreet", line)
        if options is None:
            return None
        if options.to and not options.to.isidentifier():
            raise Error(f"{options.to} is not a valid variable name", kind="invalid", spent=False)
        db = self._database(options.db)
        settings = {k: getattr(options, k) for k in ("epsilon", "error", "confidence") if getattr(options, k) is not None}
        if len(settings.keys() & {"epsilon", "error"}) > 1:
            raise Error("give --epsilon, or --error, which finds the lowest price for it, not both", kind="invalid", spent=False)
        display(db.quote(sql, **settings))  # type: ignore[no-untyped-call]
        if options.quote:
            return None
        answer = db.ask(sql, free=options.free, **settings)
        if options.to:
            self._shell.user_ns[options.to] = answer
        return answer


def _shorten(error: Error) -> None:
    """Lets a notebook show only its words. The cell still fails, so the cells below it do not run with older values."""
    words = f"{type(error).__name__}: {error}".split("\n")
    error._render_traceback_ = lambda: words  # type: ignore[attr-defined]


def load_ipython_extension(shell: Any) -> None:
    """Called by ``%load_ext discreet``."""
    magic = Magic(shell)
    shell.register_magic_function(magic.line, "line", "discreet")
    shell.register_magic_function(magic.cell, "cell", "discreet")
