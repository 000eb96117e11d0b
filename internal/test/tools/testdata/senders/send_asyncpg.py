"""asyncpg: its pool, prepared statements, cursors, COPY, arrays, introspection of types."""

import asyncio
import datetime
import decimal
import io

import asyncpg

from step import QUESTIONS, begin, tool

tool("asyncpg")


async def step(name, do):
    begin(name)
    try:
        await do
        print(f"ok {name}", flush=True)
    except Exception as e:
        print(f"no {name} | {type(e).__name__}: {' '.join(str(e).split())[:300]}", flush=True)


async def cursor(c):
    async with c.transaction():
        return [r async for r in c.cursor("SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis", prefetch=2)]


async def by_hand(c):
    async with c.transaction():
        k = await c.cursor("SELECT sex, COUNT(*) FROM patients GROUP BY sex")
        await k.forward(1)
        await k.fetch(2)


async def prepared(c):
    s = await c.prepare("SELECT COUNT(*) FROM patients WHERE age >= $1 AND diagnosis = $2")
    s.get_attributes(), s.get_parameters()
    await s.fetchval(30, "flu")
    await s.fetchval(40, "asthma")


async def nested(c):
    async with c.transaction(isolation="repeatable_read", readonly=True):
        async with c.transaction():
            await c.fetchval("SELECT COUNT(*) FROM visits")


async def main():
    begin("connect")
    try:
        pool = await asyncpg.create_pool(min_size=1, max_size=2)
    except Exception as e:
        print(f"no connect | {type(e).__name__}: {e}")
        return
    print("ok connect")
    for name, sql in QUESTIONS:
        await step(name, pool.fetch(sql))
    async with pool.acquire() as c:
        await step("list", c.fetch("SELECT table_name FROM information_schema.tables WHERE table_schema = $1", "public"))
        await step("columns", c.fetch("SELECT column_name, data_type FROM information_schema.columns WHERE table_name = $1", "patients"))
        await step("parameters", c.fetch("SELECT COUNT(*) FROM patients WHERE age > $1 AND smoker = $2", 40, True))
        await step("any", c.fetch("SELECT diagnosis, COUNT(*) FROM patients WHERE diagnosis = ANY($1) GROUP BY diagnosis", ["flu", "asthma"]))
        await step("any number", c.fetch("SELECT COUNT(*) FROM patients WHERE age = ANY($1::bigint[])", [30, 31, 32]))
        await step("dates", c.fetch("SELECT COUNT(*) FROM visits WHERE day >= $1 AND arrived < $2", datetime.date(2025, 3, 1), datetime.datetime(2025, 6, 1, 12)))
        await step("decimals", c.fetch("SELECT COUNT(*) FROM visits WHERE cost >= $1", decimal.Decimal("100.50")))
        await step("limit", c.fetch("SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis ORDER BY 1 LIMIT $1 OFFSET $2", 2, 1))
        await step("limit cast", c.fetch("SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis ORDER BY 1 LIMIT $1::integer", 2))
        await step("prepared", prepared(c))
        await step("cursor", cursor(c))
        await step("cursor by hand", by_hand(c))
        await step("transactions", nested(c))
        await step("copy query", c.copy_from_query("SELECT sex, COUNT(*) FROM patients GROUP BY sex", output=io.BytesIO(), format="csv", header=True))
        await step("copy binary", c.copy_from_query("SELECT sex, COUNT(*) FROM patients WHERE age > $1 GROUP BY sex", 30, output=io.BytesIO(), format="binary"))
        await step("copy rows", c.copy_from_table("patients", output=io.BytesIO()))
        await step("settings", c.execute("SET TIME ZONE 'Europe/Zurich'; SET statement_timeout = 60000"))
        await step("codec", c.set_type_codec("json", encoder=str, decoder=str, schema="pg_catalog"))
        await step("listen", c.add_listener("news", lambda *a: None))
        await step("types", c.fetch("SELECT ARRAY['a', 'b'] AS x, now() AS t, '{}'::jsonb AS j"))
    await pool.close()


asyncio.run(main())
