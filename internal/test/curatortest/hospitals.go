package curatortest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/curator/answercache"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/ledger/postgres"
	"github.com/discreet-dp/discreet/internal/ledger/replay"
	"github.com/discreet-dp/discreet/internal/mechanism/learn"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/session/sparsesession"
	"github.com/discreet-dp/discreet/internal/session/training"
	"github.com/discreet-dp/discreet/internal/test/testpg"
	"github.com/discreet-dp/discreet/ledger"
)

// HeldOut are holdouts of the hospital: labels, labels with identifiers, and the table of patients
// with training rows.
const HeldOut = `      train_rows:
        public: true
        columns:
          age:       {type: integer, bounds: [0, 110], nullable: false}
          sex:       {type: text}
          zip:       {type: text}
          diagnosis: {type: text}
          smoker:    {type: boolean}
          cost:      {type: decimal, bounds: [0, 10000], granularity: 0.01}
    holdouts:
      trial: {labels: labels.csv, column: label, threshold: 0.1, noise: 0.004, answers: 3}
      named: {labels: named.csv, column: label, id: id, threshold: 0.1, noise: 0.02, answers: 3, steps: 4}
      rows:  {table: patients, train: train_rows, size: 200, threshold: 0.2, noise: 0.01, answers: 3}
`

// LabelCount is how many labels there are.
const LabelCount = 1000

// Labelled returns a file of labels, of which the i-th is 1 where i is below ones.
func Labelled(ones int) string {
	var b strings.Builder
	b.WriteString("label\n")
	for i := range LabelCount {
		fmt.Fprintln(&b, map[bool]int{true: 1}[i < ones])
	}
	return b.String()
}

// NewHoldouts is a hospital with holdouts. The labels are 600 times 1 and then 400 times 0.
func NewHoldouts(t testing.TB, budget string, files map[string]string) *World {
	t.Helper()
	all := map[string]string{
		"labels.csv": Labelled(600),
		"named.csv":  "id,label\na,1\nb,0.25\nc,0\n",
		"data/train_rows.csv": "age,sex,zip,diagnosis,smoker,cost\n30,F,1,flu,true,10\n40,M,1,flu,false,20\n50,F,1,flu,false,30\n60,F,1," +
			"flu,true,40\n",
	}
	for name, text := range files {
		all[name] = text
	}
	return Build(t, hospital.New(200, 1), hospital.Dataset("hospital", "data", budget)+HeldOut, 1, all)
}

func (w *World) Score(q api.HoldoutQuestion) (*api.HoldoutAnswer, error) {
	if q.Analyst == "" {
		q.Analyst = "ana"
	}
	return w.Holdouts.Ask(ctx, q)
}

func (w *World) MustScore(q api.HoldoutQuestion) *api.HoldoutAnswer {
	w.T.Helper()
	a, err := w.Score(q)
	if err != nil {
		w.T.Fatal(err)
	}
	return a
}

type FailingEngine struct{ engine.Engine }

func (FailingEngine) Run(context.Context, *tree.Query) (*engine.Result, error) {
	return nil, errors.New("secret")
}

// WithStream adds a stream over the patients to a hospital's policy.
func WithStream(dataset string, size int, more string) string {
	return dataset + fmt.Sprintf(`    streams:
      people:
        table: patients
        columns: {sex: , smoker: , diagnosis: , age: {width: 37}}
        size: %d
%s`, size, more)
}

const Crowd = 20_000

// NewStreams is a hospital with a stream, under a budget.
func NewStreams(t testing.TB, budget, more string) *World {
	t.Helper()
	return Build(t, Large(), WithStream(hospital.Dataset("hospital", "data", budget), Crowd, "        alpha: 0.05\n"+more), 1)
}

var largeOnce *hospital.Hospital

// Large is a hospital of a crowd. Streams are over its patients, and only the first of them have
// visits: to read those of all takes longer than most tests do.
func Large() *hospital.Hospital {
	if largeOnce == nil {
		largeOnce = hospital.New(Crowd, 1)
		first := slices.IndexFunc(largeOnce.Visits, func(v hospital.Visit) bool { return v.Patient > 1000 })
		largeOnce.Visits = largeOnce.Visits[:first]
	}
	return largeOnce
}

const Patients = "SELECT COUNT(*) FROM patients"

// OpenSparse opens a session as ana, about counts of people.
func (w *World) OpenSparse(change func(*api.SparseQuestion)) *sparsesession.Session {
	w.T.Helper()
	q := api.SparseQuestion{Analyst: "ana", Above: 2, Sensitivity: 1, Request: FreshID()}
	if change != nil {
		change(&q)
	}
	s, err := w.Sparse.Open(ctx, q)
	w.Check(err)
	return s
}

// Smokers asks for a model of who smokes.
func Smokers(epsilon string) api.TrainingQuestion {
	q := api.TrainingQuestion{Analyst: "ana", Features: "SELECT age, sex, cost, smoker FROM patients", Target: "smoker", Request: FreshID()}
	q.Spec.Budget.Epsilon = Amount(epsilon)
	return q
}

func (w *World) PlantFit(fit func(context.Context, *learn.Plan, *learn.Table, *mech.Releaser, func(learn.Progress)) (*learn.Model, error)) {
	w.Trainings = training.New(w.Access(), answercache.New(w.Wire), fit)
}

// NewTeam is a hospital with other analysts, and perhaps groups.
func NewTeam(t testing.TB, budget, analysts string) *World {
	t.Helper()
	dataset := strings.Replace(hospital.Dataset("hospital", "data", budget), "analysts: {ana: {share: 1}, ben: {share: 0.5}}", analysts, 1)
	return Build(t, hospital.New(50, 1), dataset, 1)
}

const (
	Monthly    = "{epsilon: 0.5, per_query: {default: 0.1, max: 0.5}, renewal: {every: month, windows: 3}}"
	MonthlyRho = "{epsilon: 1, delta: 1e-6, keys_delta: 4e-7, per_query: {default: 0.1, max: 1}, renewal: {every: month, windows: 12}}"
	Cardiology = "analysts: {ana: {share: 0.5}, ben: {epsilon: 0.3}, cyn: }\n    groups: {cardiology: {share: 0.6, analysts: [ana, " +
		"ben]}, students: {epsilon: 0.2, analysts: [cyn, ana]}}"
	TwoAnalysts = "analysts: {ana: , ben: }"
)

func (w *World) RenewNow() {
	w.T.Helper()
	_, err := w.Renew(ctx, "test")
	w.Check(err)
}

// NewPrivateKeys is a hospital whose wards are private, and of which one, the attic, one person
// alone has seen.
func NewPrivateKeys(t testing.TB, n int, keysDelta, delta dp.Amount) *World {
	t.Helper()
	h := hospital.New(n, 1)
	// Nothing else is known of them, so that no other ward can be what counts.
	h.Visits = slices.DeleteFunc(h.Visits, func(v hospital.Visit) bool { return v.Patient == hospital.Target })
	h.Visits = append(h.Visits, hospital.Visit{Patient: hospital.Target, Day: "2025-01-01", Ward: "attic", Cents: 100})
	dataset := hospital.Dataset("hospital", "data", Rich)
	dataset = strings.Replace(dataset, "ward: {type: text, keys: [emergency, internal, surgery]}", "ward: {type: text, keys: private}", 1)
	w := Build(t, h, dataset, 3)
	w.Dataset.Budget.Delta = max(w.Dataset.Budget.Delta, 2*keysDelta)
	w.Dataset.Budget.KeysDelta, w.Dataset.Budget.DefaultDelta = keysDelta, delta
	return w
}

// CountedPeople is the hospital's patients alone, where somebody is replaced by somebody else.
func CountedPeople(budget string) string {
	text, _, _ := strings.Cut(hospital.Dataset("hospital", "data", budget), "      visits:")
	text = strings.Replace(text, "    unit:", "    neighbours: substitute\n    unit:", 1)
	return strings.Replace(text, "        unique: pid\n", "        unique: pid\n        bad_lines: refuse\n", 1)
}

// server is a curator with a connection of its own to a ledger.
type server struct {
	*curator.Curator
	Ledger ledger.Ledger
}

// Servers are curators with one ledger in a database, each with a connection of its own, as in
// several processes. The first is the world's.
func (w *World) Servers(n int) []server {
	w.T.Helper()
	u, err := url.Parse(testpg.Shared(w.T).URL())
	w.Check(err)
	q := u.Query()
	q.Set("schema", fmt.Sprint("servers_", requests.Add(1)))
	u.RawQuery = q.Encode()
	var all []server
	for i := range n {
		l, err := postgres.Open(u.String())
		w.Check(err)
		w.T.Cleanup(func() { l.Close() })
		all = append(all, server{curator.New(w.Dataset, w.Data, l, Seeded(byte(60+i))), l})
	}
	w.Curator = all[0].Curator
	w.T.Cleanup(func() {
		p := replay.New()
		for r, err := range all[0].Ledger.Records(ctx, 0) {
			w.Check(err)
			if d := p.Next(r, ledger.Hash(r.Encode())); len(d.Differs) > 0 {
				w.T.Error(d.Differs)
			}
		}
	})
	return all
}

// ChargesOf are the charges of a ledger.
func (w *World) ChargesOf(l ledger.Ledger) (all []*ledger.Record) {
	for r, err := range l.Records(ctx, 0) {
		w.Check(err)
		if r.Kind == ledger.KindCharge {
			all = append(all, r)
		}
	}
	return all
}

func Substitute(dataset string) string {
	return strings.Replace(dataset, "    budget:", "    neighbours: substitute\n    budget:", 1)
}

const Rich = "{epsilon: 100, delta: 1e-6, per_query: {default: 0.1, max: 1}}"
