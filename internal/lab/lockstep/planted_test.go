package lockstep

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/lab/enumerate"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

// askerFunc makes an Asker of a function.
type askerFunc func(ctx context.Context, q api.Question) (*api.Answer, error)

func (f askerFunc) Ask(ctx context.Context, q api.Question) (*api.Answer, error) { return f(ctx, q) }

// runningEngine is an engine whose Run is another.
type runningEngine struct {
	engine.Engine
	run func(ctx context.Context, q *tree.Query) (*engine.Result, error)
}

func (r runningEngine) Run(ctx context.Context, q *tree.Query) (*engine.Result, error) {
	return r.run(ctx, q)
}

// altered returns a dataset with every table changed.
func altered(ds *policy.Dataset, change func(*policy.Table)) *policy.Dataset {
	out := *ds
	out.Tables = map[string]*policy.Table{}
	for n, t := range ds.Tables {
		table := *t
		change(&table)
		out.Tables[n] = &table
	}
	return &out
}

// stretched returns a table whose bounds have another upper end.
func stretched(t *policy.Table, hi int64) {
	t.Columns = maps.Clone(t.Columns)
	for n, c := range t.Columns {
		if c.Bounds != nil && c.Type != policy.Date {
			column, bounds := *c, *c.Bounds
			bounds.HiSteps = max(hi, bounds.LoSteps+1)
			bounds.Hi = new(big.Rat).Mul(new(big.Rat).SetInt64(bounds.HiSteps), c.Granularity)
			column.Bounds = &bounds
			t.Columns[n] = &column
		}
	}
}

// count is the exact number of rows of the first table, which no honest system has.
func count(ctx context.Context, ds *policy.Dataset, e engine.Engine) int64 {
	v, err := e.Run(ctx, query(ds, "SELECT COUNT(*) FROM "+quoteName(ds.TableNames()[0])))
	if err != nil {
		panic(err)
	}
	return v.Measures[0].Open()[0]
}

// query is the private part of a question about a dataset.
func query(ds *policy.Dataset, text string) *tree.Query {
	p, err := planner.Prepare(ds, text, planner.Options{})
	if err != nil {
		panic(err)
	}
	return &p.Plans[0].Query
}

// chargingLedger is a ledger whose Charge is another.
type chargingLedger struct {
	ledger.Ledger
	charge func(ctx context.Context, c ledger.Charge) (ledger.Receipt, error)
}

func (b chargingLedger) Charge(ctx context.Context, c ledger.Charge) (ledger.Receipt, error) {
	return b.charge(ctx, c)
}

// unclampedEngines are the engines that unclamped has opened.
var unclampedEngines struct {
	sync.Mutex
	of map[*policy.Dataset]*duckdb.Engine
}

// openUnclamped returns an engine of the same files, which clamps to bounds that are none.
func openUnclamped(ctx context.Context, ds *policy.Dataset) *duckdb.Engine {
	unclampedEngines.Lock()
	defer unclampedEngines.Unlock()
	if e := unclampedEngines.of[ds]; e != nil {
		return e
	}
	e, err := duckdb.Open(ctx, altered(ds, func(t *policy.Table) { stretched(t, 1<<50) }))
	if err != nil {
		panic(err)
	}
	if unclampedEngines.of == nil {
		unclampedEngines.of = map[*policy.Dataset]*duckdb.Engine{}
	}
	unclampedEngines.of[ds] = e
	return e
}

var planted = []struct {
	name, dataset string
	want          string // in the detail of a finding that does not stand
	system        System
	reuse         bool // it shows between two questions about nobody, and on no pair
}{
	{"the sensitivity forgets max_groups", shop("add-remove", pure), "times as far as the noise",
		func(ds *policy.Dataset, e engine.Engine, l ledger.Ledger, r *mech.Releaser) Asker {
			one := altered(ds, func(t *policy.Table) { t.MaxGroups = 1 })
			return askerFunc(func(ctx context.Context, q api.Question) (*api.Answer, error) {
				return curator.New(one, runningEngine{e, func(ctx context.Context, _ *tree.Query) (*engine.Result, error) {
					return e.Run(ctx, query(ds, q.SQL))
				}}, l, r).Ask(ctx, q)
			})
		}, false},
	{"the sensitivity forgets that neighbours are substituted", shop("substitute", concentrated), "times as far as the noise",
		func(ds *policy.Dataset, e engine.Engine, l ledger.Ledger, r *mech.Releaser) Asker {
			wrong := *ds
			wrong.Neighbours = dp.AddRemove
			return curator.New(&wrong, e, l, r)
		}, false},
	{"max_rows is not kept to", shop("add-remove", concentrated), "times as far as the noise",
		func(ds *policy.Dataset, e engine.Engine, l ledger.Ledger, r *mech.Releaser) Asker {
			more := altered(ds, func(t *policy.Table) { t.MaxRows++ })
			return askerFunc(func(ctx context.Context, q api.Question) (*api.Answer, error) {
				return curator.New(ds, runningEngine{e, func(ctx context.Context, _ *tree.Query) (*engine.Result, error) {
					return e.Run(ctx, query(more, q.SQL))
				}}, l, r).Ask(ctx, q)
			})
		}, false},
	{"bounds come from the data", clinic(pure), "the noise is",
		func(ds *policy.Dataset, e engine.Engine, l ledger.Ledger, r *mech.Releaser) Asker {
			return askerFunc(func(ctx context.Context, q api.Question) (*api.Answer, error) {
				hi := count(ctx, ds, e.(recorder).Engine)
				return curator.New(altered(ds, func(t *policy.Table) { stretched(t, hi) }), e, l, r).Ask(ctx, q)
			})
		}, false},
	{"noise is drawn for each row", clinic(pure), "noise is added",
		func(ds *policy.Dataset, e engine.Engine, l ledger.Ledger, r *mech.Releaser) Asker {
			return askerFunc(func(ctx context.Context, q api.Question) (*api.Answer, error) {
				a, err := curator.New(ds, e, l, r).Ask(ctx, q)
				m, _ := mech.NewLaplace(dp.NewL1(big.NewInt(1)), dp.One)
				for range count(ctx, ds, e.(recorder).Engine) {
					r.Release(mech.Seal(1), m)
				}
				return a, err
			})
		}, false},
	{"nothing is charged", clinic(pure), "charged", func(ds *policy.Dataset, e engine.Engine, l ledger.Ledger, r *mech.Releaser) Asker {
		return curator.New(ds, e, chargingLedger{newRecordingLedger(&outcome{}), newRecordingLedger(&outcome{}).Charge}, r)
	}, false},
	{"half is charged", clinic(concentrated), "was charged for noise that costs more",
		func(ds *policy.Dataset, e engine.Engine, l ledger.Ledger, r *mech.Releaser) Asker {
			return curator.New(ds, e, chargingLedger{l, func(ctx context.Context, c ledger.Charge) (ledger.Receipt, error) {
				c.Cost.Rho /= 2
				return l.Charge(ctx, c)
			}}, r)
		}, false},
	{"the charge depends on the data", clinic(pure), "charged",
		func(ds *policy.Dataset, e engine.Engine, l ledger.Ledger, r *mech.Releaser) Asker {
			return curator.New(ds, e, chargingLedger{l, func(ctx context.Context, c ledger.Charge) (ledger.Receipt, error) {
				c.Cost.Epsilon += dp.Amount(count(ctx, ds, e.(recorder).Engine))
				return l.Charge(ctx, c)
			}}, r)
		}, false},
	{"the data is touched before the charge", clinic(pure), "before the data was read",
		func(ds *policy.Dataset, e engine.Engine, l ledger.Ledger, r *mech.Releaser) Asker {
			return askerFunc(func(ctx context.Context, q api.Question) (*api.Answer, error) {
				count(ctx, ds, e)
				return curator.New(ds, e, l, r).Ask(ctx, q)
			})
		}, false},
	{"an error quotes the data", clinic(pure), "one says",
		func(ds *policy.Dataset, e engine.Engine, l ledger.Ledger, r *mech.Releaser) Asker {
			return askerFunc(func(ctx context.Context, q api.Question) (*api.Answer, error) {
				return nil, fmt.Errorf("cannot answer about %d rows", count(ctx, ds, e.(recorder).Engine))
			})
		}, false},
	{"some data makes a panic", clinic(pure), "panic", func(ds *policy.Dataset, e engine.Engine, l ledger.Ledger, r *mech.Releaser) Asker {
		return askerFunc(func(ctx context.Context, q api.Question) (*api.Answer, error) {
			if count(ctx, ds, e.(recorder).Engine) == 0 {
				panic("nobody is here")
			}
			return curator.New(ds, e, l, r).Ask(ctx, q)
		})
	}, false},
	{"groups of nobody are left out", shop("add-remove", pure), " rows, the other ",
		func(ds *policy.Dataset, e engine.Engine, l ledger.Ledger, r *mech.Releaser) Asker {
			return askerFunc(func(ctx context.Context, q api.Question) (*api.Answer, error) {
				a, err := curator.New(ds, e, l, r).Ask(ctx, q)
				if err == nil && count(ctx, ds, e.(recorder).Engine) == 0 {
					a.Rows = nil
				}
				return a, err
			})
		}, false},
	{"an answer that noise does not cover", clinic(pure), "but the answers differ",
		func(ds *policy.Dataset, e engine.Engine, l ledger.Ledger, r *mech.Releaser) Asker {
			return askerFunc(func(ctx context.Context, q api.Question) (*api.Answer, error) {
				a, err := curator.New(ds, e, l, r).Ask(ctx, q)
				if err == nil && len(a.Rows) > 0 && a.Errors[0][len(a.Columns)-1] != nil {
					*a.Errors[0][len(a.Columns)-1] += float64(count(ctx, ds, e.(recorder).Engine))
				}
				return a, err
			})
		}, false},
	{"the data is added once more after the noise", shop("add-remove", pure), "not as far apart",
		func(ds *policy.Dataset, e engine.Engine, l ledger.Ledger, r *mech.Releaser) Asker {
			return askerFunc(func(ctx context.Context, q api.Question) (*api.Answer, error) {
				a, err := curator.New(ds, e, l, r).Ask(ctx, q)
				if err == nil && len(a.Rows) > 0 {
					if last := len(a.Columns) - 1; a.Columns[last].Decimals == 0 {
						v, _ := a.Rows[0][last].(json.Number).Int64()
						a.Rows[0][last] = json.Number(fmt.Sprint(v + count(ctx, ds, e.(recorder).Engine)))
					}
				}
				return a, err
			})
		}, false},
	{"quantiles are charged for one group", shop("add-remove", pure), "was charged for selections",
		func(ds *policy.Dataset, e engine.Engine, l ledger.Ledger, r *mech.Releaser) Asker {
			return curator.New(ds, e, chargingLedger{l, func(ctx context.Context, c ledger.Charge) (ledger.Receipt, error) {
				if strings.HasPrefix(c.Mechanisms, "quantiles") {
					c.Cost.Epsilon /= 2
				}
				return l.Charge(ctx, c)
			}}, r)
		}, false},
	{"no noise at all", clinic(pure), "no noise was drawn",
		func(ds *policy.Dataset, e engine.Engine, l ledger.Ledger, r *mech.Releaser) Asker {
			unrecorded := mech.NewReleaser(entropy.FromReader(detrand.NewStream("elsewhere", 1)))
			return curator.New(ds, e, l, unrecorded)
		}, false},
	{"rows are told where somebody may be in another table alone", bySubstitution(clinic(pure)), "before the data was read",
		func(ds *policy.Dataset, e engine.Engine, l ledger.Ledger, r *mech.Releaser) Asker {
			alone := *ds
			patients := *ds.Tables["patients"]
			patients.CSV.RefuseBadLines = true
			alone.Tables = map[string]*policy.Table{"patients": &patients}
			return curator.New(&alone, e, l, r)
		}, false},
	{"the same noise for every question", clinic(pure), "the noise of the two is equal",
		func(ds *policy.Dataset, e engine.Engine, l ledger.Ledger, r *mech.Releaser) Asker {
			return askerFunc(func(ctx context.Context, q api.Question) (*api.Answer, error) {
				again := mech.NewReleaser(entropy.FromReader(detrand.NewStream("again", 1)))
				return curator.New(ds, e, l, again).Ask(ctx, q)
			})
		}, true},
}

// stage is a pair of neighbours that bugs are looked for on, and the questions. That the honest
// system passes those that find a bug is looked at then, and of all in TestHonest.
type stage struct {
	Pair
	dataset   *policy.Dataset
	questions []string
}

// stages makes each pair once, however many bugs are looked for on it.
type stages map[string]*stage

func (all stages) of(t *testing.T, folder, dataset string, number int) *stage {
	t.Helper()
	at := fmt.Sprint(number, dataset)
	if s := all[at]; s != nil {
		return s
	}
	ds := onlyDataset(t, dataset)
	p := must(MakePair(ctx, ds, filepath.Join(folder, fmt.Sprint(len(all))), 3, number))
	s := &stage{Pair: p, dataset: ds}
	all[at] = s
	for i, q := range Corpus(ds) {
		if i%5 == 0 || strings.Contains(q, "AVG") && i%2 == 0 || strings.Contains(q, "GROUP BY") && i%2 == 1 ||
			strings.Contains(q, "MEDIAN") {
			s.questions = append(s.questions, q)
		}
	}
	return s
}

// A bug of every kind is found, for the reason that it was planted with, and only the
// system has changed.
func TestPlanted(t *testing.T) {
	all, folder := stages{}, t.TempDir()
	t.Cleanup(func() {
		for _, s := range all {
			s.Close()
		}
	})
	for _, c := range planted {
		t.Run(c.name, func(t *testing.T) {
			for i := range 6 {
				if c.reuse { // it has no pair, so once is enough
					ds := onlyDataset(t, c.dataset)
					if searchReuse(t, ds, OpenCurator, c.want) {
						t.Error("the honest system uses noise twice")
					}
					if searchReuse(t, ds, c.system, c.want) {
						return
					}
					break
				}
				if all.of(t, folder, c.dataset, i).search(t, c.system, c.want) {
					return
				}
			}
			t.Errorf("not found: %s", c.want)
		})
	}
}

// TestForgottenClamp: a column that is not clamped where it is read shows in no answer, because
// what one person adds is clamped once more at the last place before it is summed.
func TestForgottenClamp(t *testing.T) {
	all, folder := stages{}, t.TempDir()
	t.Cleanup(func() {
		for _, e := range unclampedEngines.of {
			e.Close()
		}
		for _, s := range all {
			s.Close()
		}
	})
	forgetful := func(ds *policy.Dataset, e engine.Engine, l ledger.Ledger, r *mech.Releaser) Asker {
		return curator.New(ds, runningEngine{e, func(ctx context.Context, q *tree.Query) (*engine.Result, error) {
			e.(recorder).seen.event("run")
			return openUnclamped(ctx, ds).Run(ctx, q)
		}}, l, r)
	}
	for _, i := range daily.Sample(t, []int{0, 1, 2}, 1) {
		s := all.of(t, folder, clinic(pure), i)
		if s.search(t, forgetful, "times as far as the noise") {
			t.Error("somebody moves an answer farther than its noise was made for")
		}
	}
}

// search replays a few questions on the pair until it finds what is wanted.
func (s *stage) search(t *testing.T, system System, want string) bool {
	t.Helper()
	for i, q := range s.questions {
		if f := CompareAnswers(ctx, system, s.A, s.B, q, 5); seen(t, f, want) {
			t.Logf("question %d of %d on %s", i+1, len(s.questions), s.Name)
			if f := CompareAnswers(ctx, OpenCurator, s.A, s.B, q, 5); !f.Stands {
				t.Errorf("the honest system: %+v", f)
			}
			return true
		}
	}
	return false
}

func searchReuse(t *testing.T, ds *policy.Dataset, system System, want string) bool {
	t.Helper()
	reused := must(findReusedNoise(ctx, ds, filepath.Join(t.TempDir(), "empty"), Options{System: system}))
	return slices.ContainsFunc(reused, func(f enumerate.Finding) bool { return seen(t, f, want) })
}

// seen reports whether this is an alarm for the reason that is wanted.
func seen(t *testing.T, f enumerate.Finding, want string) bool {
	t.Helper()
	if f.Stands || !strings.Contains(f.Detail, want) {
		return false
	}
	t.Logf("%s: %s", f.Subject, f.Detail)
	return true
}
