"""Polars: read_database_uri by connectorx and by ADBC, read_database over SQLAlchemy and psycopg."""

import polars as pl
import psycopg
import sqlalchemy as sa

from step import QUESTIONS, URL, step, tool

tool("polars", "connectorx", "adbc-driver-postgresql")
for engine in ("connectorx", "adbc"):
    for name, sql in QUESTIONS[:-1]:
        step(f"{engine}: {name}", lambda: pl.read_database_uri(sql, URL, engine=engine))
engine = sa.create_engine(URL)
step("sqlalchemy: group", lambda: pl.read_database("SELECT sex, COUNT(*) AS n, AVG(cost) AS c FROM patients GROUP BY sex", engine))
step("sqlalchemy: batches", lambda: list(pl.read_database("SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis", engine, iter_batches=True, batch_size=2)))
step("psycopg: group", lambda: pl.read_database("SELECT sex, COUNT(*) AS n FROM patients WHERE age > %(a)s GROUP BY sex", psycopg.connect(""), execute_options={"params": {"a": 40}}))
step("write", lambda: pl.DataFrame({"a": [1]}).write_database("mine", URL, engine="adbc"))
