"""SQLAlchemy: reflection, Core expressions, the ORM, with psycopg2, psycopg and asyncpg below."""

import asyncio
import datetime

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.ext.automap import automap_base
from sqlalchemy.orm import Session

from step import URL, step, tool

tool("SQLAlchemy")


def each(driver):
    engine = sa.create_engine(URL.replace("postgresql:", f"postgresql+{driver}:"))
    meta = sa.MetaData()

    def say(name, do):
        step(f"{driver}: {name}", do)

    def run(statement):
        with engine.connect() as c:
            return c.execute(statement).fetchall()

    say("connect", lambda: engine.connect().close())
    look = sa.inspect(engine) if try_connect(engine) else None
    if look is None:
        return
    say("list", lambda: [look.get_schema_names(), look.get_table_names(), look.get_view_names(), look.has_table("patients")])
    say("look", lambda: [look.get_columns("visits"), look.get_pk_constraint("patients"), look.get_foreign_keys("visits"), look.get_indexes("patients"),
                         look.get_unique_constraints("patients"), look.get_check_constraints("patients"), look.get_table_comment("patients"),
                         look.get_view_definition("elderly"), look.get_sequence_names(), look.get_enums()])
    say("reflect", lambda: meta.reflect(engine, views=True))
    say("multi", lambda: [look.get_multi_columns(), look.get_multi_foreign_keys()])
    v = sa.table("visits", *[sa.column(n) for n in ("pid", "day", "arrived", "ward")], sa.column("cost", sa.Numeric))
    p = sa.table("patients", *[sa.column(n) for n in ("pid", "age", "sex", "diagnosis", "smoker", "cost")])
    w = sa.table("wards", sa.column("ward"), sa.column("building"))
    n = sa.func.count().label("n")
    say("first rows", lambda: run(sa.select(p).limit(10)))
    say("count", lambda: run(sa.select(sa.func.count()).select_from(p)))
    say("group", lambda: run(sa.select(p.c.diagnosis, n, sa.func.avg(p.c.age)).group_by(p.c.diagnosis).order_by(n.desc())))
    say("by month", lambda: run(sa.select(sa.func.date_trunc("month", v.c.arrived).label("m"), n).group_by("m").order_by("m")))
    say("by year", lambda: run(sa.select(sa.extract("month", v.c.day).label("m"), n).group_by(sa.extract("month", v.c.day))))
    say("filter", lambda: run(sa.select(n).where(p.c.age > 40, p.c.sex.in_(["F", "M"]), p.c.diagnosis.ilike("%a%"))))
    say("dates", lambda: run(sa.select(v.c.ward, sa.func.sum(v.c.cost)).where(v.c.day.between(datetime.date(2025, 3, 1), datetime.date(2025, 5, 31))).group_by(v.c.ward)))
    say("case", lambda: run(sa.select(sa.case((p.c.age < 18, "young"), else_="old").label("g"), n).group_by("g")))
    say("join", lambda: run(sa.select(p.c.sex, n).select_from(p.join(v, p.c.pid == v.c.pid)).group_by(p.c.sex)))
    say("join public", lambda: run(sa.select(w.c.building, n).select_from(v.join(w, v.c.ward == w.c.ward)).group_by(w.c.building)))
    say("subquery", lambda: run(sa.select(sa.func.avg(sa.select(sa.func.count().label("n")).select_from(v).group_by(v.c.pid).subquery().c.n))))
    say("cast", lambda: run(sa.select(sa.cast(sa.func.avg(p.c.cost), sa.Float), sa.func.round(sa.func.avg(p.c.cost), 2))))
    say("window", lambda: run(sa.select(p.c.sex, n, sa.func.rank().over(order_by=sa.func.count().desc())).group_by(p.c.sex)))
    say("page", lambda: run(sa.select(p.c.diagnosis, n).group_by(p.c.diagnosis).order_by(p.c.diagnosis).limit(2).offset(2)))
    say("distinct", lambda: run(sa.select(v.c.ward).distinct()))
    say("exists", lambda: run(sa.select(n).select_from(p).where(sa.exists().where(v.c.pid == p.c.pid, v.c.ward == "surgery"))))
    say("text", lambda: run(sa.text("SELECT COUNT(*) FROM patients WHERE age > :a").bindparams(a=40)))
    say("public table", lambda: run(sa.select(w)))
    say("stream", lambda: streamed(engine, sa.select(p.c.diagnosis, n).group_by(p.c.diagnosis)))
    say("isolation", lambda: isolated(engine, sa.select(n).select_from(v)))
    say("write", lambda: write(engine, sa.insert(w).values(ward="new", building="east")))
    say("orm", lambda: orm(engine))
    say("orm row", lambda: orm_row(engine))
    engine.dispose()


def try_connect(engine):
    try:
        engine.connect().close()
        return True
    except Exception:
        return False


def streamed(engine, statement):
    with engine.connect().execution_options(stream_results=True, yield_per=2) as c:
        return list(c.execute(statement))


def isolated(engine, statement):
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as c:
        c.execute(statement).fetchall()
    with engine.connect().execution_options(isolation_level="SERIALIZABLE", postgresql_readonly=True) as c:
        c.execute(statement).fetchall()


def write(engine, statement):
    with engine.begin() as c:
        c.execute(statement)
        c.rollback()


def mapped(engine):
    base = automap_base()
    base.prepare(autoload_with=engine)
    return base.classes


def orm(engine):
    with Session(engine) as s:
        patients = mapped(engine).patients
        s.query(patients.sex, sa.func.count(patients.pid)).filter(patients.age > 30).group_by(patients.sex).all()
        s.query(patients).count()


def orm_row(engine):
    with Session(engine) as s:
        s.get(mapped(engine).patients, 37)


async def asynchronous():
    engine = create_async_engine(URL.replace("postgresql:", "postgresql+asyncpg:"))
    async with engine.connect() as c:
        (await c.execute(sa.text("SELECT sex, COUNT(*) FROM patients WHERE age > :a GROUP BY sex").bindparams(a=40))).fetchall()
        await c.run_sync(lambda s: sa.inspect(s).get_table_names())
        await c.run_sync(lambda s: sa.inspect(s).get_columns("visits"))
    await engine.dispose()


each("psycopg2")
each("psycopg")
step("asyncpg", lambda: asyncio.run(asynchronous()))
