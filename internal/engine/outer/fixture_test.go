package outer

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// parse returns the SELECT of a text.
func parse(text string) (*pg.SelectStmt, error) {
	tree, err := pg.Parse(text)
	if err != nil {
		return nil, err
	}
	if len(tree.Stmts) != 1 || tree.Stmts[0].Stmt.GetSelectStmt() == nil {
		return nil, fmt.Errorf("not a SELECT")
	}
	return tree.Stmts[0].Stmt.GetSelectStmt(), nil
}

// released is what most tests read.
func released() []Table {
	n := func(s string) any { return json.Number(s) }
	return []Table{
		{Name: "r", Columns: []Column{{"k", Text, 0, ""}, {"n", Integer, 0, ""}, {"d", Decimal, 2, ""}, {"x", Real, 0, ""},
			{"b", Boolean, 0, ""},
			{"day", Date, 0, ""}, {"at", Timestamp, 0, ""}}, Rows: [][]any{
			{"a", n("7"), n("1.50"), n("2.5"), true, "2024-01-31", "2024-01-31 13:45:00"},
			{"b", n("-7"), n("-0.25"), n("0.1"), false, "2024-02-29", "2024-02-29 00:00:00.5"},
			{"c", nil, nil, nil, nil, nil, nil},
			{"d", n("3"), n("99999999999999999999.99"), n("1e300"), true, "2023-12-31", "2023-12-31 23:59:59"},
		}},
		{Name: "s", Columns: []Column{{"k", Text, 0, ""}, {"m", Integer, 0, ""}},
			Rows: [][]any{{"a", n("10")}, {"b", n("20")}, {"e", n("30")}}},
	}
}

func names(tables []Table) map[string][]string {
	out := map[string][]string{}
	for _, t := range tables {
		out[t.Name] = nil
		for _, c := range t.Columns {
			out[t.Name] = append(out[t.Name], c.Name)
		}
	}
	return out
}

// ask checks, describes and runs a text.
func ask(t testing.TB, text string) (*Table, error) {
	t.Helper()
	stmt, err := parse(text)
	if err != nil {
		return nil, err
	}
	sql, err := Check(stmt, names(released()))
	if err != nil {
		return nil, err
	}
	columns, err := Describe(t.Context(), sql, released())
	if err != nil {
		return nil, err
	}
	out, err := Run(t.Context(), sql, released())
	if err == nil && fmt.Sprint(columns) != fmt.Sprint(out.Columns) {
		t.Errorf("%s: Describe says %v and Run %v", text, columns, out.Columns)
	}
	return out, err
}

// show writes a table in a line.
func show(t *Table) string {
	rows := make([]string, len(t.Rows))
	for i, r := range t.Rows {
		cells := make([]string, len(r))
		for j, v := range r {
			if cells[j] = fmt.Sprint(v); v == nil {
				cells[j] = "NULL"
			}
		}
		rows[i] = strings.Join(cells, " ")
	}
	return strings.Join(rows, " | ")
}
