package postquery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
)

// TestRoundTrip: what is loaded comes back as it was.
func TestRoundTrip(t *testing.T) {
	n := func(s string) any { return json.Number(s) }
	in := Table{Name: "answer", Columns: []Column{{"i", Integer, 0, ""}, {"d", Decimal, 3, ""}, {"z", Decimal, 0, ""}, {"x", Real, 0, ""},
		{"t", Text, 0, ""}, {"b", Boolean, 0, ""}, {"day", Date, 0, ""}, {"at", Timestamp, 0, ""}}, Rows: [][]any{
		{n("9223372036854775807"), n("99999999999999999999999999999999999.999"), n("-99999999999999999999999999999999999999"), n("0.1"),
			"it's \"ä\" \n;--", true, "0001-01-01", "9999-12-31 23:59:59.999999"},
		{n("-9223372036854775808"), n("-0.001"), n("0"), n("1e+300"), "", false, "9999-12-31", "2024-02-29 00:00:00"},
		{n("0"), n("0.000"), n("1"), n("-123456.75"), strings.Repeat("x", MaxText+1), nil, "1969-12-31", "1969-12-31 23:59:59"},
		{nil, nil, nil, nil, nil, nil, nil, nil},
	}}
	out, err := Run(t.Context(), `SELECT * FROM "answer"`, []Table{in})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(out.Columns, in.Columns) || !reflect.DeepEqual(out.Rows, in.Rows) {
		t.Errorf("%v\n%v\n%v\n%v", in.Columns, out.Columns, in.Rows, out.Rows)
	}
	// Many rows keep their order, beyond a chunk of DuckDB's.
	many := Table{Name: "m", Columns: []Column{{"i", Integer, 0, ""}}}
	for i := range 50_000 {
		many.Rows = append(many.Rows, []any{n(fmt.Sprint((i * 7919) % 50_000))})
	}
	if out, err = Run(t.Context(), "SELECT * FROM m", []Table{many}); err != nil || !reflect.DeepEqual(out.Rows, many.Rows) {
		t.Error("order was not kept", err)
	}
	if out, err = Run(t.Context(), "SELECT * FROM m ORDER BY i DESC", []Table{many}); err != nil || out.Rows[0][0] != n("49999") ||
		out.Rows[49_999][0] != n("0") {
		t.Error("the order is wrong", err)
	}
}

// TestWrongTables: a table that is not what its columns say is an error, and not a panic.
func TestWrongTables(t *testing.T) {
	n := func(s string) any { return json.Number(s) }
	for i, c := range []Table{
		{Name: "t"},
		{Name: "t", Columns: []Column{{"a", Kind(99), 0, ""}}},
		{Name: "t", Columns: []Column{{"a", Decimal, 50, ""}}},
		{Name: "t", Columns: []Column{{"a", Text, 0, ""}, {"A", Text, 0, ""}}},
		{Name: "t", Columns: []Column{{"a", Integer, 0, ""}}, Rows: [][]any{{n("1.5")}}},
		{Name: "t", Columns: []Column{{"a", Integer, 0, ""}}, Rows: [][]any{{n("9223372036854775808")}}},
		{Name: "t", Columns: []Column{{"a", Integer, 0, ""}}, Rows: [][]any{{"1"}}},
		{Name: "t", Columns: []Column{{"a", Integer, 0, ""}}, Rows: [][]any{{1}}},
		{Name: "t", Columns: []Column{{"a", Integer, 0, ""}}, Rows: [][]any{{}}},
		{Name: "t", Columns: []Column{{"a", Decimal, 2, ""}}, Rows: [][]any{{n("0.001")}}},
		{Name: "t", Columns: []Column{{"a", Decimal, 2, ""}}, Rows: [][]any{{n("1e999999999")}}},
		{Name: "t", Columns: []Column{{"a", Decimal, 2, ""}}, Rows: [][]any{{n("9999999999999999999999999999999999999")}}},
		{Name: "t", Columns: []Column{{"a", Real, 0, ""}}, Rows: [][]any{{n("1e999")}}},
		{Name: "t", Columns: []Column{{"a", Real, 0, ""}}, Rows: [][]any{{n("NaN")}}},
		{Name: "t", Columns: []Column{{"a", Date, 0, ""}}, Rows: [][]any{{"2024-02-30"}}},
		{Name: "t", Columns: []Column{{"a", Timestamp, 0, ""}}, Rows: [][]any{{"soon"}}},
		{Name: "t", Columns: []Column{{"a", Boolean, 0, ""}}, Rows: [][]any{{"true"}}},
	} {
		if _, err := Run(t.Context(), "SELECT 1", []Table{c}); err == nil {
			t.Errorf("table %d was taken", i)
		}
	}
	for _, columns := range [][]string{{"a", "A"}, {"a", "a"}, {""}} {
		stmt, _ := parse("SELECT 1")
		if _, err := Check(stmt, map[string][]string{"t": columns}); err == nil {
			t.Errorf("%q was taken", columns)
		}
	}
}

// TestFaults: what DuckDB says comes as one sentence, refused before a run where that is possible.
func TestFaults(t *testing.T) {
	var r *api.Refusal
	for text, want := range map[string]string{
		"SELECT nothing FROM r":   `Referenced column "nothing" not found in FROM clause`,
		"SELECT k + day FROM r":   "",
		"SELECT k, sum(n) FROM r": "",
		"SELECT INTERVAL '1 day'": "cannot be shown",
		"SELECT r FROM r":         "a row cannot be used as a value",
		"SELECT k FROM r, s":      "",
		"SELECT * FROM r, r x, r y, r z, r a, r b, r c, r d, r e, r f, r g, r h, r i, r j, r l": "columns",
	} {
		_, err := ask(t, text)
		if !errors.As(err, &r) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "LINE 1") ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"SELECT k::int FROM r":                          "Could not convert string 'a' to INT32",
		"SELECT n * 9223372036854775807 FROM r":         "Overflow",
		"SELECT ln(n) FROM r":                           "logarithm of a negative number",
		"SELECT (SELECT k FROM r) FROM s":               "More than one row",
		"SELECT repeat('x', 5000)":                      "1000 characters",
		"SELECT g FROM generate_series(1, 100001) AS g": "more than 100000 rows",
	} {
		_, err := ask(t, text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if got, err := ask(t, "SELECT count(*) FROM generate_series(1, 100000) AS g"); err != nil || show(got) != "100000" {
		t.Error(got, err)
	}
	if got, err := ask(t, "SELECT g FROM generate_series(1, 100000) AS g"); err != nil || len(got.Rows) != MaxRows {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, "SELECT 1", nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := Describe(ctx, "SELECT 1", nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestApart runs calls at the same time over tables of one name: each sees its own.
func TestApart(t *testing.T) {
	var all sync.WaitGroup
	for w := range 3 * MaxRunning {
		all.Go(func() {
			mine := json.Number(fmt.Sprint(w))
			for range 2 {
				out, err := Run(t.Context(), "SELECT sum(i), count(*) FROM t",
					[]Table{{Name: "t", Columns: []Column{{"i", Integer, 0, ""}}, Rows: [][]any{{mine}}}})
				if err != nil || out.Rows[0][0] != mine || out.Rows[0][1] != json.Number("1") {
					t.Error(out, err)
				}
			}
		})
	}
	all.Wait()
}

// TestSame: the same results give the same answer, in every digit.
func TestSame(t *testing.T) {
	in := Table{Name: "t", Columns: []Column{{"x", Real, 0, ""}}}
	for i := range 20_000 {
		in.Rows = append(in.Rows, []any{json.Number(fmt.Sprint(1 / float64(i+1)))})
	}
	first := ""
	for range 4 {
		out, err := Run(t.Context(), "SELECT sum(x), avg(x), stddev(x), any_value(x) FROM t GROUP BY x > 0.001", []Table{in})
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = show(out)
		} else if show(out) != first {
			t.Errorf("%s\n%s", first, show(out))
		}
	}
}

// TestTurnsApart: who has turns of their own waits for nobody who has not, and nobody for them.
func TestTurnsApart(t *testing.T) {
	for _, c := range []struct {
		full       chan struct{}
		waits, not context.Context
	}{
		{turns, t.Context(), WithOwnTurns(t.Context())},
		{ownTurns, WithOwnTurns(t.Context()), t.Context()},
	} {
		for range cap(c.full) {
			c.full <- struct{}{}
		}
		if _, err := Run(c.not, "SELECT 1", nil); err != nil {
			t.Error(err)
		}
		short, cancel := context.WithTimeout(c.waits, 20*time.Millisecond)
		if _, err := Describe(short, "SELECT 1", nil); err == nil {
			t.Error("there was a turn too many")
		}
		cancel()
		for range cap(c.full) {
			<-c.full
		}
	}
	if len(turns)+len(ownTurns) != 0 {
		t.Error("turns were not given back")
	}
}
