package trino

import (
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/audit/neighbours"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// pair is people, and the same without one of them.
type pair struct{ with, without people }

// newPair leaves out whoever has the most rows.
func newPair(t testing.TB, count int) pair {
	t.Helper()
	p := pair{with: newPeople(t, count)}
	rows, most := map[any]int{}, any(nil)
	for _, r := range p.with.rows {
		if rows[r[0]]++; r[0] != nil && rows[r[0]] > rows[most] {
			most = r[0]
		}
	}
	p.without.schema = newSchema(t, "memory")
	p.without.Run(t, fmt.Sprintf("CREATE TABLE %s AS SELECT * FROM %s WHERE u IS DISTINCT FROM %s", p.without.table("t"), p.with.table("t"),
		sqlValue(most)))
	return p
}

// apart runs a question on both, as a policy says how people are cut, and judges it by what the
// question of another policy allows.
func (p pair) apart(t testing.TB, text, keys, judged string) (float64, error) {
	t.Helper()
	var q *tree.Query
	e := [2]*Engine{open(t, p.with.dataset(t, keys)), open(t, p.without.dataset(t, keys))}
	a, err := e[0].Run(t.Context(), &prepare(t, e[0].dataset, text).Query)
	if err != nil {
		t.Fatal(err)
	}
	b, err := e[1].Run(t.Context(), &prepare(t, e[1].dataset, text).Query)
	if err != nil {
		t.Fatal(err)
	}
	q = &prepare(t, p.with.dataset(t, judged), text).Query
	return neighbours.Judge(q, a, b)
}

// TestNeighbours: whoever has the most is there or not, and no result of a question that cuts
// people is further apart than its noise is made for. What others keep is the same, so it is that
// person's part alone. The same is found too far apart where people are not cut.
func TestNeighbours(t *testing.T) {
	p := newPair(t, usually(40, 400))
	keys := strings.ReplaceAll(peopleKeys, "UNIT", "u")
	moved, full := 0, 0
	for i, text := range bounded {
		if i%usually(2, 1) != 0 {
			continue
		}
		if strings.Contains(text, "%s") {
			text = fmt.Sprintf(text, "u")
		}
		ratio, err := p.apart(t, text, keys, keys)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if ratio > 0 {
			moved++
		}
		if ratio == 1 {
			full++
		}
	}
	if moved < 4 || full == 0 {
		t.Errorf("one person moves %d questions, and %d of them as far as they may", moved, full)
	}
	for planted, c := range map[string]struct{ text, was, is string }{
		"groups are not cut": {bounded[2], "max_groups: 3", "max_groups: 12"},
		"values are not cut": {"SELECT MEDIAN(v) FROM t", "max_rows: 4", "max_rows: 40"},
		"rows are not cut":   {"SELECT COUNT(*) FROM t", "max_rows: 4", "max_rows: 40"},
	} {
		if ratio, err := p.apart(t, c.text, strings.Replace(keys, c.was, c.is, 1), keys); err == nil {
			t.Errorf("%s, and nothing shows it: %v", planted, ratio)
		}
	}
}
