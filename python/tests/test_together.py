"""Several databases, asked as if they were one."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Server, write_policy

import discreet

BY_SEX = "SELECT sex, COUNT(*) AS n, AVG(age) AS age FROM patients GROUP BY sex ORDER BY sex"


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[discreet.Database, discreet.Database, Server]]:
    """A policy on this machine, and a server."""
    server = Server(write_policy(tmp_path_factory.mktemp("south")))
    with (
        discreet.connect(write_policy(tmp_path_factory.mktemp("north"))) as north,
        discreet.connect(server.url, token=server.token, patience=60) as south,
    ):
        yield north, south, server
    server.stop()


def test_together(sites: tuple[discreet.Database, discreet.Database, Server]) -> None:
    north, south, _ = sites
    group = discreet.together({"north": north, "south": south})
    quote = group.quote(BY_SEX, epsilon=1)
    assert quote.affordable and quote.quotes["north"].price.epsilon == 1 and quote.errors["age"] is None
    one = quote.quotes["north"].errors["count(*)"]
    assert one is not None and quote.errors["n"] == pytest.approx(1.4 * one, rel=0.2), "errors add up as squares, about"
    total = group.ask(BY_SEX, epsilon=1)
    assert [row[0] for row in total] == ["F", "M", "X"] and total.of == [2, 2, 2]
    assert all(1200 < row[1] < 1500 and 45 < row[2] < 60 for row in total)
    assert total.errors is not None and total.errors[0][1] == quote.errors["n"] and total.errors[0][0] is None
    assert total.shares["south"].price.epsilon == 1 and total.shares["north"].receipt.sequence > 0 and not total.free
    again = group.ask(BY_SEX, epsilon=1, request=total.request)
    assert again.rows == total.rows and len(north.receipts()) == len(south.receipts()) == 1
    assert "north: epsilon 1" in str(total) and "<svg" in total._repr_html_()
    assert list(total.to_dict()) == ["sex", "n", "n_error", "age", "age_error"]
    some = discreet.together([north, south]).ask("SELECT COUNT(*) FROM patients WHERE sex = $1 AND age >= $2", ["F", 30], error=20)
    assert 900 < some.value < 1300 and set(some.shares) == {"database 1", south._transport.endpoint().address}


def test_nothing_is_charged_where_one_says_no(sites: tuple[discreet.Database, discreet.Database, Server], tmp_path: Path) -> None:
    north, south, server = sites
    before = len(north.receipts())
    with pytest.raises(discreet.RefusedError) as refused:
        discreet.together([north, south]).ask("SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age) FROM patients")
    assert refused.value.spent is False
    with pytest.raises(discreet.RefusedError, match="the same data"):
        discreet.together({"a": south, "b": discreet.connect(server.url, token=server.token)}).ask(BY_SEX, epsilon=2)
    with discreet.connect(write_policy(tmp_path, epsilon="0.3")) as poor:
        group = discreet.together({"north": north, "poor": poor})
        with pytest.raises(discreet.BudgetError) as ended:
            group.ask("SELECT COUNT(*) FROM patients WHERE age > 33", epsilon=0.29)
            group.ask("SELECT COUNT(*) FROM patients WHERE age > 34", epsilon=0.29)
        assert ended.value.spent is False and [f["server"] for f in ended.value.failures] == ["poor"]
    assert len(north.receipts()) == before + 1
    with pytest.raises(discreet.UnavailableError, match="nobody was asked"):
        gone = discreet.connect("http://127.0.0.1:9", token="t")
        discreet.together({"north": north, "gone": gone}).ask("SELECT COUNT(*) FROM patients WHERE age > 35")
    assert len(north.receipts()) == before + 1
    with pytest.raises(discreet.AuthenticationError):
        wrong = discreet.connect(server.url, token="wrong")
        discreet.together({"north": north, "wrong": wrong}).ask("SELECT COUNT(*) FROM patients WHERE age > 36")


def test_certificates(tmp_path: Path) -> None:
    """A certificate of one's own counts where it is named, alone and together with others."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make a certificate with")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    subprocess.run(
        [*made, "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True
    )
    for folder in ("there", "here"):
        (tmp_path / folder).mkdir()
    server = Server(write_policy(tmp_path / "there"), (certificate, key))
    try:
        stranger = discreet.connect(server.url, token=server.token, patience=5)
        with pytest.raises(discreet.ConnectionLostError, match="certificate") as refused:
            stranger.ask("SELECT COUNT(*) FROM patients")
        assert refused.value.spent is False
        there = discreet.connect(server.url, token=server.token, ca=certificate)
        assert 1900 < there.ask("SELECT COUNT(*) FROM patients", epsilon=1).value < 2100
        with discreet.connect(write_policy(tmp_path / "here")) as here:
            assert 3800 < discreet.together([here, there]).ask("SELECT COUNT(*) FROM patients", epsilon=1).value < 4200
            with pytest.raises(discreet.UnavailableError, match="certificate"):
                discreet.together([here, stranger]).ask("SELECT COUNT(*) FROM patients WHERE age > 40")
    finally:
        server.stop()


def test_an_answer_that_was_lost(sites: tuple[discreet.Database, discreet.Database, Server], monkeypatch: pytest.MonkeyPatch) -> None:
    """The same question after Ctrl-C has the name that it had, which nobody charges twice."""
    group = discreet.together({"north": sites[0], "south": sites[1]})
    send, names = group._send, []

    def interrupted(path: str, body: dict[str, Any]) -> dict[str, Any]:
        names.append(body["request"])
        found = send(path, body)
        if len(names) == 1:
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(group, "_send", interrupted)
    question = "SELECT COUNT(*) FROM patients WHERE age < 31"
    with pytest.raises(KeyboardInterrupt):
        group.ask(question)
    assert group.ask(question).free and names[0] == names[1]
    group.ask(question)
    assert names[2] != names[0]
