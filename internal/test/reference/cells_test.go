package reference_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/cells"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/reference"
)

// related are questions about one table that may be made of each other.
func related(d generate.Dice) string {
	conditions := []string{
		"sex = 'F'", "sex IN ('F', 'M')", "sex IN ('F', 'M', 'X')", "sex <> 'F'", "sex IN ('F', 'Q')", "sex IS NULL", "sex IS NOT NULL",
		"smoker", "NOT smoker", "smoker IS NOT NULL", "smoker IS NOT TRUE", "age > 3", "age BETWEEN 2 AND 5", "age = 4", "age % 2 = 0",
		"code >= 2", "code IN (1, 2)",
		"code IS NOT NULL", "coalesce(code, 9) < 9", "sex = 'F' OR smoker", "NOT (sex = 'M' AND code > 1)", "cost > 1", "zip = 'a'",
		"weight > 0.5", "EXISTS (SELECT 1 FROM visits v WHERE v.pid = p.pid)",
	}
	keys := []string{"sex", "smoker", "code", "age", "age % 2", "age > 3", "smoker IS NULL", "code > 1",
		"CASE WHEN age > 4 THEN 'old' ELSE 'young' END", "CASE WHEN smoker THEN 1 WHEN NOT smoker THEN 2 ELSE 3 END"}
	measures := []string{"COUNT(*)", "COUNT(cost)", "SUM(cost)", "SUM(age)", "COUNT(DISTINCT pid)", "COUNT(DISTINCT code)"}
	some := func(list []string, most int) (out []string) {
		for range d.Below(most + 1) {
			if x := detrand.Pick(d, list); !slices.Contains(out, x) {
				out = append(out, x)
			}
		}
		return out
	}
	by, where := some(keys, 2), some(conditions, 2)
	text := "SELECT " + strings.Join(append(some(measures, 2), "COUNT(*)"), ", ") + " FROM patients p"
	if len(where) > 0 {
		text += " WHERE (" + strings.Join(where, ") AND (") + ")"
	}
	if len(by) > 0 {
		text += " GROUP BY " + strings.Join(by, ", ")
	}
	return text
}

// TestUnion: wherever the planner says that a question's groups are unions of another's, the exact
// values are the sums, whoever is in the data.
func TestUnion(t *testing.T) {
	ds := generate.Worlds()[0]
	var engines []once
	for i := range 6 {
		engines = append(engines, once{reference.New(ds, generate.Make(generate.NewDice("union", uint64(i)), ds).Tables),
			map[string]*engine.Result{}})
	}
	type known struct {
		text string
		q    *tree.Query
		keys []cells.Key
	}
	families := map[string][]known{}
	var asked []known
	for i := range 600 {
		text := related(generate.NewDice("cells", uint64(i)))
		s, err := planner.Prepare(ds, text, planner.Options{})
		if err != nil {
			continue
		}
		q := &s.Plans[0].Query
		asked = append(asked, known{text: text, q: q})
		if family, keys, ok := cells.Family(nil, q); ok {
			families[family] = append(families[family], known{text, q, keys})
		}
	}
	made, whole := 0, 0
	for _, a := range asked {
		for _, from := range cells.EarlierAnswers(nil, a.q) {
			for _, s := range families[from.Family] {
				of, ok := cells.Unions(nil, a.q, from, s.keys)
				if !ok || s.q.Hash() == a.q.Hash() {
					continue
				}
				made++
				if err := summed(engines, a.q, s.q, of); err != nil {
					t.Fatalf("%s\nis not made of\n%s\n%v", a.text, s.text, err)
				}
				if len(a.q.Keys) == 0 && len(s.q.Keys) > 0 {
					whole++
				}
			}
		}
	}
	if made < 1000 || whole < 100 {
		t.Errorf("only %d answers were made of others, %d of them totals", made, whole)
	}
}

// once is an engine that computes every question once.
type once struct {
	*reference.Engine
	seen map[string]*engine.Result
}

func (o once) run(q *tree.Query) (*engine.Result, error) {
	if r, ok := o.seen[q.Hash()]; ok {
		return r, nil
	}
	r, err := o.Run(context.Background(), q)
	o.seen[q.Hash()] = r
	return r, err
}

func summed(engines []once, a, s *tree.Query, of [][]int) error {
	for _, e := range engines {
		want, err := e.run(a)
		if err != nil {
			return err
		}
		have, err := e.run(s)
		if err != nil {
			return err
		}
		for i, m := range a.Measures {
			k := slices.IndexFunc(s.Measures, func(n tree.Measure) bool { return n.Name() == m.Name() })
			if k < 0 {
				continue
			}
			for g, parts := range of {
				if len(parts) > 1 && !m.Adds() {
					continue
				}
				sum := int64(0)
				for _, c := range parts {
					sum += have.Measures[k].Open()[c]
				}
				if x := want.Measures[i].Open()[g]; x != sum {
					return fmt.Errorf("%s of group %d is %d, and the sum of %v is %d", m.Describe(), g, x, parts, sum)
				}
			}
		}
	}
	return nil
}
