"""ADBC's driver for PostgreSQL: DBAPI and Arrow, with and without COPY, its view of the catalogue."""

import adbc_driver_postgresql.dbapi as adbc
from adbc_driver_postgresql import StatementOptions

from step import QUESTIONS, URL, step, tool

tool("adbc-driver-postgresql", "adbc-driver-manager", "pyarrow")
connection = adbc.connect(URL, autocommit=True)


def ask(sql, values=None, copy=True):
    with connection.cursor() as c:
        if not copy:
            c.adbc_statement.set_options(**{StatementOptions.USE_COPY.value: False})
        c.execute(sql, values)
        return c.fetch_arrow_table()


for name, sql in QUESTIONS:
    step(name, lambda: ask(sql))
    step("without copy: " + name, lambda: ask(sql, copy=False))
step("parameters", lambda: ask("SELECT COUNT(*) FROM patients WHERE age > $1 AND diagnosis = $2", (40, "flu")))
step("objects", lambda: [connection.adbc_get_objects(depth=d).read_all() for d in ("catalogs", "db_schemas", "tables", "all")])
step("table types", connection.adbc_get_table_types)
step("table schema", lambda: connection.adbc_get_table_schema("patients"))
step("info", connection.adbc_get_info)
step("schema of a query", lambda: connection.cursor().adbc_execute_schema("SELECT sex, COUNT(*) FROM patients GROUP BY sex"))
step("prepare", lambda: connection.cursor().adbc_prepare("SELECT COUNT(*) FROM patients WHERE age > $1"))
connection.close()


def transaction():
    with adbc.connect(URL) as c, c.cursor() as k:
        k.execute("SELECT COUNT(*) FROM visits")
        k.fetchall()
        c.commit()


step("transaction", transaction)
