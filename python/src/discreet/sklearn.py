"""Private linear models as estimators of scikit-learn.

They are trained on the rows of a server, with ``fit("SELECT ...", "target")``, or on rows of your
own, with ``fit(X, y, bounds=...)``, by the same mechanisms. What a training may know without
paying has to be public: bounds of numbers, values of categories, classes.
"""

from __future__ import annotations

import datetime
import math
import sys
from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import FrameType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _bench
from ._sync import Database
from ._values import Price, fraction

_TARGET = "(target)"


class LeakError(ValueError):
    """What was about to happen would tell about the rows without paying for it; the message says what to write."""


def _number(name: str, bounds: Any) -> dict[str, Any]:
    """A number with public bounds, on a lattice of a million steps or two."""
    low, high = (fraction(b.item() if hasattr(b, "item") else b) for b in bounds)
    if not low < high:
        raise ValueError(f"the bounds of {name} are {bounds[0]} and {bounds[1]}: the first has to be the lower one")
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
        return {"name": name, "values": [str(v) for v in (bounds if isinstance(bounds, list) else sorted(bounds))]}
    raise ValueError(f"{name}: write its bounds as a tuple, such as (0, 100), or its values as a list, such as ['a', 'b']")


_NO_BOUNDS = (
    "there are no bounds, and what is computed from the rows would not be private; write fit(X, y, bounds=(low, high)) for all "
    "features alike, bounds=[(0, 100), (0, 1)] for one after the other, or bounds={'age': (0, 100), 'job': ['nurse', 'clerk']} by "
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
        raise ValueError(f"there are bounds for {len(bounds)} features, and X has {len(names)}")
    return [_column(n, b) for n, b in zip(names, bounds, strict=True)]


def _cells(column: Mapping[str, Any], values: Any) -> Any:
    """A column of a frame as numbers: places of values, days, or numbers as they are; what is missing is not a number."""
    given = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
    if "values" in column:
        place = {v: float(i) for i, v in enumerate(column["values"])}
        return np.array([math.nan if _none(v) else place.get(_text(v), -1.0) for v in given.tolist()], dtype=np.float64)
    if column.get("kind") == "date" and given.dtype.kind not in "iuf":
        return np.array([_days(v) for v in np.asarray(given, dtype="datetime64[D]").tolist()], dtype=np.float64)
    return np.asarray(given, dtype=np.float64)


def _none(value: Any) -> bool:
    return value is None or value != value


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, (bool, np.bool_)) else str(value)


def _days(value: datetime.date | None) -> float:
    return math.nan if value is None else float((value - datetime.date(1970, 1, 1)).days)


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
    if name in ("OneHotEncoder", "OrdinalEncoder"):  # which are rare they count in the rows
        return not isinstance(step.categories, str) and step.min_frequency is None and step.max_categories is None
    return name == "PolynomialFeatures" or not get_tags(step).requires_fit


# What stands between a call of fit and ours without learning from rows; pipelines are looked at step by step.
_HARMLESS = ("sklearn.pipeline", "sklearn.base", "sklearn.utils")


def _refuse_leaks(estimator: Any) -> None:
    """Looks at who calls: a pipeline whose earlier steps were fitted to the rows, a cross-validation, or an estimator around ours."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        caller: Any = frame.f_locals.get("self")
        module = str(frame.f_globals.get("__name__", ""))
        if isinstance(caller, Pipeline):
            for name, step in caller.steps[:-1]:
                if not _is_public(step):
                    raise LeakError(
                        f"the step {name!r} of the pipeline, {type(step).__name__}, is fitted to the rows, and what it learns is not private: "
                        "leave it out, because features are scaled by their public bounds anyway, or write what you know without looking "
                        "at the rows, such as FunctionTransformer(lambda x: (x - 40) / 20) or OneHotEncoder(categories=[...])"
                    )
        if module.startswith("sklearn.model_selection"):
            raise LeakError(
                "cross-validation tells exact scores on the rows, which are not private, and each of its trainings costs epsilon again: write "
                f"{type(estimator).__name__}(evaluate=0.1) for a private estimate, tune=[1, 10, 100] for a private choice of the regulariser, "
                "or public_rows=True where everybody may know the rows"
            )
        if module.startswith("sklearn.") and not module.startswith(_HARMLESS):
            raise LeakError(
                f"{type(caller).__name__ if isinstance(caller, BaseEstimator) else module} around {type(estimator).__name__} learns from the "
                "rows beside it, or trains it several times: what it learns is not private, and each training costs epsilon again; fit "
                f"{type(estimator).__name__} by itself, or write public_rows=True where everybody may know the rows"
            )
        frame = frame.f_back


class _Linear(BaseEstimator):  # type: ignore[misc]
    """What both have in common."""

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
            raise ValueError("the policy says in which currency a training is paid for: leave delta out")
        spec = self._spec()
        del spec["budget"]
        trained = self.db.train(features, target, epsilon=self.epsilon, **spec)
        self.model_, self.price_, self.receipt_ = trained.model, trained.price, trained.receipt
        self.feature_names_in_ = np.array([c["name"] for c in self.model_["encoding"]["features"]], dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)

    def _check(self, X: Any, *, reset: bool, columns: Sequence[Mapping[str, Any]] | None = None) -> Any:
        """Rows as numbers."""
        if hasattr(X, "columns") and columns is not None:
            if hasattr(self, "receipt_") and not reset:  # the names are those of the SELECT, in any order
                X = X[[c["name"] for c in columns]]
            validate_data(self, X, reset=reset, skip_check_array=True)
            named = {str(c): c for c in X.columns}
            return np.column_stack([_cells(c, X[named[c["name"]]]) for c in columns])
        return validate_data(self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=1)

    def _train(self, X: Any, target: dict[str, Any], codes: Any, bounds: Any) -> None:
        """Trains on rows of one's own."""
        names = [str(c) for c in X.columns] if hasattr(X, "columns") else None
        if names is None:
            rows = self._check(X, reset=True)
            columns = _columns([f"x{i}" for i in range(rows.shape[1])], bounds)
            for i, c in enumerate(columns):
                if "values" in c:
                    rows[:, i] = _cells(c, rows[:, i])
        else:
            columns = _columns(names, bounds)
            rows = self._check(X, reset=True, columns=columns)
        if len(codes) != len(rows):
            raise ValueError(f"X has {len(rows)} rows, and y has {len(codes)}")
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
        rows = self._check(X, reset=False, columns=columns)
        if not hasattr(X, "columns"):
            rows = rows.copy()
            for i, c in enumerate(columns):
                if "values" in c:
                    rows[:, i] = _cells(c, rows[:, i])
        sent = np.ascontiguousarray(rows, dtype="<f8")
        _, numbers = _bench.call("/predict", {"model": self.model_, "rows": len(rows)}, sent.tobytes())
        return np.frombuffer(numbers, dtype="<f8").reshape(len(rows), -1).astype(np.float64)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "model_" in state:  # a file with a model goes to others, and a token must not go with it
            state["db"] = None
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
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
        weights = None if self.class_weight is None else {_text(k): float(v) for k, v in self.class_weight.items()}
        return {"half_width": self.half_width, "weights": weights}

    def fit(self, X: Any, y: Any = None, bounds: Any = None) -> DiscreetClassifier:
        """Trains: on the rows of a server, with two texts of SQL, or on rows of your own with public bounds."""
        if isinstance(X, str):
            self._ask(X, str(y))
            self.classes_ = np.array(self.model_["encoding"]["target"]["values"], dtype=object)
            return self
        if not self.public_rows:
            _refuse_leaks(self)
        if y is None:
            raise ValueError("fit requires y to be passed, but the target y is None")
        labels = np.asarray(y)
        if labels.ndim == 2 and labels.shape[1] == 1:
            import warnings

            from sklearn.exceptions import DataConversionWarning

            warnings.warn("A column-vector y was passed when a 1d array was expected", DataConversionWarning, stacklevel=2)
            labels = labels.ravel()
        if not isinstance(X, str) and not hasattr(X, "columns"):
            validate_data(self, X, labels, dtype=np.float64, ensure_all_finite="allow-nan")
        check_classification_targets(labels)
        if self.classes is None:
            raise LeakError(
                "which classes there are in y is not private: write classes=[...] with those that everybody may know of, or "
                'classes="public" where everybody may know which there are'
            )
        public = isinstance(self.classes, str) and self.classes == "public"
        self.classes_ = np.unique(labels) if public else np.unique(np.asarray(self.classes))
        if len(self.classes_) < 2:
            raise ValueError("a classifier needs two classes or more, and there is one class only")
        codes = np.searchsorted(self.classes_, labels).clip(0, len(self.classes_) - 1).astype(np.float64)
        codes[self.classes_[codes.astype(int)] != labels] = math.nan  # a row of no class is left out
        values = [_text(c) for c in self.classes_.tolist()]
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
        if y is None:
            raise ValueError("fit requires y to be passed, but the target y is None")
        values = np.asarray(y)
        if values.ndim == 2 and values.shape[1] == 1:
            import warnings

            from sklearn.exceptions import DataConversionWarning

            warnings.warn("A column-vector y was passed when a 1d array was expected", DataConversionWarning, stacklevel=2)
            values = values.ravel()
        if not hasattr(X, "columns"):
            _, values = validate_data(self, X, values, dtype=np.float64, ensure_all_finite="allow-nan", y_numeric=True)
        limits = self.target_bounds if target_bounds is None else target_bounds
        if limits is None:
            raise LeakError(
                "there are no bounds of the target, and what is computed from the rows would not be private; write "
                "fit(X, y, bounds=..., target_bounds=(low, high)) with numbers that you know without looking at the rows"
            )
        self._train(X, _number(_TARGET, limits), np.asarray(values, dtype=np.float64), self.bounds if bounds is None else bounds)
        return self

    def predict(self, X: Any) -> Any:
        """The number that is expected of each row."""
        return self._scores(X)[:, 0]
