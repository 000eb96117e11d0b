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
    if table not in batches:
        return  # it was refused
    result = batches[table].validate(getattr(gx.expectations, kind)(**words))
    errors = [e["exception_message"] for e in result.exception_info.values() if isinstance(e, dict) and e.get("raised_exception")]
    if result.exception_info.get("raised_exception"):
        errors.append(result.exception_info["exception_message"])
    if errors:
        raise Exception(errors[0])


for table in ("patients", "visits", "wards"):
    step(f"asset {table}", lambda: asset(table))
if batches:
    step("columns", lambda: expect("patients", "ExpectTableColumnsToMatchSet", column_set=["pid", "age"], exact_match=False))
    step("row count", lambda: expect("patients", "ExpectTableRowCountToBeBetween", min_value=1, max_value=1000))
    step("mean", lambda: expect("patients", "ExpectColumnMeanToBeBetween", column="age", min_value=0, max_value=110))
    step("stdev", lambda: expect("patients", "ExpectColumnStdevToBeBetween", column="age", min_value=0, max_value=110))
    step("sum", lambda: expect("visits", "ExpectColumnSumToBeBetween", column="cost", min_value=0, max_value=10000000))
    step("not null", lambda: expect("patients", "ExpectColumnValuesToNotBeNull", column="sex"))
    step("between", lambda: expect("patients", "ExpectColumnValuesToBeBetween", column="age", min_value=0, max_value=110))
    step("in set", lambda: expect("patients", "ExpectColumnValuesToBeInSet", column="sex", value_set=["F", "M", "X"]))
    step("unique", lambda: expect("patients", "ExpectColumnValuesToBeUnique", column="pid"))
    step("distinct", lambda: expect("visits", "ExpectColumnDistinctValuesToBeInSet", column="ward", value_set=["emergency", "internal", "surgery"]))
    step("quantiles", lambda: expect("patients", "ExpectColumnQuantileValuesToBeBetween", column="age", quantile_ranges={"quantiles": [0.25, 0.5, 0.75], "value_ranges": [[0, 110]] * 3}))
    step("max", lambda: expect("patients", "ExpectColumnMaxToBeBetween", column="age", min_value=0, max_value=110))
    step("public table", lambda: expect("wards", "ExpectColumnValuesToNotBeNull", column="ward"))
    step("public set", lambda: expect("wards", "ExpectColumnValuesToBeInSet", column="building", value_set=["north", "south"]))
    step("public rows", lambda: expect("wards", "ExpectTableRowCountToEqual", value=3))
