package neighbours

import (
	"cmp"
	"context"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/lab/enumerate"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/reference"
	"github.com/discreet-dp/discreet/policy"
)

// Opener opens an engine over a made-up database. What it returns beside is called when the engine
// is not needed any more.
type Opener func(ctx context.Context, db *generate.Database) (engine.Engine, func() error, error)

// Reference opens the engine of package reference.
func Reference(_ context.Context, db *generate.Database) (engine.Engine, func() error, error) {
	return reference.New(db.Dataset, db.Tables), func() error { return nil }, nil
}

// checker is an engine that can tell what a planner claimed and is not so.
type checker interface{ Check(*tree.Query) error }

// Options say what is tried. The zero value of each is a default.
type Options struct {
	Open  Opener // Reference
	Seed  uint64
	Pairs int // how many questions are compared; 1000
	// Questions is how many are asked of one pair of databases; 8. An engine that is slow to open
	// takes more.
	Questions int
	// Texts, where there are any, are asked instead of made-up questions. What is refused is left
	// out.
	Texts []string
	// Planted, where it is not nil, changes the policy that an engine gets its queries by, and not
	// the one that results are judged by. It is for showing that a bug would be found.
	Planted func(*policy.Dataset)
	// Findings is after how many it ends; 10. One is enough where something was planted.
	Findings int
}

// Report is what came of a replay.
type Report struct {
	Pairs    int     // compared
	Refused  int     // questions
	Moved    int     // pairs that are apart
	Worst    float64 // how far, as a part of what is allowed
	Findings []enumerate.Finding
}

// Replay compares the results of questions on neighbouring databases of a dataset. Its error is the
// engine's own.
func Replay(ctx context.Context, ds *policy.Dataset, o Options) (Report, error) {
	if o.Open == nil {
		o.Open = Reference
	}
	if o.Pairs == 0 {
		o.Pairs = 1000
	}
	if o.Questions == 0 {
		o.Questions = 8
	}
	o.Findings = cmp.Or(o.Findings, 10)
	var r Report
	var maker *generate.Maker
	if o.Texts == nil {
		made := generate.Make(generate.NewDice("language", o.Seed), ds)
		maker = generate.NewMaker(ds, planner.Options{Public: reference.New(ds, made.Tables).Public()})
	}
	for n := uint64(0); r.Pairs < o.Pairs && len(r.Findings) < o.Findings; n++ {
		if n > 20*uint64(o.Pairs) {
			return r, fmt.Errorf("of %d questions only %d can be asked", r.Refused+r.Pairs, r.Pairs)
		}
		d := generate.NewDice(fmt.Sprint("neighbours ", n), o.Seed)
		a := generate.Make(d, ds)
		b, ok := a.Neighbour(d)
		if !ok {
			continue
		}
		if err := r.pair(ctx, o, maker, d, a, b); err != nil {
			return r, err
		}
	}
	return r, nil
}

// pair asks questions of one pair of databases.
func (r *Report) pair(ctx context.Context, o Options, maker *generate.Maker, d generate.Dice, a, b *generate.Database) error {
	var engines [2]engine.Engine
	for i, db := range []*generate.Database{a, b} {
		e, closed, err := o.Open(ctx, db)
		if err != nil {
			return err
		}
		defer closed()
		engines[i] = e
	}
	ds := a.Dataset
	asked := planner.Options{Public: reference.New(ds, a.Tables).Public()}
	if o.Texts == nil && d.Below(5) == 0 {
		asked.MaxGroups = 1 // an analyst may ask for less than the policy allows
	}
	if o.Texts == nil {
		asked.MaxSum = maxPersonSum(d)
	}
	texts := o.Texts
	if texts == nil {
		for range o.Questions {
			texts = append(texts, maker.Question(d))
		}
	}
	for _, text := range texts {
		s, err := generate.Prepare(ds, text, asked)
		if err != nil {
			r.Refused++
			continue
		}
		for i, p := range s.Plans {
			q := &p.Query
			if q.ListsKeys() {
				continue // of which no engine hears
			}
			run := q
			if o.Planted != nil {
				changed := copyChanged(ds, o.Planted)
				t, err := generate.Prepare(changed, text, asked)
				if err != nil {
					continue
				}
				run = &t.Plans[i].Query
			}
			ratio, err := compare(ctx, engines, q, run)
			r.Pairs++
			r.Worst = max(r.Worst, ratio)
			if ratio > 0 {
				r.Moved++
			}
			if err != nil {
				r.Findings = append(r.Findings,
					enumerate.Finding{Subject: text, Check: "neighbours", Claim: 1, Lower: ratio, Samples: 1, Detail: err.Error()})
			}
		}
	}
	return nil
}

// maxPersonSum is what an analyst bounds a person's sums by, now and then.
func maxPersonSum(d generate.Dice) *big.Rat {
	return [...]*big.Rat{nil, nil, big.NewRat(1, 1), big.NewRat(7, 2), big.NewRat(9, 1), big.NewRat(1000, 1)}[d.Below(6)]
}

// compare runs a query on both engines; q is what they are judged by.
func compare(ctx context.Context, engines [2]engine.Engine, q, run *tree.Query) (float64, error) {
	var results [2]*engine.Result
	for i, e := range engines {
		var err error
		if results[i], err = e.Run(ctx, run); err != nil {
			return 0, fmt.Errorf("the engine failed: %w", err)
		}
		if c, ok := e.(checker); ok && run == q {
			if err := c.Check(q); err != nil {
				return 0, err
			}
		}
	}
	return Judge(q, results[0], results[1])
}

func copyChanged(ds *policy.Dataset, change func(*policy.Dataset)) *policy.Dataset {
	out := *ds
	out.Tables = map[string]*policy.Table{}
	for name, t := range ds.Tables {
		copied := *t
		copied.Columns = map[string]*policy.Column{}
		for c, column := range t.Columns {
			other := *column
			copied.Columns[c] = &other
		}
		out.Tables[name] = &copied
	}
	change(&out)
	return &out
}

// Agree compares an engine with the reference on the same made-up databases. They must agree
// exactly where the dataset's limits are so high that nobody is cut; elsewhere each may keep
// something else of a person.
func Agree(ctx context.Context, ds *policy.Dataset, o Options) (Report, error) {
	var r Report
	o.Findings = cmp.Or(o.Findings, 10)
	made := generate.Make(generate.NewDice("language", o.Seed), ds)
	maker := generate.NewMaker(ds, planner.Options{Public: reference.New(ds, made.Tables).Public()})
	for n := 0; r.Pairs < o.Pairs && len(r.Findings) < o.Findings; n++ {
		d := generate.NewDice(fmt.Sprint("agree ", n), o.Seed)
		db := generate.Make(d, ds)
		e, closed, err := o.Open(ctx, db)
		if err != nil {
			return r, err
		}
		ref := reference.New(ds, db.Tables)
		for range o.Questions {
			text := maker.Question(d)
			s, err := generate.Prepare(ds, text, planner.Options{Public: ref.Public(), MaxSum: maxPersonSum(d)})
			if err != nil {
				r.Refused++
				continue
			}
			for _, p := range s.Plans {
				q := &p.Query
				if q.ListsKeys() {
					continue // of which no engine hears
				}
				r.Pairs++
				want, err := ref.Run(ctx, q)
				if err != nil {
					return r, err
				}
				got, err := e.Run(ctx, q)
				detail := ""
				if err != nil {
					detail = "the engine failed: " + err.Error()
				} else if ratio, err := Judge(q, want, got); err != nil || ratio != 0 {
					detail = fmt.Sprintf("the results differ: %v", err)
				}
				if detail != "" {
					r.Findings = append(r.Findings,
						enumerate.Finding{Subject: text, Check: "agreement", Samples: 1, Lower: 1, Detail: detail})
				}
			}
		}
		if err := closed(); err != nil {
			return r, err
		}
	}
	return r, nil
}
