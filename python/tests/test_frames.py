"""Answers as frames, charts and numbers with uncertainty."""

from __future__ import annotations

import datetime
import re
from typing import Any
from xml.etree import ElementTree

import pytest

import discreet
from discreet._answer import Noisy, table

BY_BIRTH = "SELECT born, sex, COUNT(*) AS n, AVG(age) AS age FROM patients GROUP BY born, sex ORDER BY born, sex"
COLUMNS = ["born", "sex", "n", "n_error", "age", "age_error"]


@pytest.fixture
def answer(db: discreet.Database) -> discreet.Answer:
    return db.ask(BY_BIRTH, epsilon=1)


def test_pandas(answer: discreet.Answer) -> None:
    pytest.importorskip("pandas")
    frame = answer.to_pandas()
    assert list(frame.columns) == COLUMNS and len(frame) == 6
    assert str(frame["n"].dtype) == "int64" and str(frame["born"].dtype).startswith("datetime64") and frame["age"].dtype == "float64"
    assert (frame["n_error"] > 0).all() and frame.attrs["price"] == answer.price


def test_polars_and_arrow(answer: discreet.Answer) -> None:
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    frame = answer.to_polars()
    assert frame.columns == COLUMNS and frame["n"].dtype == pl.Int64 and frame["born"].dtype == pl.Date
    table = answer.to_arrow()
    assert table.column_names == COLUMNS and table.schema.field("born").type == pa.date32()
    assert table.column("n").to_pylist() == frame["n"].to_list() == [row[2] for row in answer]


def test_made_of_answers(db: discreet.Database) -> None:
    """What a query around answers makes has no errors, and no columns of them."""
    answer = db.ask("SELECT max(n) AS most FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) AS t", epsilon=1)
    assert answer.errors is None and list(answer.to_dict()) == ["most"] and answer.error is None and answer.notes


def test_uncertainties(db: discreet.Database, answer: discreet.Answer) -> None:
    pytest.importorskip("uncertainties")
    one = db.ask("SELECT COUNT(*) FROM patients", epsilon=1)
    number = one.ufloat()
    assert number.nominal_value == one.value and number.std_dev == pytest.approx((one.error or 0) / 1.96, rel=0.01)
    total = sum(row["n"] for row in answer.ufloat())
    error = answer.error_at(0, 2)
    assert error is not None and total.std_dev == pytest.approx(6**0.5 * error / 1.96, rel=0.01)


def test_html(db: discreet.Database, answer: discreet.Answer) -> None:
    html = answer._repr_html_()
    svg = ElementTree.fromstring(re.findall(r"<svg.*</svg>", html)[0])
    assert len(svg.findall(".//{*}circle")) == 6
    assert "1980-01-01, F" in html and "price: epsilon 1" in html and answer.receipt.hash in html
    table = ElementTree.fromstring(re.findall(r"<table.*</table>", html)[0])
    assert len(table.findall(".//tr")) == 7
    single = db.ask("SELECT COUNT(*) AS \"<script>\" FROM patients")._repr_html_()
    assert "<svg" not in single and "<script>" not in single and "&lt;script&gt;" in single
    assert "price" in db.quote(BY_BIRTH)._repr_html_()


def test_plot(answer: discreet.Answer) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = answer.plot("age")
    assert [t.get_text() for t in axes.get_yticklabels()][0] == "1980-01-01, F" and "age" in axes.get_xlabel()


@pytest.mark.parametrize("way", ["to_pandas", "to_polars", "to_arrow"])
def test_extremes(way: str) -> None:
    """Days and numbers at their ends are in frames what they are."""
    pytest.importorskip(way.removeprefix("to_").replace("arrow", "pyarrow"))
    kinds = ("date", "timestamp", "integer", "decimal")
    rows: list[list[Any]] = [
        ["9999-12-31", "9999-12-31T23:59:59.999999", 2**63 - 1, 12345678901234567890123],
        ["0001-01-01", "0001-01-01T00:00:00", -(2**63), 0.5],
        [None, None, None, None],
    ]
    columns = [{"name": kind, "kind": kind, "noisy": False, "approximate": False} for kind in kinds]
    answer = Noisy(**table(columns, rows, None), confidence=0.95, notes=[], raw={})
    frame = getattr(answer, way)()
    for kind, first, second in (
        ("date", datetime.date(9999, 12, 31), datetime.date(1, 1, 1)),
        ("timestamp", datetime.datetime(9999, 12, 31, 23, 59, 59, 999999), datetime.datetime(1, 1, 1)),
        ("integer", 2**63 - 1, -(2**63)),
        ("decimal", 12345678901234567890123.0, 0.5),
    ):
        found = frame[kind].to_list() if way == "to_polars" else frame[kind].to_pylist() if way == "to_arrow" else list(frame[kind])
        if way == "to_pandas" and kind in ("date", "timestamp"):
            found = [None if v != v else v.to_pydatetime() for v in found]
            found = [v.date() if v is not None and kind == "date" else v for v in found]
        assert found[:2] == [first, second] and str(found[2]) in ("None", "<NA>", "NaT", "nan")
