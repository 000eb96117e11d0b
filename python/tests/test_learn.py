"""Estimators of scikit-learn."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import FunctionTransformer, StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

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
    with pytest.raises(LeakError, match="there are no bounds"):
        DiscreetClassifier(classes="public").fit(X, y)
    with pytest.raises(LeakError, match="which classes"):
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


@pytest.mark.parametrize(
    "estimator",
    [DiscreetClassifier(100.0, bounds=(-10, 10), classes="public"), DiscreetRegressor(100.0, bounds=(-10, 10), target_bounds=(-10, 10))],
    ids=["classifier", "regressor"],
)
def test_scikit_learns_own_checks(estimator: Any) -> None:
    twice = "it compares two trainings, whose noise differs"
    names = ("fit_idempotent", "supervised_y_2d", "classifier_data_not_an_array", "regressor_data_not_an_array", "regressors_int")
    failed = [
        result["check_name"]
        for result in check_estimator(estimator, expected_failed_checks={f"check_{n}": twice for n in names}, on_skip=None, on_fail=None)
        if result["status"] == "failed"
    ]
    assert failed == []


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
