"""psycopg2: plain cursors, parameters, a named cursor, COPY, pandas-like fetches."""

import io

import psycopg2
import psycopg2.extras

from step import QUESTIONS, step, tool

tool("psycopg2-binary")
connection = psycopg2.connect("")


def ask(sql, values=None):
    with connection.cursor() as c:
        c.execute(sql, values)
        return c.fetchall() if c.description else None


for name, sql in QUESTIONS:
    step(name, lambda: ask(sql), connection.rollback)
step("list", lambda: ask("SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema NOT IN ('pg_catalog', 'information_schema')"), connection.rollback)
step("columns", lambda: ask("SELECT column_name, data_type, is_nullable FROM information_schema.columns WHERE table_name = %s ORDER BY ordinal_position", ("patients",)), connection.rollback)
step("parameters", lambda: [
    ask("SELECT COUNT(*) FROM patients WHERE age > %s AND diagnosis IN %s", (40, ("flu", "asthma"))),
    ask("SELECT COUNT(*) FROM patients WHERE diagnosis = ANY(%s)", (["flu", "asthma"],)),
    ask("SELECT COUNT(*) FROM patients WHERE diagnosis LIKE %(like)s", {"like": "%a%"}),
], connection.rollback)


def named():
    with connection.cursor("reader") as c:
        c.itersize = 2
        c.execute("SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis")
        return list(c)


def copy():
    with connection.cursor() as c:
        c.copy_expert("COPY (SELECT sex, COUNT(*) FROM patients GROUP BY sex) TO STDOUT WITH CSV HEADER", io.StringIO())


def copy_to():
    with connection.cursor() as c:
        c.copy_to(io.StringIO(), "patients", columns=("age", "sex"))


def dictionary():
    with connection.cursor(cursor_factory=psycopg2.extras.RealDictCursor) as c:
        c.execute("SELECT sex, AVG(cost) FROM patients GROUP BY sex")
        return c.fetchmany(2)


def auto():
    connection.rollback()
    connection.set_session(readonly=True, autocommit=True, isolation_level="REPEATABLE READ")
    ask("SELECT COUNT(*) FROM visits")
    connection.set_session(autocommit=False)
    connection.set_client_encoding("UTF8")


step("named cursor", named, connection.rollback)
step("copy", copy, connection.rollback)
step("copy rows", copy_to, connection.rollback)
step("dictionaries", dictionary, connection.rollback)
step("session", auto, connection.rollback)
step("types", lambda: psycopg2.extras.register_uuid(conn_or_curs=connection), connection.rollback)
step("json types", lambda: psycopg2.extras.register_default_jsonb(connection), connection.rollback)
step("hstore", lambda: psycopg2.extras.HstoreAdapter.get_oids(connection), connection.rollback)
step("reset", connection.reset)
step("commit", connection.commit)
