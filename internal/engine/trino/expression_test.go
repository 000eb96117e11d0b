package trino

import (
	"flag"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/audit/sample"
	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// sampleRows are rows of all kinds, and texts that are told apart hardly.
func sampleRows(seeds int) []sample.Row {
	var all []sample.Row
	for seed := range seeds {
		all = append(all, rapid.Custom(func(t *rapid.T) []sample.Row {
			return append(sample.DrawRows(t, 20), sample.DrawRows(t, 20)...)
		}).Example(seed)...)
	}
	for _, s := range append(slices.Clone(sample.OddTexts), "\x00", "a\x00b", "aa\naa", strings.Repeat("aé", 400)) {
		all = append(all, sample.Row{"x": s, "n": int64(1), "i": int64(5)})
	}
	for k, r := range all {
		r["u"] = int64(k)
	}
	return all
}

// argument returns the expression that a text means, in its normal form.
func argument(e *Engine, text string) (tree.Expr, bool) {
	for _, how := range []string{"COUNT(", "COUNT(DISTINCT "} {
		if p, err := prepareOne(e.dataset, "SELECT "+how+text+") FROM t"); err == nil && p.Query.Measures[0].Arg != nil {
			return p.Query.Measures[0].Arg, true
		}
	}
	return nil, false
}

// valuesOf runs expressions in Trino, on every row.
func valuesOf(t testing.TB, e *Engine, all []tree.Expr) ([][]any, error) {
	p := e.Current().Print(prepare(t, e.dataset, "SELECT COUNT(*) FROM t").Query.From)
	list := make([]string, len(all))
	for i, x := range all {
		list[i] = p.Row.Expr(x)
	}
	order := p.Unit()
	text := "SELECT " + strings.Join(list, ", ") + " FROM " + p.FromClause() + " ORDER BY " + order
	rows, err := e.Current().DB.QueryContext(t.Context(), text)
	if err != nil {
		return nil, fmt.Errorf("%w in %s", err, text)
	}
	defer rows.Close()
	var out [][]any
	for rows.Next() {
		cells, into := make([]any, len(all)), make([]any, len(all))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		out = append(out, cells)
	}
	return out, rows.Err()
}

// sameValue compares Trino's value with the reference's.
func sameValue(got any, want tree.Value) bool {
	switch w := want.(type) {
	case tree.Day:
		want = big.NewInt(int64(w))
	case tree.Moment:
		want = big.NewInt(int64(w))
	}
	if w, ok := want.(*big.Int); ok {
		return got != nil && fmt.Sprint(got) == w.String()
	}
	return got == want
}

func leafOf(r sample.Row) func(tree.Expr) tree.Value {
	return func(e tree.Expr) tree.Value {
		c := e.(*tree.Column)
		return sample.Declared(c.Field.Source, r[c.Field.Name])
	}
}

// TestExpressions compares random expressions with expr.Eval, row by row and exactly.
func TestExpressions(t *testing.T) {
	all := sampleRows(4)
	s := newSchema(t, "memory")
	s.storeRows(t, all)
	e := open(t, s.dataset(t, sampleKeys()))
	asked, refused, wrong := 0, 0, 0
	for seed := range usually(4, 200) {
		texts := rapid.Custom(func(rt *rapid.T) (all []string) {
			for range 20 {
				all = append(all, sample.DrawAny(rt, 3))
			}
			return all
		}).Example(*seeds + seed)
		var known []string
		var exprs []tree.Expr
		for _, text := range texts {
			if x, ok := argument(e, text); ok {
				known, exprs = append(known, text), append(exprs, x)
			} else {
				refused++
			}
		}
		asked += len(exprs)
		for _, d := range differences(t, e, all, known, exprs) {
			if wrong++; wrong < 20 {
				t.Error(d)
			}
		}
	}
	t.Logf("%d expressions were compared on %d rows; %d were refused", asked, len(all), refused)
}

var seeds = flag.Int("seeds", 0, "where the seeds of random expressions begin")

// differences says where expressions are not what they should be, once each. Where all of them
// together do not run, each is run alone.
func differences(t testing.TB, e *Engine, all []sample.Row, texts []string, exprs []tree.Expr) (out []string) {
	if len(exprs) == 0 {
		return nil
	}
	got, err := valuesOf(t, e, exprs)
	switch {
	case err != nil && len(exprs) == 1:
		return []string{fmt.Sprintf("%s: %.3000v", texts[0], err)}
	case err != nil:
		for i := range exprs {
			out = append(out, differences(t, e, all, texts[i:i+1], exprs[i:i+1])...)
		}
		return out
	}
	for i, x := range exprs {
		for k, r := range all {
			if want := expr.Eval(x, leafOf(r)); !sameValue(got[k][i], want) {
				out = append(out, fmt.Sprintf("%s\n%s\nis %v (%T), and should be %v (%T), for %v", texts[i], tree.Format(x), got[k][i],
					got[k][i], want, want, r))
				break
			}
		}
	}
	return out
}
