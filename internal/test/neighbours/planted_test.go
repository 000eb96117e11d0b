package neighbours_test

import (
	"context"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/neighbours"
	"github.com/discreet-dp/discreet/internal/test/reference"
	"github.com/discreet-dp/discreet/policy"
)

// TestPlantedBugs shows that a replay finds the mistakes that a planner or an engine would make. A
// mistake is planted as a policy that the engine computes by and that results are not judged by.
func TestPlantedBugs(t *testing.T) {
	clinic, substitute, census := generate.Worlds()[0], generate.Worlds()[1], generate.Worlds()[2]
	summed := generate.Worlds()[0]
	summed.Tables["visits"].Columns["cost"].MaxSum = big.NewRat(3, 2)
	summed.Tables["patients"].Columns["cost"].MaxSum = big.NewRat(1, 1)
	each := func(f func(*policy.Table)) func(*policy.Dataset) {
		return func(ds *policy.Dataset) {
			for _, t := range ds.Tables {
				f(t)
			}
		}
	}
	for name, c := range map[string]struct {
		world  *policy.Dataset
		change func(*policy.Dataset)
		texts  []string // empty where made-up questions find it
	}{
		"rows of one person are not cut":   {clinic, each(func(t *policy.Table) { t.MaxRows *= 100 }), nil},
		"groups of one person are not cut": {clinic, each(func(t *policy.Table) { t.MaxGroups *= 100 }), nil},
		"values are not clamped": {clinic, each(func(t *policy.Table) {
			for _, c := range t.Columns {
				if b := c.Bounds; b != nil && c.Type != policy.Date {
					c.Bounds = &policy.Bounds{LoSteps: 50 * b.LoSteps, HiSteps: 50 * b.HiSteps,
						Lo: new(big.Rat).Mul(b.Lo, big.NewRat(50, 1)), Hi: new(big.Rat).Mul(b.Hi, big.NewRat(50, 1))}
				}
			}
		}), nil},
		"a table of many rows is taken for one of single rows": {clinic, func(ds *policy.Dataset) {
			ds.Tables["visits"].UnitKind = policy.Unique
		}, nil},
		"a row is taken for a person": {clinic, func(ds *policy.Dataset) {
			ds.Tables["visits"].UnitColumn = "code"
		}, nil},
		"a path ends one step too early": {clinic, func(ds *policy.Dataset) {
			ds.Tables["items"].Path = nil
			ds.Tables["items"].UnitColumn = "oid"
		}, []string{"SELECT COUNT(*), SUM(price) FROM items"}},
		"another column is taken for the person": {substitute, func(ds *policy.Dataset) { ds.Tables["labs"].UnitColumn = "value" }, nil},
		"the sum of a person is not bounded": {summed, func(ds *policy.Dataset) {
			ds.Tables["visits"].Columns["cost"].MaxSum = nil
		}, []string{"SELECT ward, SUM(cost) FROM visits GROUP BY ward", "SELECT SUM(cost) FILTER (WHERE urgent) FROM visits"}},
		"the only row of a person is not bounded": {summed, func(ds *policy.Dataset) {
			ds.Tables["patients"].Columns["cost"].MaxSum = nil
		}, []string{"SELECT SUM(cost) FROM patients"}},
		"a join with a public table multiplies rows": {census, func(ds *policy.Dataset) {
			ds.Tables["rates"].UniqueColumn = "code"
		}, []string{"SELECT COUNT(*), SUM(n.age) FROM north AS n JOIN rates AS r ON n.code = r.code"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := neighbours.Replay(t.Context(), c.world, neighbours.Options{Seed: 3, Pairs: 600, Planted: c.change, Texts: c.texts,
				Findings: 1})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Findings) == 0 {
				t.Errorf("not found among %d pairs", r.Pairs)
			}
		})
	}
}

// TestPlantedLies shows that Check finds what a planner claims and is not so: a policy says what
// the data does not keep.
func TestPlantedLies(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*policy.Dataset)
		text   string
	}{
		"a person has one row": {func(ds *policy.Dataset) { ds.Tables["visits"].UnitKind = policy.Unique }, "SELECT COUNT(*) FROM visits"},
		"a public key is unique": {func(ds *policy.Dataset) { ds.Tables["rates"].UniqueColumn = "code" },
			"SELECT COUNT(*) FROM patients AS p JOIN rates AS r ON p.code = r.code"},
	} {
		lying := generate.Worlds()[0]
		c.change(lying)
		found := false
		for i := range 40 {
			db := generate.Make(generate.NewDice("lies", uint64(i)), generate.Worlds()[0])
			e := reference.New(db.Dataset, db.Tables)
			s, err := planner.Prepare(lying, c.text, planner.Options{Public: e.Public()})
			if err != nil {
				t.Fatal(err)
			}
			found = found || e.Check(&s.Plans[0].Query) != nil
		}
		if !found {
			t.Errorf("%s: not found", name)
		}
	}
}

// TestPlantedFullJoin shows that a FULL JOIN that pairs rows of different people is found: rows of
// others are without a partner where somebody is not there.
func TestPlantedFullJoin(t *testing.T) {
	texts := []string{"SELECT COUNT(*) FROM patients AS p FULL JOIN visits AS v ON p.pid = v.pid WHERE p.age IS NULL"}
	for _, planted := range []bool{false, true} {
		open := func(_ context.Context, db *generate.Database) (engine.Engine, func() error, error) {
			var e engine.Engine = reference.New(db.Dataset, db.Tables)
			if planted {
				e = strangers{e}
			}
			return e, func() error { return nil }, nil
		}
		pairs := 1500
		if !planted {
			pairs = daily.Rounds(300, 1500)
		}
		r, err := neighbours.Replay(t.Context(), generate.Worlds()[0], neighbours.Options{Open: open, Pairs: pairs, Texts: texts,
			Findings: 1})
		if err != nil || (len(r.Findings) > 0) != planted {
			t.Errorf("planted %v: %d findings among %d pairs: %v", planted, len(r.Findings), r.Pairs, err)
		}
	}
}

// strangers is an engine that pairs rows of a FULL JOIN by their codes.
type strangers struct{ engine.Engine }

func (s strangers) Run(ctx context.Context, q *tree.Query) (*engine.Result, error) {
	wrong := *q
	j := *q.From.(*tree.Join)
	var codes []tree.Expr
	for i, f := range j.Row {
		if f.Name == "code" {
			codes = append(codes, tree.NewColumn(&j, i))
		}
	}
	j.On = &tree.Compare{Op: tree.Eq, L: codes[0], R: codes[1]}
	wrong.From = &j
	return s.Engine.Run(ctx, &wrong)
}

// TestPlantedOrder shows that a choice that depends on others is found: on how many there are, as
// row numbers do.
func TestPlantedOrder(t *testing.T) {
	open := func(_ context.Context, db *generate.Database) (engine.Engine, func() error, error) {
		e := reference.New(db.Dataset, db.Tables)
		good := e.Order
		e.Order = func(hash, person, what string) uint64 { return good(hash, string(rune(db.Rows()))+person, what) }
		return e, func() error { return nil }, nil
	}
	r, err := neighbours.Replay(t.Context(), generate.Worlds()[0], neighbours.Options{Open: open, Pairs: 1500, Findings: 1})
	if err != nil || len(r.Findings) == 0 {
		t.Errorf("not found among %d pairs: %v", r.Pairs, err)
	}
}
