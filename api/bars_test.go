package api

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/discreet-dp/discreet/dp"
)

func TestShowErrors(t *testing.T) {
	half, none := 2.5, (*float64)(nil)
	answer := func() *Answer {
		return &Answer{
			Columns: Columns{{Name: "sex"}, {Name: "n", Bar: true}, {Name: "n_error"}, {Name: "x", Bar: true}},
			Rows:    [][]any{{"F", json.Number("7"), "a", json.Number("1.5")}, {"M", json.Number("-1"), "b", nil}},
			Errors:  [][]*float64{{none, &half, none, none}, {none, &half, none, none}},
		}
	}
	for how, want := range map[string]string{
		"":        "[sex n n_error x] [[F 7 a 1.5] [M -1 b <nil>]]",
		"columns": "[sex n n_error x n_error_2 x_error] [[F 7 a 1.5 2.5 <nil>] [M -1 b <nil> 2.5 <nil>]]",
		"interval": "[sex n n_error x n__yhat_lower n__yhat_upper x__yhat_lower x__yhat_upper] [[F 7 a 1.5 4.5 9.5 <nil> <nil>] [M -1 b " +
			"<nil> -3.5 1.5 <nil> <nil>]]",
	} {
		a := answer()
		described := WithErrors(a.Columns, how)
		a.ShowErrors(how)
		names := []string{}
		for _, c := range a.Columns {
			names = append(names, c.Name)
		}
		if got := fmt.Sprint(names, a.Rows); got != want || fmt.Sprint(described) != fmt.Sprint([]Column(a.Columns)) {
			t.Errorf("%s: %s, described %v", how, got, described)
		}
		for i := range a.Rows {
			if len(a.Errors[i]) != len(a.Columns) || len(a.Rows[i]) != len(a.Columns) {
				t.Errorf("%s: row %d has %d values and %d errors", how, i, len(a.Rows[i]), len(a.Errors[i]))
			}
		}
	}
}

// Where nobody knows the errors of an answer there are columns for them all the same, because they
// were described.
func TestShowErrorsThatNobodyKnows(t *testing.T) {
	a := &Answer{Columns: Columns{{Name: "n", Bar: true}}, Rows: [][]any{{json.Number("7")}}}
	a.ShowErrors(ErrorIntervals)
	if got := fmt.Sprint(a.Rows); got != "[[7 <nil> <nil>]]" {
		t.Error(got)
	}
}

func TestMore(t *testing.T) {
	for _, c := range []struct {
		left Remaining
		cost dp.Cost
		want string
	}{
		{Remaining{Epsilon: dp.One, Pure: dp.One, Rho: dp.Unbounded}, dp.Cost{Epsilon: dp.One / 20}, "20 true"},
		// After a tenth and then two tenths, amounts that are rounded: eight tenths are left.
		{Remaining{Pure: dp.One - dp.One/5, Rho: dp.Unbounded}, dp.Cost{Epsilon: dp.One/5 - dp.One/10}, "8 true"},
		{Remaining{Pure: dp.One/10 - 1, Rho: dp.Unbounded}, dp.Cost{Epsilon: dp.One / 10}, "0 true"},
		{Remaining{Epsilon: dp.One, Pure: dp.One, Rho: dp.One / 10}, dp.Cost{Epsilon: dp.One / 20, Rho: dp.One / 100}, "20 true"},
		{Remaining{Epsilon: dp.One, Pure: dp.One, Rho: dp.One / 10}, dp.Cost{Epsilon: dp.Unbounded, Rho: dp.One / 100}, "10 true"},
		{Remaining{Epsilon: dp.One, Rho: dp.One / 10}, dp.Cost{Epsilon: dp.One / 20, Rho: dp.One / 100}, "10 true"},
		{Remaining{Epsilon: dp.One, Rho: dp.One / 10, KeysDelta: 30}, dp.Cost{Rho: dp.One / 100, Delta: 10}, "3 true"},
		{Remaining{Epsilon: dp.One, Rho: 0}, dp.Cost{Rho: dp.One / 100}, "0 true"},
		{Remaining{Epsilon: dp.One, Rho: dp.One}, dp.Cost{}, "0 false"},
		{Remaining{Epsilon: dp.Unbounded, Pure: dp.Unbounded, Rho: dp.Unbounded}, dp.Cost{Epsilon: 1}, "0 false"},
	} {
		if n, ok := c.left.More(c.cost); fmt.Sprint(n, ok) != c.want {
			t.Errorf("%+v at %+v: %d %v", c.left, c.cost, n, ok)
		}
	}
}
