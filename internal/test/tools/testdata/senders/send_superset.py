"""Superset without its browser, over its API: a database, datasets, SQL Lab, and charts of every kind.

A chart is a query context, which the plugin of the chart makes in the browser and posts to
/api/v1/chart/data; these are what the plugins make of their defaults. The older charts post a form
to /superset/explore_json, and the server makes the query of it."""

import json
import logging
import os
import sys
import warnings

scratch = os.environ["DISCREET_SCRATCH"]
with open(os.path.join(scratch, "superset_config.py"), "w") as f:
    f.write(f"""
SQLALCHEMY_DATABASE_URI = "sqlite:///{scratch}/superset.db?check_same_thread=false"
SECRET_KEY = "lives as long as this run, and guards nothing"
WTF_CSRF_ENABLED = False
TALISMAN_ENABLED = False
RATELIMIT_ENABLED = False
FEATURE_FLAGS = {{"ESTIMATE_QUERY_COST": True, "ENABLE_TEMPLATE_PROCESSING": True}}
""")
os.environ["SUPERSET_CONFIG_PATH"] = os.path.join(scratch, "superset_config.py")
os.environ["SUPERSET_HOME"] = scratch
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

from step import URL, step, tool  # noqa: E402

shown, sys.stdout = sys.stdout, sys.stderr  # Superset prints
from superset.app import create_app  # noqa: E402

app = create_app()
with app.app_context():
    from flask_appbuilder import Model
    from superset import appbuilder, db, security_manager

    Model.metadata.create_all(db.engine)
    appbuilder.add_permissions(update_perms=True)
    security_manager.sync_role_definitions()
    security_manager.add_user("admin", "a", "b", "a@example.org", security_manager.find_role("Admin"), password="admin")
sys.stdout = shown
tool("apache-superset", "SQLAlchemy", "psycopg2-binary")

client = app.test_client()
client.post("/login/", data={"username": "admin", "password": "admin"})  # for pages that are older than the API
answer = client.post("/api/v1/security/login", json={"username": "admin", "password": "admin", "provider": "db"})
HEADERS = {"Authorization": "Bearer " + answer.get_json()["access_token"]}


def call(method, path, body=None, form=None):
    sys.stdout, kept = sys.stderr, sys.stdout
    try:
        r = client.open(path, method=method, json=body, data=form, headers=HEADERS)
    finally:
        sys.stdout = kept
    j = r.get_json(silent=True) or {}
    if r.status_code >= 400 or j.get("errors") or j.get("error"):
        raise RuntimeError(f"{r.status_code} {json.dumps(j)[:400] if j else r.data[:400]}")
    return j


def connect():
    database = {"database_name": "hospital", "sqlalchemy_uri": URL}
    call("POST", "/api/v1/database/test_connection/", database)
    call("POST", "/api/v1/database/", {**database, "expose_in_sqllab": True, "allow_run_async": False})


step("connect", connect)
step("list", lambda: [
    call("GET", "/api/v1/database/1/schemas/"),
    call("GET", "/api/v1/database/1/catalogs/"),
    call("GET", "/api/v1/database/1/tables/?q=(force:!t,schema_name:public)"),
    call("GET", "/api/v1/database/1/function_names/"),
])
step("look", lambda: [call("GET", f"/api/v1/database/1/table_metadata/?name={t}&schema=public") for t in ("patients", "visits", "wards", "elderly")])
step("look extra", lambda: call("GET", "/api/v1/database/1/table_metadata/extra/?name=patients&schema=public"))
step("select star", lambda: call("GET", "/api/v1/database/1/select_star/visits/public/"))


def dataset(body):
    return call("POST", "/api/v1/dataset/", {"database": 1, **body})["id"]


ids = {}


def datasets():
    for name in ("patients", "visits", "wards", "elderly"):
        ids[name] = dataset({"schema": "public", "table_name": name})


step("datasets", datasets)
step("dataset of an answer", lambda: ids.update(asked=dataset({"schema": "public", "table_name": "asked", "sql": "SELECT diagnosis, COUNT(*) AS n FROM patients GROUP BY diagnosis"})))
step("dataset of rows", lambda: ids.update(sql=dataset({"schema": "public", "table_name": "per ward", "sql": "SELECT ward, day, arrived, cost FROM visits WHERE cost > 100"})))

GRAINS = ["PT1S", "PT1M", "PT5M", "PT10M", "PT15M", "PT30M", "PT1H", "P1D", "P1W", "P1M", "P3M", "P1Y"]
N = "count"


def metric(aggregate, column, label=None):
    return {"expressionType": "SIMPLE", "column": {"column_name": column}, "aggregate": aggregate, "label": label or f"{aggregate}({column})"}


def sql_metric(text, label):
    return {"expressionType": "SQL", "sqlExpression": text, "label": label}


def axis(column, grain):
    return {"timeGrain": grain, "columnType": "BASE_AXIS", "sqlExpression": column, "label": column, "expressionType": "SQL"}


def chart(name, table, *queries, kind="full"):
    def do():
        full = [{"filters": [], "extras": {"having": "", "where": ""}, "applied_time_extras": {}, "columns": [], "annotation_layers": [],
                 "row_limit": 10000, "series_limit": 0, "order_desc": True, "url_params": {}, "custom_params": {}, "custom_form_data": {}, **q} for q in queries]
        call("POST", "/api/v1/chart/data", {
            "datasource": {"id": ids[table], "type": "table"}, "force": True, "queries": full,
            "form_data": {"datasource": f"{ids[table]}__table", "viz_type": name.split(" ")[0]}, "result_format": "json", "result_type": kind,
        })
    if table in ids:
        step("chart " + name, do)


def in_time(column="arrived", span="2025-02-01 : 2025-05-01"):
    return {"filters": [{"col": column, "op": "TEMPORAL_RANGE", "val": span}]}


# Numbers.
chart("big_number_total", "patients", {"metrics": [N]})
chart("big_number_total average", "patients", {"metrics": [metric("AVG", "age")]})
chart("big_number_total compare", "visits", {"metrics": [N], **in_time()}, {"metrics": [N], **in_time(span="2024-11-01 : 2025-02-01")})
for aggregate in ("AVG", "COUNT", "COUNT_DISTINCT", "MAX", "MIN", "SUM"):
    chart("table " + aggregate, "patients", {"columns": ["sex"], "metrics": [metric(aggregate, "cost")], "orderby": [[metric(aggregate, "cost"), False]], "row_limit": 1000})
for grain in GRAINS:
    span = "2025-03-01 : 2025-03-02" if grain.startswith("PT") else "2025-01-01 : 2026-01-01"
    chart("big_number " + grain, "visits", {"columns": [axis("arrived", grain)], "metrics": [N], **in_time(span=span), "extras": {"time_grain_sqla": grain, "having": "", "where": ""}})
    chart("echarts_timeseries_line " + grain, "visits", {"columns": [axis("arrived", grain)], "metrics": [metric("SUM", "cost")], "series_columns": [], **in_time(span=span),
          "extras": {"time_grain_sqla": grain, "having": "", "where": ""}, "orderby": [[metric("SUM", "cost"), False]], "time_offsets": [], "post_processing": []})
chart("echarts_timeseries_line no range", "visits", {"columns": [axis("arrived", "P1M")], "metrics": [N], "filters": [{"col": "arrived", "op": "TEMPORAL_RANGE", "val": "No filter"}]})
chart("echarts_timeseries_line day", "visits", {"columns": [axis("day", "P1M")], "metrics": [N], **in_time("day")})
chart("echarts_timeseries_line no grain", "visits", {"columns": [axis("day", None)], "metrics": [N], **in_time("day")})
chart("echarts_timeseries_line series", "visits", {"columns": [axis("arrived", "P1M"), "ward"], "series_columns": ["ward"], "metrics": [N], **in_time(), "orderby": [[N, False]]})
chart("echarts_timeseries_line series limit", "visits", {"columns": [axis("arrived", "P1M"), "ward"], "series_columns": ["ward"], "series_limit": 2, "series_limit_metric": N,
      "metrics": [N], **in_time(), "orderby": [[N, False]]})
chart("echarts_timeseries_line group others", "visits", {"columns": [axis("arrived", "P1M"), "ward"], "series_columns": ["ward"], "series_limit": 2, "series_limit_metric": N,
      "group_others_when_limit_reached": True, "metrics": [N], **in_time(), "orderby": [[N, False]]})
chart("echarts_timeseries_line last year", "visits", {"columns": [axis("arrived", "P1M")], "metrics": [N], **in_time(), "time_offsets": ["1 year ago"],
      "post_processing": [{"operation": "pivot", "options": {"index": ["arrived"], "columns": [], "aggregates": {N: {"operator": "mean"}, N + "__1 year ago": {"operator": "mean"}}, "drop_missing_columns": False}}]})
chart("echarts_timeseries_line rolling", "visits", {"columns": [axis("arrived", "P1W")], "metrics": [N], **in_time(),
      "post_processing": [{"operation": "pivot", "options": {"index": ["arrived"], "columns": [], "aggregates": {N: {"operator": "mean"}}, "drop_missing_columns": True}},
                          {"operation": "rolling", "options": {"rolling_type": "mean", "window": 3, "min_periods": 0, "columns": {N: N}}}]})
chart("echarts_area", "visits", {"columns": [axis("arrived", "P1W"), "ward"], "series_columns": ["ward"], "metrics": [metric("AVG", "cost")], **in_time(), "orderby": [[metric("AVG", "cost"), False]]})
chart("echarts_timeseries_bar", "patients", {"columns": [{"columnType": "BASE_AXIS", "sqlExpression": "diagnosis", "label": "diagnosis", "expressionType": "SQL"}, "sex"], "series_columns": ["sex"],
      "metrics": [N], "orderby": [[N, False]]})
chart("echarts_timeseries_bar number", "patients", {"columns": [{"columnType": "BASE_AXIS", "sqlExpression": "age", "label": "age", "expressionType": "SQL"}], "metrics": [N], "orderby": [[N, False]]})
chart("mixed_timeseries", "visits", {"columns": [axis("arrived", "P1M")], "metrics": [N], **in_time()}, {"columns": [axis("arrived", "P1M"), "ward"], "series_columns": ["ward"], "metrics": [metric("SUM", "cost")], **in_time()})
chart("pie", "patients", {"columns": ["diagnosis"], "metrics": [N], "orderby": [[N, False]], "row_limit": 100})
chart("pie top", "patients", {"columns": ["diagnosis"], "metrics": [N], "orderby": [[N, False]], "row_limit": 3})
chart("funnel", "visits", {"columns": ["ward"], "metrics": [N], "orderby": [[N, False]], "row_limit": 10})
chart("gauge_chart", "visits", {"columns": ["ward"], "metrics": [metric("AVG", "cost")], "row_limit": 10})
chart("treemap_v2", "patients", {"columns": ["sex", "diagnosis"], "metrics": [metric("SUM", "cost")], "orderby": [[metric("SUM", "cost"), False]]})
chart("sunburst_v2", "patients", {"columns": ["sex", "diagnosis"], "metrics": [N, metric("AVG", "cost")], "orderby": [[N, False]]})
chart("word_cloud", "patients", {"columns": ["diagnosis"], "metrics": [N], "orderby": [[N, False]], "row_limit": 100})
chart("radar", "patients", {"columns": ["sex"], "metrics": [N, metric("AVG", "age"), metric("AVG", "cost")]})
chart("graph_chart", "patients", {"columns": ["sex", "diagnosis"], "metrics": [N]})
chart("sankey_v2", "patients", {"columns": ["sex", "diagnosis"], "metrics": [N], "groupby": ["sex", "diagnosis"]})
chart("tree_chart", "wards", {"columns": ["ward", "building"], "metrics": [N]})
chart("heatmap_v2", "patients", {"columns": [{"columnType": "BASE_AXIS", "sqlExpression": "sex", "label": "sex", "expressionType": "SQL"}, "diagnosis"], "metrics": [N], "orderby": [["sex", True], ["diagnosis", True]],
      "post_processing": [{"operation": "rank", "options": {"metric": N}}]})
chart("histogram_v2", "patients", {"columns": ["age"], "metrics": [], "extras": {"where": "age IS NOT NULL", "having": ""},
      "post_processing": [{"operation": "histogram", "options": {"column": "age", "groupby": [], "bins": 5, "cumulative": False, "normalize": False}}]})
chart("box_plot", "visits", {"columns": [axis("arrived", "P1M"), "ward"], "series_columns": ["ward"], "metrics": [metric("AVG", "cost")], **in_time(),
      "post_processing": [{"operation": "boxplot", "options": {"whisker_type": "tukey", "groupby": ["ward"], "metrics": ["AVG(cost)"]}}]})
chart("bubble_v2", "patients", {"columns": ["diagnosis", "sex"], "metrics": [metric("AVG", "age"), metric("AVG", "cost"), N], "orderby": [[N, False]]})
chart("waterfall", "visits", {"columns": [axis("arrived", "P1M"), "ward"], "metrics": [metric("SUM", "cost")], **in_time(), "orderby": [["arrived", True], ["ward", True]]})
chart("gantt_chart", "visits", {"columns": ["arrived", "day", "ward"], "metrics": []})
chart("handlebars", "patients", {"columns": ["sex"], "metrics": [N]})
chart("pivot_table_v2", "patients", {"columns": ["sex", "diagnosis"], "metrics": [N, metric("AVG", "cost")], "orderby": [[N, False]]})
chart("pivot_table_v2 by month", "visits", {"columns": [axis("arrived", "P1M"), "ward"], "metrics": [metric("SUM", "cost")], **in_time()})
chart("table", "patients", {"columns": ["diagnosis"], "metrics": [N, metric("AVG", "age")], "orderby": [[N, False]], "row_limit": 1000, "post_processing": []},
      {"columns": [], "metrics": [N, metric("AVG", "age")], "row_limit": 0, "row_offset": 0, "is_rowcount": False})
chart("table page", "patients", {"columns": ["diagnosis"], "metrics": [N], "row_limit": 2, "row_offset": 2, "orderby": [[N, False]]}, {"columns": ["diagnosis"], "metrics": [N], "is_rowcount": True, "row_limit": 0, "row_offset": 0})
chart("table percent", "patients", {"columns": ["diagnosis"], "metrics": [N, metric("SUM", "cost")], "post_processing": [{"operation": "contribution", "options": {"columns": [N], "rename_columns": ["%" + N]}}]})
chart("table custom", "patients", {"columns": [{"label": "decade", "sqlExpression": "age / 10 * 10", "expressionType": "SQL"}], "metrics": [sql_metric("SUM(cost) / COUNT(*)", "each")]})
chart("table raw", "patients", {"columns": ["age", "sex", "cost"], "metrics": None, "orderby": [], "row_limit": 1000})
chart("table public", "wards", {"columns": ["ward", "building", "beds"], "metrics": None, "orderby": [], "row_limit": 1000})
chart("table public count", "wards", {"columns": ["building"], "metrics": [N, metric("SUM", "beds")]})
chart("table view", "elderly", {"columns": ["sex"], "metrics": [metric("AVG", "cost")]})
chart("table of sql", "sql", {"columns": ["ward"], "metrics": [N], **in_time()})
chart("table of answer", "asked", {"columns": ["diagnosis"], "metrics": [metric("SUM", "n")]})
chart("table raw of answer", "asked", {"columns": ["diagnosis", "n"], "metrics": None, "orderby": [["n", False]], "row_limit": 1000})
chart("pop_kpi", "visits", {"metrics": [N], **in_time(), "time_offsets": ["1 month ago"]})
chart("cartodiagram", "patients", {"columns": ["zip"], "metrics": [N]})
chart("point_cluster_map", "patients", {"columns": ["age", "cost"], "metrics": []})
chart("ag-grid-table", "patients", {"columns": ["sex"], "metrics": [N, metric("AVG", "age")], "orderby": [[N, False]], "row_limit": 50})

# Filters of charts.
for op, column, value in [("==", "sex", "F"), ("!=", "sex", "F"), (">", "age", 40), ("<", "age", 40), (">=", "age", 40), ("<=", "age", 40), ("LIKE", "diagnosis", "%a%"), ("ILIKE", "diagnosis", "%A%"),
                          ("NOT LIKE", "diagnosis", "%a%"), ("IN", "diagnosis", ["flu", "asthma"]), ("NOT IN", "diagnosis", ["flu", "asthma"]), ("IS NULL", "sex", None), ("IS NOT NULL", "sex", None),
                          ("IS TRUE", "smoker", None), ("IS FALSE", "smoker", None)]:
    f = {"col": column, "op": op}
    if value is not None:
        f["val"] = value
    chart("filter " + op, "patients", {"columns": ["sex"], "metrics": [N], "filters": [f]})
chart("filter custom", "patients", {"columns": ["sex"], "metrics": [N], "extras": {"where": "(age > 30 AND cost < 5000)", "having": "(COUNT(*) > 10)"}})
chart("filter last week", "visits", {"metrics": [N], "filters": [{"col": "arrived", "op": "TEMPORAL_RANGE", "val": "2025-03-03T00:00:00 : 2025-03-10T00:00:00"}]})

# Native filters of dashboards: values, a range, time.
chart("filter_select", "visits", {"columns": ["ward"], "metrics": [], "orderby": [["ward", True]], "row_limit": 1000, "filters": []})
chart("filter_select sorted", "patients", {"columns": ["diagnosis"], "metrics": [N], "orderby": [[N, False]], "row_limit": 1000})
chart("filter_select search", "patients", {"columns": ["diagnosis"], "metrics": [], "filters": [{"col": "diagnosis", "op": "ILIKE", "val": "%fl%"}], "row_limit": 1000})
chart("filter_range", "patients", {"columns": [], "metrics": [{"aggregate": "MIN", "column": {"column_name": "age"}, "expressionType": "SIMPLE", "hasCustomLabel": True, "label": "min"},
                                                          {"aggregate": "MAX", "column": {"column_name": "age"}, "expressionType": "SIMPLE", "hasCustomLabel": True, "label": "max"}]})
step("filter values", lambda: [call("GET", f"/api/v1/datasource/table/{ids['visits']}/column/ward/values/"), call("GET", f"/api/v1/datasource/table/{ids['wards']}/column/building/values/")])

# What a chart's page has beside the chart.
chart("samples", "patients", {}, kind="samples")
chart("results", "patients", {"columns": ["sex"], "metrics": [N]}, kind="results")
chart("query", "patients", {"columns": ["sex"], "metrics": [N]}, kind="query")
chart("drill", "patients", {"columns": ["age", "sex"], "filters": [{"col": "sex", "op": "==", "val": "F"}]}, kind="drill_detail")
step("samples", lambda: call("POST", f"/datasource/samples?force=false&datasource_type=table&datasource_id={ids['patients']}&per_page=50&page=1", {}))
step("refresh", lambda: call("PUT", f"/api/v1/dataset/{ids['visits']}/refresh"))


def older(kind, table, **form):
    def do():
        call("POST", "/superset/explore_json/?force=true", form={"form_data": json.dumps({
            "datasource": f"{ids[table]}__table", "viz_type": kind, "time_range": "2025-02-01 : 2025-05-01", "granularity_sqla": "arrived", "time_grain_sqla": "P1M", "row_limit": 1000,
            "adhoc_filters": [], **form})})
    step("chart " + kind, do)


older("time_table", "visits", metrics=[N], groupby=[])
older("cal_heatmap", "visits", metrics=[N], domain_granularity="month", subdomain_granularity="day")
older("compare", "visits", metrics=[N], groupby=["ward"])
older("time_pivot", "visits", metric=N, freq="W-MON")
older("horizon", "visits", metrics=[N], groupby=["ward"])
older("rose", "visits", metrics=[N], groupby=["ward"])
older("partition", "visits", metrics=[N], groupby=["ward"], time_series_option="not_time")
older("paired_ttest", "visits", metrics=[N], groupby=["ward"])
older("chord", "patients", groupby="sex", columns="diagnosis", metric=N, granularity_sqla=None)
older("country_map", "patients", entity="zip", metric=N, select_country="switzerland", granularity_sqla=None)
older("world_map", "patients", entity="zip", metric=N, granularity_sqla=None)
older("para", "patients", series="sex", metrics=[N, metric("AVG", "age")], granularity_sqla=None)
older("bullet", "patients", metric=N, granularity_sqla=None)


# SQL Lab.
def lab(name, sql, **more):
    step("lab " + name, lambda: call("POST", "/api/v1/sqllab/execute/", {
        "client_id": os.urandom(5).hex(), "database_id": 1, "runAsync": False, "schema": "public", "sql": sql, "sql_editor_id": "1", "tab": "1",
        "tmp_table_name": "", "select_as_cta": False, "ctas_method": "TABLE", "queryLimit": 1000, "expand_data": True, **more}))


lab("count", "SELECT COUNT(*) FROM patients")
lab("group", "SELECT diagnosis, COUNT(*) AS n, AVG(age) FROM public.patients GROUP BY diagnosis ORDER BY n DESC")
lab("with", "WITH v AS (SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid) SELECT AVG(n) FROM v")
lab("two", "SELECT COUNT(*) FROM visits; SELECT ward, SUM(cost) FROM visits GROUP BY ward")
lab("preview", "SELECT * FROM public.patients LIMIT 100")
lab("preview public", "SELECT * FROM public.wards LIMIT 100")
lab("explain", "EXPLAIN SELECT COUNT(*) FROM patients")
lab("show", "SHOW dp.budget" if os.environ.get("DISCREET") else "SHOW server_version")
step("lab estimate", lambda: call("POST", "/api/v1/sqllab/estimate/", {"database_id": 1, "sql": "SELECT COUNT(*) FROM patients", "schema": "public"}))
