"""pgcli: what it asks for its completion, its own commands, and questions; in a time zone that is not UTC."""

import os
import subprocess
import sys

from step import HOST, PASSWORD, PORT, USER, DATABASE, begin, tool

tool("pgcli", "psycopg")
pgcli = os.path.join(os.path.dirname(sys.executable), "pgcli")
os.environ.update(TZ="Europe/Zurich", XDG_CONFIG_HOME=os.environ["DISCREET_SCRATCH"], HOME=os.environ["DISCREET_SCRATCH"], PAGER="cat", TERM="dumb")
SAY = r"""
import sys
from pgcli.main import PGCli
from pgcli.completion_refresher import CompletionRefresher
from pgcli.pgexecute import PGExecute
cli = PGCli(never_passwd_prompt=True, pgclirc_file=None)
cli.connect(database=%r, host=%r, port=%r, user=%r, passwd=%r)
bad = []
for text in sys.argv[1:]:
    if text == "complete":
        r = CompletionRefresher()
        r._bg_refresh(cli.pgexecute, cli.pgspecial, [lambda c: None], None, cli.settings)
        continue
    for title, rows, headers, status, sql, success, special in cli.pgexecute.run(text, pgspecial=cli.pgspecial, on_error_resume=True, exception_formatter=lambda e, v=None: str(e)):
        if rows is not None:
            list(rows)
        if not success:
            bad.append(" ".join(str(status).split()))
if bad:
    sys.exit(bad[0])
""" % (DATABASE, HOST, str(PORT), USER, PASSWORD)


def step(name, *texts):
    begin(name)
    r = subprocess.run([sys.executable, "-c", SAY, *texts], capture_output=True, text=True)
    print(f"ok {name}" if r.returncode == 0 else f"no {name} | {r.stderr.strip().splitlines()[-1][:300]}", flush=True)


step("connect", "SELECT 1")
step("complete", "complete")
step("list", r"\l", r"\dn", r"\dt", r"\dv", r"\d", r"\du", r"\df", r"\dT", r"\dx", r"\di", r"\ds", r"\dp", r"\db", r"\conninfo")
step("describe", r"\d patients", r"\d+ visits", r"\d elderly", r"\dt+", r"\dv+")
step("first rows", "SELECT * FROM patients LIMIT 10")
step("count", "SELECT COUNT(*) FROM patients")
step("group", "SELECT diagnosis, COUNT(*) AS n, AVG(age) FROM patients GROUP BY diagnosis ORDER BY n DESC")
step("by month", "SELECT date_trunc('month', arrived) AS month, COUNT(*) FROM visits GROUP BY 1 ORDER BY 1")
step("public table", "SELECT * FROM wards")
step("copy", r"\copy (SELECT sex, COUNT(*) FROM patients GROUP BY sex) TO '/dev/null' CSV")
step("write", "DELETE FROM visits")
begin("list of databases")
r = subprocess.run([pgcli, "-w", "--list"], capture_output=True, text=True)
print("ok list of databases" if r.returncode == 0 else f"no list of databases | {(r.stderr or r.stdout).strip()[-300:]}")
