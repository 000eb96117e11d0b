"""A connection, for asyncio. Its twin for everybody else, _sync.py, is made of it by twin.py."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import quote

from ._answer import Answer, read
from ._errors import ConflictError, Error, NotFoundError
from ._transport import Response
from ._asend import AsyncTransport
from ._values import Budget, Count, Number, Price, Quote, Receipt, Score, Table, Training, Verdict, exactly, question


T = TypeVar("T")


def _document(body: bytes, _: str) -> Any:
    return json.loads(body)


def _labels(values: Sequence[Any]) -> list[Any]:
    return list(values.tolist()) if hasattr(values, "tolist") else list(values)


class AsyncDatabase:
    """A connection to a server, or to a policy on this machine. It can be used by many threads.

    Everything that is charged has a name for retries, ``request``, which is drawn where none is
    given: where the connection breaks it is sent again, and charged once.
    """

    def __init__(self, transport: AsyncTransport, dataset: str | None = None, closing: Callable[[], None] = lambda: None) -> None:
        self._transport = transport
        self._closing = closing
        self._lost: dict[str, str] = {}  # questions without an answer, and their names
        self.dataset = dataset

    async def __aenter__(self) -> AsyncDatabase:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._transport.name}{', ' + self.dataset if self.dataset else ''})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._transport, self.dataset)  # for as long as the process that opened it lives

    def __copy__(self) -> AsyncDatabase:
        return self

    def __deepcopy__(self, _: dict[int, Any]) -> AsyncDatabase:
        return self  # for clones of estimators: it closes with the last of them

    async def aclose(self) -> None:
        """Closes the connection, and with it a policy on this machine."""
        await self._transport.aclose()
        self._closing()

    async def _get(self, path: str) -> Any:
        return json.loads((await self._transport.send("GET", path)).body)

    async def _post(
        self, path: str, body: Mapping[str, Any], *, key: str | None = None, accept: str = "application/json", again: bool = True
    ) -> Response:
        headers = {"Content-Type": "application/json", "Accept": accept}
        if key is not None:
            headers["Idempotency-Key"] = key
        sql = body.get("sql") or body.get("features")
        # Half of a character would be another one for the server, and so another question.
        data = json.dumps({k: v for k, v in body.items() if v is not None}, ensure_ascii=False).encode()
        return await self._transport.send("POST", path, data, headers, again=again, sql=sql, request=key)

    async def _pay(
        self, path: str, body: Mapping[str, Any], request: str | None, of: Callable[[bytes, str], T], accept: str = "application/json"
    ) -> T:
        """Sends what is charged for under a name, and reads the answer.

        A name that was drawn is kept where the answer was lost, by Ctrl-C or with the connection, and is the name of the same
        question when that is asked again: it has been paid for.
        """
        what = path + json.dumps(body, sort_keys=True)
        lost = None if request else self._lost.pop(what, None)
        key = request or lost or "py-" + secrets.token_urlsafe(18)
        try:
            return of((await self._post(path, body, key=key, accept=accept)).body, key)
        except ConflictError:
            if lost is None:
                raise
        except BaseException as error:
            if request is None and not (isinstance(error, Error) and error.spent is False):
                self._lost[what] = key
            raise
        return await self._pay(path, body, None, of, accept)  # the data or the budget are others by now, and so is the question

    async def _name(self) -> str:
        """The dataset that is asked about."""
        if self.dataset is None:
            all_of_them = await self.datasets()
            if len(all_of_them) != 1:
                raise NotFoundError(
                    f"you may ask about {len(all_of_them)} datasets",
                    suggestion="name one of them: connect(..., dataset=...)",
                    kind="missing",
                )
            self.dataset = all_of_them[0]
        return self.dataset

    async def _path(self, *parts: str) -> str:
        return "/v1/datasets/" + "/".join(quote(p, safe="") for p in (await self._name(), *parts))

    def _question(
        self,
        sql: str,
        parameters: Sequence[Any] | None,
        epsilon: Number | None,
        error: Number | None,
        settings: Mapping[str, Any],
    ) -> dict[str, Any]:
        return {"dataset": self.dataset, **question(sql, parameters, epsilon, error, settings)}

    async def ask(
        self,
        sql: str,
        parameters: Sequence[Any] | None = None,
        *,
        epsilon: Number | None = None,
        error: Number | None = None,
        free: bool = False,
        sandbox: bool = False,
        request: str | None = None,
        confidence: float | None = None,
        **settings: Any,
    ) -> Answer:
        """Asks a question and pays for the answer.

            db.ask("SELECT COUNT(*) FROM patients WHERE age >= $1", [40], epsilon=0.1)

        ``parameters`` are the values of $1, $2, ..., which are never read as SQL. ``epsilon`` is what
        to pay, the policy's default where it is left out; or ``error`` asks for an error bar and takes
        the smallest price that has it. With ``free`` it is answered only where it costs nothing. With
        ``sandbox`` it is asked about people who do not exist, to try SQL out: the numbers mean
        nothing, nothing is spent, and ``price`` is the most it would cost on the data.
        ``confidence`` is the probability of the error bars, 0.95 unless given. Under the same
        ``request`` a question is charged once, however often it is sent; a name is drawn where none is
        given. Other settings are those of the server without ``dp.``: ``mechanism``, ``max_rows``,
        ``max_groups`` (a number or "auto"), ``max_sum``, ``values``, ``delta``, ``stream``, ``counts``.
        """
        body = self._question(sql, parameters, epsilon, error, {"confidence": confidence, **settings})
        if free:
            body["free"] = True
        if sandbox:
            body["sandbox"] = True
        return await self._pay("/v1/query", body, request, read, "application/x-ndjson")

    async def quote(
        self,
        sql: str,
        parameters: Sequence[Any] | None = None,
        *,
        epsilon: Number | None = None,
        error: Number | None = None,
        confidence: float | None = None,
        **settings: Any,
    ) -> Quote:
        """Says what a question would cost and how exact its answer would be. It is free.

        The arguments are those of ``ask``. An average is a quotient of noisy sums and counts, whose
        errors are said; its own is known with the answer.
        """
        body = self._question(sql, parameters, epsilon, error, {"confidence": confidence, **settings})
        return Quote.of(json.loads((await self._post("/v1/explain", body)).body))

    async def me(self) -> dict[str, Any]:
        """Who you are: name, role and datasets."""
        found: dict[str, Any] = await self._get("/v1/me")
        return found

    async def datasets(self) -> list[str]:
        """The datasets that you may ask about."""
        return list((await self._get("/v1/datasets"))["datasets"])

    async def budget(self) -> Budget:
        """What is spent, and what is left."""
        return Budget.of(await self._get(await self._path("budget")))

    async def tables(self) -> list[Table]:
        """The tables, with columns, bounds and keys, from the policy."""
        return [Table.of(t) for t in (await self._get(await self._path()))["tables"]]

    async def receipts(self, limit: int = 100) -> list[dict[str, Any]]:
        """Your own charges, newest first."""
        found = (await self._get(f"/v1/receipts?newest=true&limit={limit}"))["receipts"]
        return [{**r, "price": Price.of(r.get("cost") or {})} for r in found]

    @property
    def streams(self) -> AsyncStreams:
        """Streams by name: many counts on one budget."""
        return AsyncStreams(self)

    @property
    def holdouts(self) -> AsyncHoldouts:
        """Holdouts by name: test sets that you can ask again and again."""
        return AsyncHoldouts(self)

    async def sparse(
        self,
        *,
        epsilon: Number | None = None,
        above: int = 1,
        values: bool = False,
        sensitivity: int = 1,
        step: Number | None = None,
        signed: bool = False,
        request: str | None = None,
    ) -> AsyncSparse:
        """Opens a session of the sparse vector technique, which is charged for at once.

        Up to 10,000 questions whether a number is at or above a threshold, until ``above`` of
        them were. Then it has ended (:class:`EndedError`).
        """
        body = {
            "kind": "sparse",
            "dataset": self.dataset,
            "epsilon": None if epsilon is None else exactly(epsilon),
            "above": above,
            "values": values or None,
            "sensitivity": sensitivity,
            "step": None if step is None else exactly(step),
            "signed": signed or None,
        }
        key = request or "py-" + secrets.token_urlsafe(18)  # under which it is opened once, and never again
        return AsyncSparse(self, json.loads((await self._post("/v1/sessions", body, key=key)).body))

    def _training(self, features: str, target: str, epsilon: Number, evaluate: Number | None, spec: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "dataset": self.dataset,
            "features": features,
            "target": target,
            "epsilon": exactly(epsilon),
            "evaluate": None if evaluate is None else exactly(evaluate),
            **spec,
        }

    async def train(
        self, features: str, target: str, *, epsilon: Number, evaluate: Number | None = None, request: str | None = None, **spec: Any
    ) -> Training:
        """Trains a private classifier or regression on the server's rows, and pays for it."""
        body = self._training(features, target, epsilon, evaluate, spec)
        return Training.of(await self._pay("/v1/models", body, request, _document))

    async def quote_training(
        self, features: str, target: str, *, epsilon: Number, evaluate: Number | None = None, **spec: Any
    ) -> dict[str, Any]:
        """Says what a model would cost and how it would be trained. It is free."""
        body = self._training(features, target, epsilon, evaluate, spec)
        found: dict[str, Any] = json.loads((await self._post("/v1/models/quote", body)).body)
        return found


class AsyncSession:
    """A session on a stream or a holdout, opened when it is first needed, and again after it has ended."""

    def __init__(self, db: AsyncDatabase, kind: str, name: str) -> None:
        self._db = db
        self._kind = kind
        self._id: str | None = None
        self.name = name

    async def _send(self, what: str, body: Mapping[str, Any]) -> Any:
        for last in (False, True):
            if self._id is None:
                opened = {"kind": self._kind, "dataset": self._db.dataset, "name": self.name}
                self._id = json.loads((await self._db._post("/v1/sessions", opened)).body)["id"]
            try:
                return json.loads((await self._db._post(f"/v1/sessions/{self._id}/{what}", body)).body)
            except NotFoundError:  # it ended after an hour, or with the server; what it knew is kept
                if last:
                    raise
                self._id = None
        raise AssertionError


class AsyncStreams:
    """The streams of a dataset."""

    def __init__(self, db: AsyncDatabase) -> None:
        self._db = db

    def __getitem__(self, name: str) -> AsyncStream:
        return AsyncStream(self._db, "stream", name)

    async def all(self) -> list[dict[str, Any]]:
        """What the policy says about them."""
        return list((await self._db._get(await self._db._path("streams")))["streams"])


class AsyncStream(AsyncSession):
    """A stream: most counts follow from earlier answers, and are free."""

    async def ask(self, sql: str | None = None, **where: Sequence[str] | str) -> Count:
        """Counts people: by a condition, or by the labels of columns, as in ``ask(sex="F")``."""
        return Count.of(await self._send("ask", _condition(sql, where)))

    async def quote(self, sql: str | None = None, **where: Sequence[str] | str) -> dict[str, Any]:
        """How it would be answered, and the most it could cost. It is free."""
        found: dict[str, Any] = await self._send("explain", _condition(sql, where))
        return found

    async def synthetic(self) -> dict[str, Any]:
        """The table that the stream predicts. It is free."""
        found: dict[str, Any] = await self._db._get(await self._db._path("streams", self.name, "synthetic"))
        return found


def _condition(sql: str | None, where: Mapping[str, Sequence[str] | str]) -> dict[str, Any]:
    if sql is not None and where:
        raise ValueError("a question of a stream is either a condition or labels of columns, not both")
    return {"sql": sql} if sql is not None else {"where": {k: [v] if isinstance(v, str) else list(v) for k, v in where.items()}}


class AsyncHoldouts:
    """The holdouts of a dataset."""

    def __init__(self, db: AsyncDatabase) -> None:
        self._db = db

    def __getitem__(self, name: str) -> AsyncHoldout:
        return AsyncHoldout(self._db, "holdout", name)

    async def all(self) -> list[dict[str, Any]]:
        """What the policy says about them."""
        return list((await self._db._get(await self._db._path("holdouts")))["holdouts"])


class AsyncHoldout(AsyncSession):
    """A holdout that can be asked again."""

    async def score(
        self,
        predictions: Sequence[Any] | None = None,
        *,
        training: float | str | None = None,
        sql: str | None = None,
        ids: Sequence[Any] | None = None,
        name: str | None = None,
    ) -> Score:
        """Scores predictions, or an SQL expression with values from 0 to 1.

        ``training`` is the score on the training side; with a ``name`` it is on the board.
        """
        body = {
            "predictions": None if predictions is None else _labels(predictions),
            "ids": None if ids is None else _labels(ids),
            "sql": sql,
            "training": None if training is None else exactly(training),
            "name": name,
        }
        return Score.of(await self._send("ask", body))

    async def board(self) -> list[dict[str, Any]]:
        """Released scores, best first. It is free."""
        return list((await self._db._get(await self._db._path("holdouts", self.name, "board")))["lines"])


class AsyncSparse:
    """A session of the sparse vector technique. It ends with the server."""

    def __init__(self, db: AsyncDatabase, opened: Mapping[str, Any]) -> None:
        self._db = db
        self.id: str = opened["id"]
        self.price = Price.of(opened["cost"])
        self.left: int = opened.get("left", 0)
        self.receipt = Receipt.of({"sequence": opened.get("receipt", 0)})

    async def __aenter__(self) -> AsyncSparse:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def ask(self, sql: str, threshold: Number) -> Verdict:
        """Whether a number is at or above a threshold. It is sent only once, so a lost answer stays lost."""
        body = {"sql": sql, "threshold": exactly(threshold)}
        verdict = Verdict.of(json.loads((await self._db._post(f"/v1/sessions/{self.id}/ask", body, again=False)).body))
        self.left = verdict.left
        return verdict

    async def aclose(self) -> None:
        """Closes it. This refunds nothing."""
        try:
            await self._db._transport.send("DELETE", f"/v1/sessions/{self.id}")
        except NotFoundError:
            pass
