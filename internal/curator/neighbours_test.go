package curator_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sealed"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/ledger"
)

// outcome is all that came of a question: what the analyst saw, what was charged,
// and what the releaser was asked to do.
type outcome struct {
	err     string
	answer  *api.Answer
	charges []ledger.Charge
	calls   []mech.Call
	noisy   [][]int64 // the vectors of counts and sums, in the order in which they were released
}

// replay asks a question and writes down what came of it.
func replay(w *curatortest.World, r *curatortest.Recorder, text string) outcome {
	r.Charges, r.Kept = nil, nil
	var o outcome
	w.Noise.Record(func(c mech.Call) { o.calls = append(o.calls, c) })
	a, err := w.AskSQL(text)
	if err != nil {
		o.err = err.Error()
	}
	o.answer, o.charges = a, r.Charges
	if len(r.Kept) > 0 {
		p, err := curatortest.Price(w, api.Question{Analyst: "ana", SQL: text})
		w.Check(err)
		for _, b := range p.Purchases {
			var kept struct {
				Purchases map[string]struct{ Measures [][]int64 }
			}
			w.Check(json.Unmarshal(r.Kept[0], &kept))
			for _, v := range kept.Purchases[b.Hash()].Measures {
				if v != nil {
					o.noisy = append(o.noisy, v)
				}
			}
		}
	}
	return o
}

// compare judges the outcomes of one question on two neighbouring databases, with
// the same randomness. This is the whole privacy argument, run: all that the two
// may differ in is exact vectors, by no more than the noise was calibrated to.
func compare(a, b outcome) error {
	if a.err != b.err {
		return fmt.Errorf("one says %q, the other %q", a.err, b.err)
	}
	if len(a.charges) != len(b.charges) || len(a.calls) != len(b.calls) || len(a.noisy) != len(b.noisy) {
		return fmt.Errorf("%d charges, %d calls and %d vectors against %d, %d and %d", len(a.charges), len(a.calls), len(a.noisy),
			len(b.charges), len(b.calls), len(b.noisy))
	}
	var charged dp.Cost
	for i, c := range a.charges {
		d := b.charges[i]
		// The name of the data's state is the owner's to see, and the request the analyst's own.
		c.DataVersion, d.DataVersion, c.Request, d.Request = "", "", "", ""
		if len(c.Missed) != len(d.Missed) {
			return fmt.Errorf("%d and %d keys were missed", len(c.Missed), len(d.Missed))
		}
		c.Missed, d.Missed = nil, nil // they have the version in them
		if fmt.Sprint(c) != fmt.Sprint(d) {
			return fmt.Errorf("charged %v against %v", c, d)
		}
		charged = charged.Add(c.Cost)
	}
	if err := judgeCalls(a.calls, b.calls, charged); err != nil {
		return err
	}
	vector := 0
	for i, c := range a.calls {
		if c.Sensitivity.Norm() == 0 || c.Mechanism == "residual" || c.Mechanism == "running" {
			continue // what is shown is made of it
		}
		x, y := a.noisy[vector], b.noisy[vector]
		if c.Values.Len() == 2*len(x) && len(x) > 0 { // twins are one vector
			vector++
			x, y = slices.Concat(x, a.noisy[vector]), slices.Concat(y, b.noisy[vector])
		}
		if err := sameNoise(c, b.calls[i], x, y); err != nil {
			return fmt.Errorf("call %d: %w", i, err)
		}
		vector++
	}
	if a.answer == nil {
		return nil
	}
	return compareAnswers(a.answer, b.answer)
}

// sameNoise checks that answers are as far apart as exact values are.
func sameNoise(c, d mech.Call, x, y []int64) error {
	for i, v := range c.Values.Open() {
		if x[i]-y[i] != v-d.Values.Open()[i] {
			return fmt.Errorf("the answers of group %d differ by %d, the exact values by another number", i, x[i]-y[i])
		}
	}
	return nil
}

func compareAnswers(a, b *api.Answer) error {
	if !slices.Equal(a.Columns, b.Columns) || a.Cost != b.Cost || a.Remaining != b.Remaining || a.Receipt.Sequence != b.Receipt.Sequence ||
		a.Receipt.Free != b.Receipt.Free || a.Version != b.Version || !slices.Equal(a.Notes, b.Notes) {
		return fmt.Errorf("%v %v %v %v against %v %v %v %v", a.Columns, a.Cost, a.Remaining, a.Receipt, b.Columns, b.Cost,
			b.Remaining, b.Receipt)
	}
	return nil
}

// sameRows compares keys and their order, for questions whose rows do not depend on
// noisy values.
func sameRows(text string, a, b *api.Answer) error {
	if a == nil || curatortest.ContainsAll(text, "HAVING") || curatortest.ContainsAll(text, "ORDER BY") || a.Errors == nil ||
		slices.ContainsFunc(a.Columns, func(c api.Column) bool { return c.Approximate && c.Decimals >= 0 }) {
		return nil
	}
	if len(a.Rows) != len(b.Rows) {
		return fmt.Errorf("%d rows against %d", len(a.Rows), len(b.Rows))
	}
	for i := range a.Rows {
		for j, c := range a.Columns {
			if !c.Noisy && a.Rows[i][j] != b.Rows[i][j] {
				return fmt.Errorf("row %d has the key %v against %v", i, a.Rows[i][j], b.Rows[i][j])
			}
		}
	}
	return nil
}

// pair is two neighbouring worlds with the same randomness.
type pair struct {
	a, b   *curatortest.World
	ra, rb *curatortest.Recorder
}

func newPair(t testing.TB, dataset string, x, y *hospital.Hospital) pair {
	p := pair{a: curatortest.Build(t, x, dataset, 7), b: curatortest.Build(t, y, dataset, 7)}
	p.ra, p.rb = p.a.Record(), p.b.Record()
	return p
}

// leave is [curatortest.World.Leave] of both.
func (p pair) leave() {
	p.a.Leave()
	p.b.Leave()
}

func (p pair) judge(text string) (a, b outcome, err error) {
	a, b = replay(p.a, p.ra, text), replay(p.b, p.rb, text)
	if err := compare(a, b); err != nil {
		return a, b, err
	}
	return a, b, sameRows(text, a.answer, b.answer)
}

// restless has somebody who is in every ward every day, at any price, and is
// of an age and a sex that the policy does not know.
func restless(n int, seed uint64) *hospital.Hospital {
	h := hospital.New(n, seed)
	for i := range h.Patients {
		if p := &h.Patients[i]; p.ID == hospital.Target {
			p.Age, p.Sex, p.Cents = -300, "", 9e15
		}
	}
	for i := range 300 {
		day := fmt.Sprintf("2025-%02d-%02d", 1+i%12, 1+i%28)
		h.Visits = append(h.Visits, hospital.Visit{Patient: hospital.Target, Day: day,
			Ward: []string{"emergency", "internal", "surgery", "cellar"}[i%4], Cents: i * i * 1000})
	}
	return h
}

// rowDataset protects rows, of which a person has one.
func rowDataset(budget string) string {
	text := hospital.Dataset("hospital", "data", budget)
	before, _, _ := strings.Cut(text, "      visits:")
	before = strings.Replace(before, "unit: patients.pid", "unit: row", 1)
	return strings.Replace(before, "        unique: pid\n", "", 1)
}

func TestNeighbours(t *testing.T) {
	both := hospital.Dataset("hospital", "data", curatortest.Plenty)
	gaussian := hospital.Dataset("hospital", "data", curatortest.Rich)
	calm, wild := hospital.New(120, 1), restless(120, 1)
	for _, c := range []struct {
		name    string
		dataset string
		x, y    *hospital.Hospital
	}{
		{"laplace", both, calm, calm.Without(hospital.Target)},
		{"gaussian", gaussian, calm, calm.Without(hospital.Target)},
		{"restless laplace", both, wild, wild.Without(hospital.Target)},
		{"restless gaussian", gaussian, wild, wild.Without(hospital.Target)},
		{"substitute laplace", curatortest.Substitute(both), wild, calm},
		{"substitute gaussian", curatortest.Substitute(gaussian), wild, calm},
		{"rows", rowDataset(curatortest.Plenty), wild, wild.Without(hospital.Target)},
		{"substitute rows", curatortest.Substitute(rowDataset(curatortest.Rich)), wild, calm},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPair(t, c.dataset, c.x, c.y)
			answered, moved := 0, 0
			everything := slices.Concat(curatortest.Questions, curatortest.Attacks)
			// Others for every dataset; of the attacks, which are refused, fewer.
			texts := slices.Concat(daily.Sample(t, curatortest.Questions, len(curatortest.Questions)/6),
				daily.Sample(t, curatortest.Attacks, len(curatortest.Attacks)/10))
			for _, text := range texts {
				a, b, err := p.judge(text)
				if err != nil {
					t.Errorf("%s: %v", text, err)
				}
				if a.err == "" {
					answered++
				}
				if fmt.Sprint(a.noisy) != fmt.Sprint(b.noisy) {
					moved++
				}
			}
			// A replay in which nobody moves anything would prove nothing.
			if answered < 45*len(texts)/len(everything) || moved < 15*len(texts)/len(everything) {
				t.Errorf("%d questions were answered, and %d answers moved", answered, moved)
			}
			t.Logf("%d of %d questions answered, %d answers moved", answered, len(texts), moved)
		})
	}
}

// Every honest question can be asked, so that the replay of them means something.
func TestQuestionsAreAnswered(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	for _, text := range curatortest.Questions {
		w.MustAsk(text)
	}
}

// Small databases, where one person is much of everything.
func TestNeighboursOfRandomHospitals(t *testing.T) {
	if testing.Short() {
		t.Skip("one question after the other, which the race detector has nothing to say about")
	}
	r := daily.Choices(t)
	for range daily.Rounds(2, 20) {
		h := hospital.New(1+r.Below(6), uint64(r.Below(1<<30)))
		gone := detrand.Pick(r, h.Patients).ID
		budget := detrand.Pick(r, []string{curatortest.Plenty, curatortest.Rich})
		p := newPair(t, hospital.Dataset("hospital", "data", budget), h, h.Without(gone))
		for range 15 {
			text := detrand.Pick(r, curatortest.Questions)
			if _, _, err := p.judge(text); err != nil {
				t.Errorf("%d people, without %d: %s: %v", len(h.Patients), gone, text, err)
			}
		}
		p.leave()
	}
}

// planted is an engine with a bug.
type planted struct {
	engine.Engine
	run func(r *engine.Result) (*engine.Result, error)
}

func (p planted) Run(ctx context.Context, q *tree.Query) (*engine.Result, error) {
	r, err := p.Engine.Run(ctx, q)
	if err != nil {
		return nil, err
	}
	return p.run(r)
}

// The judge sees bugs of each kind that it looks for.
func TestNeighboursSeePlantedBugs(t *testing.T) {
	h := restless(60, 1)
	total := func(r *engine.Result) (n int64) {
		for _, x := range r.Measures[0].Open() {
			n += x
		}
		return n
	}
	one := func(v ...int64) (*engine.Result, error) {
		return &engine.Result{Measures: []sealed.Vector{sealed.Seal(v)}}, nil
	}
	for _, c := range []struct {
		name, question, want string
		run                  func(r *engine.Result) (*engine.Result, error)
	}{
		{"one person counts twice", "SELECT COUNT(*) FROM patients", "moves it by more", func(r *engine.Result) (*engine.Result, error) {
			return one(2 * total(r))
		}},
		{"fails for some data", "SELECT COUNT(*) FROM patients", "one says", func(r *engine.Result) (*engine.Result, error) {
			if total(r) == 60 {
				return nil, context.DeadlineExceeded
			}
			return r, nil
		}},
		{"groups that exist", "SELECT zip, COUNT(*) FROM patients WHERE age = 0 GROUP BY zip", "one says",
			func(r *engine.Result) (*engine.Result, error) {
				if total(r) > 0 {
					return r, nil
				}
				return one(r.Measures[0].Open()[:2]...)
			}},
	} {
		p := newPair(t, hospital.Dataset("hospital", "data", curatortest.Plenty), h, h.Without(hospital.Target))
		p.ra.Engine, p.rb.Engine = planted{p.ra.Engine, c.run}, planted{p.rb.Engine, c.run}
		err := func() (err error) {
			defer func() {
				if r := recover(); r != nil {
					err = fmt.Errorf("panic: %v", r)
				}
			}()
			_, _, err = p.judge(c.question)
			return err
		}()
		if err == nil || !curatortest.ContainsAll(err.Error(), c.want) {
			t.Errorf("%s: got %v", c.name, err)
		}
		p.leave()
	}
	// A policy that promises too much: many visits, said to be at most one.
	lie := strings.Replace(hospital.Dataset("hospital", "data", curatortest.Plenty),
		"path: pid -> patients.pid\n        max_rows: 6\n        max_groups: 2", "path: pid -> patients.pid\n        unique: pid", 1)
	p := newPair(t, lie, h, h.Without(hospital.Target))
	if _, _, err := p.judge("SELECT COUNT(*) FROM visits"); err == nil {
		t.Error("a person with 300 rows where the policy says one was not noticed")
	}
}

// The price is known before the data is.
func TestPriceDependsOnTextAndPolicyAlone(t *testing.T) {
	h := restless(60, 1)
	p := newPair(t, hospital.Dataset("hospital", "data", curatortest.Rich), h, h.Without(hospital.Target))
	nothing := curator.New(p.a.Dataset, nil, nil, nil)
	for _, text := range curatortest.Questions {
		q := api.Question{Analyst: "ana", SQL: text, Request: curatortest.FreshID()}
		a, err := p.a.Explain(ctx, q)
		p.a.Check(err)
		b, err := p.b.Explain(ctx, q)
		p.b.Check(err)
		priced, err := curatortest.Price(nothing, q)
		p.a.Check(err)
		x, err := json.Marshal(a)
		p.a.Check(err)
		y, err := json.Marshal(b)
		p.b.Check(err)
		if string(x) != string(y) || a.Cost != priced.Tag(priced.Purchases) {
			t.Errorf("%s: %s against %s", text, x, y)
		}
	}
}
