package duckdb

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// TestPlantedShop shows that the answers computed by hand find an engine that takes the wrong unit,
// counts rows of nobody, or fails over one.
func TestPlantedShop(t *testing.T) {
	folder := t.TempDir()
	types := map[string]string{"orders": strings.Replace(shopTypes["orders"], "cust INTEGER", "cust HUGEINT", 1)}
	rows := map[string]string{"orders": strings.Replace(shopRows["orders"], "40,9,", "40,-170141183460469231731687303715884105728,", 1)}
	e := open(t, shopDataset(t, folder, storeShop(t, folder, "duckdb", types, rows), "add-remove", 2, 2))
	replace := func(pairs ...string) func(string) string {
		return func(text string) string {
			for i := 0; i < len(pairs); i += 2 {
				text = regexp.MustCompile(pairs[i]).ReplaceAllString(text, pairs[i+1])
			}
			return text
		}
	}
	for name, planted := range map[string]struct {
		in     string // part of the questions to try
		mutate func(string) string
		fails  bool
	}{
		// The unit of customers LEFT JOIN orders is f3; that of the right side is its f3 too.
		"the right side's unit": {"LEFT JOIN orders o ON c.cid = o.cust",
			replace(`SELECT (.*?)t2\.f3 AS f3`, `SELECT ${1}t3.f3 AS f3`), false},
		"orphans are counted": {"FROM items", replace(`\) AS t2 JOIN \(`, `) AS t2 LEFT JOIN (`, `t1\.f\d+ IS NOT NULL`,
			"true"), false},
		"rows of nobody are counted":  {"FROM orders", replace(`t1\.f\d+ IS NOT NULL`, "true"), false},
		"numbers are cut to 32 bits":  {"JOIN orders", replace(`TRY_CAST\(("cid"|"cust") AS VARCHAR\)`, "CAST($1 AS INTEGER)"), true},
		"people are not counted once": {"COUNT(DISTINCT cust)", replace(`> 1 THEN 1 `, "> 9 THEN 9 "), false},
		"a LEFT JOIN loses rows":      {"LEFT JOIN", replace(` LEFT JOIN `, " JOIN "), false},
		"a LEFT JOIN finds only pairs": {"ON c.cid = o.cust AND EXISTS",
			replace(` UNION ALL SELECT .*? NOT IN \(SELECT n FROM pt\d+\)`, ""), false},
		"EXISTS is not about the row": {"EXISTS (SELECT 1 FROM orders",
			replace(`\(t1\.f\d+ = t2\.f\d+\)`, "true", `\(t2\.f\d+ = t1\.f\d+\)`, "true"), false},
		"counts are cut too far": {"GROUP BY cust) AS x", replace(`WHEN f1 > 2 THEN 2`, "WHEN f1 > 1 THEN 1"), false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, c := range shopAnswers {
				if c.want == "refused" || !strings.Contains(c.text, planted.in) {
					continue
				}
				q := question(t, e, c.text)
				changed, ok := mutant(e.now.Statements(q), planted.mutate)
				if !ok {
					continue
				}
				got, err := e.now.Run(t.Context(), q, changed)
				if planted.fails && err != nil || !planted.fails && err == nil && shown(q, got) != c.want {
					t.Logf("found by %s", c.text)
					return
				}
			}
			t.Error("not found")
		})
	}
}

// keptGroups returns in which groups a result has something, for each measure.
func keptGroups(q *tree.Query, r *engine.Result) [][]int {
	out := make([][]int, len(q.Measures))
	for m := range q.Measures {
		for g := range r.Persons.Len() {
			if r.Values[m] != nil && r.Values[m][g].Len() > 0 || r.Values[m] == nil && r.Measures[m].Open()[g] != 0 {
				out[m] = append(out[m], g)
			}
		}
	}
	return out
}

// TestSameGroups: whatever a question measures, it keeps the same groups of a person. Otherwise
// somebody would be in twice as many.
func TestSameGroups(t *testing.T) {
	folder := t.TempDir()
	var orders strings.Builder
	for i, shop := range strings.Split("abcdefghijklmnopqrstuvwxyz", "") {
		for k := range 3 {
			orders.WriteString(strings.Join([]string{string(rune('A'+i)) + string(rune('0'+k)), "1", string(rune('1' + k)),
				string(rune('1' + k)), shop}, ",") + "\n")
		}
	}
	e := open(t, shopDataset(t, folder, storeShop(t, folder, "csv", nil, map[string]string{"orders": orders.String(), "items": ""}),
		"add-remove", 2, 4))
	same := func(q *tree.Query, mutate func(string) string) bool {
		changed, _ := mutant(e.now.Statements(q), mutate)
		if len(changed) != 5 {
			t.Fatalf("%d statements", len(changed))
		}
		r, err := e.now.Run(t.Context(), q, changed)
		if err != nil {
			t.Fatal(err)
		}
		kept := keptGroups(q, r)
		for _, k := range kept {
			if len(k) != 4 || !slices.Equal(k, kept[0]) {
				return false
			}
		}
		return r.Persons.Len() == 4
	}
	planted := 0
	for _, where := range []string{"", " WHERE amount > 0", " WHERE amount > 1", " WHERE amount < 3"} {
		q := question(t, e, "SELECT shop, COUNT(*), SUM(amount), COUNT(DISTINCT code), COUNT(DISTINCT amount), MEDIAN(amount) FROM "+
			"orders"+where+" GROUP BY shop")
		if !same(q, unchanged) {
			t.Errorf("other groups%s", where)
		}
		if !same(q, func(text string) string {
			return strings.Replace(text, "dense_rank() OVER (PARTITION BY u ORDER BY hash(",
				"dense_rank() OVER (PARTITION BY u ORDER BY hash('a', ", 1)
		}) {
			planted++
		}
	}
	if planted != 4 {
		t.Errorf("other groups of values were found %d times of 4", planted)
	}
}
