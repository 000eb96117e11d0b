"""psycopg 3: client- and server-side parameters, prepared statements, pipeline, COPY, cursors, a pool."""

import asyncio

import psycopg
import psycopg.rows
import psycopg_pool
from psycopg.types import TypeInfo

from step import QUESTIONS, step, tool

tool("psycopg", "psycopg-pool")
connection = psycopg.connect("", autocommit=True)


def ask(sql, values=None, **options):
    c = connection.execute(sql, values, **options)
    return c.fetchall() if c.description else None


for name, sql in QUESTIONS:
    step(name, lambda: ask(sql))
step("list", lambda: ask("SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = %s", ("public",)))
step("columns", lambda: ask("SELECT column_name, udt_name FROM information_schema.columns WHERE table_name = %s", ("visits",)))
step("parameters", lambda: [
    ask("SELECT COUNT(*) FROM patients WHERE age > %s AND diagnosis = ANY(%s)", (40, ["flu", "asthma"])),
    ask("SELECT COUNT(*) FROM visits WHERE day >= %s AND arrived < %s", (__import__("datetime").date(2025, 3, 1), __import__("datetime").datetime(2025, 6, 1, 12))),
    ask("SELECT COUNT(*) FROM visits WHERE cost > %s", (__import__("decimal").Decimal("100.5"),)),
    ask("SELECT COUNT(*) FROM patients WHERE smoker = %(s)s", {"s": True}),
    ask("SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis ORDER BY 1 LIMIT %s OFFSET %s", (2, 1)),
    ask("SELECT COUNT(*) FROM patients WHERE cost > %s", (99.5,)),
])
step("binary", lambda: ask("SELECT sex, COUNT(*), AVG(cost) FROM patients WHERE age > %s GROUP BY sex", (20,), binary=True))
step("prepared", lambda: [ask("SELECT COUNT(*) FROM patients WHERE age > %s", (n,), prepare=True) for n in (20, 30)])


def server_cursor():
    with connection.transaction(), connection.cursor("reader") as c:
        c.execute("SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis")
        c.itersize = 2
        list(c)


def scrolled():
    with connection.transaction(), connection.cursor("scroller", scrollable=True) as c:
        c.execute("SELECT sex, COUNT(*) FROM patients GROUP BY sex")
        c.fetchone()
        c.scroll(0, mode="absolute")
        c.fetchmany(2)


def copy(how):
    def do():
        with connection.cursor().copy(f"COPY (SELECT sex, COUNT(*) FROM patients GROUP BY sex) TO STDOUT {how}") as c:
            for _ in c:
                pass
    return do


def pipeline():
    with connection.pipeline():
        a = connection.execute("SELECT COUNT(*) FROM patients")
        b = connection.execute("SELECT COUNT(*) FROM visits WHERE ward = %s", ("surgery",))
        return a.fetchone(), b.fetchone()


def client_side():
    with psycopg.connect("", cursor_factory=psycopg.ClientCursor) as c:
        c.execute("SELECT ward, COUNT(*) FROM visits WHERE cost > %s GROUP BY ward", (100,)).fetchall()


def stream():
    with connection.cursor() as c:
        return list(c.stream("SELECT sex, COUNT(*) FROM patients GROUP BY sex"))


def pool():
    with psycopg_pool.ConnectionPool("", min_size=1, max_size=2, check=psycopg_pool.ConnectionPool.check_connection) as p:
        with p.connection() as c:
            c.execute("SELECT COUNT(*) FROM wards").fetchone()


async def asynchronous():
    async with await psycopg.AsyncConnection.connect("") as c:
        await (await c.execute("SELECT sex, COUNT(*) FROM patients GROUP BY sex")).fetchall()


def modes():
    with psycopg.connect("") as c:
        c.isolation_level = psycopg.IsolationLevel.SERIALIZABLE
        c.read_only = True
        c.execute("SELECT COUNT(*) FROM visits").fetchone()


step("server cursor", server_cursor)
step("scroll", scrolled)
step("copy", copy(""))
step("copy csv", copy("(FORMAT csv)"))
step("copy binary", copy("(FORMAT binary)"))
step("pipeline", pipeline)
step("client cursor", client_side)
step("stream", stream)
step("pool", pool)
step("async", lambda: asyncio.run(asynchronous()))
step("modes", modes)
step("types", lambda: [TypeInfo.fetch(connection, "hstore"), TypeInfo.fetch(connection, "int8")])
step("rows as dictionaries", lambda: connection.cursor(row_factory=psycopg.rows.dict_row).execute("SELECT AVG(age) AS a FROM patients").fetchone())
