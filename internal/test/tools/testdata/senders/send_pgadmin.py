"""pgAdmin 4 without its window: its tree, the properties of what is in it, the dashboard, the query tool, and the data of a table."""

import builtins
import json
import logging
import os
import random
import sys
import warnings
from importlib.metadata import distribution, version

os.environ["HOME"] = os.environ["DISCREET_SCRATCH"]
warnings.simplefilter("ignore")
builtins.SERVER_MODE = False
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, str(distribution("pgadmin4").locate_file("pgadmin4")))
shown, sys.stdout = sys.stdout, sys.stderr
import config  # noqa: E402

config.MASTER_PASSWORD_REQUIRED = False
config.USE_OS_SECRET_STORAGE = False
config.UPGRADE_CHECK_ENABLED = False
config.CONSOLE_LOG_LEVEL = config.FILE_LOG_LEVEL = logging.CRITICAL
os.makedirs(config.DATA_DIR, exist_ok=True)
import setup  # noqa: E402
from pgadmin import create_app  # noqa: E402
from pgadmin.model import SCHEMA_VERSION  # noqa: E402
from pgadmin.utils.constants import INTERNAL  # noqa: E402

config.SETTINGS_SCHEMA_VERSION = SCHEMA_VERSION
app = create_app()
app.config["sessions"] = {}
app.config["WTF_CSRF_ENABLED"] = False
app.PGADMIN_EXTERNAL_AUTH_SOURCE = INTERNAL
app.PGADMIN_RUNTIME, app.PGADMIN_INT_KEY = True, ""
setup.setup_db(app)
app.run_before_app_start()
sys.stdout = shown
print("tool pgAdmin 4", version("pgadmin4") + ", psycopg", version("psycopg"), flush=True)
from step import DATABASE, HOST, PASSWORD, PORT, USER, step  # noqa: E402

client = app.test_client()


def call(method, path, body=None):
    kept, sys.stdout = sys.stdout, sys.stderr
    try:
        r = client.open(path, method=method, data=None if body is None else json.dumps(body), content_type="application/json", follow_redirects=True)
    finally:
        sys.stdout = kept
    j = r.get_json(silent=True)
    if r.status_code >= 400 or isinstance(j, dict) and j.get("success") == 0:
        raise RuntimeError(f"{path}: {r.status_code} {' '.join(str(j.get('errormsg') if isinstance(j, dict) else r.data[-300:]).split())}")
    return j


def nodes(kind, *ids):
    j = call("GET", f"/browser/{kind}/nodes/" + "/".join(str(i) for i in ids) + "/")
    return {n["label"]: n["_id"] for n in j["data"] or []}


S = D = C = None


def connect():
    global S, D, C
    client.get("/browser/")
    made = call("POST", "/browser/server/obj/1/", {"name": "discreet", "host": HOST, "port": PORT, "db": DATABASE, "username": USER, "password": PASSWORD, "save_password": 0,
                                                  "role": "", "sslmode": "prefer", "connection_params": [{"name": "sslmode", "keyword": "sslmode", "value": "prefer"}], "kerberos_conn": False, "gid": 1, "connect_now": False})
    S = made["node"]["_id"]
    call("POST", f"/browser/server/connect/1/{S}", {"password": PASSWORD})


def database():
    global D
    D = nodes("database", 1, S)[DATABASE]
    call("POST", f"/browser/database/connect/1/{S}/{D}")


def schema():
    global C
    C = nodes("schema", 1, S, D)["public"]


def try_each(kinds, *ids):
    bad = []
    for k in kinds:
        try:
            nodes(k, *ids)
        except Exception as e:
            bad.append(f"{k}: {e}")
    if bad:
        raise RuntimeError("; ".join(bad))


step("connect", connect)
step("list: databases", database)
if D is None:
    raise SystemExit
step("list: server", lambda: try_each(["role", "tablespace"], 1, S))
step("list: database", lambda: try_each(["cast", "catalog", "event_trigger", "extension", "foreign_data_wrapper", "language", "publication", "subscription"], 1, S, D))
step("list: schemas", schema)
if C is None:
    raise SystemExit
KINDS = ["aggregate", "collation", "domain", "foreign_table", "fts_configuration", "fts_dictionary", "fts_parser", "fts_template", "function", "procedure", "trigger_function", "mview", "operator", "sequence", "table", "type", "view"]
step("list: schema", lambda: try_each(KINDS, 1, S, D, C))
tables, views = {}, {}
step("list: tables", lambda: tables.update(nodes("table", 1, S, D, C)))
step("list: views", lambda: views.update(nodes("view", 1, S, D, C)))
PARTS = ["column", "index", "trigger", "rule", "row_security_policy", "compound_trigger"]
for name in ("patients", "visits", "wards"):
    t = tables.get(name)
    step(f"look: {name} nodes", lambda: try_each(PARTS[:-1], 1, S, D, C, t))
    step(f"look: {name} constraints", lambda: try_each(["exclusion_constraint", "foreign_key", "primary_key", "unique_constraint"], 1, S, D, C, t))
    step(f"look: {name} properties", lambda: call("GET", f"/browser/table/obj/1/{S}/{D}/{C}/{t}"))
    step(f"look: {name} sql", lambda: call("GET", f"/browser/table/sql/1/{S}/{D}/{C}/{t}"))
    step(f"look: {name} statistics", lambda: call("GET", f"/browser/table/stats/1/{S}/{D}/{C}/{t}"))
    step(f"look: {name} select", lambda: call("GET", f"/browser/table/select_sql/1/{S}/{D}/{C}/{t}"))
    step(f"look: {name} dependencies", lambda: [call("GET", f"/browser/table/{w}/1/{S}/{D}/{C}/{t}") for w in ("dependency", "dependent")])
    step(f"look: {name} columns", lambda: [call("GET", f"/browser/column/obj/1/{S}/{D}/{C}/{t}/{i}") for i in nodes("column", 1, S, D, C, t).values()])
step("look: all tables", lambda: call("GET", f"/browser/table/obj/1/{S}/{D}/{C}/"))
step("look: count rows", lambda: call("GET", f"/browser/table/count_rows/1/{S}/{D}/{C}/{tables.get('patients')}"))
step("look: view", lambda: [call("GET", f"/browser/view/{w}/1/{S}/{D}/{C}/{views.get('elderly')}") for w in ("obj", "sql", "dependency")])
step("look: view columns", lambda: nodes("column", 1, S, D, C, views.get("elderly")))
step("look: database properties", lambda: [call("GET", f"/browser/database/{w}/1/{S}/{D}") for w in ("obj", "sql", "stats")])
step("look: schema properties", lambda: [call("GET", f"/browser/schema/{w}/1/{S}/{D}/{C}") for w in ("obj", "sql")])
step("look: role", lambda: [call("GET", f"/browser/role/obj/1/{S}/{i}") for n, i in nodes("role", 1, S).items() if n == USER])
step("search", lambda: call("GET", f"/search_objects/search/{S}/{D}?text=pat&type=all"))
step("dashboard", lambda: [call("GET", f"/dashboard/{p}/{S}/{D}") for p in ("activity", "locks", "prepared")] + [call("GET", f"/dashboard/dashboard_stats/{S}/{D}?chart_names=session_stats,tps_stats,ti_stats,to_stats,bio_stats"), call("GET", f"/dashboard/config/{S}")])


def tool_of(sql=None, view=None):
    trans = random.Random(str(view or sql)).randint(1, 9999999)
    if view:
        call("POST", f"/sqleditor/initialize/viewdata/{trans}/{view[0]}/table/1/{S}/{D}/{view[1]}", {"sql_filter": view[2] if len(view) > 2 else ""})
        started = call("GET", f"/sqleditor/view_data/start/{trans}")
    else:
        call("POST", f"/sqleditor/initialize/sqleditor/{trans}/1/{S}/{D}", {"user": USER, "password": PASSWORD, "dbname": DATABASE})
        started = call("POST", f"/sqleditor/query_tool/start/{trans}", {"sql": sql, "explain_plan": None})
    try:
        if started["data"].get("status") is False:
            raise RuntimeError(started["data"].get("result"))
        for _ in range(200):
            d = call("GET", f"/sqleditor/poll/{trans}")["data"]
            if d["status"] != "Busy":
                break
        if d["status"] != "Success":
            raise RuntimeError(d.get("result"))
        if sql:
            call("GET", f"/sqleditor/status/{trans}")
    finally:
        call("DELETE", f"/sqleditor/close/{trans}")


step("query: count", lambda: tool_of("SELECT COUNT(*) FROM patients;"))
step("query: group", lambda: tool_of("SELECT diagnosis, COUNT(*) AS n, AVG(age) FROM public.patients GROUP BY diagnosis ORDER BY n DESC"))
step("query: by month", lambda: tool_of("SELECT date_trunc('month', arrived) AS month, SUM(cost) FROM visits GROUP BY 1 ORDER BY 1"))
step("query: public table", lambda: tool_of("SELECT * FROM wards"))
step("query: explain", lambda: tool_of("EXPLAIN (FORMAT JSON, ANALYZE FALSE, VERBOSE FALSE, COSTS FALSE, BUFFERS FALSE, TIMING FALSE, SUMMARY FALSE, SETTINGS FALSE, WAL FALSE) SELECT COUNT(*) FROM patients"))
step("query: write", lambda: tool_of("UPDATE patients SET age = 0 WHERE pid = 37"))
step("view data: public table", lambda: tool_of(view=(3, tables["wards"])))
step("view data: private table", lambda: tool_of(view=(3, tables["patients"])))
step("view data: first 100", lambda: tool_of(view=(1, tables["patients"])))
step("view data: last 100", lambda: tool_of(view=(2, tables["patients"])))
os._exit(0)  # its threads go on
