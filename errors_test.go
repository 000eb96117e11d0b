package discreet_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
)

// Columns of error bars are made of an answer that is there: asked again with them it is the same
// answer, free, and its description has the same columns.
func TestErrorColumns(t *testing.T) {
	db := open(t, deployment(t))
	for _, sql := range []string{
		"SELECT sex, COUNT(*) AS n, AVG(age), SUM(cost) AS paid FROM patients GROUP BY sex",
		"SELECT COUNT(*), MEDIAN(age), dp_error(COUNT(*)) FROM patients",
		"SELECT * FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) AS t LIMIT 1000",
		"SELECT sex, n * 2 AS twice FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) AS t",
		"WITH t AS (SELECT sex, COUNT(*) AS n, AVG(age) AS a FROM patients GROUP BY sex) SELECT n, a FROM t ORDER BY n DESC LIMIT 2",
	} {
		q := api.Question{Dataset: "north", Analyst: "ana", SQL: sql}
		plain, err := db.Ask(background, q)
		if err != nil {
			t.Fatal(sql, err)
		}
		for _, how := range []string{"", api.ErrorColumns, api.ErrorIntervals, api.ErrorWhole} {
			q.Settings.Errors = how
			a, err := db.Ask(background, q)
			if err != nil || !a.Receipt.Free || a.Remaining != plain.Remaining {
				t.Fatalf("%s, %s: %+v, %v", sql, how, a, err)
			}
			d, err := db.Describe(background, q)
			if err != nil || !slices.Equal(d.Columns, []api.Column(a.Columns)) {
				t.Errorf("%s, %s: described %+v, answered %+v, %v", sql, how, d, a.Columns, err)
			}
			checkErrors(t, sql, how, plain, a)
		}
	}
}

// checkErrors compares an answer with the same one without columns of error bars.
func checkErrors(t *testing.T, sql, how string, plain, a *api.Answer) {
	t.Helper()
	for i, row := range a.Rows {
		at := len(plain.Columns)
		if !reflect.DeepEqual(row[:at], plain.Rows[i]) {
			t.Errorf("%s, %s: %v, and before %v", sql, how, row, plain.Rows[i])
		}
		for j, c := range plain.Columns {
			if !c.Bar || how == "" {
				continue
			}
			half, value := *plain.Errors[i][j], number(t, plain.Rows[i][j])
			want := []float64{half}
			if how != api.ErrorColumns { // of people with one row nothing is cut
				want = []float64{value - half, value + half}
			}
			if how == api.ErrorWhole && row[at] == nil && strings.Contains(sql, "(SELECT") {
				at, want = at+2, nil // around answers nobody knows
			}
			for _, w := range want {
				if got := number(t, row[at]); got != w {
					t.Errorf("%s, %s: column %s is %v, want %v", sql, how, a.Columns[at].Name, got, w)
				}
				at++
			}
		}
		if at != len(row) || len(row) != len(a.Columns) {
			t.Errorf("%s, %s: %d values in %d columns, %d expected", sql, how, len(row), len(a.Columns), at)
		}
	}
}

func number(t *testing.T, v any) float64 {
	t.Helper()
	f, err := v.(json.Number).Float64()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// SELECT * FROM (...) LIMIT 1000, as tools write it, keeps the error bars.
func TestLimitAroundKeepsErrorBars(t *testing.T) {
	db := open(t, deployment(t))
	const inner = "SELECT sex, COUNT(*) AS n, AVG(age) AS a FROM patients GROUP BY sex"
	plain, err := db.Ask(background, api.Question{Dataset: "north", Analyst: "ana", SQL: inner})
	if err != nil {
		t.Fatal(err)
	}
	for _, around := range []string{"SELECT * FROM (" + inner + ") AS t LIMIT 1000", "SELECT * FROM (" + inner + ") AS virtual_table",
		"SELECT sex AS sex, n AS n, a AS a FROM (" + inner + ") AS virtual_table ORDER BY sex LIMIT 100 OFFSET 0"} {
		a, err := db.Ask(background, api.Question{Dataset: "north", Analyst: "ana", SQL: around})
		if err != nil || !a.Receipt.Free || !reflect.DeepEqual(a.Errors, plain.Errors) || !reflect.DeepEqual(a.Rows, plain.Rows) {
			t.Errorf("%s: %+v, %v", around, a, err)
		}
	}
}

// A count that noise has made negative can be shown as 0: the same answer, free, with the same
// error bar.
func TestNonnegativeCounts(t *testing.T) {
	db := open(t, deployment(t))
	negative := 0
	for _, zip := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"} {
		q := api.Question{Dataset: "north", Analyst: "ana",
			SQL: "SELECT COUNT(*) AS n, COUNT(*) - 5 AS less FROM patients WHERE zip = 'no such " + zip + "'"}
		q.Settings.Epsilon = dp.One / 100
		plain, err := db.Ask(background, q)
		if err != nil {
			t.Fatal(err)
		}
		q.Settings.Counts = "nonnegative"
		a, err := db.Ask(background, q)
		if err != nil || !a.Receipt.Free || !reflect.DeepEqual(a.Errors[0][0], plain.Errors[0][0]) {
			t.Fatal(a, err)
		}
		was, is := number(t, plain.Rows[0][0]), number(t, a.Rows[0][0])
		if is != max(was, 0) || number(t, a.Rows[0][1]) != is-5 {
			t.Errorf("%v is shown as %v", plain.Rows, a.Rows)
		}
		if was < 0 {
			negative++
		}
	}
	if negative == 0 {
		t.Error("no count was negative")
	}
}
