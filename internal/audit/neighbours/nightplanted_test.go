package neighbours_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/audit/generate"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/exact"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// broken is an engine that does something else with questions about the target.
type broken struct {
	engine.Engine
	instead func(*tree.Query) (*engine.Result, error)
}

func (b broken) Run(ctx context.Context, q *tree.Query) (*engine.Result, error) {
	if strings.Contains(q.Format(), generate.Target) {
		return b.instead(q)
	}
	return b.Engine.Run(ctx, q)
}

// TestNightPlanted: what the night looks for is found where it is, by its own questions, and a
// small question is left of it.
func TestNightPlanted(t *testing.T) {
	far := func(q *tree.Query) (*engine.Result, error) {
		r := &engine.Result{Values: make([][]exact.Vector, len(q.Measures))}
		for range q.Measures {
			r.Measures = append(r.Measures, exact.Seal([]int64{1 << 60}))
		}
		return r, nil
	}
	for class, instead := range map[string]func(*tree.Query) (*engine.Result, error){
		"error":    func(*tree.Query) (*engine.Result, error) { return nil, errors.New("planted") },
		"panic":    func(*tree.Query) (*engine.Result, error) { panic("planted") },
		"distance": far,
	} {
		t.Run(class, func(t *testing.T) {
			s := newSearch(5)
			p, closed, err := s.open(t.Context(), t, 1)
			if err != nil {
				t.Fatal(err)
			}
			defer closed()
			p.ducks[0] = broken{p.ducks[0], instead}
			text, hits := "", 0
			for i := 0; i < 200 && hits < 6; i++ {
				made := s.question(p, 1, i)
				if v := p.ask(t.Context(), made); v.class != class {
					continue
				}
				if hits++; text == "" || len(made) < len(text) {
					text = made // a long one takes thousands of tries
				}
			}
			if class != "error" && hits > 0 {
				return // a question is made small in the same way, whatever is wrong with it
			}
			small := shrink(text, func(text string) bool { return p.ask(t.Context(), text).class == class })
			if t.Log(small); len(small) > 200 || !strings.Contains(small, generate.Target) {
				t.Errorf("%s\nis not small, made of\n%s", small, text)
			}
		})
	}
}

// TestShrink: what has nothing to do with it goes.
func TestShrink(t *testing.T) {
	text := "WITH w AS (SELECT a FROM t) SELECT a, SUM(b + length(lower(c))) FILTER (WHERE d) FROM (SELECT * FROM t) AS u JOIN v ON u.x " +
		"= v.y WHERE z = 1 AND y IN (SELECT 3 FROM r) GROUP BY a HAVING COUNT(*) > 2"
	got := shrink(text, func(s string) bool { return strings.Contains(s, "length(") && strings.Contains(s, "FROM") })
	if len(got) > 50 {
		t.Errorf("left: %s", got)
	}
}

// TestNightSame: a question of a night is made again by its numbers.
func TestNightSame(t *testing.T) {
	var texts [2]string
	for k := range texts {
		s := newSearch(9)
		p, closed, err := s.open(t.Context(), t, 3)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			texts[k] += s.question(p, 3, i) + "\n"
		}
		closed()
	}
	if texts[0] != texts[1] {
		t.Errorf("%s\nand then\n%s", texts[0], texts[1])
	}
}
