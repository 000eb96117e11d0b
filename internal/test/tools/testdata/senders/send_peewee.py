"""peewee: introspection, models, aggregates; Pony and Tortoise beside it."""

import asyncio

from step import DATABASE, HOST, PASSWORD, PORT, URL, USER, step, tool

import peewee
from playhouse.reflection import generate_models

tool("peewee", "pony", "tortoise-orm")
db = peewee.PostgresqlDatabase(DATABASE, host=HOST, port=PORT, user=USER, password=PASSWORD)
step("connect", lambda: db.connect())
models = {}


def say(name, do):
    step(name, do, lambda: db.rollback() if not db.is_closed() else None)


say("generate models", lambda: models.update(generate_models(db)))
say("look", lambda: [db.get_tables(), db.get_columns("visits"), db.get_indexes("patients"), db.get_foreign_keys("visits"), db.get_primary_keys("patients"), db.get_views(), db.sequence_exists("x")])
P, V, W = (models.get(n) for n in ("patients", "visits", "wards"))
if P:
    n = peewee.fn.COUNT(peewee.SQL("*"))
    say("first rows", lambda: list(P.select().limit(10)))
    say("one person", lambda: P.get_by_id(37))
    say("exists", lambda: P.select().where(P.age > 40).exists())
    say("count", lambda: P.select().count())
    say("count where", lambda: P.select().where((P.age > 40) & P.diagnosis.in_(["flu", "asthma"])).count())
    say("contains", lambda: P.select().where(P.diagnosis.contains("a")).count())
    say("group", lambda: list(P.select(P.diagnosis, n.alias("n"), peewee.fn.AVG(P.age).alias("a")).group_by(P.diagnosis).order_by(peewee.SQL("n").desc()).tuples()))
    say("scalar", lambda: P.select(peewee.fn.SUM(P.cost)).scalar())
    say("by month", lambda: list(V.select(peewee.fn.date_trunc("month", V.arrived).alias("m"), n).group_by(peewee.SQL("m")).tuples()))
    say("dates", lambda: list(V.select(V.day.month, n).group_by(V.day.month).tuples()))
    say("filter", lambda: list(P.select(P.sex, n.filter(P.age >= 65)).group_by(P.sex).tuples()))
    say("distinct", lambda: list(V.select(V.ward).distinct().tuples()))
    say("public table", lambda: list(W.select().order_by(W.ward)))
    say("write", lambda: W.create(ward="new", building="east", beds=1))
db.close()

from pony import orm  # noqa: E402

pony = orm.Database()


class Patients(pony.Entity):
    _table_ = "patients"
    pid = orm.PrimaryKey(int, size=64)
    age = orm.Required(int, size=64)
    sex = orm.Optional(str)
    diagnosis = orm.Optional(str)


@orm.db_session
def ask(do):
    do()


step("pony: connect", lambda: [pony.bind(provider="postgres", user=USER, password=PASSWORD, host=HOST, port=PORT, database=DATABASE), pony.generate_mapping(create_tables=False)])
if pony.provider:
    step("pony: count", lambda: ask(lambda: orm.count(p for p in Patients if p.age > 40)))
    step("pony: group", lambda: ask(lambda: orm.select((p.diagnosis, orm.count(p), orm.avg(p.age)) for p in Patients)[:]))
    step("pony: exists", lambda: ask(lambda: orm.exists(p for p in Patients if p.age > 40)))
    step("pony: first rows", lambda: ask(lambda: orm.select(p for p in Patients)[:10]))

from tortoise import Tortoise, fields  # noqa: E402
from tortoise.functions import Avg, Count, Sum  # noqa: E402
from tortoise.models import Model  # noqa: E402


class Visits(Model):
    pid = fields.BigIntField(primary_key=True)
    ward = fields.TextField()
    cost = fields.DecimalField(10, 2)

    class Meta:
        table = "visits"


async def tortoise():
    async def say(name, do):
        loop = asyncio.get_running_loop()
        future = do()
        error = None
        try:
            from step import begin

            begin(name)
            await future
        except Exception as e:
            error = e

        def told():
            if error:
                raise error

        await loop.run_in_executor(None, lambda: step(name, told))

    await say("tortoise: connect", lambda: Tortoise.init(db_url=URL.replace("postgresql:", "asyncpg:"), modules={"models": ["__main__"]}))
    await say("tortoise: count", lambda: Visits.all().count())
    await say("tortoise: group", lambda: Visits.annotate(n=Count("pid"), s=Sum("cost")).group_by("ward").values("ward", "n", "s"))
    await say("tortoise: exists", lambda: Visits.filter(ward="surgery").exists())
    await say("tortoise: average", lambda: Visits.annotate(a=Avg("cost")).group_by("ward").values("a"))
    await say("tortoise: first rows", lambda: Visits.all().limit(10))
    await Tortoise.close_connections()


asyncio.run(tortoise())
