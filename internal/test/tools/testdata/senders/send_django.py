"""Django: inspectdb, models over tables that it does not manage, aggregates, exists, its own SQL."""

import datetime
import io

import django
from django.conf import settings

from step import DATABASE, HOST, PASSWORD, PORT, USER, begin, step, tool

tool("Django", "psycopg")
begin("connect")
settings.configure(
    DATABASES={"default": {"ENGINE": "django.db.backends.postgresql", "NAME": DATABASE, "HOST": HOST, "PORT": PORT, "USER": USER, "PASSWORD": PASSWORD}},
    INSTALLED_APPS=["django.contrib.contenttypes"], DEFAULT_AUTO_FIELD="django.db.models.BigAutoField", USE_TZ=False, TIME_ZONE="UTC")
django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection, models, transaction  # noqa: E402
from django.db.models import Avg, Case, Count, F, Max, Min, OuterRef, Q, StdDev, Subquery, Sum, Value, When, Exists  # noqa: E402
from django.db.models.functions import Coalesce, ExtractYear, Lower, TruncDate, TruncMonth, Floor, Cast  # noqa: E402


class Patient(models.Model):
    pid = models.BigIntegerField(primary_key=True)
    age = models.BigIntegerField()
    sex = models.TextField()
    diagnosis = models.TextField()
    smoker = models.BooleanField()
    cost = models.DecimalField(max_digits=10, decimal_places=2)

    class Meta:
        app_label, managed, db_table = "hospital", False, "patients"


class Visit(models.Model):
    patient = models.OneToOneField(Patient, models.DO_NOTHING, db_column="pid", primary_key=True)
    day = models.DateField()
    arrived = models.DateTimeField()
    ward = models.TextField()
    cost = models.DecimalField(max_digits=10, decimal_places=2)

    class Meta:
        app_label, managed, db_table = "hospital", False, "visits"


class Ward(models.Model):
    ward = models.TextField(primary_key=True)
    building = models.TextField()
    beds = models.BigIntegerField()

    class Meta:
        app_label, managed, db_table = "hospital", False, "wards"


P, V, W = Patient.objects, Visit.objects, Ward.objects


def undo():
    connection.close()


def say(name, do):
    step(name, do, undo)


def raw(sql, *values):
    with connection.cursor() as c:
        c.execute(sql, values)
        return c.fetchall()


def iterate():
    with transaction.atomic():
        return list(P.values("diagnosis").annotate(n=Count("*")).iterator(chunk_size=2))


say("connect", lambda: connection.ensure_connection())
say("inspectdb", lambda: call_command("inspectdb", stdout=io.StringIO()))
say("inspectdb views", lambda: call_command("inspectdb", "--include-views", stdout=io.StringIO()))
say("introspect", lambda: [connection.introspection.get_sequences(connection.cursor(), "patients"), connection.introspection.get_constraints(connection.cursor(), "visits")])
say("migrations", lambda: call_command("showmigrations", stdout=io.StringIO()))
say("first rows", lambda: list(P.all()[:10]))
say("one person", lambda: P.get(pid=37))
say("exists", lambda: P.filter(age__gt=40).exists())
say("count", lambda: P.count())
say("count where", lambda: P.filter(Q(age__gt=40) & (Q(sex="F") | Q(sex="M")), diagnosis__in=["flu", "asthma"]).count())
say("like", lambda: P.filter(diagnosis__startswith="f").count())
say("ilike", lambda: P.filter(diagnosis__icontains="A").count())
say("aggregate", lambda: P.aggregate(Avg("age"), Sum("cost"), StdDev("age")))
say("largest", lambda: P.aggregate(Max("age"), Min("age")))
say("group", lambda: list(P.values("diagnosis").annotate(n=Count("*"), a=Avg("age")).order_by("-n")))
say("group filter", lambda: list(P.values("sex").annotate(n=Count("pid", filter=Q(age__gte=65)), m=Count("pid", distinct=True))))
say("having", lambda: list(P.values("diagnosis").annotate(n=Count("*")).filter(n__gt=5)))
say("case", lambda: list(P.annotate(g=Case(When(age__lt=18, then=Value("young")), default=Value("old"))).values("g").annotate(n=Count("*"))))
say("count case", lambda: P.aggregate(n=Count(Case(When(smoker=True, then=F("pid"))))))
say("coalesce", lambda: P.aggregate(n=Coalesce(Sum("age", filter=Q(sex="F")), 0)))
say("by month", lambda: list(V.annotate(m=TruncMonth("arrived")).values("m").annotate(n=Count("*")).order_by("m")))
say("by date", lambda: list(V.filter(arrived__date__lt=datetime.date(2025, 1, 8)).annotate(d=TruncDate("arrived")).values("d").annotate(n=Count("*"))))
say("by year", lambda: list(V.annotate(y=ExtractYear("day")).values("y").annotate(s=Sum("cost"))))
say("dates", lambda: V.filter(day__range=(datetime.date(2025, 3, 1), datetime.date(2025, 5, 31))).aggregate(Sum("cost")))
say("join", lambda: list(V.values("patient__sex", "ward").annotate(n=Count("*"))))
say("subquery", lambda: P.filter(Exists(V.filter(patient=OuterRef("pk"), ward="surgery"))).count())
say("in subquery", lambda: P.filter(pid__in=V.filter(ward="surgery").values("patient")).count())
say("bins", lambda: list(P.annotate(b=Cast(Floor(F("age") / 10), models.IntegerField())).values("b").annotate(n=Count("*")).order_by("b")))
say("page", lambda: list(P.values("diagnosis").annotate(n=Count("*")).order_by("diagnosis")[2:4]))
say("lower", lambda: list(P.annotate(s=Lower("sex")).values("s").annotate(n=Count("*"))))
say("public table", lambda: list(W.order_by("ward")))
say("public exists", lambda: W.filter(ward="surgery").exists())
say("public sum", lambda: W.aggregate(Sum("beds"), Avg("beds"), Max("beds")))
say("iterate", iterate)
say("raw", lambda: raw("SELECT sex, COUNT(*) FROM patients WHERE age > %s GROUP BY sex", 40))
say("write", lambda: W.create(ward="new", building="east", beds=1))
say("check", lambda: call_command("check", databases=["default"], stdout=io.StringIO()))
