package answers

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// members are the rows of an answer that chooses among those of another.
type members struct {
	rows []*row
	in   map[string]map[string]bool // their values, by the columns that they are of
}

// isChosen reports whether the keys of a row are in all answers that choose. NULL is in none.
func (r *row) isChosen() bool {
	for _, a := range r.f.plan.Within {
		if text, ok := r.spelled(a.By); !ok || !r.f.among[a.Answer].values(a.Columns)[text] {
			return false
		}
	}
	return true
}

// values are those of some columns.
func (m *members) values(columns []int) map[string]bool {
	name := fmt.Sprint(columns)
	if known, ok := m.in[name]; ok {
		return known
	}
	out := map[string]bool{}
	for _, r := range m.rows {
		of := make([]tree.Expr, len(columns))
		for i, c := range columns {
			of[i] = r.f.plan.Columns[c].Expr
		}
		if text, ok := r.spelled(of); ok {
			out[text] = true
		}
	}
	if m.in == nil {
		m.in = map[string]map[string]bool{}
	}
	m.in[name] = out
	return out
}

// spelled writes values so that equal ones are written alike; not where one of them is NULL.
func (r *row) spelled(of []tree.Expr) (string, bool) {
	text := ""
	for _, e := range of {
		switch v := expr.Eval(e, r.leaf).(type) {
		case nil:
			return "", false
		case *big.Int:
			text += new(big.Rat).Mul(new(big.Rat).SetInt(v), e.Type().Step).RatString() + " "
		default:
			text += fmt.Sprintf("%q ", fmt.Sprint(v))
		}
	}
	return text, true
}
