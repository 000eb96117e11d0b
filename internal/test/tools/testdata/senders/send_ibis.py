"""Ibis: tables, expressions, and what its compiler makes of them."""

import ibis

from step import DATABASE, HOST, PASSWORD, PORT, USER, step, tool

tool("ibis-framework", "psycopg")
con = None


def connect():
    global con
    con = ibis.postgres.connect(host=HOST, port=PORT, user=USER, password=PASSWORD, database=DATABASE)


step("connect", connect)
if con is None:
    raise SystemExit
step("list", lambda: [con.list_tables(), con.list_databases(), con.list_catalogs(), con.version])
p = v = w = None


def tables():
    global p, v, w
    p, v, w = con.table("patients"), con.table("visits"), con.table("wards")


step("tables", tables)
step("table in schema", lambda: con.table("patients", database="public"))
if p is None:
    raise SystemExit
step("first rows", lambda: p.head(10).execute())
step("count", lambda: p.count().execute())
step("group", lambda: p.group_by("diagnosis").agg(n=p.count(), age=p.age.mean()).order_by(ibis.desc("n")).execute())
step("filter", lambda: p.filter([p.age > 40, p.diagnosis.isin(["flu", "asthma"])]).sex.value_counts().execute())
step("by month", lambda: v.group_by(month=v.arrived.truncate("M")).agg(n=v.count(), cost=v.cost.sum()).order_by("month").execute())
step("by year", lambda: v.group_by(y=v.day.year(), m=v.day.month()).agg(n=v.count()).execute())
step("dates", lambda: v.filter(v.day.between("2025-03-01", "2025-05-31")).group_by("ward").agg(c=v.cost.mean()).execute())
step("join", lambda: (lambda j: j.group_by("sex").agg(n=j.count()))(p.join(v, "pid")).execute())
step("join public", lambda: (lambda j: j.group_by("building").agg(n=j.count()))(v.join(w, "ward")).execute())
step("case", lambda: (lambda t: t.group_by("g").agg(n=t.count()))(p.mutate(g=ibis.cases((p.age < 18, "child"), else_="adult"))).execute())
step("bucket", lambda: p.age.histogram(binwidth=10, base=0).name("b").value_counts().execute())
step("people", lambda: v.pid.nunique().execute())
step("median", lambda: p.agg(m=p.age.median(), s=p.age.std(), lo=p.age.min(), hi=p.age.max()).execute())
step("quantile", lambda: p.age.quantile(0.9).execute())
step("each person", lambda: (lambda t: t.agg(m=t.n.mean()))(v.group_by("pid").agg(n=v.count())).execute())
step("distinct", lambda: v.select("ward").distinct().execute())
step("top", lambda: p.diagnosis.topk(3).execute())
step("share", lambda: (lambda t: t.mutate(s=t.n / t.n.sum()))(p.group_by("sex").agg(n=p.count())).execute())
step("page", lambda: p.group_by("diagnosis").agg(n=p.count()).order_by("diagnosis").limit(2, offset=2).execute())
step("cast", lambda: p.agg(m=p.cost.cast("float64").mean(), r=p.age.mean().round(2)).execute())
step("describe", lambda: w.describe().execute())
step("public table", lambda: w.execute())
step("arrow", lambda: p.group_by("sex").agg(n=p.count()).to_pyarrow())
step("batches", lambda: list(p.group_by("sex").agg(n=p.count()).to_pyarrow_batches(chunk_size=2)))
step("sql", lambda: con.sql("SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex").execute())
step("raw sql", lambda: con.raw_sql("SELECT COUNT(*) FROM patients").fetchall())
step("schema of sql", lambda: con.sql("SELECT ward, AVG(cost) AS c FROM visits GROUP BY ward").schema())
step("write", lambda: con.create_table("mine", schema=ibis.schema({"a": "int64"})))
