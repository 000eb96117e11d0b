"""Whether a training on rows of one's own succeeds, and what it says, is not decided by a row.

Each test compares neighbours: the same rows, and one more that is odd. All but the noisy numbers
has to be the same, and of what is sent to be trained on only that row may differ.
"""

from __future__ import annotations

import datetime
import decimal
import math
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder  # noqa: E402

from discreet import _bench  # noqa: E402
from discreet.sklearn import DiscreetClassifier, DiscreetRegressor, LeakError  # noqa: E402

SECRET = "Maria Huber"
ODD = [
    math.nan,
    math.inf,
    -math.inf,
    None,
    0.5,
    1e300,
    10**400,
    -(10**400),
    True,
    SECRET,
    "7",
    "",
    b"7",
    3 + 4j,
    decimal.Decimal("sNaN"),
    decimal.Decimal("2.5"),
    datetime.date(2024, 12, 31),
    np.datetime64("NaT"),
    [1, 2],
    [SECRET],
    np.array([1.0]),
    {"name": SECRET},
    object(),
]

NUMBERS = [[float(i % 10), float(i % 7)] for i in range(60)]
CLASSES = [int(a + b > 7) for a, b in NUMBERS]

classifier = DiscreetClassifier(1.0, bounds=[(0, 10), (0, 10)], classes=[0, 1])
regressor = DiscreetRegressor(1.0, bounds=[(0, 10), (0, 10)], target_bounds=(0, 20))


def as_lists(rows: list[Any], targets: list[Any]) -> tuple[Any, Any]:
    return rows, targets


def as_objects(rows: list[Any], targets: list[Any]) -> tuple[Any, Any]:
    X, y = np.empty((len(rows), len(rows[0]) if rows else 2), dtype=object), np.empty(len(targets), dtype=object)
    for i, row in enumerate(rows):
        for j, cell in enumerate(row):
            X[i, j] = cell
        y[i] = targets[i]
    return X, y


def as_frames(rows: list[Any], targets: list[Any]) -> tuple[Any, Any]:
    pd = pytest.importorskip("pandas")
    columns = {f"x{j}": pd.Series([row[j] for row in rows]) for j in range(2)}
    return pd.DataFrame(columns), pd.Series(targets)


def as_arrays(rows: list[Any], targets: list[Any]) -> tuple[Any, Any]:
    """As numpy takes it: one text makes texts of all, and one complex number complex ones."""
    return np.array(rows).reshape(len(rows), 2), np.array(targets)


WAYS = [as_lists, as_objects, as_frames, as_arrays]


def attributes(model: Any) -> dict[str, Any]:
    """All that a training leaves behind, but for the numbers that noise was added to."""
    found = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in vars(model).items()}
    trained = found.pop("model_", None)
    if trained is not None:
        kept = {k: v for k, v in trained.items() if k not in ("weights", "evaluation")}
        found["model_"] = kept | {"weights": [len(row) for row in trained["weights"]], "evaluation": sorted(trained.get("evaluation", {}))}
    return found


def outcome(monkeypatch: pytest.MonkeyPatch, fit: Callable[[], Any]) -> tuple[Any, list[bytes]]:
    """What a caller can see of a training, and the rows that were trained on."""
    sent: list[bytes] = []
    real = _bench.call

    def call(path: str, line: Any, numbers: bytes = b"", **more: Any) -> Any:
        width = 8 * (len(line["encoding"]["features"]) + 1)
        sent.extend(numbers[i : i + width] for i in range(0, len(numbers), width))
        return real(path, line, numbers, **more)

    monkeypatch.setattr(_bench, "call", call)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            seen: Any = attributes(fit())
        except Exception as error:
            seen = type(error), str(error)
    monkeypatch.setattr(_bench, "call", real)
    # Connections that are collected are so at any time.
    said = [(w.category, str(w.message)) for w in warned if w.category is not ResourceWarning]
    return (seen, said), sent


def neighbours(
    monkeypatch: pytest.MonkeyPatch, model: Any, way: Callable[..., Any], rows: list[Any], targets: list[Any], row: Any, target: Any
) -> None:
    """A row more, first or last, changes what is sent by that row, and nothing that is seen."""
    try:
        without, first, last = way(rows, targets), way([row, *rows], [target, *targets]), way([*rows, row], [*targets, target])
    except (ValueError, TypeError, OverflowError):
        pytest.skip("there is no such array")
    seen, sent = outcome(monkeypatch, partial(clone(model).fit, *without))
    assert isinstance(seen[0], dict), seen
    for other, at in ((first, 0), (last, len(rows))):
        again, all_sent = outcome(monkeypatch, partial(clone(model).fit, *other))
        assert again == seen, (again, seen)
        assert all_sent[:at] + all_sent[at + 1 :] == sent


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_odd_features(monkeypatch: pytest.MonkeyPatch, way: Any, odd: Any) -> None:
    neighbours(monkeypatch, classifier, way, NUMBERS, CLASSES, [odd, 3.0], 1)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("odd", ODD, ids=repr)
@pytest.mark.parametrize("model", [classifier, regressor], ids=["classifier", "regressor"])
def test_odd_targets(monkeypatch: pytest.MonkeyPatch, model: Any, way: Any, odd: Any) -> None:
    neighbours(monkeypatch, model, way, NUMBERS, CLASSES, [1.0, 3.0], odd)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("values", [[1, 2, 3], [True, False], ["nurse", "clerk"], [0.5, 1.5]], ids=str)
@pytest.mark.parametrize("odd", [math.nan, None, 0.5, True, SECRET, "7", "1", 1.0, "true", b"7", 3 + 4j, [1, 2]], ids=repr)
def test_odd_categories(monkeypatch: pytest.MonkeyPatch, way: Any, values: list[Any], odd: Any) -> None:
    """Whatever a value becomes beside another one (1 is 1.0 beside a missing one), it is the same category."""
    model = DiscreetClassifier(1.0, bounds=[values, (0, 10)], classes=[0, 1])
    rows = [[values[i % len(values)], b] for i, (_, b) in enumerate(NUMBERS)]
    neighbours(monkeypatch, model, way, rows, CLASSES, [odd, 3.0], 1)
    X, y = way(rows, CLASSES)
    _, sent = outcome(monkeypatch, lambda: model.fit(X, y))
    places = [np.frombuffer(row, "<f8")[0] for row in sent]
    assert places == [i % len(values) for i in range(60)]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("classes", [["no", "yes"], [False, True], [0, 1], [1.0, 2.0], "public"], ids=str)
@pytest.mark.parametrize("odd", [None, math.nan, math.inf, 0.5, SECRET, 2], ids=repr)
def test_odd_classes(monkeypatch: pytest.MonkeyPatch, way: Any, classes: Any, odd: Any) -> None:
    public = classes == "public"
    if public and not (odd is None or odd != odd):
        pytest.skip("everybody may know of that class")
    model = DiscreetClassifier(1.0, bounds=[(0, 10), (0, 10)], classes=classes)
    names = [0, 1] if public else classes
    neighbours(monkeypatch, model, way, NUMBERS, [names[c] for c in CLASSES], [1.0, 3.0], odd)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("model", [classifier, regressor], ids=["classifier", "regressor"])
def test_no_rows(monkeypatch: pytest.MonkeyPatch, model: Any, way: Any) -> None:
    neighbours(monkeypatch, model, way, [], [], [1.0, 3.0], 1)
    neighbours(monkeypatch, model, way, [], [], [1.0, 3.0], None)


@pytest.mark.parametrize("row", [[], [1.0], [1.0, 2.0, 3.0], None, 7, SECRET, {"name": SECRET}], ids=repr)
def test_rows_of_another_length(monkeypatch: pytest.MonkeyPatch, row: Any) -> None:
    neighbours(monkeypatch, classifier, as_lists, NUMBERS, CLASSES, row, 1)


def test_lists_say_how_wide_they_are() -> None:
    """How many features there are is public, and a list has that from its rows alone."""
    with pytest.raises(LeakError, match="the number of features"):
        DiscreetClassifier(1.0, bounds=(0, 10), classes=[0, 1]).fit(NUMBERS, CLASSES)


def test_an_encoder_that_fails_on_an_unknown_value_is_refused() -> None:
    """It would say that value."""
    X, y = np.array([["a"], ["b"]] * 20), [0, 1] * 20
    model = DiscreetClassifier(1.0, bounds=(0, 1), classes=[0, 1])
    for step in (OneHotEncoder(categories=[["a", "b"]], sparse_output=False), OrdinalEncoder(categories=[["a", "b"]])):
        with pytest.raises(LeakError, match="handle_unknown"):
            make_pipeline(step, model).fit(X, y)
    known = OneHotEncoder(categories=[["a", "b"]], sparse_output=False, handle_unknown="ignore")
    assert make_pipeline(known, model).fit(np.array([["a"], [SECRET]] * 20), y).predict([["a"]]).shape == (1,)


def test_sizes_are_not_told() -> None:
    """What is said about arrays that do not belong together says nothing of their rows."""
    X = np.array(NUMBERS)
    with pytest.raises(ValueError, match="X and y") as error:
        classifier.fit(X, CLASSES[1:])
    assert "60" not in str(error.value) and "59" not in str(error.value)
    shape = "X must be an array of two dimensions"
    for wrong, says in ((X[:, 0], shape), (X[:, :0], "X has no features"), (X[None], shape)):
        with pytest.raises(ValueError, match=says) as error:
            DiscreetClassifier(1.0, bounds=(0, 10), classes=[0, 1]).fit(wrong, CLASSES)
        assert "60" not in str(error.value)


def test_predictions_of_odd_rows() -> None:
    """What is predicted of a row is about that row alone, so that no other can spoil it."""
    model = DiscreetClassifier(1.0, bounds=[(0, 10), ["a", "b"]], classes=[0, 1])
    model.fit([[a, "ab"[int(b) % 2]] for a, b in NUMBERS], CLASSES)
    plain = model.predict_proba([[3.0, "a"]])
    for odd in ODD:
        said = model.predict_proba([[3.0, "a"], [odd, "a"], [3.0, odd]])
        assert said.shape == (3, 2) and (said[0] == plain[0]).all() and np.isfinite(said).all()
