package planner_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
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
		s, err := planner.Prepare(ds, text, planner.Options{})
		if err != nil {
			t.Fatal(err)
		}
		q := &s.Plans[0].Query
		found := 0
		visit := func(e tree.Expr) {
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
			visit(q.Where)
		}
		for _, m := range q.Measures {
			if m.Arg != nil {
				visit(m.Arg)
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
		_, err := planner.Prepare(ds, counting+text+" = 'a'", planner.Options{})
		if (err != nil) != refused {
			t.Errorf("%s: refused is %v, want %v (%v)", text, err != nil, refused, err)
		}
	}
	s, err := planner.Prepare(ds, "SELECT SUM(length(CAST("+w+"*"+w+" AS text))) FROM patients", planner.Options{})
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
		s, err := planner.Prepare(ds, "SELECT SUM("+text+") FROM patients WHERE age > 3", planner.Options{})
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

// A constant that no engine has a number for must be refused, wherever it stands
// and however it is spelled. One that were let through would fail on the first row
// that reaches it, and so tell, without noise, whether there is such a row.
func TestNumbersTooWide(t *testing.T) {
	ds := hospital(t)
	for _, n := range []string{"'1e39'", "'1e100'", "'1e250'", "'-1e250'", "1e39", "1e250", "'1e-250'", "1e-250"} {
		for _, question := range []string{
			"age + N > 0", "age - N > 0", "age * N > 0", "age / N > 0", "age % N > 0", "N / age > 0", "N % age > 0", "- N < age",
			"cost / 3.0 - N > 0", "cost / 3.0 + N > 0", "cost / 3.0 * N > 0", "cost / 3.0 / N > 0", "cost / 3.0 > N", "N < cost / 3.0",
			"age = N", "age IN (1, N)", "cost / 3.0 IN (1, N)", "age BETWEEN N AND 5", "cost / 3.0 BETWEEN 1 AND N",
			"age > 1 AND NOT (cost / 3.0 - N > 0)",
		} {
			text := "SELECT COUNT(*) FROM patients WHERE " + strings.ReplaceAll(question, "N", n)
			if _, err := planner.Prepare(ds, text, planner.Options{}); !errors.As(err, new(*api.Refusal)) {
				t.Errorf("%s: %v", text, err)
			}
		}
		for _, aggregate := range []string{"SUM(age * N)", "AVG(age + N)", "COUNT(cost / 3.0 - N)"} {
			text := "SELECT " + strings.ReplaceAll(aggregate, "N", n) + " FROM patients"
			if _, err := planner.Prepare(ds, text, planner.Options{}); !errors.As(err, new(*api.Refusal)) {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}

// BETWEEN and IN write their left side more than once. Nested, they must not
// make a short text into a tree that takes for ever to look at.
func TestTextThatGrows(t *testing.T) {
	ds := hospital(t)
	between := "smoker"
	for range 60 {
		between = "(" + between + " BETWEEN false AND true)"
	}
	sum := strings.TrimSuffix(strings.Repeat("cost / 3.0 + ", 50), " + ")
	for name, condition := range map[string]string{
		"between": between,
		"in":      "(" + sum + ") IN (" + strings.TrimSuffix(strings.Repeat("1.5, ", 600), ", ") + ")",
	} {
		if _, err := planner.Prepare(ds, "SELECT COUNT(*) FROM patients WHERE "+condition, planner.Options{}); !errors.As(err,
			new(*api.Refusal)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := planner.Prepare(ds, "SELECT COUNT(*) FROM patients WHERE ((smoker BETWEEN false AND true) BETWEEN false AND true)",
		planner.Options{}); err != nil {
		t.Errorf("what is small is refused: %v", err)
	}
}
