"""Estimators of scikit-learn."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.calibration import CalibratedClassifierCV  # noqa: E402
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor  # noqa: E402
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.multiclass import OneVsRestClassifier  # noqa: E402
from sklearn.pipeline import FeatureUnion, make_pipeline  # noqa: E402
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import check_classifiers_train, check_estimator, check_regressors_train  # noqa: E402

import discreet  # noqa: E402
from discreet.sklearn import DiscreetClassifier, DiscreetRegressor, LeakError  # noqa: E402


def made_up(n: int = 4000) -> tuple[Any, Any]:
    draw = np.random.default_rng(1)
    X = draw.uniform(0, 10, (n, 3))
    return X, np.where(X[:, 0] + X[:, 1] > 10, "much", "little")


def test_classifier() -> None:
    X, y = made_up()
    model = DiscreetClassifier(2.0, classes=["little", "much"], evaluate=0.5).fit(X, y, bounds=(0, 10))
    assert (model.predict(X) == y).mean() > 0.9
    assert model.price_.epsilon == 2.5 and list(model.classes_) == ["little", "much"] and model.n_features_in_ == 3
    chances = model.predict_proba(X[:5])
    assert chances.shape == (5, 2) and np.allclose(chances.sum(axis=1), 1)
    assert 0 <= model.model_["evaluation"]["error"] < 0.2
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(X) == model.predict(X)).all()
    other = clone(model).set_params(epsilon=0.5).fit(X, y, bounds=(0, 10))
    assert other.price_.epsilon == 1.0 and other.model_["weights"] != model.model_["weights"]


def test_noise_is_there() -> None:
    """The same rows twice are two models, and less is paid for by more noise."""
    X, y = made_up(500)

    def weights(epsilon: float) -> Any:
        found = [DiscreetClassifier(epsilon, classes="public", regulariser=300.0).fit(X, y, bounds=(0, 10)).model_ for _ in range(8)]
        return np.array([np.array(m["weights"]) * m["step"] for m in found]).std(axis=0).mean()

    assert weights(0.2) > 3 * weights(20) > 0


def test_regressor() -> None:
    X, _ = made_up()
    y = 3 * X[:, 0] - 2 * X[:, 1]
    model = DiscreetRegressor(5.0).fit(X, y, bounds=[(0, 10)] * 3, target_bounds=(-20, 30))
    assert model.score(X, y) > 0.8 and model.price_.epsilon == 5


def test_frames() -> None:
    pd = pytest.importorskip("pandas")
    X, y = made_up()
    frame = pd.DataFrame({"a": X[:, 0], "job": np.where(X[:, 1] > 5, "nurse", "clerk")})
    target = np.where(X[:, 1] > 5, 1, 0)
    model = DiscreetClassifier(2.0, classes=[0, 1]).fit(frame, target, bounds={"a": (0, 10), "job": ["nurse", "clerk", "cook"]})
    assert (model.predict(frame) == target).mean() > 0.95
    assert list(model.feature_names_in_) == ["a", "job"]
    with pytest.raises(LeakError, match="no bounds for job"):
        DiscreetClassifier(classes=[0, 1]).fit(frame, target, bounds={"a": (0, 10)})


def test_leaks_are_refused() -> None:
    X, y = made_up(300)
    with pytest.raises(LeakError, match="bounds are missing"):
        DiscreetClassifier(classes="public").fit(X, y)
    with pytest.raises(LeakError, match="reading the classes"):
        DiscreetClassifier().fit(X, y, bounds=(0, 10))
    with pytest.raises(LeakError, match="target_bounds"):
        DiscreetRegressor().fit(X, X[:, 0], bounds=(0, 10))
    model = DiscreetClassifier(5.0, bounds=(0, 10), classes="public")
    with pytest.raises(LeakError, match="StandardScaler.*FunctionTransformer"):
        make_pipeline(StandardScaler(), model).fit(X, y)
    scaled = make_pipeline(FunctionTransformer(lambda x: x / 10), clone(model).set_params(bounds=(0, 1))).fit(X, y)
    assert scaled.predict(X).shape == (300,)
    with pytest.raises(LeakError, match="evaluate"):
        cross_val_score(model, X, y, error_score="raise")
    with pytest.raises(LeakError, match="tune"):
        GridSearchCV(model, {"regulariser": [1.0, 10.0]}, error_score="raise").fit(X, y)
    assert len(cross_val_score(clone(model).set_params(public_rows=True), X, y)) == 5


LABELS = [["low", "high", "none"]] * 3


@pytest.mark.parametrize(
    "step",
    [
        ColumnTransformer([("a", "passthrough", [0])], remainder=StandardScaler()),
        ColumnTransformer([("a", StandardScaler(), [0])], remainder="passthrough"),
        FeatureUnion([("a", make_pipeline(FunctionTransformer(), StandardScaler()))]),
        OneHotEncoder(categories=LABELS, min_frequency=10, sparse_output=False),
        OneHotEncoder(categories=LABELS, max_categories=2),
        OrdinalEncoder(categories=LABELS, max_categories=2),
        OrdinalEncoder(),
    ],
    ids=str,
)
def test_steps_that_learn_are_refused(step: Any) -> None:
    X, y = made_up(300)
    rows = np.where(X > 5, "high", "low") if "Encoder" in str(step) else X
    model = DiscreetClassifier(5.0, bounds=(-10, 10), classes=["little", "much"])
    with pytest.raises(LeakError, match="is fitted to the rows"):
        make_pipeline(step, model).fit(rows, y)
    with pytest.raises(LeakError, match="is fitted to the rows"):
        make_pipeline(step, make_pipeline(FunctionTransformer(), model)).fit(rows, y)


def test_steps_that_know_what_is_public() -> None:
    X, y = made_up(300)
    model = DiscreetClassifier(5.0, bounds=(-10, 10), classes=["little", "much"])
    known = OneHotEncoder(categories=LABELS[:1], handle_unknown="ignore")
    by_column = ColumnTransformer([("a", known, [0])], remainder="drop", sparse_threshold=0)
    assert make_pipeline(by_column, model).fit(np.where(X > 5, "high", "low"), y).predict(np.array([["low"] * 3])).shape == (1,)


@pytest.mark.parametrize(
    "around",
    [
        lambda c, r: CalibratedClassifierCV(c, cv=3),
        lambda c, r: BaggingClassifier(c, n_estimators=2),
        lambda c, r: StackingClassifier([("a", c)]),
        lambda c, r: VotingClassifier([("a", c), ("b", c)]),
        lambda c, r: OneVsRestClassifier(c),
        lambda c, r: make_pipeline(FunctionTransformer(), CalibratedClassifierCV(make_pipeline(FunctionTransformer(), c), cv=3)),
        lambda c, r: TransformedTargetRegressor(r, transformer=StandardScaler()),
    ],
)
def test_estimators_around_ours_are_refused(around: Any) -> None:
    """They learn from the rows beside it, or train it again and again for one price."""
    X, y = made_up(300)
    model = around(
        DiscreetClassifier(5.0, bounds=(0, 10), classes=["little", "much"]), DiscreetRegressor(5.0, bounds=(0, 10), target_bounds=(-3, 3))
    )
    with pytest.raises(LeakError, match="around Discreet"):
        model.fit(X, X[:, 0] if isinstance(model, TransformedTargetRegressor) else y)


def test_a_model_goes_without_the_connection(db: discreet.Database) -> None:
    """A file with a model goes to others, who must not be able to ask and pay in somebody's name."""
    model = DiscreetClassifier(4.0, db=db).fit("SELECT age FROM patients", "smoker")
    token = db._transport.endpoint().token.encode()
    assert token not in pickle.dumps(model) and token in pickle.dumps(db)
    again = pickle.loads(pickle.dumps(model))
    rows = np.array([[20.0], [85.0]])
    assert again.db is None and (again.predict_proba(rows) == model.predict_proba(rows)).all()
    assert clone(model).db is db and copy.deepcopy(db) is db


@pytest.mark.parametrize(
    "estimator",
    [DiscreetClassifier(100.0, bounds=(-10, 10), classes="public"), DiscreetRegressor(100.0, bounds=(-10, 10), target_bounds=(-10, 10))],
    ids=["classifier", "regressor"],
)
def test_scikit_learns_own_checks(estimator: Any) -> None:
    """All but those that compare two trainings, whose noise differs, or that want an error because of what is in a row."""
    classifies = isinstance(estimator, DiscreetClassifier)
    twice, by_rows = {"fit_idempotent", "supervised_y_2d"}, {"estimators_empty_data_messages"}
    twice |= {"classifier_data_not_an_array"} if classifies else {"regressor_data_not_an_array", "regressors_int"}
    by_rows |= {"classifiers_train"} if classifies else {"regressors_train", "complex_data", "supervised_y_no_nan"}
    results = check_estimator(estimator, on_skip=None, on_fail=None)
    failed = {result["check_name"].removeprefix("check_") for result in results if result["status"] == "failed"}
    assert by_rows <= failed <= twice | by_rows


def test_scikit_learns_checks_of_training() -> None:
    """They also train on lists, which do not say how wide they are; as arrays they pass."""

    class Classifier(DiscreetClassifier):
        def fit(self, X: Any, y: Any = None, bounds: Any = None) -> Any:
            return super().fit(np.asarray(X), y, bounds)

    class Regressor(DiscreetRegressor):
        def fit(self, X: Any, y: Any = None, bounds: Any = None, target_bounds: Any = None) -> Any:
            return super().fit(np.asarray(X), y, bounds, target_bounds)

    check_classifiers_train("Classifier", Classifier(100.0, bounds=(-10, 10), classes="public"))
    check_regressors_train("Regressor", Regressor(100.0, bounds=(-10, 10), target_bounds=(-10, 10)))


def test_on_a_server(db: discreet.Database) -> None:
    model = DiscreetClassifier(4.0, db=db).fit("SELECT age, sex FROM patients", "smoker")
    assert model.price_.epsilon == 4 and model.receipt_.sequence > 0
    pd = pytest.importorskip("pandas")
    rows = pd.DataFrame({"age": [20, 85], "sex": ["F", "M"]})
    young, old = model.predict_proba(rows)[:, list(model.classes_).index("true")]
    assert young < old and list(model.feature_names_in_) == ["age", "sex"]
    again = DiscreetClassifier(4.0, db=db).fit("SELECT age, sex FROM patients", "smoker")
    assert not again.price_, "the same training is free"
    regression = DiscreetRegressor(2.0, db=db).fit("SELECT smoker, sex FROM patients", "age")
    assert 20 < regression.predict(pd.DataFrame({"smoker": [True], "sex": ["F"]}))[0] < 110
    with pytest.raises(discreet.RefusedError):
        DiscreetClassifier(1.0, db=db).fit("SELECT nothing FROM patients", "smoker")
    with pytest.raises(ValueError, match="db="):
        DiscreetClassifier().fit("SELECT age FROM patients", "smoker")


def test_bad_parameters(tmp_path: Path) -> None:
    X, y = made_up(100)
    with pytest.raises(ValueError, match="lower one"):
        DiscreetClassifier(classes="public").fit(X, y, bounds=(10, 0))
    with pytest.raises(ValueError, match="bounds for 2 features"):
        DiscreetClassifier(classes="public").fit(X, y, bounds=[(0, 10)] * 2)
    with pytest.raises(discreet.InvalidError):
        DiscreetClassifier(-1.0, classes="public").fit(X, y, bounds=(0, 10))
