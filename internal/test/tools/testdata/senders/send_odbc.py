"""psqlODBC through pyodbc: the catalogue functions of ODBC, parameters, its settings; and isql."""

import datetime
import decimal
import os
import subprocess

import pyodbc

from step import DATABASE, HOST, PASSWORD, PORT, QUESTIONS, USER, begin, step, tool

tool("pyodbc")
DRIVER = os.environ.get("DISCREET_ODBC", "/usr/lib/x86_64-linux-gnu/odbc/psqlodbcw.so")


def address(**more):
    return ";".join([f"DRIVER={DRIVER}", f"SERVER={HOST}", f"PORT={PORT}", f"DATABASE={DATABASE}", f"UID={USER}", f"PWD={PASSWORD}"] + [f"{k}={v}" for k, v in more.items()])


connection = None


def connect():
    global connection
    connection = pyodbc.connect(address(), autocommit=True)
    print("tool psqlODBC", connection.getinfo(pyodbc.SQL_DRIVER_VER))


step("connect", connect)
if connection is None:
    raise SystemExit
c = connection.cursor()


def ask(sql, *values):
    k = connection.cursor()
    k.execute(sql, *values)
    return k.fetchall() if k.description else None


step("list", lambda: [list(c.tables()), list(c.tables(schema="public", tableType="TABLE")), list(c.tables(catalog="%", schema="", table="")), list(c.tables(schema="%", catalog="", table=""))])
step("columns", lambda: list(c.columns(table="visits", schema="public")))
step("keys", lambda: [list(c.primaryKeys("patients", schema="public")), list(c.foreignKeys(foreignTable="visits")), list(c.statistics("patients")), list(c.rowIdColumns("patients"))])
step("types", lambda: list(c.getTypeInfo()))
step("procedures", lambda: list(c.procedures()))
for name, sql in QUESTIONS:
    step(name, lambda: ask(sql))
step("parameters", lambda: ask("SELECT COUNT(*) FROM patients WHERE age > ? AND diagnosis = ? AND smoker = ?", 40, "flu", True))
step("dates", lambda: ask("SELECT COUNT(*) FROM visits WHERE day >= ? AND arrived < ?", datetime.date(2025, 3, 1), datetime.datetime(2025, 6, 1, 12)))
step("decimals", lambda: ask("SELECT COUNT(*) FROM visits WHERE cost > ?", decimal.Decimal("100.50")))
step("limit", lambda: ask("SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis ORDER BY 1 LIMIT ?", 2))
step("escapes", lambda: ask("SELECT COUNT(*) FROM visits WHERE day >= {d '2025-03-01'} AND arrived < {ts '2025-06-01 00:00:00'}"))


def declared():
    with pyodbc.connect(address(UseDeclareFetch=1, Fetch=2)) as k:
        k.cursor().execute("SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis").fetchall()


def manual():
    with pyodbc.connect(address()) as k:
        k.cursor().execute("SELECT COUNT(*) FROM visits").fetchall()
        k.rollback()


def spreadsheet():
    with pyodbc.connect(address(ReadOnly=1, MaxVarcharSize=255, BoolsAsChar=1, Protocol="7.4-1", UseServerSidePrepare=0, ByteaAsLongVarBinary=1), autocommit=True) as k:
        k.cursor().execute('SELECT "patients"."sex", COUNT("patients"."pid") FROM "public"."patients" "patients" GROUP BY "patients"."sex"').fetchall()


def isql():
    begin("isql")
    sql = "SELECT sex, COUNT(*) FROM patients GROUP BY sex\nhelp patients\n"
    r = subprocess.run(["isql", "-b", "-v", "-k", address()], input=sql, text=True, capture_output=True)
    if r.returncode or "ERROR" in r.stdout + r.stderr:
        raise RuntimeError(r.stdout + r.stderr)


step("declare", declared)
step("manual commit", manual)
step("spreadsheet", spreadsheet)
step("isql", isql)
