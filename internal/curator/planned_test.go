package curator

import (
	"errors"
	"fmt"
	"math/big"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/memory"
	"github.com/discreet-dp/discreet/internal/plan"
)

// What was described is planned once for all who ask it, and is the plan of the same text and
// settings and of no other.
func TestPlannedOnce(t *testing.T) {
	w := newWorld(t, wealthy)
	const text = "SELECT sex, COUNT(*) FROM patients GROUP BY sex"
	for range 2 {
		_, err := w.Describe(ctx, api.Question{Analyst: "ana", SQL: text})
		w.check(err)
	}
	kept := func(sql string, maxGroups int64) *plan.Statement {
		st, _ := w.planner.cache.statements.Get(statementKey{sql: sql, maxGroups: maxGroups})
		return st
	}
	if kept(text, 1) != nil || kept(text+" ", 0) != nil {
		t.Error("another question was taken for it")
	}
	first := kept(text, 0)
	if first == nil {
		t.Fatal("it is not there")
	}
	a, err := w.askAs("ana", text, amount("0.1"))
	w.check(err)
	if kept(text, 0) != first {
		t.Error("it was planned again")
	}
	b, err := w.askAs("ana", text, amount("0.1"))
	w.check(err)
	if fmt.Sprint(a.Columns, a.Rows) != fmt.Sprint(b.Columns, b.Rows) || !b.Receipt.Free {
		t.Error("with a draft and without it the answers differ")
	}
	// An analyst whom the policy does not list gets nothing, described or not.
	_, err = w.Describe(ctx, api.Question{Analyst: "ana", SQL: text})
	w.check(err)
	if _, err := w.askAs("nobody", text, amount("0.1")); err == nil {
		t.Error("nobody was answered")
	}
	for i := range 3 * maxCachedStatements {
		w.planner.cache.keep(statementKey{sql: fmt.Sprint(i)}, &plan.Statement{})
	}
	if n := w.planner.cache.statements.Len(); n > maxCachedStatements {
		t.Errorf("%d are kept", n)
	}
}

// A price is that of all settings, and of nothing else.
func TestPricedOnce(t *testing.T) {
	w := newWorld(t, wealthy)
	const text = "SELECT sex, COUNT(*) FROM patients GROUP BY sex"
	of := func(s api.Settings) *request {
		q := api.Question{Analyst: "ana", SQL: text}
		q.Settings = s
		a, err := w.newRequest(ctx, q, memory.Horizon{})
		w.check(err)
		t.Cleanup(a.close)
		return a
	}
	others := []api.Settings{{}, {Epsilon: amount("0.2")}, {Epsilon: amount("0.3")}, {Confidence: 0.9}, {Mechanism: "laplace"},
		{MaxGroups: 1},
		{Error: big.NewRat(100, 1)}, {Error: big.NewRat(100, 3)}, {Counts: "nonnegative"}, {Errors: "columns"}, {Stream: "off"},
		{Delta: amount("1e-9")}}
	seen := map[any]int{}
	for i, s := range others {
		first, second := of(s), of(s)
		if first.Priced != second.Priced || !second.shared {
			t.Errorf("%+v was priced twice", s)
		}
		if j, ok := seen[first.Priced]; ok {
			t.Errorf("%+v has the price of %+v", s, others[j])
		}
		seen[first.Priced] = i
		if s.Error != nil {
			s.Error = new(big.Rat).Set(s.Error)
		}
		if of(s).Priced != first.Priced {
			t.Errorf("%+v was priced again", s)
		}
	}
}

// A plan that somebody changed while others had it is not paid for.
func TestSharedPlanChanged(t *testing.T) {
	w := newWorld(t, wealthy)
	const text = "SELECT COUNT(*) FROM patients"
	q := api.Question{Analyst: "ana", SQL: text}
	for range 2 {
		_, err := w.newRequest(ctx, q, memory.Horizon{})
		w.check(err)
	}
	st, _ := w.planner.cache.statements.Get(statementKey{sql: text})
	st.Plans[0].Query.Measures = append(st.Plans[0].Query.Measures, st.Plans[0].Query.Measures[0])
	before, err := w.Remaining(ctx, "ana")
	w.check(err)
	var dispute *api.Disagreement
	if _, err := w.askAs("ana", text, 0); !errors.As(err, &dispute) {
		t.Errorf("it was asked: %v", err)
	}
	if after, err := w.Remaining(ctx, "ana"); err != nil || fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("something was paid: %v %v, %v", before, after, err)
	}
}

// Many ask the same at once, with a plan that they share, and get the same.
func TestSharedPlans(t *testing.T) {
	w := newWorld(t, wealthy)
	texts := []string{"SELECT sex, COUNT(*), AVG(age) FROM patients GROUP BY sex HAVING COUNT(*) > -100000 ORDER BY 2 DESC",
		"SELECT COUNT(*), SUM(cost) FROM patients WHERE age BETWEEN 20 AND 60", "SELECT MEDIAN(age) FROM patients",
		"SELECT diagnosis, COUNT(*) FROM patients GROUP BY diagnosis ORDER BY COUNT(*) DESC LIMIT 2",
		"SELECT sex, COUNT(*) FROM patients GROUP BY ROLLUP (sex)"}
	var all sync.WaitGroup
	var mu sync.Mutex
	said := map[string]string{}
	for i := range 40 {
		all.Go(func() {
			text := texts[i%len(texts)]
			q := api.Question{Analyst: "ana", SQL: text, Request: fmt.Sprint("shared ", i)}
			_, err := w.Explain(ctx, q)
			if err != nil {
				t.Errorf("%s: %v", text, err)
				return
			}
			a, err := w.Ask(ctx, q)
			if err != nil {
				t.Errorf("%s: %v", text, err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			rows := fmt.Sprint(a.Columns, a.Rows)
			if before, ok := said[text]; ok && before != rows {
				t.Errorf("%s: %s and %s", text, before, rows)
			}
			said[text] = rows
		})
	}
	all.Wait()
}
