package neighbours_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sealed"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/reference"
	"github.com/discreet-dp/discreet/policy"
)

var (
	night            = flag.Int("night", 0, "how many questions the night asks of neighbours in both engines; 0 for 50 (600 with -full)")
	lasting          = flag.Duration("lasting", 0, "when the night ends at the latest; 0 for never")
	at               = flag.String("at", "", "ask one question of a night again, as a finding names it: database/question")
	maxNightFindings = flag.Int("findings", 5, "after how many findings the night ends")
)

// perPair is how many questions are made for one pair of databases, which take as long to store and
// to open as a hundred questions.
const perPair = 300

// search is a night: made-up questions on pairs of neighbours, one of whom is a person whom
// questions single out.
type search struct {
	seed     uint64
	worlds   []world
	asked    atomic.Int64
	refused  atomic.Int64
	moved    atomic.Int64
	told     atomic.Int64 // when, in minutes since the start
	mu       sync.Mutex
	findings []string
	seen     map[string]bool
}

type world struct {
	policy func() *policy.Dataset
	exact  bool // nobody is cut
}

func newSearch(seed uint64) *search {
	s := &search{seed: seed, seen: map[string]bool{}}
	for _, all := range []func() []*policy.Dataset{generate.Extremes, generate.Worlds} {
		for i := range all() {
			s.worlds = append(s.worlds, world{func() *policy.Dataset { return generate.Narrow(all()[i]) }, false},
				world{func() *policy.Dataset { return generate.Generous(all()[i]) }, true})
		}
	}
	return s
}

func (s *search) open(ctx context.Context, t *testing.T, n int) (*trial, func(), error) {
	out, with, without, d := s.pair(n)
	var closers []func() error
	closed := func() {
		for _, c := range closers {
			if err := c(); err != nil {
				t.Error(err)
			}
		}
	}
	for i, db := range []*generate.Database{with, without} {
		e, err := stored(ctx, t.TempDir(), db)
		if err != nil {
			closed()
			return nil, nil, err
		}
		closers = append(closers, e.Close)
		out.ducks[i] = e
	}
	laid, more, err := openLayouts(ctx, d, t.TempDir(), with)
	closers = append(closers, more...)
	if err != nil {
		closed()
		return nil, nil, err
	}
	out.laid = laid
	return out, closed, nil
}

// pair makes the n-th pair of databases, which no DuckDB has opened.
func (s *search) pair(n int) (out *trial, with, without *generate.Database, d generate.Dice) {
	world := s.worlds[n%len(s.worlds)]
	d = generate.NewDice(fmt.Sprint("night ", n), s.seed)
	out = &trial{ds: world.policy(), exact: world.exact}
	with, without = generate.Pair(d, out.ds)
	for i, db := range []*generate.Database{with, without} {
		out.refs[i] = reference.New(out.ds, db.Tables)
	}
	out.maker = generate.NewMaker(out.ds, planner.Options{Public: out.refs[0].Public()}).Sharp()
	return out, with, without, d
}

// question makes the i-th question of the n-th pair.
func (s *search) question(t *trial, n, i int) string {
	d := generate.NewDice(fmt.Sprint("night ", n, " question ", i), s.seed)
	switch d.Below(20) {
	case 0, 1:
		features, target := t.maker.Table(d)
		return features + arrow + target
	case 2:
		if len(t.ds.Holdouts) > 0 {
			return t.maker.Holdout(d)
		}
	}
	return t.maker.Question(d)
}

func (s *search) work(ctx context.Context, t *testing.T, n int, over func() bool) {
	p, closed, err := s.open(ctx, t, n)
	if err != nil {
		t.Errorf("database %d of seed %d: %v", n, s.seed, err)
		return
	}
	defer closed()
	for i := range perPair {
		if over() {
			return
		}
		s.one(ctx, t, p, n, i)
	}
}

func (s *search) one(ctx context.Context, t *testing.T, p *trial, n, i int) {
	text := s.question(p, n, i)
	v := p.ask(ctx, text)
	if v.refused {
		s.refused.Add(1)
		return
	}
	s.asked.Add(1)
	if v.moved {
		s.moved.Add(1)
	}
	if v.class == "" {
		return
	}
	small := shrink(text, func(text string) bool { return p.ask(ctx, text).class == v.class })
	s.mu.Lock()
	defer s.mu.Unlock()
	key := v.class + shape(small)
	if s.seen[key] || len(s.findings) >= *maxNightFindings {
		return
	}
	s.seen[key] = true
	s.findings = append(s.findings, small)
	t.Errorf("%s: %s\n%s\n  after %d questions; in the world %q; made as\n%s\n  again: go test ./audit/neighbours -run Night -seed "+
		"%d -at %d/%d", v.class, p.ask(ctx, small).detail, small, s.asked.Load(), p.ds.Name, text, s.seed, n, i)
}

// shape is a question without its names and numbers: findings of one shape are shown once.
func shape(text string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, text)
}

// TestNight searches for a question that tells neighbours apart by more than the noise hides, in
// DuckDB and in the reference: by an integer that moves too far, by an error or a panic, by what is
// told for free; or that the two engines do not agree about; or that has another exact result where
// the same rows are stored or read in another way. A short one is run with the other tests.
func TestNight(t *testing.T) {
	s := newSearch(seedOf(t))
	if *at != "" {
		var n, i int
		if _, err := fmt.Sscanf(*at, "%d/%d", &n, &i); err != nil {
			t.Fatalf("-at %s: write the numbers of a database and of a question, as in 12/345", *at)
		}
		p, closed, err := s.open(t.Context(), t, n)
		if err != nil {
			t.Fatal(err)
		}
		defer closed()
		t.Log(s.question(p, n, i))
		s.one(t.Context(), t, p, n, i)
		return
	}
	questions := int64(chosen(night, 50, 600))
	if testing.Short() {
		questions = min(questions, 100)
	}
	start := time.Now()
	over := func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.asked.Load() >= questions || len(s.findings) >= *maxNightFindings || *lasting > 0 && time.Since(start) > *lasting ||
			t.Context().Err() != nil
	}
	var next atomic.Int64
	if *seed == 0 && !daily.Full() {
		next.Store(int64(daily.Choices(t).Below(len(s.worlds)))) // in other worlds every day
	}
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for !over() {
				s.work(t.Context(), t, int(next.Add(1)-1), over)
				if minute := int64(time.Since(start) / time.Minute); s.told.Swap(minute) != minute {
					s.tell(t, start)
				}
			}
		})
	}
	workers.Wait()
	s.tell(t, start)
}

func (s *search) tell(t *testing.T, start time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked.Load()
	t.Logf("seed %d: %d questions on neighbours, %d of them apart, %d refused, %d findings, %v, %.0f a second", s.seed, asked,
		s.moved.Load(), s.refused.Load(), len(s.findings), time.Since(start).Round(time.Second), float64(asked)/time.Since(start).Seconds())
}

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
		r := &engine.Result{Values: make([][]sealed.Vector, len(q.Measures))}
		for range q.Measures {
			r.Measures = append(r.Measures, sealed.Seal([]int64{1 << 60}))
		}
		return r, nil
	}
	s := newSearch(5)
	p, closed, err := s.open(t.Context(), t, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer closed()
	for class, instead := range map[string]func(*tree.Query) (*engine.Result, error){
		"error":    func(*tree.Query) (*engine.Result, error) { return nil, errors.New("planted") },
		"panic":    func(*tree.Query) (*engine.Result, error) { panic("planted") },
		"distance": far,
	} {
		t.Run(class, func(t *testing.T) {
			p := *p
			p.ducks[0] = broken{p.ducks[0], instead}
			text, hits := "", 0
			for i := 0; i < 200 && hits < 6; i++ {
				made := s.question(&p, 1, i)
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
		p, with, without, _ := s.pair(3)
		for i := range 10 {
			texts[k] += s.question(p, 3, i) + "\n"
		}
		texts[k] += fmt.Sprint(with.Tables, without.Tables)
	}
	if texts[0] != texts[1] {
		t.Errorf("%s\nand then\n%s", texts[0], texts[1])
	}
}
