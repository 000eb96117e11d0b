package plan_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// TestFieldsAfterASubqueryInIN: a subquery that is a value, on the left of IN, gives the row
// outside more fields. The condition must name those of the inner row behind them, and not two
// places too early.
func TestFieldsAfterASubqueryInIN(t *testing.T) {
	ds := hospital(t)
	for _, text := range []string{
		"SELECT COUNT(*) FROM patients p WHERE (SELECT COUNT(*) FROM visits v WHERE v.pid = p.pid) IN (SELECT w.a FROM (SELECT age AS a, " +
			"zip AS b, pid FROM patients) w WHERE w.pid = p.pid)",
		"SELECT COUNT(*) FROM patients p WHERE (SELECT COUNT(*) FROM visits v WHERE v.pid = p.pid) NOT IN (SELECT w.a FROM (SELECT age " +
			"AS a, zip AS b, pid FROM patients) w WHERE w.pid = p.pid)",
		"SELECT COUNT(*) FILTER (WHERE (SELECT COUNT(*) FROM visits v WHERE v.pid = p.pid) IN (SELECT w.a FROM (SELECT age AS a, zip AS " +
			"b, pid FROM patients) w WHERE w.pid = p.pid)) FROM patients p",
		"SELECT SUM(CASE WHEN (SELECT COUNT(*) FROM visits v WHERE v.pid = p.pid) IN (SELECT w.a FROM (SELECT age AS a, zip AS b, pid " +
			"FROM patients) w WHERE w.pid = p.pid) THEN 1 ELSE 0 END) FROM patients p",
	} {
		s, err := plan.Prepare(ds, text, plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		q := &s.Plans[0].Query
		found := 0
		look := func(e tree.Expr) {
			tree.Walk(e, func(e tree.Expr) {
				x, ok := e.(*tree.Exists)
				if !ok {
					return
				}
				found++
				if x.Outer != len(q.From.Fields()) {
					t.Errorf("%s: the row outside has %d fields, and the subquery counts %d", text, len(q.From.Fields()), x.Outer)
				}
				fields := append(append([]tree.Field{}, q.From.Fields()...), x.From.Fields()...)
				tree.Walk(x.On, func(e tree.Expr) {
					if c, ok := e.(*tree.Column); ok && c.Field.Type.String() != fields[c.Index].Type.String() {
						t.Errorf("%s: field %d is %v, and is taken for %v", text, c.Index, fields[c.Index].Type, c.Field.Type)
					}
				})
			})
		}
		if q.Where != nil {
			look(q.Where)
		}
		for _, m := range q.Measures {
			if m.Arg != nil {
				look(m.Arg)
			}
		}
		if found == 0 {
			t.Errorf("%s: no subquery was found", text)
		}
	}
}

// TestSpelledNumbers: a number is cast to text where its digits fit, and not only its steps; the
// length of the text is the longest that there can be.
func TestSpelledNumbers(t *testing.T) {
	ds := hospital(t)
	w := "round(CASE WHEN zip = 'x' THEN 9 ELSE 0 END * 1000000000000, -12)"
	for text, refused := range map[string]bool{
		"CAST(" + w + " AS text)":                            false,
		"CAST(" + w + "*" + w + "*" + w + " AS text)":        true,
		"CAST(" + w + "*" + w + " AS text)":                  false,
		"CAST(balance * 1000000 AS text)":                    true,
		"CAST(round(balance, -12) * 1000000000000 AS text)":  true,
		"CAST(age % 1 * 1e30 * 1e30 AS text)":                false, // which is 0
		"CAST(age AS text)":                                  false,
		"CAST(round(weight / 7, 12) * 0.000001 AS text)":     true,
		"CAST(trunc(age, -11) * 100000000000000000 AS text)": false,
	} {
		_, err := plan.Prepare(ds, counting+text+" = 'a'", plan.Options{})
		if (err != nil) != refused {
			t.Errorf("%s: refused is %v, want %v (%v)", text, err != nil, refused, err)
		}
	}
	s, err := plan.Prepare(ds, "SELECT SUM(length(CAST("+w+"*"+w+" AS text))) FROM patients", plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	// 81e24 has 26 digits.
	if _, hi := s.Plans[0].Query.Interval(s.Plans[0].Query.Measures[0]); hi.Cmp(big.NewInt(26)) != 0 {
		t.Errorf("a text of 26 digits has up to %v characters", hi)
	}
}

// TestOneConstant: no two constants of a product stand in one chain, where an engine's optimizer
// could multiply them.
func TestOneConstant(t *testing.T) {
	ds := hospital(t)
	for text, want := range map[string]string{
		"age % 1 * 4000000000 * 4000000000 + age": " 0) ", // nothing but 0
		"age * 2 * 3 * 5":                         " 30)",
		"2 * (age * 3)":                           " 6)",
		"(age * 0.5 + 1) * 2":                     "",
		"age + 1 + 2 + 3":                         " 6)",
		"(age * 0.001) * 1000 + 0.0001":           "",
		"width_bucket(trunc(age, -11), 0, 1, 9)":  "",
	} {
		s, err := plan.Prepare(ds, "SELECT SUM("+text+") FROM patients WHERE age > 3", plan.Options{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		arg := s.Plans[0].Query.Measures[0].Arg
		if spelled := tree.Format(arg); !strings.Contains(spelled, want) {
			t.Errorf("%s is %s", text, spelled)
		}
		tree.Walk(arg, func(e tree.Expr) {
			if a, ok := e.(*tree.Arith); ok && a.Op == tree.Mul && constantFactor(a.R) && constantFactor(a.L) {
				t.Errorf("%s has two constants: %s", text, tree.Format(a))
			}
			if r, ok := e.(*tree.Rescale); ok && constantFactor(r.X) {
				t.Errorf("%s has two constants: %s", text, tree.Format(r))
			}
		})
	}
}

// constantFactor reports whether a number is a constant, or something times one.
func constantFactor(e tree.Expr) bool {
	switch e := e.(type) {
	case *tree.Literal, *tree.Rescale:
		return true
	case *tree.Arith:
		return e.Op == tree.Mul && constantFactor(e.R)
	}
	return false
}
