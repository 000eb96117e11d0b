"""pandas: read_sql, read_sql_table, chunks, to_sql."""

import pandas as pd
import psycopg2
import sqlalchemy as sa

from step import QUESTIONS, URL, step, tool

tool("pandas", "SQLAlchemy", "psycopg2-binary")
engine = sa.create_engine(URL)
for name, sql in QUESTIONS[:-1]:
    step(name, lambda: pd.read_sql(sql, engine))
step("parameters", lambda: pd.read_sql(sa.text("SELECT sex, COUNT(*) FROM patients WHERE age > :a GROUP BY sex"), engine, params={"a": 40}))
step("dates", lambda: pd.read_sql("SELECT day, COUNT(*) FROM visits GROUP BY day ORDER BY day", engine, parse_dates=["day"], index_col="day"))
step("chunks", lambda: list(pd.read_sql("SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis", engine, chunksize=2)))
step("chunks streamed", lambda: list(pd.read_sql("SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis", engine.connect().execution_options(stream_results=True), chunksize=2)))
step("plain connection", lambda: pd.read_sql_query("SELECT sex, AVG(cost) FROM patients GROUP BY sex", psycopg2.connect("")))
step("public table", lambda: pd.read_sql_table("wards", engine))
step("table", lambda: pd.read_sql_table("patients", engine))
step("table columns", lambda: pd.read_sql_table("patients", engine, columns=["age", "sex"]))
step("table by name", lambda: pd.read_sql("visits", engine))
step("write", lambda: pd.DataFrame({"a": [1]}).to_sql("discreet_new", engine, if_exists="replace", index=False))
