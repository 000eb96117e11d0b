package curator_test

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
	"github.com/discreet-dp/discreet/internal/test/curatortest"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/ledger"
)

// Questions to a stream, those that the target is in last: up to the first number that differs
// everything else has to be the same.
var streamQuestions = []string{
	"SELECT COUNT(*) FROM patients WHERE sex = 'F' AND diagnosis = 'flu'",
	"SELECT COUNT(*) FROM patients WHERE diagnosis = 'asthma' AND NOT smoker",
	"SELECT AVG(CASE WHEN sex = 'F' THEN 1 ELSE 0 END) FROM patients WHERE diagnosis = 'fracture'",
	"SELECT smoker, COUNT(*) FROM patients WHERE diagnosis = 'diabetes' GROUP BY smoker",
	"SELECT 100.0 * COUNT(*) FILTER (WHERE smoker) / COUNT(*) FROM patients WHERE diagnosis IN ('flu', 'asthma')",
	"SELECT sex FROM patients WHERE diagnosis = 'hypertension' GROUP BY sex HAVING COUNT(*) > 3 ORDER BY COUNT(*)",
	"SELECT COUNT(*) FROM patients WHERE diagnosis = 'flu' AND age < 37",
	"SELECT COUNT(*) FROM patients WHERE diagnosis = 'flu' AND age < 36",
	"SELECT COUNT(*) FROM patients WHERE sex IS NULL AND diagnosis = 'flu'",
	"SELECT COUNT(*) FROM patients WHERE sex NOT IN ('F', 'M', 'X') AND diagnosis = 'flu'",
	"SELECT n * 2 FROM (SELECT COUNT(*) AS n FROM patients WHERE diagnosis = 'fracture' AND smoker) t",
	"SELECT COUNT(*) FROM patients WHERE diagnosis = 'HIV'",
	"SELECT sex, COUNT(*) FROM patients GROUP BY sex",
	"SELECT COUNT(*) FROM patients",
}

// streamTranscript is what came of a question, without its numbers, and its numbers.
func streamTranscript(w *curatortest.World, r *curatortest.Recorder, text string) (shape, values string, calls []mech.Call) {
	r.Charges = nil
	r.Take()
	w.Noise.Record(func(c mech.Call) { calls = append(calls, c) })
	defer w.Noise.Record(nil)
	a, err := w.Ask(ctx, api.Question{Analyst: "ana", SQL: text, Request: text, Settings: api.Settings{Stream: "on"}})
	if err != nil {
		return err.Error(), "", calls
	}
	shape = fmt.Sprint(len(a.Rows), a.Columns, a.Notes, a.Cost, a.Remaining, a.Through, r.Take())
	for _, c := range r.Charges {
		shape += fmt.Sprint(c.Analyst, c.Cost, c.Mechanisms) // its names follow from those of the data too
	}
	return shape, curatortest.Numbers(a), calls
}

// judgeStream asks two neighbouring worlds the same, with the same randomness. Until a number
// differs, which is what its noise is for, everything is the same: what is charged, what is run, in
// which order, what is said. The exact values that mechanisms see are never further apart than
// their noise is for. It returns how many questions it compared.
func judgeStream(p pair) (int, error) {
	for i, text := range streamQuestions {
		x, xs, xc := streamTranscript(p.a, p.ra, text)
		y, ys, yc := streamTranscript(p.b, p.rb, text)
		if len(xc) != len(yc) {
			return i, fmt.Errorf("%s: %d draws against %d", text, len(xc), len(yc))
		}
		for k := range xc {
			a, b := xc[k], yc[k]
			if a.Mechanism != b.Mechanism || a.Parameter.Cmp(b.Parameter) != 0 || a.Sensitivity.String() != b.Sensitivity.String() ||
				a.Values.Len() != b.Values.Len() {
				return i, fmt.Errorf("%s: draw %d is %v against %v", text, k, a, b)
			}
			var moved, squares int64
			for j := range a.Values.Len() {
				d := a.Values.Open()[j] - b.Values.Open()[j]
				moved += max(d, -d)
				squares += d * d
			}
			var most int64
			if a.Sensitivity.Norm() == dp.L1 {
				most, squares = a.Sensitivity.L1().Int64(), moved
			} else {
				most = a.Sensitivity.L2Squared().Int64()
			}
			if squares > most {
				return i, fmt.Errorf("%s: draw %d is moved by %d, and its noise is for %v", text, k, squares, a.Sensitivity)
			}
		}
		if x != y {
			return i, fmt.Errorf("%s:\n%s\nagainst\n%s", text, x, y)
		}
		if xs != ys {
			return i + 1, nil
		}
	}
	return len(streamQuestions), nil
}

func TestStreamNeighbours(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing of it runs at once")
	}
	calm, wild := hospital.New(120, 1), restless(120, 1)
	pure, gaussian := curatortest.WithStream(hospital.Dataset("hospital", "data", curatortest.Plenty), curatortest.Crowd,
		"        alpha: 0.05\n"),
		curatortest.WithStream(hospital.Dataset("hospital", "data", curatortest.Rich), curatortest.Crowd, "        alpha: 0.05\n")
	type neighbours struct {
		name    string
		dataset string
		x, y    *hospital.Hospital
	}
	for _, c := range daily.Sample(t, []neighbours{
		{"laplace", pure, calm, calm.Without(hospital.Target)},
		{"gaussian", gaussian, calm, calm.Without(hospital.Target)},
		{"restless", pure, wild, wild.Without(hospital.Target)},
		{"substitute", curatortest.Substitute(pure), wild, calm},
		{"substitute gaussian", curatortest.Substitute(gaussian), wild, calm},
		{"rows", curatortest.WithStream(rowDataset(curatortest.Plenty), curatortest.Crowd, "        alpha: 0.05\n"), wild,
			wild.Without(hospital.Target)},
	}, 2) {
		p := newPair(t, c.dataset, c.x, c.y)
		n, err := judgeStream(p)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		t.Logf("%s: %d questions", c.name, n)
		if n < 4 {
			t.Errorf("%s: only %d questions were compared", c.name, n)
		}
		p.leave()
	}
}

// trainingOutcome is all that came of a training: what the analyst saw, what was charged, and what
// was asked of engine, ledger and releaser, in which order.
type trainingOutcome struct {
	err     string
	trained *api.Training
	charges []ledger.Charge
	order   []string
	calls   []mech.Call
}

func replayTraining(w *curatortest.World, r *curatortest.Recorder, q api.TrainingQuestion) (o trainingOutcome) {
	r.Charges = nil
	r.Take()
	w.Noise.Record(func(c mech.Call) { o.calls = append(o.calls, c) })
	q.Request = curatortest.FreshID()
	t, err := w.Trainings.Train(ctx, q, nil)
	if err != nil {
		o.err = err.Error()
	}
	o.trained, o.charges, o.order = t, r.Charges, r.Take()
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
		q := curatortest.Smokers("0.9")
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
	add(all, "smoker", func(s *learn.Spec) { s.Loss, s.Evaluate = "huber", curatortest.Amount("0.1") })
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
	both, gaussian := hospital.Dataset("hospital", "data", curatortest.Plenty), hospital.Dataset("hospital", "data", curatortest.Rich)
	type neighbours struct {
		name, dataset string
		x, y          *hospital.Hospital
	}
	for _, c := range daily.Sample(t, []neighbours{
		{"pure", both, wild, wild.Without(hospital.Target)},
		{"concentrated", gaussian, calm, calm.Without(hospital.Target)},
		{"substitute", curatortest.Substitute(gaussian), wild, calm},
		{"nobody", both, &hospital.Hospital{Patients: calm.Patients[:1], Visits: nil}, &hospital.Hospital{}},
	}, 2) {
		t.Run(c.name, func(t *testing.T) {
			p := newPair(t, c.dataset, c.x, c.y)
			answered, moved := 0, 0
			for _, q := range lessons() {
				a, b := replayTraining(p.a, p.ra, q), replayTraining(p.b, p.rb, q)
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
		p := newPair(t, hospital.Dataset("hospital", "data", curatortest.Plenty), h, h.Without(hospital.Target))
		for _, w := range []*curatortest.World{p.a, p.b} {
			n := 60
			if w == p.b {
				n = 59
			}
			w.PlantFit(func(ctx context.Context, plan *learn.Plan, t *learn.Table, r *mech.Releaser,
				f func(learn.Progress)) (*learn.Model, error) {
				m, err := learn.Fit(ctx, plan, t, r, f)
				if err == nil {
					err = c.fit(plan, m, r, n)
				}
				return m, err
			})
		}
		q := curatortest.Smokers("0.9")
		a, b := replayTraining(p.a, p.ra, q), replayTraining(p.b, p.rb, q)
		if err := compareTrainings(a, b); err == nil || !curatortest.ContainsAll(err.Error(), c.want) {
			t.Errorf("%s: got %v", c.name, err)
		}
		p.leave()
	}
	// A price that follows the data.
	p := newPair(t, hospital.Dataset("hospital", "data", curatortest.Plenty), h, h.Without(hospital.Target))
	q := curatortest.Smokers("0.9")
	a := replayTraining(p.a, p.ra, q)
	q.Spec.Budget.Epsilon -= dp.One / 100
	if err := compareTrainings(a, replayTraining(p.b, p.rb, q)); err == nil {
		t.Error("a charge that differs was not noticed")
	}
}
