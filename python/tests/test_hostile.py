"""Servers and people that mean harm: what they send, and where a token goes."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

import discreet

EVIL = "<script>alert(1)</script>'\"\x1b[2J\n\u202e"

Say = Callable[..., discreet.Database]


@pytest.fixture
def say() -> Iterator[Say]:
    """A server that says the same to everybody; called with what, it returns a connection to it."""
    said: tuple[int, bytes, dict[str, str]] = (200, b"", {})
    heard: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append(self.path)
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(said[0])
            for name, value in {**said[2], "Content-Length": str(len(said[1]))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(said[1])

        do_GET = do_POST

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()

    def connect(body: bytes, status: int = 200, **headers: str) -> discreet.Database:
        nonlocal said
        said = status, body, headers
        db = discreet.connect(f"http://127.0.0.1:{server.server_port}", token="secret", patience=0.2)
        db.heard = heard  # type: ignore[attr-defined]
        return db

    yield connect
    server.shutdown()
    server.server_close()


def sent(value: Any = 5, error: Any = 1.0, **meta: Any) -> bytes:
    """An answer with two rows."""
    names = [{"name": EVIL, "kind": kind, "noisy": kind != "text", "approximate": False} for kind in ("text", "integer")]
    first = {
        "columns": names,
        "cost": {"epsilon": 1},
        "remaining": {"epsilon": 1},
        "receipt": {"sequence": 1, "hash": EVIL},
        "confidence": 0.95,
        "notes": [EVIL],
        "data_version": {"number": 1},
        **meta,
    }
    rows = [{"row": [EVIL, value], "errors": [None, error]}, {"row": ["b", 7], "errors": [None, 2.0]}]
    return "\n".join(json.dumps(line) for line in [{"meta": first}, *rows, {"end": {"rows": 2}}]).encode()


@pytest.mark.parametrize(
    ("value", "error"),
    [(5, 1.0), (1, float("inf")), (float("nan"), 1), (1e308, 1e308), (10**400, 1), (5e-324, 0), ("<script>", 1), ({"a": "<script>"}, 1)],
    ids=str,
)
def test_answers_are_shown_as_texts(say: Say, value: Any, error: Any) -> None:
    answer = say(sent(value, error)).ask("SELECT 1")
    assert "<script" not in answer._repr_html_() and "&lt;script&gt;" in answer._repr_html_()
    shown = str(answer)
    assert not set(shown) & {"\x1b", "\u202e"} and len(shown.splitlines()) == 6


def test_dollars_are_no_formula(say: Say) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    body = sent().replace(json.dumps(EVIL).encode(), b'"$\\\\frac$"')
    say(body).ask("SELECT 1").plot().figure.canvas.draw()


def test_errors_are_texts(say: Say) -> None:
    problem = {"kind": "refused", "detail": "\x1b[2Jno", "instead": "\x1b[2J", "position": -3, "errors": "none", "spent": False}
    with pytest.raises(discreet.RefusedError) as refused:
        say(json.dumps(problem).encode(), 422).ask("SELECT 1")
    assert "\x1b" not in str(refused.value) and refused.value.position is None
    with pytest.raises(discreet.Error):
        say(b'{"kind": ["limit"], "position": 1e30, "errors": [1]}', 422).ask("SELECT 1")


@pytest.mark.parametrize("body", [b"", b"<html>", sent()[:-5], sent()[:-20], sent(1, "<b>"), sent(columns=[]), b"[" * 100_000], ids=range(7))
def test_what_is_no_answer(say: Say, body: bytes) -> None:
    """It may have been paid for, so the name under which it is not charged again is told."""
    with pytest.raises(discreet.Error, match="not an answer.*\n.*request='monday'") as broken:
        say(body).ask("SELECT 1", request="monday")
    assert broken.value.request == "monday"
    with pytest.raises(discreet.Error, match="request='py-"):
        say(body).ask("SELECT 1")


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_token_is_not_sent_elsewhere(say: Say, status: int) -> None:
    db = say(b"", status, Location="/elsewhere")
    with pytest.raises(discreet.Error, match="not followed"):
        db.ask("SELECT 1")
    assert db.heard == ["/v1/query"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("where", ["http://db.example", "http://10.0.0.1:8432", "http://localhost.example", "http://[2001:db8::1]"])
def test_a_token_is_not_sent_in_clear(where: str) -> None:
    with pytest.raises(discreet.AuthenticationError, match="does not use TLS"):
        discreet.connect(where, token="secret")


def test_a_token_is_not_in_an_address() -> None:
    for where in ("https://ana:secret@db.example", "https://db.example?token=secret"):
        with pytest.raises(discreet.BinaryError) as refused:
            discreet.connect(where, token="t")
        assert "secret" not in str(refused.value)


def test_a_token_of_two_lines(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    """http.client would say it in its error, and notebooks keep what is printed."""
    with pytest.raises(discreet.AuthenticationError) as refused:
        discreet.connect("http://127.0.0.1:9", token="secret\nsecret")
    assert "secret" not in str(refused.value)
    monkeypatch.setenv("DISCREET_TOKEN", "secret\n")  # as $(cat file) does not leave it, and a file does
    assert discreet.connect("http://127.0.0.1:9")._transport.endpoint().token == "secret"
