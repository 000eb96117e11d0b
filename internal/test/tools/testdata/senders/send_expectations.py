"""Great Expectations: metrics of tables and columns."""

import logging

import great_expectations as gx

from step import URL, begin, step, tool

logging.disable(logging.CRITICAL)
tool("great_expectations", "SQLAlchemy")
begin("connect")
context = gx.get_context(mode="ephemeral")
context.variables.progress_bars = {"globally": False}
source = context.data_sources.add_postgres("hospital", connection_string=URL.replace("postgresql:", "postgresql+psycopg2:"))
batches = {}


def asset(table):
    batches[table] = source.add_table_asset(table, table_name=table).add_batch_definition_whole_table("all").get_batch()


def expect(table, kind, **words):
    result = batches[table].validate(getattr(gx.expectations, kind)(**words))
    errors = [e["exception_message"] for e in result.exception_info.values() if isinstance(e, dict) and e.get("raised_exception")]
    if result.exception_info.get("raised_exception"):
        errors.append(result.exception_info["exception_message"])
    if errors:
        raise Exception(errors[0])


def on(table, name, kind, **words):
    if table in batches:  # and was not refused
        step(name, lambda: expect(table, kind, **words))


for table in ("patients", "visits", "wards"):
    step(f"asset {table}", lambda: asset(table))
if batches:
    on("patients", "columns", "ExpectTableColumnsToMatchSet", column_set=["pid", "age"], exact_match=False)
    on("patients", "row count", "ExpectTableRowCountToBeBetween", min_value=1, max_value=1000)
    on("patients", "mean", "ExpectColumnMeanToBeBetween", column="age", min_value=0, max_value=110)
    on("patients", "stdev", "ExpectColumnStdevToBeBetween", column="age", min_value=0, max_value=110)
    on("visits", "sum", "ExpectColumnSumToBeBetween", column="cost", min_value=0, max_value=10000000)
    on("patients", "not null", "ExpectColumnValuesToNotBeNull", column="sex")
    on("patients", "between", "ExpectColumnValuesToBeBetween", column="age", min_value=0, max_value=110)
    on("patients", "in set", "ExpectColumnValuesToBeInSet", column="sex", value_set=["F", "M", "X"])
    on("patients", "unique", "ExpectColumnValuesToBeUnique", column="pid")
    on("visits", "distinct", "ExpectColumnDistinctValuesToBeInSet", column="ward", value_set=["emergency", "internal", "surgery"])
    on("patients", "quantiles", "ExpectColumnQuantileValuesToBeBetween", column="age", quantile_ranges={"quantiles": [0.25, 0.5, 0.75], "value_ranges": [[0, 110]] * 3})
    on("patients", "max", "ExpectColumnMaxToBeBetween", column="age", min_value=0, max_value=110)
    on("wards", "public table", "ExpectColumnValuesToNotBeNull", column="ward")
    on("wards", "public set", "ExpectColumnValuesToBeInSet", column="building", value_set=["north", "south"])
    on("wards", "public rows", "ExpectTableRowCountToEqual", value=3)
