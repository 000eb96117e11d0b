package curator

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator/answercache"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/mechanism/learn"
	"github.com/discreet-dp/discreet/internal/session/training"
	"github.com/discreet-dp/discreet/ledger"
)

// smokers asks for a model of who smokes.
func smokers(epsilon string) api.TrainingQuestion {
	q := api.TrainingQuestion{Analyst: "ana", Features: "SELECT age, sex, cost, smoker FROM patients", Target: "smoker", Request: freshID()}
	q.Spec.Budget.Epsilon = amount(epsilon)
	return q
}

func (w *world) mustTrain(q api.TrainingQuestion) *api.Training {
	w.t.Helper()
	t, err := w.Trainings.Train(ctx, q, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return t
}

// written is a model as it is written.
func (w *world) written(m *learn.Model) string {
	w.t.Helper()
	var b bytes.Buffer
	w.check(m.Write(&b))
	return b.String()
}

// again asks for a model that is there, and checks that it is the same, free.
func (w *world) again(r *recorder, q api.TrainingQuestion, want *api.Training) {
	w.t.Helper()
	before := w.records()
	r.take()
	q.Request = freshID()
	got, err := w.Trainings.Train(ctx, q, nil)
	if err != nil {
		w.t.Errorf("%+v: %v", q, err)
		return
	}
	if !got.Receipt.Free || got.Cost != (dp.Cost{}) || w.records() != before || got.ID != want.ID ||
		got.Receipt.Hash != want.Receipt.Hash || w.written(got.Model) != w.written(want.Model) {
		w.t.Errorf("%+v: cost %v, receipt %+v, id %s; want %s, free", q, got.Cost, got.Receipt, got.ID, want.ID)
	}
	if calls := r.take(); slices.Contains(calls, "fetch") || slices.Contains(calls, "charge") {
		w.t.Errorf("%v", calls)
	}
}

var trained = []string{"version", "recall", "charge", "fetch", "version", "keep", "balances"}

func TestTrain(t *testing.T) {
	w := newWorld(t, plenty)
	r := w.record()
	r.before["fetch"] = func() error {
		if got := w.onDisk(); got.Charges != 1 || got.Answers != 0 || got.Balances[0].Spent.Epsilon != amount("0.5") {
			t.Errorf("when the engine fetches the file says %+v; want the charge", got)
		}
		return nil
	}
	quote, err := w.Trainings.Quote(ctx, smokers("0.5"))
	w.check(err)
	if quote.Known || !quote.Affordable || quote.Cost.Epsilon != amount("0.5") || quote.Pay != quote.Cost ||
		quote.Worth != (api.Guarantee{Epsilon: amount("0.5")}) || quote.Unit != "patients.pid" || quote.MaxRows != 1 ||
		quote.After.Epsilon != quote.Remaining.Epsilon-amount("0.5") || w.records() != 0 {
		t.Errorf("%+v", quote)
	}
	r.take()
	q := smokers("0.5")
	first := w.mustTrain(q)
	if got := r.take(); !slices.Equal(got, trained) {
		t.Errorf("the order is %v; want %v", got, trained)
	}
	r.before["fetch"] = nil
	if got := w.onDisk(); got.Charges != 1 || got.Answers != 1 {
		t.Errorf("when Train returns the file says %+v; want the charge and its model", got)
	}
	if first.Cost.Epsilon != amount("0.5") || first.Receipt.Free || first.Version.Number != 1 ||
		first.Remaining.Epsilon != quote.After.Epsilon || w.spent().Epsilon != amount("0.5") {
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
	same := smokers("0.5")
	w.again(r, same, first)
	same.Analyst = "ben"
	w.again(r, same, first)
	same.Features = "select  AGE, sex , cost, SMOKER\n from Patients"
	w.again(r, same, first)
	if quote, err = w.Trainings.Quote(ctx, same); err != nil || !quote.Known || quote.Pay != (dp.Cost{}) ||
		quote.Record != first.Receipt.Sequence || quote.After != quote.Remaining {
		t.Errorf("%+v, %v", quote, err)
	}
	w.reopen()
	r = w.record()
	w.again(r, same, first)
	// Another price, target, feature or spec is another model.
	for i, other := range []func(*api.TrainingQuestion){
		func(q *api.TrainingQuestion) { q.Spec.Budget.Epsilon = amount("0.6") },
		func(q *api.TrainingQuestion) { q.Target = "sex" },
		func(q *api.TrainingQuestion) { q.Features = "SELECT age, sex, smoker FROM patients" },
		func(q *api.TrainingQuestion) { q.Features += " WHERE age > 30" },
		func(q *api.TrainingQuestion) { q.Spec.Regulariser = 77 },
		func(q *api.TrainingQuestion) { q.Spec.Evaluate = amount("0.1") },
	} {
		q := smokers("0.5")
		other(&q)
		if got := w.mustTrain(q); got.Receipt.Free || got.ID == first.ID || got.Cost.Epsilon != q.Spec.Budget.Epsilon+q.Spec.Evaluate {
			t.Errorf("%d: %+v", i, got)
		}
	}
	// So is the same on other data; and on the data that it was again, it is the first.
	w.check(hospital.New(200, 1).Without(hospital.Target).Write(filepath.Join(w.dir, "data")))
	second := w.mustTrain(smokers("0.5"))
	if second.Receipt.Free || second.ID == first.ID || second.Version.Number != 2 || second.Model.Receipt.DataVersion != 2 ||
		len(second.Notes) != 1 {
		t.Errorf("%+v", second)
	}
	w.check(hospital.New(200, 1).Write(filepath.Join(w.dir, "data")))
	w.again(r, smokers("0.5"), first)
}

// An (epsilon, delta) budget pays rho, as for every question.
func TestTrainConcentrated(t *testing.T) {
	w := newWorld(t, rich)
	q := smokers("0.5")
	q.Spec.Evaluate = amount("0.25")
	rho := pricing.Currency{}.Amount(amount("0.5")) + pricing.Currency{}.Amount(amount("0.25"))
	quote, err := w.Trainings.Quote(ctx, q)
	w.check(err)
	if quote.Cost.Rho > rho || quote.Cost.Rho < rho-rho/100 || quote.Cost.Epsilon != amount("0.75") ||
		quote.Worth.Delta != w.dataset.Budget.RhoDelta() || !contains(quote.Currency, "adds up rho", "at delta") {
		t.Errorf("%+v; want rho %v", quote, rho)
	}
	got := w.mustTrain(q)
	if got.Cost != quote.Cost || w.spent().Rho != quote.Cost.Rho {
		t.Errorf("%v was charged, and %v said; spent %v", got.Cost, quote.Cost, w.spent())
	}
}

// What cannot be asked is refused by what is public: nothing is charged, and nothing of the data is
// looked at.
func TestTrainingRefusals(t *testing.T) {
	w := newWorld(t, "{epsilon: 100, per_query: {default: 0.1, min: 0.01, max: 1}}")
	r := w.record()
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
		"too dear":          func(q *api.TrainingQuestion) { q.Spec.Budget.Epsilon = amount("1.01") },
		"too dear together": func(q *api.TrainingQuestion) { q.Spec.Evaluate = amount("0.6") },
		"overflow":          func(q *api.TrainingQuestion) { q.Spec.Evaluate = dp.Unbounded },
		"too cheap":         func(q *api.TrainingQuestion) { q.Spec.Budget.Epsilon = amount("0.001") },
		"cheap estimate":    func(q *api.TrainingQuestion) { q.Spec.Evaluate = amount("0.001") },
		"a delta":           func(q *api.TrainingQuestion) { q.Spec.Budget.Delta = amount("0.001") },
		"a rho":             func(q *api.TrainingQuestion) { q.Spec.Budget = learn.Budget{Rho: amount("0.1")} },
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
		q := smokers("0.5")
		change(&q)
		r.take()
		_, err := w.Trainings.Train(ctx, q, nil)
		var refused *api.Refusal
		if !errors.As(err, &refused) || refused.Reason == "" {
			t.Errorf("%s: %v", name, err)
		} else {
			t.Logf("%s: %v", name, err)
		}
		if calls := r.take(); len(calls) != 0 {
			t.Errorf("%s: %v", name, calls)
		}
		if _, quoted := w.Trainings.Quote(ctx, q); name != "other's name" &&
			(quoted == nil || err == nil || quoted.Error() != err.Error()) {
			t.Errorf("%s: a quote says %v, and the training %v", name, quoted, err)
		}
	}
	if w.records() != 0 || w.spent() != (dp.Cost{}) {
		t.Errorf("%d records, %v spent", w.records(), w.spent())
	}
}

func TestTrainingWithoutBudget(t *testing.T) {
	w := newWorld(t, pure)
	first := w.mustTrain(smokers("0.8"))
	r := w.record()
	q := smokers("0.3")
	if quote, err := w.Trainings.Quote(ctx, q); err != nil || quote.Affordable {
		t.Errorf("%+v, %v", quote, err)
	}
	r.take()
	var over *ledger.BudgetError
	if _, err := w.Trainings.Train(ctx, q, nil); !errors.As(err, &over) || !contains(err.Error(), "at most 0.2") {
		t.Error(err)
	}
	if calls := r.take(); slices.Contains(calls, "fetch") || w.spent().Epsilon != amount("0.8") {
		t.Errorf("%v, spent %v", calls, w.spent())
	}
	w.again(r, smokers("0.8"), first)
}

// Once the engine was touched the charge stays. What was stopped can be asked again with the same
// request.
func TestTrainingStopped(t *testing.T) {
	w := newWorld(t, pure)
	w.bear()
	r := w.record()
	q := smokers("0.5")
	r.before["fetch"] = func() error { return errors.New("a cause") }
	if _, err := w.Trainings.Train(ctx, q, nil); err != api.ErrTraining {
		t.Errorf("got %v; want the one fixed text", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	r.before["fetch"] = func() error { cancel(); return nil }
	if _, err := w.Trainings.Train(cancelled, q, nil); err != api.ErrTraining {
		t.Errorf("got %v", err)
	}
	r.before["fetch"] = nil
	w.reopen()
	r = w.record()
	if got := w.onDisk(); got.Charges != 1 || got.Answers != 0 || w.spent().Epsilon != amount("0.5") {
		t.Errorf("the file says %+v; want one charge without an answer", got)
	}
	got := w.mustTrain(q)
	if !got.Receipt.Free || got.Cost != (dp.Cost{}) || w.spent().Epsilon != amount("0.5") {
		t.Errorf("the retry cost %v; spent %v", got.Cost, w.spent())
	}
	// Who stops waiting while it is trained does not stop it, so that noise is drawn once for a
	// charge.
	q = smokers("0.1")
	cancelled, cancel = context.WithCancel(ctx)
	w.plantFit(func(ctx context.Context, p *learn.Plan, t *learn.Table, r *mech.Releaser, f func(learn.Progress)) (*learn.Model, error) {
		cancel()
		return learn.Fit(ctx, p, t, r, f)
	})
	if _, err := w.Trainings.Train(cancelled, q, nil); err == nil {
		t.Error("the context ended, and nobody said so")
	}
	w.plantFit(func(context.Context, *learn.Plan, *learn.Table, *mech.Releaser, func(learn.Progress)) (*learn.Model, error) {
		t.Error("noise was drawn twice")
		return nil, learn.ErrFit
	})
	if got := w.mustTrain(smokers("0.1")); !got.Receipt.Free {
		t.Error("what was paid for was lost")
	}
	w.plantFit(learn.Fit)
	// Who stops waiting while it is kept does not lose it.
	q = smokers("0.4")
	cancelled, cancel = context.WithCancel(ctx)
	r.before["keep"] = func() error { cancel(); return nil }
	if _, err := w.Trainings.Train(cancelled, q, nil); err == nil {
		t.Error("the context ended, and nobody said so")
	}
	r.before["keep"] = nil
	if got := w.mustTrain(smokers("0.4")); !got.Receipt.Free {
		t.Error("what was paid for was lost")
	}
}

// Whether a training fails by itself depends on data and noise. So every failure is one that was
// paid for: noise is not drawn again for the same charge.
func TestTrainingFails(t *testing.T) {
	w := newWorld(t, pure)
	w.bear()
	r := w.record()
	q := smokers("0.4")
	w.plantFit(func(context.Context, *learn.Plan, *learn.Table, *mech.Releaser, func(learn.Progress)) (*learn.Model, error) {
		return nil, errors.New("the 37th row is too far out")
	})
	if _, err := w.Trainings.Train(ctx, q, nil); err != api.ErrTraining {
		t.Errorf("got %v; want the one fixed text", err)
	}
	w.plantFit(learn.Fit)
	r.take()
	for range 2 {
		if _, err := w.Trainings.Train(ctx, q, nil); err != api.ErrTraining || slices.Contains(r.take(), "fetch") ||
			w.spent().Epsilon != amount("0.4") {
			t.Errorf("got %v, spent %v", err, w.spent())
		}
		w.reopen()
		r = w.record()
	}
	if quote, err := w.Trainings.Quote(ctx, q); err != nil || quote.Known {
		t.Errorf("%+v, %v", quote, err)
	}
	// A failure is no model.
	if got := w.kept(time.Time{}); len(got) != 0 {
		t.Errorf("%v", got)
	}
	// A new request is a new try, with a charge of its own.
	if got := w.mustTrain(smokers("0.4")); got.Receipt.Free || w.spent().Epsilon != amount("0.8") {
		t.Errorf("%+v, spent %v", got, w.spent())
	}
}

// A panic is a failure that was paid for: the same request does not draw noise again.
func TestTrainingPanics(t *testing.T) {
	w := newWorld(t, pure)
	w.bear()
	q := smokers("0.4")
	tries := 0
	w.plantFit(func(context.Context, *learn.Plan, *learn.Table, *mech.Releaser, func(learn.Progress)) (*learn.Model, error) {
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
	if tries != 1 || w.spent().Epsilon != amount("0.4") {
		t.Errorf("%d tries for %v", tries, w.spent())
	}
}

// kept lists the models that there were at a moment.
func (w *world) kept(asOf time.Time) (ids []string) {
	w.t.Helper()
	for r, err := range w.books.Records(ctx, 0) {
		w.check(err)
		m, err := w.Trainings.Model(ctx, r, asOf)
		if err == nil {
			ids = append(ids, m.ID)
		} else if !errors.Is(err, api.ErrNoModel) {
			w.t.Error(err)
		}
	}
	return ids
}

// A request names one question, of whichever kind.
func TestTrainingRequests(t *testing.T) {
	w := newWorld(t, plenty)
	q := smokers("0.5")
	first := w.mustTrain(q)
	var again *ledger.RequestError
	if _, err := w.Ask(ctx, api.Question{Analyst: "ana", SQL: patients, Request: q.Request}); !errors.As(err, &again) {
		t.Error(err)
	}
	other := smokers("0.6")
	other.Request = q.Request
	if _, err := w.Trainings.Train(ctx, other, nil); !errors.As(err, &again) {
		t.Error(err)
	}
	if got := w.mustTrain(q); !got.Receipt.Free || got.ID != first.ID {
		t.Errorf("%+v", got.Receipt)
	}
	asked := freshID()
	if _, err := w.Ask(ctx, api.Question{Analyst: "ana", SQL: patients, Request: asked}); err != nil {
		t.Error(err)
	}
	other.Request = asked
	if _, err := w.Trainings.Train(ctx, other, nil); !errors.As(err, &again) {
		t.Error(err)
	}
}

// Many ask for the same at once: it is charged once, and all have the same model.
func TestTrainingAtOnce(t *testing.T) {
	w := newWorld(t, pure)
	var all sync.WaitGroup
	var mu sync.Mutex
	ids := map[string]int{}
	paid := 0
	for i := range 6 {
		all.Go(func() {
			q := smokers("0.5")
			q.Analyst = []string{"ana", "ben"}[i%2]
			got, err := w.Trainings.Train(ctx, q, nil)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
				return
			}
			ids[got.ID]++
			if !got.Receipt.Free {
				paid++
			}
		})
	}
	all.Wait()
	if len(ids) != 1 || paid != 1 || w.spent().Epsilon != amount("0.5") || w.TurnsTaken() != 0 {
		t.Errorf("%v, %d paid, spent %v", ids, paid, w.spent())
	}
}

// What has not left on its tick is not there: not for quotes, and not for lists.
func TestTrainingHidesUntilItsTick(t *testing.T) {
	w := newWorld(t, plenty)
	tick := time.Now()
	first := w.mustTrain(smokers("0.5"))
	q := smokers("0.5")
	q.AsOf = tick
	if quote, err := w.Trainings.Quote(ctx, q); err != nil || quote.Known || quote.Pay == (dp.Cost{}) {
		t.Errorf("%+v, %v", quote, err)
	}
	if got := w.kept(tick); len(got) != 0 {
		t.Errorf("%v", got)
	}
	// Who asks the same gets it, and pays nothing.
	if got := w.mustTrain(q); !got.Receipt.Free || got.ID != first.ID {
		t.Errorf("%+v", got.Receipt)
	}
	q.AsOf = time.Now()
	if quote, err := w.Trainings.Quote(ctx, q); err != nil || !quote.Known {
		t.Errorf("%+v, %v", quote, err)
	}
	if got := w.kept(q.AsOf); !slices.Equal(got, []string{first.ID}) {
		t.Errorf("%v", got)
	}
}

// A model outlives the window that paid for it, and not the access of who asks.
func TestTrainingInWindows(t *testing.T) {
	budget := "{epsilon: 1, per_query: {default: 0.1, max: 1}, renewal: {every: month, windows: 3}}"
	w := newWorld(t, budget)
	first := w.mustTrain(smokers("0.9"))
	if _, err := w.Trainings.Train(ctx, smokers("0.8"), nil); !errors.As(err, new(*ledger.BudgetError)) {
		t.Error(err)
	}
	_, err := w.Renew(ctx, "next")
	w.check(err)
	w.again(w.record(), smokers("0.9"), first)
	if got := w.mustTrain(smokers("0.8")); got.Receipt.Free {
		t.Error("it was free")
	}
	w.SetClock(func() time.Time { return time.Now().AddDate(100, 0, 0) })
	w.dataset.Analysts["ana"].Expires = time.Now()
	var refused *api.Refusal
	if _, err := w.Trainings.Train(ctx, smokers("0.9"), nil); !errors.As(err, &refused) {
		t.Error(err)
	}
	if _, err := w.Trainings.Quote(ctx, smokers("0.9")); !errors.As(err, &refused) || w.Admit("ana") == nil || w.Admit("ben") != nil {
		t.Error(err)
	}
}

// The charge says in the ledger what it was for, and nothing that stands in a text.
func TestTrainingInTheLedger(t *testing.T) {
	w := newWorld(t, plenty)
	q := smokers("0.5")
	q.Features += " WHERE zip = '1003A'"
	got := w.mustTrain(q)
	for r, err := range w.books.Records(ctx, 0) {
		w.check(err)
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

// plantFit trains with something else.
func (w *world) plantFit(fit func(context.Context, *learn.Plan, *learn.Table, *mech.Releaser, func(learn.Progress)) (*learn.Model, error)) {
	w.Trainings = training.New(w.Access(), answercache.New(w.wire), fit)
}
