"""connectorx by itself, in each of its protocols."""

import connectorx as cx

from step import QUESTIONS, URL, step, tool

tool("connectorx")
for protocol in ("binary", "csv", "cursor", "simple"):
    for name, sql in QUESTIONS[1:4]:
        step(f"{protocol}: {name}", lambda: cx.read_sql(URL, sql, protocol=protocol, return_type="arrow"))
step("first rows", lambda: cx.read_sql(URL, QUESTIONS[0][1], return_type="arrow"))
step("public table", lambda: cx.read_sql(URL, "SELECT * FROM wards", return_type="arrow"))
step("partition", lambda: cx.read_sql(URL, "SELECT beds, ward FROM wards", partition_on="beds", partition_num=2, return_type="arrow"))
