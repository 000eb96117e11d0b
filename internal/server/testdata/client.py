"""A psycopg client that does what scripts and tools do. It prints no noisy value."""
import datetime
import decimal
import sys

import psycopg

address, user, password = sys.argv[1:4]
host, port, database = address.split("/")
where = dict(host=host, port=port, dbname=database, user=user, password=password)

with psycopg.connect(**where, autocommit=True) as c:
    c.add_notice_handler(lambda d: print("notice", d.message_primary.split(":")[0]))
    for row in c.execute("SELECT sex, COUNT(*), AVG(age) FROM patients GROUP BY sex ORDER BY sex"):
        print("row", row[0], type(row[1]).__name__, type(row[2]).__name__)
    for binary in (False, True):
        cur = c.cursor(binary=binary)
        cur.execute("SELECT COUNT(*) FROM patients WHERE age >= %s AND sex = %s AND cost < %s", (40, "F", decimal.Decimal("2500.50")), prepare=True)
        print("parameters", binary, cur.fetchone()[0] > 0)
        cur.execute("SELECT COUNT(*) FROM visits WHERE day BETWEEN %s AND %s", (datetime.date(2025, 6, 1), datetime.date(2025, 12, 31)))
        print("dates", binary, cur.fetchone()[0] > 0)
    # Clients decode binary values by the type that was announced: these are the same as in text.
    typed = ("SELECT sex, SUM(age), SUM(CASE WHEN age > 50 THEN 1::bigint ELSE 0 END), AVG(age), STDDEV(cost), AVG(cost::float8), SUM(cost) / COUNT(*), "
             "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age), COUNT(*) > 5, COUNT(*)::int, ROUND(AVG(age), 2), MAX(cost) FROM patients GROUP BY sex",
             "SELECT DATE_TRUNC('month', day), DATE_TRUNC('month', day::timestamp), EXTRACT(month FROM DATE_TRUNC('month', day)), COUNT(*) FROM visits "
             "WHERE day >= '2025-01-01' AND day < '2026-01-01' GROUP BY DATE_TRUNC('month', day), DATE_TRUNC('month', day::timestamp)",
             "SELECT n, n * 1.5, LAG(n) OVER (ORDER BY n), RANK() OVER (ORDER BY n), SUM(n) OVER () FROM (SELECT COUNT(*) AS n FROM patients GROUP BY sex) AS t")
    texts = []
    for sql in typed:
        both = [sorted(map(str, c.cursor(binary=binary).execute(sql).fetchall())) for binary in (False, True)]
        texts.append(both[0])
        print("the same in binary", both[0] == both[1], len(both[0]))
        print("types", *[type(v).__name__ for v in c.execute(sql).fetchone()])
    try:
        c.execute("SELECT pid FROM patients")
    except psycopg.Error as e:
        print("refused", e.sqlstate, e.diag.message_hint is not None)
    c.execute("SET dp.epsilon = '0.01'")
    print("setting", c.execute("SHOW dp.epsilon").fetchone()[0])
    print("plan", "price:" in "\n".join(r[0] for r in c.execute("EXPLAIN SELECT COUNT(*) FROM patients")))
    with c.transaction():
        c.execute("SELECT COUNT(*) FROM patients")
    with c.pipeline():
        first = c.execute("SELECT COUNT(*) FROM patients")
        second = c.execute("SELECT COUNT(*) FROM patients")
    print("pipeline", first.fetchone() == second.fetchone())
    print("server", c.info.server_version, c.info.parameter_status("TimeZone"))

try:
    psycopg.connect(**{**where, "password": "wrong"})
    print("let in")
except psycopg.OperationalError as e:
    print("wrong password")

try:  # asyncpg asks for everything in binary; where it is at hand it says the same
    import asyncio
    import asyncpg

    async def ask():
        c = await asyncpg.connect(host=host, port=int(port), database=database, user=user, password=password, ssl=False)
        try:
            return [sorted(str(tuple(r)) for r in await c.fetch(sql)) for sql in typed]
        finally:
            await c.close()

    if asyncio.run(ask()) != texts:
        print("asyncpg reads other values")
except ImportError:
    pass

try:
    import sqlalchemy
except ImportError:
    sys.exit()
url = sqlalchemy.URL.create("postgresql+psycopg", username=user, password=password, host=host, port=int(port), database=database)
engine = sqlalchemy.create_engine(url)
looked = sqlalchemy.inspect(engine)
print("tables", sorted(looked.get_table_names()))
print("columns", [(x["name"], str(x["type"])) for x in looked.get_columns("visits")])
looked.get_foreign_keys("visits"), looked.get_indexes("patients"), looked.get_pk_constraint("patients")
with engine.connect() as c:
    print("sqlalchemy", c.execute(sqlalchemy.text("SELECT COUNT(*) FROM patients WHERE age > :a"), {"a": 50}).scalar() > 0)
