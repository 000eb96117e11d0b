package api

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/dp"
)

// What Settings.Errors may be, besides empty.
const (
	// ErrorColumns: half of the width of each error bar, as x_error.
	ErrorColumns = "columns"
	// ErrorIntervals: both ends of each error bar, as x__yhat_lower and x__yhat_upper, which is
	// what makes Superset draw an interval.
	ErrorIntervals = "interval"
)

// WithErrors returns the columns of an answer with those of their error bars behind them, as a
// setting has it. It depends on the columns alone, so what is described is what is answered.
func WithErrors(columns []Column, how string) []Column {
	suffixes := map[string][]string{ErrorColumns: {"_error"}, ErrorIntervals: {"__yhat_lower", "__yhat_upper"}}[how]
	out := slices.Clip(columns)
	for _, c := range columns {
		for _, suffix := range suffixes {
			if c.Bar {
				out = append(out, Column{Name: freeName(out, c.Name+suffix), Kind: "real", Type: "float8", Decimals: -1})
			}
		}
	}
	return out
}

// freeName is a name that no column has, in letters of any case: some readers take one of two that
// are alike.
func freeName(columns []Column, name string) string {
	taken := func(name string) bool {
		return slices.ContainsFunc(columns, func(c Column) bool { return c.Name == name })
	}
	free := name
	for n := 2; taken(free); n++ {
		free = name + "_" + strconv.Itoa(n)
	}
	return free
}

// ShowErrors adds the columns of error bars to an answer. It is made of what the answer holds
// already, so it costs nothing.
func (a *Answer) ShowErrors(how string) {
	columns := WithErrors(a.Columns, how)
	if len(columns) == len(a.Columns) {
		return
	}
	for i, row := range a.Rows {
		row = slices.Clone(row)
		for j, c := range a.Columns {
			if !c.Bar {
				continue
			}
			var half *float64
			if i < len(a.Errors) && j < len(a.Errors[i]) {
				half = a.Errors[i][j]
			}
			row = append(row, ends(row[j], half, how)...)
		}
		a.Rows[i] = row
		if i < len(a.Errors) {
			a.Errors[i] = append(slices.Clip(a.Errors[i]), make([]*float64, len(columns)-len(a.Columns))...)
		}
	}
	a.Columns, a.Shown = columns, true
}

// ends are what is shown of an error bar; NULL where there is none.
func ends(value any, half *float64, how string) []any {
	n, ok := value.(json.Number)
	v, err := n.Float64()
	known := ok && err == nil && half != nil
	switch {
	case how == ErrorIntervals && known:
		return []any{spellReal(v - *half), spellReal(v + *half)}
	case how == ErrorIntervals:
		return []any{nil, nil}
	case known:
		return []any{spellReal(*half)}
	}
	return []any{nil}
}

// spellReal writes a number as PostgreSQL writes float8; NULL where it is none.
func spellReal(f float64) any {
	switch a := math.Abs(f); {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return nil
	case f == 0:
		return json.Number("0") // without the sign of a negative one
	case a < 1e-4 || a >= 1e15:
		return json.Number(strconv.FormatFloat(f, 'e', -1, 64))
	}
	return json.Number(strconv.FormatFloat(f, 'f', -1, 64))
}

// More is about how many more answers are left that each claim a cost; false where it is nothing.
func (r Remaining) More(cost dp.Cost) (int64, bool) {
	if cost == (dp.Cost{}) || r.Pure == dp.Unbounded && r.Rho == dp.Unbounded {
		return 0, false
	}
	n := max(times(r.Pure, cost.Epsilon), times(r.Rho, cost.Rho))
	if cost.Delta > 0 && r.KeysDelta != dp.Unbounded {
		n = min(n, r.KeysDelta/cost.Delta)
	}
	return int64(min(n, 1<<53)), true
}

// Questions is about how many more questions at an epsilon are left, with the noise that makes them
// most.
func (r Remaining) Questions(epsilon dp.Amount) (int64, bool) {
	if epsilon == 0 {
		return 0, false
	}
	rho, err := dp.FloorFloat(dp.RhoOfPure(epsilon.Float()))
	if err != nil || rho == 0 {
		rho = dp.Unbounded
	}
	return r.More(dp.Cost{Epsilon: epsilon, Rho: rho})
}

// times is how often something can be taken from what is left; never where there is no such claim.
func times(left, each dp.Amount) dp.Amount {
	if left == dp.Unbounded || each == 0 || each == dp.Unbounded {
		return 0
	}
	if left < each {
		return 0
	}
	return (left + each>>20) / each // amounts are rounded, so that eight tenths are a little less than eight times one
}
