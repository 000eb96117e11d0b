"""Streams, holdouts and sparse vectors, on the real binary."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Server, until, write_policy

import discreet

STREAM = """
    streams:
      patients:
        table: patients
        columns: {sex: , smoker: , age: {width: 10}}
        size: 2000
        alpha: 0.08
"""
HOLDOUT = """
    holdouts:
      contest: {labels: labels.csv, column: label, id: patient, threshold: 0.15, noise: 0.005, answers: 3}
"""
LABELS = [random.Random(7).randint(0, 1) for _ in range(1000)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, discreet.Database]]:
    """A server with a stream and a holdout."""
    folder = tmp_path_factory.mktemp("sessions")
    (folder / "labels.csv").write_text("patient,label\n" + "".join(f"p{i},{label}\n" for i, label in enumerate(LABELS)))
    server = Server(write_policy(folder, more=STREAM + HOLDOUT))
    with discreet.connect(server.url, token=server.token, patience=60) as db:
        yield server, db
    server.stop()


def test_streams(place: tuple[Server, discreet.Database]) -> None:
    server, db = place
    assert [s["name"] for s in db.streams.all()] == ["patients"]
    stream = db.streams["patients"]
    quote = stream.quote(sex="F")
    assert quote["way"] in ("paid", "plain", "predicted") and not db.receipts()
    women = stream.ask(sex="F")
    assert abs(int(women) - 667) <= 160 + 60 and women.error and women.error <= 160 and women.confidence == 0.999
    again = stream.ask("sex = 'F'")
    assert again.free and again.value == women.value and not again.price and again.way == "cached"
    young = stream.ask(sex=["F", "M"], age=["20..29", "30..39"])
    assert abs(young.value - 365) <= 2 * 160
    assert stream.ask("smoker AND age >= 60").value > stream.ask("smoker AND age < 30").value - 320
    cells = [(s, t, f"{age}0..{age}9") for s in "FMX" for t in ("true", "false") for age in range(2, 9)]
    ways = [stream.ask(sex=s, smoker=t, age=a).way for s, t, a in cells]
    assert ways.count("predicted") > 10, f"{ways}: small groups follow from large ones"
    spent = len(db.receipts(1000))
    synthetic = stream.synthetic()
    assert synthetic
    with pytest.raises(discreet.RefusedError):
        stream.ask("diagnosis = 'flu'")
    with pytest.raises(discreet.Error):
        db.streams["none"].ask(sex="F")
    with pytest.raises(ValueError, match="not both"):
        stream.ask("sex = 'F'", age=["20..29"])
    # A server that is started anew goes on where it was, and so does the object.
    server.kill()
    server.start()
    kept = stream.ask(sex="F")
    assert kept.free and kept.value == women.value and len(db.receipts(1000)) == spent


def test_holdouts(place: tuple[Server, discreet.Database]) -> None:
    _, db = place
    assert [h["name"] for h in db.holdouts.all()] == ["contest"]
    contest = db.holdouts["contest"]
    draw = random.Random(3)
    good = [label if draw.random() < 0.9 else 1 - label for label in LABELS]
    ids = [f"p{i}" for i in range(1000)]
    agreed = contest.score(good, ids=ids, training=0.9, name="honest")
    assert agreed.score == 0.9 and not agreed.spent and agreed.left == 3
    assert contest.score(good, ids=ids, training=0.9).again
    guess = [draw.randint(0, 1) for _ in LABELS]
    lied = contest.score(guess, ids=ids, training=0.95, name="overfitted")
    exact = sum(a == b for a, b in zip(guess, LABELS, strict=True)) / 1000
    assert lied.spent and lied.left == 2 and abs(float(lied) - exact) < 0.3 and lied.error > 0
    board = contest.board()
    assert [line["name"] for line in board] == ["honest", "overfitted"]
    with pytest.raises(discreet.Error):
        contest.score(good[:5], ids=ids, training=0.9)
    ended = None
    for n in range(20):
        try:
            contest.score([draw.randint(0, 1) for _ in LABELS], ids=ids, training=0.9, name=f"try {n}")
        except discreet.Error as error:
            ended = error
            break
    assert ended is not None and ended.spent is not True, "it answers more often than it may"


def test_holdout_takes_arrays(place: tuple[Server, discreet.Database]) -> None:
    """The same predictions as an array are the same question, which is free."""
    np = pytest.importorskip("numpy")
    _, db = place
    draw = random.Random(3)
    good = np.array([label if draw.random() < 0.9 else 1 - label for label in LABELS])
    assert db.holdouts["contest"].score(good, ids=np.array([f"p{i}" for i in range(1000)]), training=0.9).again


def test_sparse_sessions(place: tuple[Server, discreet.Database]) -> None:
    server, db = place
    before = len(db.receipts(1000))
    over = "SELECT COUNT(*) FROM patients WHERE age >= {}"
    with db.sparse(epsilon=2, above=2, values=True, request="sparse-1") as session:
        assert session.price.epsilon == 2 and session.left == 2
        said = {age: session.ask(over.format(age), 500) for age in (90, 88, 86)}
        assert not any(said.values()) and all(v.left == 2 and v.value is None for v in said.values())
        first = session.ask(over.format(30), 500)
        assert first and first.value is not None and abs(first.value - 1670) < 100 and first.left == 1
        assert session.ask(over.format(20), 500).left == 0
        with pytest.raises((discreet.EndedError, discreet.NotFoundError)):
            session.ask(over.format(25), 500)
    assert len(db.receipts(1000)) == before + 1, "it is charged once, at its beginning"
    # One that the server was killed under is over, and is not asked twice.
    session = db.sparse(epsilon=1)
    server.kill()
    server.start()
    assert until(lambda: bool(db.datasets()))
    with pytest.raises(discreet.Error) as over_now:
        session.ask(over.format(30), 100)
    assert over_now.value.spent is not True
    session.close()


def test_a_budget_of_a_stream_ends(tmp_path: Path) -> None:
    """Then what was asked stays free, and new questions are guesses or refused."""
    policy = write_policy(tmp_path, more=STREAM.replace("alpha: 0.08", "alpha: 0.005\n        budget: 2"))
    with discreet.connect(policy) as db:
        stream, ways = db.streams["patients"], []
        for sex in "FMX":
            for age in range(2, 9):
                try:
                    ways.append(stream.ask(sex=sex, age=[f"{age}0..{age}9"]).way)
                except discreet.Error:
                    ways.append("refused")
        assert {"refused", "unchecked"} & set(ways)
        left = db.budget().remaining
        assert left is not None and left.epsilon is not None and left.epsilon >= 50 - 2 - 1e-9
