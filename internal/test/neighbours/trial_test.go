package neighbours_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/neighbours"
	"github.com/discreet-dp/discreet/internal/test/reference"
	"github.com/discreet-dp/discreet/internal/test/storekinds"
	"github.com/discreet-dp/discreet/policy"
)

// trial is a pair of neighbours, each in DuckDB and in the reference, that questions are asked of.
// The first of each has the target.
type trial struct {
	ds    *policy.Dataset
	exact bool // nobody is cut, so both engines compute the same
	ducks [2]engine.Engine
	refs  [2]*reference.Engine
	maker *generate.Maker
	laid  layouts // of the first, and of many others
}

// verdict is what came of a question. One that was not refused and has no class is as it should be.
type verdict struct {
	refused bool
	moved   bool
	class   string // of a finding
	detail  string
}

func found(class, format string, args ...any) verdict {
	return verdict{class: class, detail: fmt.Sprintf(format, args...)}
}

// stored writes a made-up database and opens it, on one thread: there are as many trials as cores.
func stored(ctx context.Context, dir string, db *generate.Database) (*duckdb.Engine, error) {
	ds := *db.Dataset
	ds.Source = filepath.Join(dir, "made.duckdb")
	if err := storekinds.Write(ctx, ds.Source, db.SQL()); err != nil {
		return nil, err
	}
	return duckdb.OpenWith(ctx, &ds, duckdb.Limits{Threads: 1, Memory: 1 << 30})
}

// ask asks a question, which is one of a holdout, rows to train on (features, an arrow and the
// target), or any other.
func (t *trial) ask(ctx context.Context, text string) (v verdict) {
	defer func() {
		if r := recover(); r != nil {
			v = found("panic in the planner", "%v", r)
		}
	}()
	if features, target, ok := strings.Cut(text, arrow); ok {
		return t.table(ctx, features, target)
	}
	var queries []*tree.Query
	if planner.AsksHoldout(syntax.Open(text, nil)) {
		h, err := planner.PrepareHoldout(t.ds, syntax.Open(text, nil), "", planner.Options{Public: t.refs[0].Public()})
		if err != nil {
			return verdict{refused: true}
		}
		if lo, hi := h.Query.Interval(h.Query.Measures[0]); lo.Sign() < 0 || !hi.IsInt64() || hi.Int64()*h.Factor > h.Of.Steps {
			return found("claims", "a part of a holdout's mean is from %v to %v steps of %d/%d", lo, hi, h.Factor, h.Of.Steps)
		}
		queries = append(queries, &h.Query)
	} else {
		s, err := generate.Prepare(t.ds, text, planner.Options{Public: t.refs[0].Public()})
		// It takes a tenth of the time of the engines; which groups there are is the planner's.
		if len(text)%8 == 0 || strings.Contains(text, " GROUP BY ") || strings.Contains(text, "SELECT DISTINCT ") {
			if apart := t.told(text, s, err); apart != "" {
				return found("planning", "%s", apart)
			}
		}
		if err != nil {
			return verdict{refused: true}
		}
		if wrong := t.paid(s); wrong != "" {
			return found("price", "%s", wrong)
		}
		for _, p := range s.Plans {
			if !p.Query.ListsKeys() { // of which no engine hears
				queries = append(queries, &p.Query)
			}
		}
		for _, c := range s.Cubes {
			queries = append(queries, &c.Query)
		}
	}
	for _, q := range queries {
		one := t.query(ctx, q, t.exact && !inexact.MatchString(text))
		if v.moved = v.moved || one.moved; one.class != "" {
			return one
		}
	}
	return v
}

// arrow stands between the features and the target of rows to train on.
const arrow = " => "

// inexact matches functions of the mathematics library, whose last bits differ between engines.
var inexact = regexp.MustCompile(`\b(ln|log|log10|exp|power|pow)\(`)

// run is an engine's Run in which a panic is an error.
func run(ctx context.Context, e engine.Engine, q *tree.Query) (r *engine.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errPanic, p)
		}
	}()
	return e.Run(ctx, q)
}

var errPanic = errors.New("panic")

// query computes a query in all four, and compares.
func (t *trial) query(ctx context.Context, q *tree.Query, exact bool) verdict {
	var ducks, refs [2]*engine.Result
	var failed [2]error
	for i := range 2 {
		ducks[i], failed[i] = run(ctx, t.ducks[i], q)
	}
	if v := outcomes("DuckDB", failed); v.class != "" {
		return v
	}
	if v := t.laid.query(ctx, q); v.class != "" {
		return v
	}
	before := t.cuts()
	for i := range 2 {
		if refs[i], failed[i] = run(ctx, t.refs[i], q); failed[i] == nil {
			failed[i] = claims(t.refs[i], q)
		}
	}
	if v := outcomes("the reference", failed); v.class != "" {
		return v
	}
	ratio, err := neighbours.Judge(q, ducks[0], ducks[1])
	if err != nil {
		return found("distance", "in DuckDB: %v", err)
	}
	if _, err := neighbours.Judge(q, refs[0], refs[1]); err != nil {
		return found("distance", "in the reference: %v", err)
	}
	comparable := t.cuts() == before && (exact || !q.Bounded()) // which rows a cut keeps is each engine's own choice
	for i := range 2 {
		if far, err := neighbours.Judge(q, refs[i], ducks[i]); comparable && (err != nil || far != 0) {
			return found("agreement", "DuckDB and the reference differ %s: %v of what one person may, %v", whose[i], far, err)
		}
	}
	return verdict{moved: ratio > 0}
}

// cuts is how many people the reference has cut so far.
func (t *trial) cuts() int64 { return t.refs[0].Cuts() + t.refs[1].Cuts() }

var whose = [2]string{"with the target", "without the target"}

// claims says what a planner claimed and is not so.
func claims(e *reference.Engine, q *tree.Query) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errPanic, p)
		}
	}()
	return e.Check(q)
}

// outcomes says what an engine's failures are: there must be none.
func outcomes(engine string, failed [2]error) verdict {
	for i, err := range failed {
		if err == nil {
			continue
		}
		class := "error"
		if errors.Is(err, errPanic) {
			class = "panic"
		} else if engine != "DuckDB" {
			class = "claims"
		}
		other := "as well as "
		if failed[1-i] == nil {
			other = "and not "
		}
		return found(class, "in %s %s, %s%s: %v", engine, whose[i], other, whose[1-i], err)
	}
	return verdict{}
}

func (t *trial) table(ctx context.Context, features, target string) (v verdict) {
	p, err := planner.PrepareTable(t.ds, features, target, planner.Options{Public: t.refs[0].Public()})
	if err != nil {
		return verdict{refused: true}
	}
	defer func() {
		if r := recover(); r != nil {
			v = found("panic", "%v", r)
		}
	}()
	moved, wrong := judgeRows(ctx, t.ducks, p, p)
	switch wrong {
	case "":
	case engine.ErrRun.Error():
		return found("error", "in DuckDB: %s", wrong)
	default:
		return found("distance", "in DuckDB: %s", wrong)
	}
	if v := t.laid.table(ctx, p); v.class != "" {
		return v
	}
	for i := range 2 {
		before := t.cuts()
		want, err := fetched(ctx, t.refs[i], p)
		if err != nil {
			return found("error", "in the reference: %v", err)
		}
		got, err := fetched(ctx, t.ducks[i], p)
		if err != nil {
			return found("error", "in DuckDB: %v", err)
		}
		if wrong := outside(p, want); wrong != "" {
			return found("claims", "%s", wrong)
		}
		if came, went := exchanged(want, got); t.exact && t.cuts() == before && came+went > 0 && !inexact.MatchString(features+target) {
			return found("agreement", "of the rows %s %d are too many in DuckDB and %d are missing", whose[i], came, went)
		}
	}
	return verdict{moved: moved}
}

// told prepares a question once more, over the neighbour, and says where what is told for free is
// not the same.
func (t *trial) told(text string, s *planner.Statement, err error) string {
	r, other := generate.Prepare(t.ds, text, planner.Options{Public: t.refs[1].Public()})
	if fmt.Sprint(err) != fmt.Sprint(other) {
		return fmt.Sprintf("%v, and without the target %v", err, other)
	}
	if err != nil {
		return ""
	}
	if len(s.Plans) != len(r.Plans) || s.Empty != r.Empty || fmt.Sprint(s.Outer) != fmt.Sprint(r.Outer) {
		return "another statement without the target"
	}
	for i, p := range s.Plans {
		if p.Query.Hash() != r.Plans[i].Query.Hash() || len(p.Within) != len(r.Plans[i].Within) {
			return "another plan without the target"
		}
	}
	return ""
}

// paid says what is wrong with what a statement costs: whatever is made of people's rows is bought,
// each under its own name and for what its own noise costs, and the price is all of that together.
func (t *trial) paid(s *planner.Statement) string {
	private := func(table *policy.Table) bool { return !table.Public }
	if slices.ContainsFunc(s.Tables, private) {
		return "rows of people are shown beside public ones"
	}
	ds := *t.ds
	ds.Budget = policy.Budget{Epsilon: 100 * dp.One, Delta: dp.One / 1000, KeysDelta: dp.One / 2000, DefaultDelta: dp.One / 4000,
		DefaultEpsilon: dp.One, MaxEpsilon: 10 * dp.One}
	p, err := pricing.Price(&ds, s, api.Settings{}, pricing.Currency{})
	if err != nil {
		return "" // as it would be refused
	}
	var all dp.Cost
	var seen []string
	var cubes []*pricing.Cube
	for i, one := range s.Plans {
		q := &one.Query
		if slices.Contains(seen, q.Hash()) || q.ListsKeys() {
			continue
		}
		seen = append(seen, q.Hash())
		b := p.Purchases[p.AnsweredBy[i]]
		if b.Query.Hash() != q.Hash() {
			return "the answer is that of another question"
		}
		if q.Choice == nil && len(b.Noise) != len(q.Measures) {
			return fmt.Sprintf("%d measures have noise, of %d", len(b.Noise), len(q.Measures))
		}
		switch c := b.Cube; {
		case c == nil:
			for _, n := range b.Noise {
				if n.Mechanism != nil {
					all = all.Add(n.Mechanism.Cost())
				}
			}
		case !slices.Contains(cubes, c): // all its members are made of one release
			cubes = append(cubes, c)
			if c.Query.MaxGroups() != 1 {
				return "somebody is in several cells of a cube"
			}
			for _, n := range c.Noise {
				all = all.Add(n.Cost())
			}
		}
		if b.Choice != nil {
			all = all.Add(b.Choice.Top.Cost())
		}
	}
	if cost := pricing.Cost(p.Purchases); cost.Epsilon < all.Epsilon || cost.Rho < all.Rho {
		return fmt.Sprintf("noise that costs %v is charged with %v", all, cost)
	}
	return ""
}
