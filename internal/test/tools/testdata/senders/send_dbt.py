"""dbt: debug, and show of inline questions and of a model over sources."""

import os
import subprocess
import sys

from step import DATABASE, HOST, PASSWORD, PORT, USER, begin, tool

tool("dbt-core", "dbt-postgres")
root = os.path.join(os.environ["DISCREET_SCRATCH"], "project")
os.makedirs(os.path.join(root, "models"))
files = {
    "dbt_project.yml": "name: hospital\nversion: '1.0'\nprofile: hospital\nmodels: {hospital: {+materialized: view}}\nflags: {send_anonymous_usage_stats: false}\n",
    "profiles.yml": f"hospital: {{target: dev, outputs: {{dev: {{type: postgres, host: '{HOST}', port: {PORT}, user: '{USER}', password: '{PASSWORD}', dbname: '{DATABASE}', schema: public, threads: 1}}}}}}\n",
    "models/sources.yml": "sources: [{name: hospital, schema: public, tables: [{name: patients}, {name: visits}, {name: wards}]}]\n",
    "models/per_ward.sql": "select ward, count(*) as n, avg(cost) as cost from {{ source('hospital', 'visits') }} group by ward\n",
}
for name, text in files.items():
    with open(os.path.join(root, name), "w") as f:
        f.write(text)
dbt = os.path.join(os.path.dirname(sys.executable), "dbt")


def step(name, *args):
    begin(name)
    r = subprocess.run([dbt, "--no-use-colors", *args, "--project-dir", root, "--profiles-dir", root], capture_output=True, text=True)
    said = " ".join(r.stdout.split())
    at = max(said.rfind("Database Error"), said.rfind("Runtime Error"), said.rfind("Error"))
    print(f"ok {name}" if r.returncode == 0 else f"no {name} | {said[at:at + 300]}", flush=True)


step("connect", "debug")
step("count", "show", "--inline", "select count(*) from {{ source('hospital', 'patients') }}")
step("group", "show", "--inline", "select diagnosis, count(*) as n, avg(age) from patients group by diagnosis order by n desc", "--limit", "10")
step("by month", "show", "--inline", "select date_trunc('month', arrived) as m, count(*) from visits group by 1 order by 1", "--limit", "20")
step("model", "show", "--select", "per_ward")
step("public table", "show", "--inline", "select * from {{ source('hospital', 'wards') }}")
step("first rows", "show", "--inline", "select * from {{ source('hospital', 'patients') }}")
step("list", "docs", "generate", "--no-compile")
step("write", "run")
