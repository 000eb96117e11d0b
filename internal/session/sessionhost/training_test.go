package sessionhost_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/mechanism/learn"
	"github.com/discreet-dp/discreet/internal/session/training"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
	"github.com/discreet-dp/discreet/ledger"
)

func mustTrain(w *curatortest.World, q api.TrainingQuestion) *api.Training {
	w.T.Helper()
	t, err := w.Trainings.Train(ctx, q, nil)
	if err != nil {
		w.T.Fatal(err)
	}
	return t
}

// written is a model as it is written.
func written(w *curatortest.World, m *learn.Model) string {
	w.T.Helper()
	var b bytes.Buffer
	w.Check(m.Write(&b))
	return b.String()
}

// again asks for a model that is there, and checks that it is the same, free.
func again(w *curatortest.World, r *curatortest.Recorder, q api.TrainingQuestion, want *api.Training) {
	w.T.Helper()
	before := w.RecordCount()
	r.Take()
	q.Request = curatortest.FreshID()
	got, err := w.Trainings.Train(ctx, q, nil)
	if err != nil {
		w.T.Errorf("%+v: %v", q, err)
		return
	}
	if !got.Receipt.Free || got.Cost != (dp.Cost{}) || w.RecordCount() != before || got.ID != want.ID ||
		got.Receipt.Hash != want.Receipt.Hash || written(w, got.Model) != written(w, want.Model) {
		w.T.Errorf("%+v: cost %v, receipt %+v, id %s; want %s, free", q, got.Cost, got.Receipt, got.ID, want.ID)
	}
	if calls := r.Take(); slices.Contains(calls, "fetch") || slices.Contains(calls, "charge") {
		w.T.Errorf("%v", calls)
	}
}

var trained = []string{"version", "recall", "charge", "fetch", "version", "keep", "balances"}

func TestTrain(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	r := w.Record()
	r.Before["fetch"] = func() error {
		if got := w.OnDisk(); got.Charges != 1 || got.Answers != 0 || got.Balances[0].Spent.Epsilon != curatortest.Amount("0.5") {
			t.Errorf("when the engine fetches the file says %+v; want the charge", got)
		}
		return nil
	}
	quote, err := w.Trainings.Quote(ctx, curatortest.Smokers("0.5"))
	w.Check(err)
	if quote.Known || !quote.Affordable || quote.Cost.Epsilon != curatortest.Amount("0.5") || quote.Pay != quote.Cost ||
		quote.Worth != (api.Guarantee{Epsilon: curatortest.Amount("0.5")}) || quote.Unit != "patients.pid" || quote.MaxRows != 1 ||
		quote.After.Epsilon != quote.Remaining.Epsilon-curatortest.Amount("0.5") || w.RecordCount() != 0 {
		t.Errorf("%+v", quote)
	}
	r.Take()
	q := curatortest.Smokers("0.5")
	first := mustTrain(w, q)
	if got := r.Take(); !slices.Equal(got, trained) {
		t.Errorf("the order is %v; want %v", got, trained)
	}
	r.Before["fetch"] = nil
	if got := w.OnDisk(); got.Charges != 1 || got.Answers != 1 {
		t.Errorf("when Train returns the file says %+v; want the charge and its model", got)
	}
	if first.Cost.Epsilon != curatortest.Amount("0.5") || first.Receipt.Free || first.Version.Number != 1 ||
		first.Remaining.Epsilon != quote.After.Epsilon || w.Spent().Epsilon != curatortest.Amount("0.5") {
		t.Errorf("%+v", first)
	}
	if got, want := *first.Model.Receipt,
		(learn.Receipt{Dataset: "hospital", Unit: "patients.pid", Neighbours: "add-remove", Sequence: first.Receipt.Sequence,
			Hash: first.Receipt.Hash, DataVersion: 1}); got != want {
		t.Errorf("the model says %+v; want %+v", got, want)
	}
	if len(first.Model.Encoding.Features) != 3 || first.Model.Encoding.Target.Name != "smoker" ||
		!slices.Equal(first.Model.Encoding.Target.Values, []string{"false", "true"}) {
		t.Errorf("%+v", first.Model.Encoding)
	}
	// The same again is free, for everybody, however it is written, and after a restart.
	same := curatortest.Smokers("0.5")
	again(w, r, same, first)
	same.Analyst = "ben"
	again(w, r, same, first)
	same.Features = "select  AGE, sex , cost, SMOKER\n from Patients"
	again(w, r, same, first)
	if quote, err = w.Trainings.Quote(ctx, same); err != nil || !quote.Known || quote.Pay != (dp.Cost{}) ||
		quote.Record != first.Receipt.Sequence || quote.After != quote.Remaining {
		t.Errorf("%+v, %v", quote, err)
	}
	w.Reopen()
	r = w.Record()
	again(w, r, same, first)
	// Another price, target, feature or spec is another model.
	for i, other := range []func(*api.TrainingQuestion){
		func(q *api.TrainingQuestion) { q.Spec.Budget.Epsilon = curatortest.Amount("0.6") },
		func(q *api.TrainingQuestion) { q.Target = "sex" },
		func(q *api.TrainingQuestion) { q.Features = "SELECT age, sex, smoker FROM patients" },
		func(q *api.TrainingQuestion) { q.Features += " WHERE age > 30" },
		func(q *api.TrainingQuestion) { q.Spec.Regulariser = 77 },
		func(q *api.TrainingQuestion) { q.Spec.Evaluate = curatortest.Amount("0.1") },
	} {
		q := curatortest.Smokers("0.5")
		other(&q)
		if got := mustTrain(w, q); got.Receipt.Free || got.ID == first.ID || got.Cost.Epsilon != q.Spec.Budget.Epsilon+q.Spec.Evaluate {
			t.Errorf("%d: %+v", i, got)
		}
	}
	// So is the same on other data; and on the data that it was again, it is the first.
	w.Check(hospital.New(200, 1).Without(hospital.Target).Write(filepath.Join(w.Dir, "data")))
	second := mustTrain(w, curatortest.Smokers("0.5"))
	if second.Receipt.Free || second.ID == first.ID || second.Version.Number != 2 || second.Model.Receipt.DataVersion != 2 ||
		len(second.Notes) != 1 {
		t.Errorf("%+v", second)
	}
	w.Check(hospital.New(200, 1).Write(filepath.Join(w.Dir, "data")))
	again(w, r, curatortest.Smokers("0.5"), first)
}

// An (epsilon, delta) budget pays rho, as for every question.
func TestTrainConcentrated(t *testing.T) {
	w := curatortest.New(t, curatortest.Rich)
	q := curatortest.Smokers("0.5")
	q.Spec.Evaluate = curatortest.Amount("0.25")
	rho := pricing.Currency{}.Amount(curatortest.Amount("0.5")) + pricing.Currency{}.Amount(curatortest.Amount("0.25"))
	quote, err := w.Trainings.Quote(ctx, q)
	w.Check(err)
	if quote.Cost.Rho > rho || quote.Cost.Rho < rho-rho/100 || quote.Cost.Epsilon != curatortest.Amount("0.75") ||
		quote.Worth.Delta != w.Dataset.Budget.RhoDelta() || !curatortest.ContainsAll(quote.Currency, "adds up rho", "at delta") {
		t.Errorf("%+v; want rho %v", quote, rho)
	}
	got := mustTrain(w, q)
	if got.Cost != quote.Cost || w.Spent().Rho != quote.Cost.Rho {
		t.Errorf("%v was charged, and %v said; spent %v", got.Cost, quote.Cost, w.Spent())
	}
}

// What cannot be asked is refused by what is public: nothing is charged, and nothing of the data is
// looked at.
func TestTrainingRefusals(t *testing.T) {
	w := curatortest.New(t, "{epsilon: 100, per_query: {default: 0.1, min: 0.01, max: 1}}")
	r := w.Record()
	nan := 0.0
	nan /= nan
	for name, change := range map[string]func(*api.TrainingQuestion){
		"nobody":            func(q *api.TrainingQuestion) { q.Analyst = "eve" },
		"nothing":           func(q *api.TrainingQuestion) { q.Features, q.Target = "", "" },
		"no target":         func(q *api.TrainingQuestion) { q.Target = "" },
		"no such target":    func(q *api.TrainingQuestion) { q.Target = "nonsense" },
		"no such table":     func(q *api.TrainingQuestion) { q.Features = "SELECT a, b FROM nothing" },
		"aggregates":        func(q *api.TrainingQuestion) { q.Features = "SELECT COUNT(*), smoker FROM patients" },
		"groups":            func(q *api.TrainingQuestion) { q.Features = "SELECT age, smoker FROM patients GROUP BY age, smoker" },
		"limit":             func(q *api.TrainingQuestion) { q.Features += " LIMIT 10" },
		"garbage":           func(q *api.TrainingQuestion) { q.Features = "SELECT ((((" },
		"two statements":    func(q *api.TrainingQuestion) { q.Features += "; SELECT 1" },
		"the person":        func(q *api.TrainingQuestion) { q.Features = "SELECT pid, smoker FROM patients" },
		"no bounds":         func(q *api.TrainingQuestion) { q.Features, q.Target = "SELECT day, ward FROM visits", "ward" },
		"a constant target": func(q *api.TrainingQuestion) { q.Target = "1" },
		"one class":         func(q *api.TrainingQuestion) { q.Target = "'a'" },
		"epsilon 0":         func(q *api.TrainingQuestion) { q.Spec.Budget.Epsilon = 0 },
		"too dear":          func(q *api.TrainingQuestion) { q.Spec.Budget.Epsilon = curatortest.Amount("1.01") },
		"too dear together": func(q *api.TrainingQuestion) { q.Spec.Evaluate = curatortest.Amount("0.6") },
		"overflow":          func(q *api.TrainingQuestion) { q.Spec.Evaluate = dp.Unbounded },
		"too cheap":         func(q *api.TrainingQuestion) { q.Spec.Budget.Epsilon = curatortest.Amount("0.001") },
		"cheap estimate":    func(q *api.TrainingQuestion) { q.Spec.Evaluate = curatortest.Amount("0.001") },
		"a delta":           func(q *api.TrainingQuestion) { q.Spec.Budget.Delta = curatortest.Amount("0.001") },
		"a rho":             func(q *api.TrainingQuestion) { q.Spec.Budget = learn.Budget{Rho: curatortest.Amount("0.1")} },
		"NaN":               func(q *api.TrainingQuestion) { q.Spec.Regulariser = nan },
		"negative":          func(q *api.TrainingQuestion) { q.Spec.Regulariser = -1 },
		"a small regulariser": func(q *api.TrainingQuestion) {
			q.Spec.Regulariser, q.Spec.Method = 1e-12, "objective"
		},
		"NaN radius":   func(q *api.TrainingQuestion) { q.Spec.Radius = nan },
		"loss":         func(q *api.TrainingQuestion) { q.Spec.Loss = "zero-one" },
		"method":       func(q *api.TrainingQuestion) { q.Spec.Method = "magic" },
		"wrong loss":   func(q *api.TrainingQuestion) { q.Spec.Loss = "squares" },
		"weights":      func(q *api.TrainingQuestion) { q.Spec.Weights = map[string]float64{"true": nan} },
		"other's name": func(q *api.TrainingQuestion) { q.Request = "session x" },
	} {
		q := curatortest.Smokers("0.5")
		change(&q)
		r.Take()
		_, err := w.Trainings.Train(ctx, q, nil)
		var refused *api.Refusal
		if !errors.As(err, &refused) || refused.Reason == "" {
			t.Errorf("%s: %v", name, err)
		} else {
			t.Logf("%s: %v", name, err)
		}
		if calls := r.Take(); len(calls) != 0 {
			t.Errorf("%s: %v", name, calls)
		}
		if _, quoted := w.Trainings.Quote(ctx, q); name != "other's name" &&
			(quoted == nil || err == nil || quoted.Error() != err.Error()) {
			t.Errorf("%s: a quote says %v, and the training %v", name, quoted, err)
		}
	}
	if w.RecordCount() != 0 || w.Spent() != (dp.Cost{}) {
		t.Errorf("%d records, %v spent", w.RecordCount(), w.Spent())
	}
}

func TestTrainingWithoutBudget(t *testing.T) {
	w := curatortest.New(t, curatortest.Pure)
	first := mustTrain(w, curatortest.Smokers("0.8"))
	r := w.Record()
	q := curatortest.Smokers("0.3")
	if quote, err := w.Trainings.Quote(ctx, q); err != nil || quote.Affordable {
		t.Errorf("%+v, %v", quote, err)
	}
	r.Take()
	var over *ledger.BudgetError
	if _, err := w.Trainings.Train(ctx, q, nil); !errors.As(err, &over) || !curatortest.ContainsAll(err.Error(), "at most 0.2") {
		t.Error(err)
	}
	if calls := r.Take(); slices.Contains(calls, "fetch") || w.Spent().Epsilon != curatortest.Amount("0.8") {
		t.Errorf("%v, spent %v", calls, w.Spent())
	}
	again(w, r, curatortest.Smokers("0.8"), first)
}

// Once the engine was touched the charge stays. What was stopped can be asked again with the same
// request.
func TestTrainingStopped(t *testing.T) {
	w := curatortest.New(t, curatortest.Pure)
	w.BearFailures()
	r := w.Record()
	q := curatortest.Smokers("0.5")
	r.Before["fetch"] = func() error { return errors.New("a cause") }
	if _, err := w.Trainings.Train(ctx, q, nil); err != api.ErrTraining {
		t.Errorf("got %v; want the one fixed text", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	r.Before["fetch"] = func() error { cancel(); return nil }
	if _, err := w.Trainings.Train(cancelled, q, nil); err != api.ErrTraining {
		t.Errorf("got %v", err)
	}
	r.Before["fetch"] = nil
	w.Reopen()
	r = w.Record()
	if got := w.OnDisk(); got.Charges != 1 || got.Answers != 0 || w.Spent().Epsilon != curatortest.Amount("0.5") {
		t.Errorf("the file says %+v; want one charge without an answer", got)
	}
	got := mustTrain(w, q)
	if !got.Receipt.Free || got.Cost != (dp.Cost{}) || w.Spent().Epsilon != curatortest.Amount("0.5") {
		t.Errorf("the retry cost %v; spent %v", got.Cost, w.Spent())
	}
	// Who stops waiting while it is trained does not stop it, so that noise is drawn once for a
	// charge.
	q = curatortest.Smokers("0.1")
	cancelled, cancel = context.WithCancel(ctx)
	w.PlantFit(func(ctx context.Context, p *learn.Plan, t *learn.Table, r *mech.Releaser, f func(learn.Progress)) (*learn.Model, error) {
		cancel()
		return learn.Fit(ctx, p, t, r, f)
	})
	if _, err := w.Trainings.Train(cancelled, q, nil); err == nil {
		t.Error("the context ended, and nobody said so")
	}
	w.PlantFit(func(context.Context, *learn.Plan, *learn.Table, *mech.Releaser, func(learn.Progress)) (*learn.Model, error) {
		t.Error("noise was drawn twice")
		return nil, learn.ErrFit
	})
	if got := mustTrain(w, curatortest.Smokers("0.1")); !got.Receipt.Free {
		t.Error("what was paid for was lost")
	}
	w.PlantFit(learn.Fit)
	// Who stops waiting while it is kept does not lose it.
	q = curatortest.Smokers("0.4")
	cancelled, cancel = context.WithCancel(ctx)
	r.Before["keep"] = func() error { cancel(); return nil }
	if _, err := w.Trainings.Train(cancelled, q, nil); err == nil {
		t.Error("the context ended, and nobody said so")
	}
	r.Before["keep"] = nil
	if got := mustTrain(w, curatortest.Smokers("0.4")); !got.Receipt.Free {
		t.Error("what was paid for was lost")
	}
}

// Whether a training fails by itself depends on data and noise. So every failure is one that was
// paid for: noise is not drawn again for the same charge.
func TestTrainingFails(t *testing.T) {
	w := curatortest.New(t, curatortest.Pure)
	w.BearFailures()
	r := w.Record()
	q := curatortest.Smokers("0.4")
	w.PlantFit(func(context.Context, *learn.Plan, *learn.Table, *mech.Releaser, func(learn.Progress)) (*learn.Model, error) {
		return nil, errors.New("the 37th row is too far out")
	})
	if _, err := w.Trainings.Train(ctx, q, nil); err != api.ErrTraining {
		t.Errorf("got %v; want the one fixed text", err)
	}
	w.PlantFit(learn.Fit)
	r.Take()
	for range 2 {
		if _, err := w.Trainings.Train(ctx, q, nil); err != api.ErrTraining || slices.Contains(r.Take(), "fetch") ||
			w.Spent().Epsilon != curatortest.Amount("0.4") {
			t.Errorf("got %v, spent %v", err, w.Spent())
		}
		w.Reopen()
		r = w.Record()
	}
	if quote, err := w.Trainings.Quote(ctx, q); err != nil || quote.Known {
		t.Errorf("%+v, %v", quote, err)
	}
	// A failure is no model.
	if got := kept(w, time.Time{}); len(got) != 0 {
		t.Errorf("%v", got)
	}
	// A new request is a new try, with a charge of its own.
	if got := mustTrain(w, curatortest.Smokers("0.4")); got.Receipt.Free || w.Spent().Epsilon != curatortest.Amount("0.8") {
		t.Errorf("%+v, spent %v", got, w.Spent())
	}
}

// A panic is a failure that was paid for: the same request does not draw noise again.
func TestTrainingPanics(t *testing.T) {
	w := curatortest.New(t, curatortest.Pure)
	w.BearFailures()
	q := curatortest.Smokers("0.4")
	tries := 0
	w.PlantFit(func(context.Context, *learn.Plan, *learn.Table, *mech.Releaser, func(learn.Progress)) (*learn.Model, error) {
		tries++
		panic("the 37th row is too far out")
	})
	for range 2 {
		func() {
			defer func() {
				if x := recover(); x != nil {
					t.Errorf("it left with %v", x)
				}
			}()
			if _, err := w.Trainings.Train(ctx, q, nil); err != api.ErrTraining {
				t.Errorf("got %v; want the one fixed text", err)
			}
		}()
	}
	if tries != 1 || w.Spent().Epsilon != curatortest.Amount("0.4") {
		t.Errorf("%d tries for %v", tries, w.Spent())
	}
}

// kept lists the models that there were at a moment.
func kept(w *curatortest.World, asOf time.Time) (ids []string) {
	w.T.Helper()
	for r, err := range w.Ledger.Records(ctx, 0) {
		w.Check(err)
		m, err := w.Trainings.Model(ctx, r, asOf)
		if err == nil {
			ids = append(ids, m.ID)
		} else if !errors.Is(err, api.ErrNoModel) {
			w.T.Error(err)
		}
	}
	return ids
}

// A request names one question, of whichever kind.
func TestTrainingRequests(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	q := curatortest.Smokers("0.5")
	first := mustTrain(w, q)
	var again *ledger.RequestError
	if _, err := w.Ask(ctx, api.Question{Analyst: "ana", SQL: curatortest.Patients, Request: q.Request}); !errors.As(err, &again) {
		t.Error(err)
	}
	other := curatortest.Smokers("0.6")
	other.Request = q.Request
	if _, err := w.Trainings.Train(ctx, other, nil); !errors.As(err, &again) {
		t.Error(err)
	}
	if got := mustTrain(w, q); !got.Receipt.Free || got.ID != first.ID {
		t.Errorf("%+v", got.Receipt)
	}
	asked := curatortest.FreshID()
	if _, err := w.Ask(ctx, api.Question{Analyst: "ana", SQL: curatortest.Patients, Request: asked}); err != nil {
		t.Error(err)
	}
	other.Request = asked
	if _, err := w.Trainings.Train(ctx, other, nil); !errors.As(err, &again) {
		t.Error(err)
	}
}

// What has not left on its tick is not there: not for quotes, and not for lists.
func TestTrainingHidesUntilItsTick(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	tick := time.Now()
	first := mustTrain(w, curatortest.Smokers("0.5"))
	q := curatortest.Smokers("0.5")
	q.AsOf = tick
	if quote, err := w.Trainings.Quote(ctx, q); err != nil || quote.Known || quote.Pay == (dp.Cost{}) {
		t.Errorf("%+v, %v", quote, err)
	}
	if got := kept(w, tick); len(got) != 0 {
		t.Errorf("%v", got)
	}
	// Who asks the same gets it, and pays nothing.
	if got := mustTrain(w, q); !got.Receipt.Free || got.ID != first.ID {
		t.Errorf("%+v", got.Receipt)
	}
	q.AsOf = time.Now()
	if quote, err := w.Trainings.Quote(ctx, q); err != nil || !quote.Known {
		t.Errorf("%+v, %v", quote, err)
	}
	if got := kept(w, q.AsOf); !slices.Equal(got, []string{first.ID}) {
		t.Errorf("%v", got)
	}
}

// A model outlives the window that paid for it, and not the access of who asks.
func TestTrainingInWindows(t *testing.T) {
	budget := "{epsilon: 1, per_query: {default: 0.1, max: 1}, renewal: {every: month, windows: 3}}"
	w := curatortest.New(t, budget)
	first := mustTrain(w, curatortest.Smokers("0.9"))
	if _, err := w.Trainings.Train(ctx, curatortest.Smokers("0.8"), nil); !errors.As(err, new(*ledger.BudgetError)) {
		t.Error(err)
	}
	_, err := w.Renew(ctx, "next")
	w.Check(err)
	again(w, w.Record(), curatortest.Smokers("0.9"), first)
	if got := mustTrain(w, curatortest.Smokers("0.8")); got.Receipt.Free {
		t.Error("it was free")
	}
	w.SetClock(func() time.Time { return time.Now().AddDate(100, 0, 0) })
	w.Dataset.Analysts["ana"].Expires = time.Now()
	var refused *api.Refusal
	if _, err := w.Trainings.Train(ctx, curatortest.Smokers("0.9"), nil); !errors.As(err, &refused) {
		t.Error(err)
	}
	if _, err := w.Trainings.Quote(ctx, curatortest.Smokers("0.9")); !errors.As(err, &refused) || w.Admit("ana") == nil ||
		w.Admit("ben") != nil {
		t.Error(err)
	}
}

// The charge says in the ledger what it was for, and nothing that stands in a text.
func TestTrainingInTheLedger(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	q := curatortest.Smokers("0.5")
	q.Features += " WHERE zip = '1003A'"
	got := mustTrain(w, q)
	for r, err := range w.Ledger.Records(ctx, 0) {
		w.Check(err)
		if r.Sequence == got.Receipt.Sequence {
			if !strings.HasPrefix(r.Mechanisms, "model: ") || ledger.Hash(r.Encode()) != got.Receipt.Hash {
				t.Errorf("%s", r.Encode())
			}
		} else if strings.HasPrefix(r.Mechanisms, "model: ") {
			t.Errorf("%s", r.Encode())
		}
		if strings.Contains(r.Encode(), "1003A") || strings.Contains(r.Encode(), "smoker") {
			t.Errorf("%s", r.Encode())
		}
	}
	for _, id := range []string{"", "-", "x-y", "1", "01-a", "+1-a", "18446744073709551615-a"} {
		if _, ok := training.ModelSequence(id); ok {
			t.Errorf("%q is a name", id)
		}
	}
	if n, ok := training.ModelSequence(got.ID); !ok || n != got.Receipt.Sequence {
		t.Errorf("%s", got.ID)
	}
}

// What the ledger could not keep is refused before it is paid for.
func TestTrainingFits(t *testing.T) {
	values := func(n int) []string { return slices.Repeat([]string{"value"}, n) }
	for _, c := range []struct {
		features, classes int
		fits              bool
	}{{10, 2, true}, {10_000, 20, true}, {60_000, 2, true}, {10_000, 256, false}, {2, 2_000_000, false}} {
		err := training.CheckSize(&learn.Encoding{Features: []learn.Column{{Name: "x", Values: values(c.features)}},
			Target: learn.Column{Name: "y", Values: values(c.classes)}})
		if (err == nil) != c.fits {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
