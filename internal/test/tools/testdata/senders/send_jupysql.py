"""JupySQL in a notebook: %sql, %%sql, %sqlcmd tables, columns, profile and explore, %sqlplot, snippets."""

import contextlib
import io
import os

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402
os.environ["HOME"] = os.environ["IPYTHONDIR"] = os.environ["DISCREET_SCRATCH"]
os.environ["PLOOMBER_STATS_ENABLED"] = os.environ["JUPYSQL_STATS"] = "false"
from IPython.core.interactiveshell import InteractiveShell  # noqa: E402

from step import URL, step as plain, tool  # noqa: E402

tool("jupysql", "SQLAlchemy")
shell = InteractiveShell()


def quiet(do):
    def run():
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            do()
    return run


def step(name, do):
    pyplot.close("all")  # a bar of texts cannot be drawn over a histogram of numbers
    plain(name, quiet(do))


def line(name, text):
    return lambda: shell.run_line_magic(name, text)


def cell(text, options=""):
    return lambda: shell.run_cell_magic("sql", options, text)


step("connect", lambda: [shell.run_line_magic("load_ext", "sql"), shell.run_line_magic("config", "SqlMagic.short_errors = False"), shell.run_line_magic("sql", URL)])
step("list", line("sqlcmd", "tables"))
step("list in schema", line("sqlcmd", "tables --schema public"))
step("columns", line("sqlcmd", "columns --table patients"))
step("count", line("sql", "SELECT COUNT(*) FROM patients"))
step("first rows", line("sql", "SELECT * FROM patients LIMIT 10"))
step("group", cell("SELECT diagnosis, COUNT(*) AS n, AVG(age) AS age\nFROM patients\nGROUP BY diagnosis"))
step("by month", cell("SELECT date_trunc('month', arrived) AS month, COUNT(*) AS n FROM visits GROUP BY 1"))
step("snippet", cell("SELECT diagnosis, COUNT(*) AS n FROM patients GROUP BY diagnosis", "--save per --no-execute"))
step("with snippet", cell("SELECT * FROM per WHERE n > 10", "--with per"))
step("public table", line("sql", "SELECT * FROM wards"))
step("profile public", line("sqlcmd", "profile --table wards"))
step("profile", line("sqlcmd", "profile --table patients"))
step("explore public", line("sqlcmd", "explore --table wards"))
step("explore", line("sqlcmd", "explore --table patients"))
step("histogram", line("sqlplot", "histogram --table patients --column age --bins 10"))
step("histogram of text", line("sqlplot", "histogram --table patients --column sex"))
step("box plot", line("sqlplot", "boxplot --table patients --column age"))
step("bar", line("sqlplot", "bar --table visits --column ward"))
step("pie", line("sqlplot", "pie --table visits --column ward"))
step("parameters", lambda: [shell.push({"least": 40}), shell.run_line_magic("sql", "SELECT COUNT(*) FROM patients WHERE age > {{least}}")])
step("data frame", lambda: shell.run_line_magic("sql", "SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex").DataFrame())
step("test", line("sqlcmd", "test --table wards --column beds --greater 0"))
step("write", line("sql", "DELETE FROM visits"))
