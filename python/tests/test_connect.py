"""The ways in, as people try them."""

from __future__ import annotations

import gc
import http.server
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import Server, write_policy

import discreet
from discreet import _binary
from discreet._answer import pair


def test_a_policy_that_is_open_here_can_be_connected_to_again(policy: Path) -> None:
    """As by who runs a cell of a notebook again."""
    first = discreet.connect(policy)
    asked = first.ask("SELECT COUNT(*) FROM patients")
    second = discreet.connect(policy)
    assert second.ask("SELECT COUNT(*) FROM patients").value == asked.value
    first.close()
    with pytest.raises(discreet.BinaryError, match="this connection is closed"):
        first.budget()
    assert second.ask("SELECT COUNT(*) FROM patients").free
    second.close()
    # Everything is closed: another program can have the ledger.
    shown = [str(_binary.find()), "query", "--policy", str(policy), "--as", "ana", "SELECT COUNT(*) FROM patients"]
    assert "free" in subprocess.run(shown, check=True, capture_output=True, text=True).stdout


def test_what_nobody_closed_is_closed_with_the_last(policy: Path) -> None:
    db = discreet.connect(policy)
    db = discreet.connect(policy)
    db.budget()
    del db
    gc.collect()
    shown = [str(_binary.find()), "query", "--policy", str(policy), "--as", "ana", "SELECT COUNT(*) FROM patients"]
    subprocess.run(shown, check=True, capture_output=True)


def test_threads_that_connect_at_once_share_it(policy: Path) -> None:
    found: list[int] = []

    def ask() -> None:
        with discreet.connect(policy) as db:
            found.append(db.ask("SELECT COUNT(*) FROM patients").value)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6 and len(set(found)) == 1


def test_a_policy_that_was_changed_is_read_again(tmp_path: Path) -> None:
    policy = write_policy(tmp_path)
    policy.write_text(policy.read_text().replace("{type: text, keys: [F, M, X]}", "{type: text}"))
    first = discreet.connect(policy)
    question = "SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex"
    with pytest.raises(discreet.RefusedError, match="no public keys"):
        first.ask(question)
    policy.write_text(policy.read_text().replace("sex:       {type: text}", "sex:       {type: text, keys: [F, M, X]}"))
    second = discreet.connect(policy)
    answer = second.ask(question)
    assert answer["sex"] == ["F", "M", "X"] and first.ask(question)["n"] == answer["n"]
    second.close()
    first.close()


def test_another_program_that_has_the_ledger(policy: Path) -> None:
    with discreet.connect(policy):
        tried = subprocess.run(
            [sys.executable, "-c", f"import discreet; discreet.connect({str(policy)!r})"], capture_output=True, text=True
        ).stderr
        assert "discreet.BinaryError" in tried and "db.close() in the other notebook" in tried


def test_analysts(tmp_path: Path) -> None:
    policy = write_policy(tmp_path, analysts="{ana: {share: 1}, ben: {share: 0.5}}")
    with pytest.raises(discreet.BinaryError, match=r"(?s)^the policy lists several analysts.*connect\(..., analyst=...\)"):
        discreet.connect(policy)
    with pytest.raises(discreet.BinaryError, match="ana, ben"):
        discreet.connect(policy, analyst="zoe")
    with discreet.connect(policy, analyst="ben") as db:
        assert db.me()["name"] == "ben"


@pytest.mark.parametrize(
    ("where", "words"),
    [("nowhere.yaml", "no policy file nowhere.yaml"), ("db.example:8432", "begins with https://"), ("patients.csv", "discreet init patients.csv")],
)
def test_what_is_no_policy(where: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("patients.csv").write_text("pid\n1\n")
    with pytest.raises(discreet.BinaryError, match=words):
        discreet.connect(where)


@pytest.fixture
def short() -> Iterator[None]:
    """What no patience helps with is said at once."""
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < 25


def test_what_is_no_server(server: Server, short: None) -> None:
    for where, words in [
        (f"https://127.0.0.1:{server.port}", "does not use TLS"),
        ("https://nowhere.invalid", "no host with this name"),
        (f"http://{server.postgres}", "this is the port for PostgreSQL clients"),
    ]:
        with pytest.raises(discreet.ConnectionLostError, match=words) as caught:
            discreet.connect(where, server.token).budget()
        assert caught.value.spent is False and caught.value.suggestion
    with pytest.raises(discreet.BinaryError, match="no certificate file nowhere.pem"):
        discreet.connect("https://127.0.0.1", server.token, ca="nowhere.pem")
    with pytest.raises(discreet.AuthenticationError, match="'discreet user token' makes one"):
        discreet.connect(server.url, "dsc_wrong").budget()


def test_a_page_is_no_server() -> None:
    page = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
    threading.Thread(target=page.serve_forever, daemon=True).start()
    with pytest.raises(discreet.Error, match="the server answered 404"):
        discreet.connect(f"http://127.0.0.1:{page.server_port}", "token").budget()
    page.shutdown()


def test_what_people_write_instead_of_parameters(db: discreet.Database) -> None:
    question = "SELECT COUNT(*) FROM patients WHERE sex = $1"
    for wrong in ("F", {"sex": "F"}, 0.1):
        with pytest.raises(TypeError, match="parameters must be a list"):
            db.ask(question, wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"\$1, \$2"):
        db.ask("SELECT COUNT(*) FROM patients WHERE sex = ?", ["F"])
    for nothing in ("", " \n", None):
        with pytest.raises(ValueError, match="a question must be SQL text"):
            db.ask(nothing)  # type: ignore[arg-type]
    assert not db.receipts()


def test_answers_can_be_looked_into(db: discreet.Database) -> None:
    answer = db.ask("SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex")
    assert answer["n"] == [row[1] for row in answer] and answer[0] == answer.rows[0] and answer[1:] == answer.rows[1:]
    assert answer["n_error"] == [30, 30, 30]
    with pytest.raises(KeyError, match="the columns are sex, n, n_error"):
        answer["m"]
    head, line, first, *_ = str(answer).split("\n")
    assert head == "sex    n  ±95%" and line == "---  ---  ----" and first.endswith("    30")
    for wrong in ("m", "sex"):
        with pytest.raises(ValueError, match="choose from n"):
            answer.plot(wrong)


def test_what_a_prompt_shows(db: discreet.Database, policy: Path) -> None:
    assert repr(db) == f"Database({policy})"
    assert repr(db.budget()) == "hospital: epsilon 50 left, about 500 questions at the default price"
    (table,) = db.tables()
    assert repr(table) == "patients(age, sex, diagnosis, born, smoker)"
    assert str(table).split("\n")[1:3] == ["  age integer, from 0 to 110", "  sex text, keys F, M, X"]
    db.ask("SELECT COUNT(*) FROM patients")
    assert str(db.receipts()[0]["price"]).startswith("epsilon 0.1")
    assert "connect" in dir(discreet) and "DiscreetClassifier" in dir(discreet) and "TYPE_CHECKING" not in dir(discreet)


def test_digits_end_where_the_error_begins() -> None:
    assert pair(44.641, 9.0347) == ("44.6", "9.0") and pair(54, 12.3, "real") == ("54", "12") and pair(0.12345, 0.0123) == ("0.123", "0.012")
    assert pair(1992, 3.0, "integer") == ("1992", "3") and pair(53.5, None) == ("53.5", "") and pair(None, None) == ("", "")
    assert pair(164416459.0, 1198293.0) == ("164,416,459", "1,198,293") and pair(float("nan"), 1.0) == ("nan", "1.0")
