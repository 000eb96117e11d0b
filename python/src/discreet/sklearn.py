"""Private linear models as estimators of scikit-learn.

They are trained on the rows of a server, with ``fit("SELECT ...", "target")``, or on rows of your
own, with ``fit(X, y, bounds=...)``, by the same mechanisms. What a training may know without
paying has to be public: bounds of numbers, values of categories, classes.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import FrameType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _bench, _cells
from ._sync import Database
from ._values import Price, fraction

_TARGET = "(target)"


class LeakError(ValueError):
    """This would have revealed something about the rows without paying for it; the message says what to write instead."""


def _number(name: str, bounds: Any) -> dict[str, Any]:
    """A number with public bounds, on a lattice of a million steps or two."""
    low, high = (fraction(b.item() if hasattr(b, "item") else b) for b in bounds)
    if not low < high:
        raise ValueError(f"the bounds of {name} are {bounds[0]} and {bounds[1]}: the first must be the lower one")
    step = Fraction(2) ** math.floor(math.log2((high - low) / 2**20))
    return {"name": name, "lo": math.floor(low / step), "hi": math.ceil(high / step), "step": str(step)}


def _is_pair(bounds: Any) -> bool:
    return isinstance(bounds, (tuple, list, np.ndarray)) and len(bounds) == 2 and all(np.isscalar(b) and not isinstance(b, str) for b in bounds)


def _column(name: str, bounds: Any) -> dict[str, Any]:
    """A column: a pair is the bounds of a number, and a list of texts or of more than two values a category."""
    if isinstance(bounds, tuple) and _is_pair(bounds):
        return _number(name, bounds)
    if isinstance(bounds, np.ndarray) and _is_pair(bounds):
        return _number(name, bounds)
    if isinstance(bounds, (list, set, frozenset)):
        return {"name": name, "values": [_cells.text(v) for v in (bounds if isinstance(bounds, list) else sorted(bounds))]}
    raise ValueError(f"{name}: write its bounds as a tuple, such as (0, 100), or its values as a list, such as ['a', 'b']")


_NO_BOUNDS = (
    "bounds are missing, and bounds computed from the rows would not be private; write fit(X, y, bounds=(low, high)) for all "
    "features alike, bounds=[(0, 100), (0, 1)] for each in order, or bounds={'age': (0, 100), 'job': ['nurse', 'clerk']} by "
    "name, with numbers that you know without looking at the rows"
)


def _columns(names: Sequence[str], bounds: Any) -> list[dict[str, Any]]:
    if bounds is None:
        raise LeakError(_NO_BOUNDS)
    if isinstance(bounds, Mapping):
        missing = [n for n in names if n not in bounds]
        if missing:
            raise LeakError(f"there are no bounds for {', '.join(missing)}; {_NO_BOUNDS}")
        return [_column(n, bounds[n]) for n in names]
    if _is_pair(bounds):
        return [_number(n, bounds) for n in names]
    if len(bounds) != len(names):
        raise ValueError(f"there are bounds for {len(bounds)} features, but X has {len(names)}")
    return [_column(n, b) for n, b in zip(names, bounds, strict=True)]


_NO_WIDTH = (
    "the number of features must be public, but a list of rows shows it only through its rows: write numpy.array(X), or bounds for one feature "
    "after the other, as in bounds=[(0, 100), (0, 1)]"
)


def _names(X: Any) -> list[Any] | None:
    """The names of a frame's columns."""
    names = getattr(X, "column_names", None) or getattr(X, "columns", None)  # those of Arrow are the columns themselves
    return None if names is None else list(names)


def _table(X: Any, bounds: Any) -> Any:
    """Rows as a frame, or an array of two dimensions."""
    names = _names(X)
    if names is not None:
        if len({str(n) for n in names}) < len(names):
            raise ValueError("X has two columns with the same name")
    elif _cells.is_list(X):
        if bounds is None:
            raise LeakError(_NO_BOUNDS)
        if _is_pair(bounds):
            raise LeakError(_NO_WIDTH)
        X = _cells.listed(X, len(bounds))
    else:
        X = _cells.array(X)
    if X.shape[1] == 0:
        raise ValueError("X has no features")
    return X


def _rows(X: Any, columns: Sequence[Mapping[str, Any]]) -> Any:
    """Rows as numbers."""
    names = _names(X)
    named = None if names is None else {str(n): X[n] for n in names}
    found = X.T if named is None else [named[c["name"]] for c in columns]
    return np.column_stack([_cells.column(c, cells) for c, cells in zip(columns, found, strict=True)])


def _target(y: Any) -> Any:
    """The cells of a target, one for each row."""
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None")
    found = _cells.target(y)
    if found.ndim == 2 and found.shape[1] == 1:
        warnings.warn("A column-vector y was passed when a 1d array was expected", DataConversionWarning, stacklevel=3)
        found = found[:, 0]
    if found.ndim != 1:
        raise ValueError("y must have one dimension, with the target of each row")
    return found


def _is_public(step: Any) -> bool:
    """Whether a step of a pipeline learns nothing from rows."""
    if step is None or isinstance(step, str):  # passthrough and drop
        return True
    name = type(step).__name__
    if name == "ColumnTransformer":
        return _is_public(step.remainder) and all(_is_public(inner) for _, inner, _ in step.transformers)
    if name == "Pipeline":
        return all(_is_public(inner) for _, inner in step.steps)
    if name == "FeatureUnion":
        return all(_is_public(inner) for _, inner in step.transformer_list)
    if name in ("OneHotEncoder", "OrdinalEncoder"):  # which are rare they count in the rows, and the error on an unknown one says it
        declared = not isinstance(step.categories, str) and step.handle_unknown != "error"
        return declared and step.min_frequency is None and step.max_categories is None
    return name == "PolynomialFeatures" or not get_tags(step).requires_fit


# What stands between a call of fit and ours without learning from rows; pipelines are looked at step by step.
_HARMLESS = ("sklearn.pipeline", "sklearn.base", "sklearn.utils")


def _refuse_leaks(estimator: Any) -> None:
    """Checks the callers for a pipeline whose earlier steps were fitted to the rows, a cross-validation, or an estimator around ours."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        caller: Any = frame.f_locals.get("self")
        module = str(frame.f_globals.get("__name__", ""))
        if isinstance(caller, Pipeline):
            for name, step in caller.steps[:-1]:
                if not _is_public(step):
                    raise LeakError(
                        f"the step {name!r} of the pipeline, {type(step).__name__}, is fitted to the rows, and what it learns or fails on is not "
                        "private: leave it out, because features are scaled by their public bounds anyway, or write what you know without "
                        "looking at the rows, such as FunctionTransformer(lambda x: (x - 40) / 20) or OneHotEncoder(categories=[...], "
                        "handle_unknown='ignore')"
                    )
        if module.startswith("sklearn.model_selection"):
            raise LeakError(
                "cross-validation reveals exact scores on the rows, which are not private, and each training costs epsilon again: write "
                f"{type(estimator).__name__}(evaluate=0.1) for a private estimate, tune=[1, 10, 100] for a private choice of the regulariser, "
                "or public_rows=True if everybody may know the rows"
            )
        if module.startswith("sklearn.") and not module.startswith(_HARMLESS):
            raise LeakError(
                f"{type(caller).__name__ if isinstance(caller, BaseEstimator) else module} around {type(estimator).__name__} learns from the "
                "rows too, or trains it several times: what it learns is not private, and each training costs epsilon again; fit "
                f"{type(estimator).__name__} by itself, or write public_rows=True if everybody may know the rows"
            )
        frame = frame.f_back


class _Linear(BaseEstimator):  # type: ignore[misc]
    """The common part of both."""

    model_: dict[str, Any]
    price_: Price

    def _spec(self) -> dict[str, Any]:
        budget = {"epsilon": self.epsilon} | ({"delta": self.delta} if self.delta else {})
        spec = {
            "budget": budget,
            "loss": self.loss,
            "method": self.method,
            "regulariser": self.regulariser,
            "tune": list(self.tune) if self.tune is not None else None,
            "radius": self.radius,
            "evaluate": self.evaluate,
            **self._more(),
        }
        return {k: v for k, v in spec.items() if v is not None}

    def _more(self) -> dict[str, Any]:
        raise NotImplementedError

    def _ask(self, features: str, target: str) -> None:
        """Trains on the rows of a server."""
        if not isinstance(self.db, Database):
            raise ValueError("fit(features_sql, target_sql) trains on the rows of a server: write db=discreet.connect(...)")
        if self.delta:
            raise ValueError("the policy sets the currency that pays for a training: leave delta out")
        spec = self._spec()
        del spec["budget"]
        trained = self.db.train(features, target, epsilon=self.epsilon, **spec)
        self.model_, self.price_, self.receipt_ = trained.model, trained.price, trained.receipt
        self.feature_names_in_ = np.array([c["name"] for c in self.model_["encoding"]["features"]], dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)

    def _train(self, X: Any, target: dict[str, Any], codes: Any, bounds: Any) -> None:
        """Trains on your own rows."""
        X = _table(X, bounds)
        columns = _columns([str(n) for n in _names(X) or (f"x{i}" for i in range(X.shape[1]))], bounds)
        validate_data(self, X, reset=True, skip_check_array=True)
        rows = _rows(X, columns)
        if len(codes) != len(rows):
            raise ValueError("X and y have different numbers of rows")
        sent = np.ascontiguousarray(np.column_stack([rows, codes]), dtype="<f8")
        line = {
            "encoding": {"features": columns, "target": target},
            "spec": self._spec(),
            "neighbours": self.neighbours,
            "max_rows": self.rows_per_person,
            "rows": len(rows),
        }
        said, _ = _bench.call("/fit", line, sent.tobytes())
        self.model_, self.price_ = said["model"], Price.of(said["cost"])

    def _scores(self, X: Any) -> Any:
        check_is_fitted(self, "model_")
        columns = self.model_["encoding"]["features"]
        if hasattr(X, "columns") and hasattr(self, "receipt_"):  # the names are those of the SELECT, in any order
            X = X[[c["name"] for c in columns]]
        elif _cells.is_list(X) and not all(hasattr(row, "__len__") and len(row) == len(columns) for row in X):
            raise ValueError(f"a row of X does not have one value for each of the {len(columns)} features. Reshape your data")
        X = _table(X, columns)
        validate_data(self, X, reset=False, skip_check_array=True)
        sent = np.ascontiguousarray(_rows(X, columns), dtype="<f8")
        _, numbers = _bench.call("/predict", {"model": self.model_, "rows": len(sent)}, sent.tobytes())
        said = len(self.model_["encoding"]["target"].get("values", ())) or 1
        return np.frombuffer(numbers, dtype="<f8").reshape(len(sent), said).astype(np.float64)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "model_" in state:  # a file with a model goes to others, and a token must not go with it
            state["db"] = None
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.non_deterministic = True
        return tags


def _is_logistic(estimator: Any) -> bool:
    return bool(estimator.loss in (None, "logistic"))


class DiscreetClassifier(ClassifierMixin, _Linear):  # type: ignore[misc]
    """A private linear classifier.

    ``epsilon`` (and ``delta``) is the price of the weights, and ``evaluate``, on top, that of a
    private estimate of how often it is wrong. ``bounds`` are those of the features, for ``fit``
    without them. ``classes`` are the public classes, or ``"public"`` to read them off ``y``, where
    everybody may know which there are.
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        delta: float | None = None,
        bounds: Any = None,
        classes: Any = None,
        class_weight: Mapping[Any, float] | None = None,
        neighbours: str = "add-remove",
        rows_per_person: int = 1,
        loss: str | None = None,
        half_width: float | None = None,
        method: str | None = None,
        regulariser: float | None = None,
        tune: Sequence[float] | None = None,
        radius: float | None = None,
        evaluate: float | None = None,
        public_rows: bool = False,
        db: Database | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.classes = classes
        self.class_weight = class_weight
        self.neighbours = neighbours
        self.rows_per_person = rows_per_person
        self.loss = loss
        self.half_width = half_width
        self.method = method
        self.regulariser = regulariser
        self.tune = tune
        self.radius = radius
        self.evaluate = evaluate
        self.public_rows = public_rows
        self.db = db

    def _more(self) -> dict[str, Any]:
        weights = None if self.class_weight is None else {_cells.text(k): float(v) for k, v in self.class_weight.items()}
        return {"half_width": self.half_width, "weights": weights}

    def fit(self, X: Any, y: Any = None, bounds: Any = None) -> DiscreetClassifier:
        """Trains: on the rows of a server, with two texts of SQL, or on rows of your own with public bounds."""
        if isinstance(X, str):
            self._ask(X, str(y))
            self.classes_ = np.array(self.model_["encoding"]["target"]["values"], dtype=object)
            return self
        if not self.public_rows:
            _refuse_leaks(self)
        if self.classes is None:
            raise LeakError(
                "reading the classes from y would not be private: write classes=[...] with those that everybody may know, or "
                'classes="public" if everybody may know which there are'
            )
        labels = _target(y)
        public = isinstance(self.classes, str) and self.classes == "public"
        self.classes_ = np.unique(np.asarray(_cells.present(labels) if public else self.classes))
        if len(self.classes_) < 2:
            raise ValueError("a classifier needs two classes or more, but there is only one class")
        check_classification_targets(self.classes_)
        values = [_cells.text(c) for c in self.classes_.tolist()]
        codes = _cells.places(values, labels)  # a row of none of them is left out
        self._train(X, {"name": _TARGET, "values": values}, codes, self.bounds if bounds is None else bounds)
        return self

    def predict(self, X: Any) -> Any:
        """The most likely class of each row."""
        best = self._scores(X).argmax(axis=1)
        return self.classes_[best]

    @available_if(_is_logistic)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """How likely each class is, for each row."""
        return self._scores(X)


class DiscreetRegressor(RegressorMixin, _Linear):  # type: ignore[misc]
    """A private linear regression.

    ``target_bounds`` are those of the target, and ``bounds`` those of the features; see
    :class:`DiscreetClassifier` for the rest.
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        delta: float | None = None,
        bounds: Any = None,
        target_bounds: tuple[float, float] | None = None,
        neighbours: str = "add-remove",
        rows_per_person: int = 1,
        loss: str | None = None,
        residual: float | None = None,
        method: str | None = None,
        regulariser: float | None = None,
        tune: Sequence[float] | None = None,
        radius: float | None = None,
        evaluate: float | None = None,
        public_rows: bool = False,
        db: Database | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.target_bounds = target_bounds
        self.neighbours = neighbours
        self.rows_per_person = rows_per_person
        self.loss = loss
        self.residual = residual
        self.method = method
        self.regulariser = regulariser
        self.tune = tune
        self.radius = radius
        self.evaluate = evaluate
        self.public_rows = public_rows
        self.db = db

    def _more(self) -> dict[str, Any]:
        return {"residual": self.residual}

    def fit(self, X: Any, y: Any = None, bounds: Any = None, target_bounds: tuple[float, float] | None = None) -> DiscreetRegressor:
        """Trains: on the rows of a server, with two texts of SQL, or on rows of your own with public bounds."""
        if isinstance(X, str):
            self._ask(X, str(y))
            return self
        if not self.public_rows:
            _refuse_leaks(self)
        limits = self.target_bounds if target_bounds is None else target_bounds
        if limits is None:
            raise LeakError(
                "the bounds of the target are missing, and bounds computed from the rows would not be private; write "
                "fit(X, y, bounds=..., target_bounds=(low, high)) with numbers that you know without looking at the rows"
            )
        self._train(X, _number(_TARGET, limits), _cells.floats(_target(y)), self.bounds if bounds is None else bounds)
        return self

    def predict(self, X: Any) -> Any:
        """The expected number for each row."""
        return self._scores(X)[:, 0]
