package curator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/mechanism/learn"
	"github.com/discreet-dp/discreet/ledger"
)

// trainingOutcome is all that came of a training: what the analyst saw, what was charged, and what
// was asked of engine, ledger and releaser, in which order.
type trainingOutcome struct {
	err     string
	trained *api.Training
	charges []ledger.Charge
	order   []string
	calls   []mech.Call
}

func (w *world) replayTraining(r *recorder, q api.TrainingQuestion) (o trainingOutcome) {
	r.charges = nil
	r.take()
	w.noise.Record(func(c mech.Call) { o.calls = append(o.calls, c) })
	q.Request = freshID()
	t, err := w.Trainings.Train(ctx, q, nil)
	if err != nil {
		o.err = err.Error()
	}
	o.trained, o.charges, o.order = t, r.charges, r.take()
	return o
}

// compareTrainings judges what came of a training on two neighbouring databases with the same
// randomness: all that may differ are the weights, and what was estimated.
func compareTrainings(a, b trainingOutcome) error {
	if a.err != b.err {
		return fmt.Errorf("one says %q, the other %q", a.err, b.err)
	}
	if !slices.Equal(a.order, b.order) || len(a.charges) != len(b.charges) || len(a.calls) != len(b.calls) {
		return fmt.Errorf("%v, %d charges and %d calls against %v, %d and %d", a.order, len(a.charges), len(a.calls), b.order,
			len(b.charges), len(b.calls))
	}
	for i, c := range a.charges {
		d := b.charges[i]
		c.DataVersion, d.DataVersion, c.Request, d.Request = "", "", "", "" // the owner's to see, and the analyst's own
		if fmt.Sprint(c) != fmt.Sprint(d) {
			return fmt.Errorf("charged %v against %v", c, d)
		}
	}
	for i, c := range a.calls {
		d := b.calls[i]
		if c.Mechanism != d.Mechanism || c.Parameter.Cmp(d.Parameter) != 0 || c.Values.Len() != d.Values.Len() ||
			c.Sensitivity.String() != d.Sensitivity.String() {
			return fmt.Errorf("call %d is %v against %v", i, c, d)
		}
		// What output perturbation releases first is within its sensitivity. The noise of an
		// objective has none: it is drawn before the data is looked at. What comes after a release
		// is calibrated for the case that the release was the same, which it is not here.
		if i == 0 && c.Sensitivity.Norm() != 0 {
			if _, _, err := judgeCall(c, d); err != nil {
				return fmt.Errorf("call %d, %s: %w", i, c.Mechanism, err)
			}
		}
	}
	if a.trained == nil {
		return nil
	}
	x, y := *a.trained, *b.trained
	if x.Cost != y.Cost || x.Remaining != y.Remaining || x.Receipt.Sequence != y.Receipt.Sequence || x.Receipt.Free != y.Receipt.Free ||
		x.Version != y.Version || !slices.Equal(x.Notes, y.Notes) || fmt.Sprint(x.Alerts) != fmt.Sprint(y.Alerts) {
		return fmt.Errorf("%+v against %+v", x, y)
	}
	if p, q := shapeOf(x.Model), shapeOf(y.Model); p != q {
		return fmt.Errorf("the model is %s against %s", p, q)
	}
	return nil
}

// shapeOf is a model without what was released: everything else follows from what is public.
func shapeOf(m *learn.Model) string {
	shape := *m
	shape.Weights = make([][]int64, len(m.Weights))
	for i := range shape.Weights {
		shape.Weights[i] = make([]int64, len(m.Weights[i]))
	}
	if m.Evaluation != nil {
		shape.Evaluation = &learn.Evaluation{}
	}
	if len(m.Spec.Tune) > 0 {
		shape.Regulariser = 0 // which is chosen
	}
	receipt := *m.Receipt
	receipt.Hash = ""
	shape.Receipt = &receipt
	text, err := json.Marshal(shape)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// lessons are trainings of all kinds, and of somebody who is after one person.
func lessons() (out []api.TrainingQuestion) {
	add := func(features, target string, change func(*learn.Spec)) {
		q := smokers("0.9")
		q.Features, q.Target = features, target
		if change != nil {
			change(&q.Spec)
		}
		out = append(out, q)
	}
	const all = "SELECT age, sex, zip, cost, smoker FROM patients"
	add(all, "smoker", nil)
	add(all, "smoker", func(s *learn.Spec) { s.Method, s.Regulariser = "output", 50 })
	add(all, "smoker", func(s *learn.Spec) { s.Method = "minima" })
	add(all, "smoker", func(s *learn.Spec) { s.Loss, s.Evaluate = "huber", amount("0.1") })
	add(all, "smoker", func(s *learn.Spec) { s.Tune = []float64{100, 1000} })
	add(all, "cost", nil)
	add("SELECT age, smoker, diagnosis FROM patients", "diagnosis", nil)
	add("SELECT v.cost, p.age, v.ward FROM visits v JOIN patients p ON v.pid = p.pid", "ward", nil)
	// Hostile: rows of one person alone, expressions that fail for some values, and nobody at all.
	add("SELECT age, smoker FROM patients WHERE zip = '1003A' AND diagnosis = 'HIV'", "smoker", nil)
	add("SELECT age, smoker FROM patients WHERE age = -300", "smoker", nil)
	add("SELECT age, smoker FROM patients WHERE 1 / (age - 37) > 0", "smoker", nil)
	add("SELECT age, CASE WHEN diagnosis = 'HIV' THEN 1/0 ELSE 0 END AS x, smoker FROM patients", "smoker", nil)
	add("SELECT age, smoker FROM patients WHERE pid = 37", "smoker", nil)
	add("SELECT age * 9223372036854775807 AS a, smoker FROM patients", "smoker", nil)
	add("SELECT CAST(zip AS INTEGER) AS z, smoker FROM patients", "smoker", nil)
	add("SELECT age, smoker FROM patients", "diagnosis = 'HIV'", nil)
	add("SELECT age, smoker FROM patients", "pid = 37", nil)
	return out
}

func TestTrainingNeighbours(t *testing.T) {
	calm, wild := hospital.New(60, 1), restless(60, 1)
	both, gaussian := hospital.Dataset("hospital", "data", plenty), hospital.Dataset("hospital", "data", rich)
	for _, c := range []struct {
		name, dataset string
		x, y          *hospital.Hospital
	}{
		{"pure", both, wild, wild.Without(hospital.Target)},
		{"concentrated", gaussian, calm, calm.Without(hospital.Target)},
		{"substitute", substitute(gaussian), wild, calm},
		{"nobody", both, &hospital.Hospital{Patients: calm.Patients[:1], Visits: nil}, &hospital.Hospital{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPair(t, c.dataset, c.x, c.y)
			answered, moved := 0, 0
			for _, q := range lessons() {
				a, b := p.a.replayTraining(p.ra, q), p.b.replayTraining(p.rb, q)
				if err := compareTrainings(a, b); err != nil {
					t.Errorf("%s, %s: %v", q.Features, q.Target, err)
				}
				if a.trained != nil && b.trained != nil {
					answered++
					if fmt.Sprint(a.trained.Model.Weights) != fmt.Sprint(b.trained.Model.Weights) {
						moved++
					}
				}
				x, errA := p.a.Trainings.Quote(ctx, q)
				y, errB := p.b.Trainings.Quote(ctx, q)
				if fmt.Sprint(errA) != fmt.Sprint(errB) || fmt.Sprintf("%+v", x) != fmt.Sprintf("%+v", y) {
					t.Errorf("%s, %s: %+v, %v against %+v, %v", q.Features, q.Target, x, errA, y, errB)
				}
			}
			if answered < 9 || moved < 6 {
				t.Errorf("%d trainings were answered, and %d models moved", answered, moved)
			}
		})
	}
}

// The judge sees bugs of each kind that it looks for.
func TestTrainingNeighboursSeePlantedBugs(t *testing.T) {
	h := hospital.New(60, 1)
	for _, c := range []struct {
		name, want string
		fit        func(p *learn.Plan, m *learn.Model, r *mech.Releaser, n int) error
	}{
		{"fails for some data", "one says", func(_ *learn.Plan, _ *learn.Model, _ *mech.Releaser, n int) error {
			if n == 60 {
				return errors.New("sixty")
			}
			return nil
		}},
		{"draws once more", "calls against", func(p *learn.Plan, _ *learn.Model, r *mech.Releaser, n int) error {
			if n == 60 {
				r.DrawReals(1, false, 1)
			}
			return nil
		}},
		{"noise of another scale", "call 1 is", func(p *learn.Plan, _ *learn.Model, r *mech.Releaser, n int) error {
			r.DrawReals(1, false, float64(n))
			return nil
		}},
		{"says how many rows there were", "the model is", func(_ *learn.Plan, m *learn.Model, _ *mech.Releaser, n int) error {
			m.Spec.Rows = int64(n)
			return nil
		}},
		{"leaves weights out", "the model is", func(_ *learn.Plan, m *learn.Model, _ *mech.Releaser, n int) error {
			if n == 60 {
				m.Weights[0] = m.Weights[0][1:]
			}
			return nil
		}},
	} {
		p := newPair(t, hospital.Dataset("hospital", "data", plenty), h, h.Without(hospital.Target))
		for _, w := range []*world{p.a, p.b} {
			n := 60
			if w == p.b {
				n = 59
			}
			w.plantFit(func(ctx context.Context, plan *learn.Plan, t *learn.Table, r *mech.Releaser,
				f func(learn.Progress)) (*learn.Model, error) {
				m, err := learn.Fit(ctx, plan, t, r, f)
				if err == nil {
					err = c.fit(plan, m, r, n)
				}
				return m, err
			})
		}
		q := smokers("0.9")
		a, b := p.a.replayTraining(p.ra, q), p.b.replayTraining(p.rb, q)
		if err := compareTrainings(a, b); err == nil || !contains(err.Error(), c.want) {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
	// A price that follows the data.
	p := newPair(t, hospital.Dataset("hospital", "data", plenty), h, h.Without(hospital.Target))
	q := smokers("0.9")
	a := p.a.replayTraining(p.ra, q)
	q.Spec.Budget.Epsilon -= dp.One / 100
	if err := compareTrainings(a, p.b.replayTraining(p.rb, q)); err == nil {
		t.Error("a charge that differs was not noticed")
	}
}
