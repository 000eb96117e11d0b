"""Questions, answers and errors, on a policy on this machine."""

from __future__ import annotations

import datetime
import pickle
import time
from pathlib import Path

import pytest
from conftest import write_policy

import discreet

BY_SEX = "SELECT sex, COUNT(*) AS n, AVG(age) AS age FROM patients GROUP BY sex"


def test_price_then_answer(db: discreet.Database) -> None:
    quote = db.quote(BY_SEX, epsilon=0.5)
    assert quote.price.epsilon == 0.5 and quote.affordable and not quote.free
    assert quote.errors["count(*)"] == pytest.approx(12, abs=3)
    answer = db.ask(BY_SEX, epsilon=0.5)
    assert answer.price == quote.price and answer.remaining == quote.after
    assert answer.names == ["sex", "n", "age"] and [row[0] for row in answer] == ["F", "M", "X"]
    assert all(550 < row[1] < 780 for row in answer) and all(row[0] is None and row[1] for row in answer.errors or [])
    assert answer.receipt.sequence > 0 and len(answer.receipt.hash) == 64 and answer.confidence == 0.95
    again = db.ask(BY_SEX, epsilon=0.5)
    assert again.free and again.rows == answer.rows and again.receipt.free
    assert db.ask(BY_SEX, epsilon=0.5, free=True).rows == answer.rows
    assert db.quote(BY_SEX, epsilon=0.5).free
    assert "price: epsilon 0.5" in str(answer) and "free, already paid for" in str(again)


def test_sandbox(db: discreet.Database) -> None:
    before = db.budget().remaining
    made = db.ask("SELECT sex, COUNT(*) AS n FROM patients WHERE age > 33 GROUP BY sex", epsilon=0.5, sandbox=True)
    assert made.made_up and made.free and made.price.epsilon == 0.5 and len(made.rows) == 3
    assert made.notes[0].startswith("made up") and "would cost at most epsilon 0.5" in str(made)
    assert made.to_pandas().attrs["made_up"] and not made.receipt.hash
    assert db.budget().remaining == before


def test_error_of_an_average(db: discreet.Database) -> None:
    quote = db.quote("SELECT AVG(age) FROM patients", error=1.5, values=2000)
    assert quote.price.epsilon == pytest.approx(0.22, abs=0.1)
    with pytest.raises(discreet.RefusedError, match=r"dp\.values"):
        db.quote("SELECT AVG(age) FROM patients", error=1.5)


def test_error_for_a_price(db: discreet.Database) -> None:
    answer = db.ask("SELECT COUNT(*) FROM patients", error=10)
    assert answer.error is not None and 8 <= answer.error <= 10 and abs(int(answer) - 2000) < 60
    narrow = db.ask("SELECT COUNT(*) FROM patients", error=10, confidence=0.5)
    assert narrow.confidence == 0.5
    with pytest.raises(ValueError, match="give epsilon, or error"):
        db.ask("SELECT COUNT(*) FROM patients", error=10, epsilon=1)


def test_parameters(db: discreet.Database) -> None:
    question = "SELECT COUNT(*) FROM patients WHERE sex = $1 AND age >= $2 AND smoker = $3 AND born = $4"
    answer = db.ask(question, ["F", 30, True, datetime.date(1980, 1, 1)], epsilon=1)
    assert 50 < answer.value < 300
    some = db.ask("SELECT COUNT(*) FROM patients WHERE sex = ANY ($1)", [["F", "M"]], epsilon=1)
    assert 1200 < some.value < 1500
    # A parameter is a constant, and never SQL.
    none = db.ask("SELECT COUNT(*) FROM patients WHERE sex = $1", ["F' OR '1'='1"], epsilon=1)
    assert abs(none.value) < 50


def test_dates_and_truths(db: discreet.Database) -> None:
    answer = db.ask("SELECT born, smoker, COUNT(*) AS n FROM patients GROUP BY born, smoker", epsilon=1)
    assert {row[0] for row in answer} == {datetime.date(1980, 1, 1), datetime.date(1990, 1, 1)}
    assert {row[1] for row in answer} >= {True, False}


def test_refusals(db: discreet.Database) -> None:
    before = db.budget().remaining
    with pytest.raises(discreet.RefusedError) as refused:
        db.ask("SELECT 'é',\n  * FROM patients")
    assert refused.value.position == "SELECT 'é',\n  * FROM patients".index("*")
    assert refused.value.suggestion and refused.value.spent is False
    assert "\n    * FROM patients\n    ^\n" in str(refused.value)
    with pytest.raises(discreet.RefusedError, match="age_"):
        db.ask("SELECT SUM(age_) FROM patients")
    with pytest.raises(discreet.PriceError):
        db.ask("SELECT COUNT(*) FROM patients", free=True)
    with pytest.raises(discreet.InvalidError, match="confidence"):
        db.ask("SELECT COUNT(*) FROM patients", confidence=2)
    with pytest.raises(discreet.InvalidError, match="there is no setting"):
        db.ask("SELECT COUNT(*) FROM patients", colour="red")
    assert db.budget().remaining == before
    error = pickle.loads(pickle.dumps(refused.value))
    assert type(error) is discreet.RefusedError and str(error) == str(refused.value) and error.position == refused.value.position


def test_budget_ends_in_the_middle(tmp_path: Path) -> None:
    with discreet.connect(write_policy(tmp_path, epsilon="0.55")) as db:
        paid = 0.0
        with pytest.raises(discreet.BudgetError) as ended:
            for age in range(20):
                paid += db.ask("SELECT COUNT(*) FROM patients WHERE age > $1", [age]).price.epsilon or 0
        assert paid == pytest.approx(0.5) and ended.value.spent is False
        left = db.budget().remaining
        assert left is not None and left.epsilon == pytest.approx(0.05)
        assert db.ask("SELECT COUNT(*) FROM patients WHERE age > $1", [3]).free


def test_what_there_is(db: discreet.Database) -> None:
    assert db.me() == {"name": "ana", "role": "analyst", "datasets": ["hospital"]}
    (table,) = db.tables()
    assert table.name == "patients" and {c["name"] for c in table.columns} == {"age", "sex", "diagnosis", "born", "smoker"}
    budget = db.budget()
    assert budget.dataset == "hospital" and budget.questions == 500 and "left" in str(budget)
    db.ask("SELECT COUNT(*) FROM patients")
    assert len(db.receipts()) == 1


def test_sparse(db: discreet.Database) -> None:
    with db.sparse(epsilon=5, above=2) as session:
        assert session.price.epsilon == 5 and session.left == 2
        assert not session.ask("SELECT COUNT(*) FROM patients WHERE age > 100", 500)
        assert session.ask("SELECT COUNT(*) FROM patients", 500)
        assert session.ask("SELECT COUNT(*) FROM patients WHERE sex = 'F'", 100).left == 0
        with pytest.raises((discreet.EndedError, discreet.NotFoundError)):
            session.ask("SELECT COUNT(*) FROM patients", 500)


def test_what_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(discreet.BinaryError, match="no policy file"):
        discreet.connect(tmp_path / "none.yaml")
    (tmp_path / "bad.yaml").write_text("datasets: 7")
    with pytest.raises(discreet.BinaryError, match="bad.yaml"):
        discreet.connect(tmp_path / "bad.yaml")
    with pytest.raises(discreet.BinaryError, match="postgresql"):
        discreet.connect("postgresql://localhost/x")
    two = write_policy(tmp_path, analysts="{ana: {share: 1}, ben: {share: 0.5}}")
    with pytest.raises(discreet.BinaryError, match="say which of ana, ben"):
        discreet.connect(two)
    with discreet.connect(two, analyst="ben") as db:
        assert db.me()["name"] == "ben"
        with pytest.raises(discreet.BinaryError, match="open"):  # one process holds a ledger
            discreet.connect(two, analyst="ana")


def test_questions_that_cannot_be_sent(db: discreet.Database) -> None:
    """What is too long is said to be, at once, and half of a character is not taken for another one."""
    begun = time.monotonic()
    with pytest.raises(discreet.InvalidError) as long:
        db.ask("SELECT COUNT(*) FROM patients WHERE sex = '" + "x" * 20_000_000 + "'")
    assert long.value.spent is False and time.monotonic() - begun < 20
    with pytest.raises(ValueError, match="surrogates"):
        db.ask("SELECT COUNT(*) FROM patients WHERE sex = $1", ["\ud800"])
    assert not db.receipts()
