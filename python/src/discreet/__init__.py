"""Differentially private answers to SQL questions.

    import discreet

    db = discreet.connect("hospital.yaml")
    print(db.quote("SELECT COUNT(*) FROM patients"))
    print(db.ask("SELECT COUNT(*) FROM patients", epsilon=0.1))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import account, noise
from ._aio import AsyncDatabase
from ._answer import Answer, Column
from ._connect import connect, connect_async
from ._errors import (
    AuthenticationError,
    BinaryError,
    BudgetError,
    CanceledError,
    ClosedError,
    ConflictError,
    ConnectionLostError,
    EndedError,
    Error,
    ForbiddenError,
    InvalidError,
    LimitError,
    NotFoundError,
    PartialError,
    PriceError,
    RefusedError,
    TrainingError,
    UnavailableError,
)
from ._sync import Database
from ._together import Group, Total, TotalQuote, together
from ._values import Budget, Count, Price, Quote, Receipt, Remaining, Score, Table, Training, Verdict

if TYPE_CHECKING:
    from .sklearn import DiscreetClassifier, DiscreetRegressor

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "AsyncDatabase",
    "AuthenticationError",
    "BinaryError",
    "Budget",
    "BudgetError",
    "CanceledError",
    "ClosedError",
    "Column",
    "ConflictError",
    "ConnectionLostError",
    "Count",
    "Database",
    "DiscreetClassifier",
    "DiscreetRegressor",
    "EndedError",
    "Error",
    "ForbiddenError",
    "Group",
    "InvalidError",
    "LimitError",
    "NotFoundError",
    "PartialError",
    "Price",
    "PriceError",
    "Quote",
    "Receipt",
    "RefusedError",
    "Remaining",
    "Score",
    "Table",
    "Total",
    "TotalQuote",
    "Training",
    "TrainingError",
    "UnavailableError",
    "Verdict",
    "account",
    "connect",
    "connect_async",
    "noise",
    "together",
]


def __getattr__(name: str) -> Any:
    if name in ("DiscreetClassifier", "DiscreetRegressor"):  # only who trains needs scikit-learn
        from . import sklearn

        return getattr(sklearn, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]  # what is offered to those who press Tab


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext discreet``: the magics %discreet and %%discreet."""
    from .magic import load_ipython_extension as load

    load(shell)
