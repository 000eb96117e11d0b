package training

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator/answercache"
	"github.com/discreet-dp/discreet/internal/mechanism/learn"
	"github.com/discreet-dp/discreet/internal/releaseclock"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/ledger"
)

// Train trains a model. It goes the way of every question: prepare, price, recall, charge, run,
// release, keep. The rows that the engine fetches stay in this process, sealed, until [learn.Fit]
// has drawn its noise; what it returns is private at the price that was charged before.
//
// The same question again is the same model, free, whoever asks: the same rows, features, target
// and spec at the same price, on the same data. Errors are those of [Curator.Ask], with
// [api.ErrTraining] for everything that goes wrong after the engine ran.
//
// # What fails
//
// What stops while the engine fetches has drawn no noise, and can be asked for again with the same
// request without a second charge. From then on nobody stops it: a timeout or an analyst who
// cancels would learn whether it was done by then, and could draw noise again and again for one
// charge. Who does not wait finds the model kept, free. Only where the process ends in between is
// noise drawn again for the same charge, and nobody has seen the first.
//
// A training that fails by itself is kept like an answer: whether it does could depend on the data
// and on the noise that was drawn, so every such failure has to be one of those that were paid for.
// The same request gets the same failure, and only a new one, with a charge of its own, draws noise
// again.
//
// The progress is told to whoever runs the process. How long a training takes and how many steps
// depends on the data.
func (c *Trainings) Train(ctx context.Context, q api.TrainingQuestion, progress func(learn.Progress)) (*api.Training, error) {
	if err := sessionhost.CheckRequest(q.Request); err != nil {
		return nil, err
	}
	t, err := c.prepareTraining(ctx, q)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		out, err := c.trainOnce(ctx, q, t, progress)
		// Another server was first, as with [Curator.Ask].
		if try == maxTries || !errors.Is(err, ledger.ErrKept) && !errors.As(err, new(*ledger.VersionError)) {
			return out, err
		}
	}
}

// maxTries is how often another server may be first.
const maxTries = 5

func (c *Trainings) trainOnce(
	ctx context.Context, q api.TrainingQuestion, t *training, progress func(learn.Progress),
) (*api.Training, error) {
	data, err := c.Data(ctx)
	if err != nil {
		return nil, err
	}
	// One at a time, so that two who ask the same at once pay once.
	leave, err := c.WaitTurn(ctx, t.key(data.ID))
	if err != nil {
		return nil, err
	}
	defer leave()
	own, err := c.hasOwn(ctx, q.Request)
	if err != nil {
		return nil, err
	}
	var out *api.Training
	if !own {
		if out, err = c.recallTraining(ctx, t, data.ID, answercache.Horizon{AsOf: q.AsOf}); err != nil {
			return nil, err
		}
	}
	if out == nil {
		if out, err = c.buyTraining(ctx, q, t, data, progress); err != nil {
			return nil, err
		}
	}
	if out.Remaining, err = c.Remaining(ctx, q.Analyst); err != nil {
		return nil, err
	}
	version, changed, err := c.NameData(ctx, data, out.Receipt.Sequence)
	out.Version, out.Notes = version, append(out.Notes, changed...)
	return out, err
}

// Trainings trains models on a dataset.
type Trainings struct {
	sessionhost.Access
	memory *answercache.Cache
	fit    fitter
}

// New returns the trainings of a dataset, which trains with learn.Fit; tests plant others.
func New(a sessionhost.Access, m *answercache.Cache, fit fitter) *Trainings {
	return &Trainings{a, m, fit}
}

// fitter trains on rows that were fetched.
type fitter func(context.Context, *learn.Plan, *learn.Table, *mech.Releaser, func(learn.Progress)) (*learn.Model, error)

// fitted trains. A panic is a failure like another: it depends on the rows and on the noise, so it
// is kept, and its text goes nowhere.
func (c *Trainings) fitted(
	ctx context.Context, p *learn.Plan, t *learn.Table, progress func(learn.Progress),
) (model *learn.Model, err error) {
	defer func() {
		if recover() != nil {
			model, err = nil, sessionhost.ErrPanic
		}
	}()
	return c.fit(ctx, p, t, c.Releaser, progress)
}

// buyTraining charges, fetches, trains and keeps, in this order.
func (c *Trainings) buyTraining(
	ctx context.Context, q api.TrainingQuestion, t *training, data sessionhost.Data, progress func(learn.Progress),
) (*api.Training, error) {
	models, parts := t.plan.Models()
	if err := c.CheckTrainingTime(ctx, t.table, models, parts); err != nil {
		return nil, err
	}
	charged, err := c.Charge(ctx, q.Analyst, ledger.Charge{
		Request:     q.Request,
		Analyst:     q.Analyst,
		Dataset:     c.Dataset.Name,
		DataVersion: data.Version.String(),
		Looked:      true,
		Since:       data.Since,
		Query:       t.hash,
		Mechanisms:  t.mechanisms(),
		Cost:        t.plan.Cost,
	})
	if err != nil {
		return nil, err
	}

	// The charge is durable. From here on it stays, whatever happens.
	paid := api.Receipt{Sequence: charged.Sequence, Hash: charged.Hash, Free: charged.Again}
	if charged.Again {
		if out, err := c.recallOwn(ctx, q, paid); out != nil || err != nil {
			return out, err
		}
		if err := c.Again(ctx, charged.Sequence); err != nil {
			return nil, err
		}
	}
	now, err := c.DataVersion(ctx, c.Dataset.Name, data.Label, data.State)
	if err != nil {
		return nil, err
	}
	takes, err := c.FitTime(ctx, t.table, models, parts)
	if err != nil {
		return nil, err
	}
	var rows *learn.Table
	read, fetched := c.Fetch(ctx, t.table, func() sessionhost.Collector {
		rows = t.plan.NewTable()
		return rows.Collector()
	})
	if fetched != nil {
		releaseclock.AddPublicTime(ctx, takes) // for as long as one that does not fail
		return nil, c.Failed(ctx, q.Analyst, charged.Sequence, fetched, api.ErrTraining)
	}
	var model *learn.Model
	err = releaseclock.RunOnce(context.WithoutCancel(ctx), takes, func(ctx context.Context) (err error) {
		model, err = c.fitted(ctx, t.plan, rows, progress)
		return err
	})

	// Kept before anybody sees it, the model or that there is none. What is kept says when.
	releaseclock.Settle(ctx)
	moved := c.Moved(ctx, data, read)
	var text []byte
	if err == nil {
		model.Receipt = &learn.Receipt{
			Dataset: c.Dataset.Name, Unit: c.Dataset.Unit.String(), Neighbours: c.Dataset.Neighbours.String(),
			Sequence: charged.Sequence, Hash: charged.Hash, DataVersion: now.Number,
		}
		text, err = encodeModel(model, moved)
	}
	cause := err
	if err != nil {
		text, model = encodeFailure(), nil
	}
	// A failure is kept first, so that no noise is drawn again because of it, and is an incident
	// then. Under a lockout neither is kept, whichever it is.
	err = c.keepTraining(context.WithoutCancel(ctx), charged.Sequence, t.key(data.ID), text, moved || model == nil)
	if model == nil && (err == nil || errors.As(err, new(*ledger.LockoutError))) {
		return nil, c.Failed(context.WithoutCancel(ctx), q.Analyst, charged.Sequence, cause, api.ErrTraining)
	}
	if err != nil {
		return nil, err
	}
	out := &api.Training{ID: modelID(paid), Model: model, Receipt: paid, Alerts: charged.Alerts()}
	if moved {
		out.Notes = []string{sessionhost.MovedNote}
	}
	if !charged.Again {
		out.Cost = t.tag()
	}
	return out, nil
}

// hasOwn reports whether a request has a model that nobody else finds. Whose it is, and of what, is
// found out by its charge.
func (c *Trainings) hasOwn(ctx context.Context, request string) (bool, error) {
	text, found, err := c.memory.Answer(ctx, request)
	if err != nil || !found {
		return false, err
	}
	kept, err := decodeModel(text)
	return err == nil && kept.moved, nil // what is no model is refused by its charge
}

// recallOwn returns what was kept for a request that was charged before, or nil. Nothing is found
// by its name, so what this request has, if anything, is a failure, a model of data that changed
// while it was read, or the model of another server that was first.
func (c *Trainings) recallOwn(ctx context.Context, q api.TrainingQuestion, paid api.Receipt) (*api.Training, error) {
	text, found, err := c.memory.Answer(ctx, q.Request)
	if err != nil || !found {
		return nil, err
	}
	kept, err := decodeModel(text)
	switch {
	case err != nil:
		return nil, err
	case kept.moved:
		return &api.Training{ID: modelID(paid), Model: kept.model, Receipt: paid, Notes: []string{sessionhost.MovedNote}}, nil
	case kept.model != nil:
		return nil, ledger.ErrKept
	}
	// Where the process ended between the two, the incident is not there yet.
	return nil, c.Failed(ctx, q.Analyst, paid.Sequence, learn.ErrFit, api.ErrTraining)
}

// Quote prices a training without asking for it.
func (c *Trainings) Quote(ctx context.Context, q api.TrainingQuestion) (*api.TrainingQuote, error) {
	t, err := c.prepareTraining(ctx, q)
	if err != nil {
		return nil, err
	}
	data, err := c.Data(ctx)
	if err != nil {
		return nil, err
	}
	known, err := c.recallTraining(ctx, t, data.ID, answercache.Horizon{AsOf: q.AsOf, Spoken: true})
	if err != nil {
		return nil, err
	}
	out := &api.TrainingQuote{
		Dataset: c.Dataset.Name, Neighbours: c.Dataset.Neighbours.String(), Unit: c.Dataset.Unit.String(), MaxRows: t.table.MaxRows(),
		Method: t.plan.Method, Why: t.plan.Why, Lines: t.plan.Describe(), Epsilon: t.epsilon, Cost: t.tag(), Pay: t.tag(),
	}
	if out.Worth, out.Currency, err = t.worth(c); err != nil {
		return nil, err
	}
	pay := t.plan.Cost
	if known != nil {
		pay, out.Pay, out.Known, out.Record = dp.Cost{}, dp.Cost{}, true, known.Receipt.Sequence
	}
	if out.Remaining, err = c.Remaining(ctx, q.Analyst); err != nil {
		return nil, err
	}
	if out.After, err = c.RemainingAfter(ctx, q.Analyst, pay); err != nil {
		return nil, err
	}
	out.Affordable, err = c.Affords(ctx, q.Analyst, pay)
	return out, err
}

// worth says what a training alone is worth, and how its price comes about.
func (t *training) worth(c *Trainings) (api.Guarantee, string, error) {
	cost := t.plan.Cost
	if t.currency.Pure {
		return api.Guarantee{Epsilon: cost.Epsilon},
			fmt.Sprintf("the budget adds up epsilon, and the model takes epsilon %v of it", cost.Epsilon), nil
	}
	delta := c.Dataset.Budget.RhoDelta()
	epsilon, err := account.Epsilon(cost.Rho, delta)
	if err != nil {
		return api.Guarantee{}, "", err
	}
	worth := api.Guarantee{Epsilon: min(epsilon, cost.Epsilon), Delta: delta}
	return worth,
		fmt.Sprintf("the budget adds up rho: epsilon %v buys rho %v, which is what any mechanism of that epsilon costs, and the noise is "+
			"made for that rho; by itself it is worth epsilon %v at delta %v", t.epsilon, cost.Rho, worth.Epsilon, delta), nil
}

// modelID names a model by the receipt of its charge. The hash in it is known to those who were
// given the model, whoever paid, and to the owner.
func modelID(r api.Receipt) string { return fmt.Sprintf("%d-%.32s", r.Sequence, r.Hash) }

// ModelSequence returns the charge that a model is named after.
func ModelSequence(id string) (uint64, bool) {
	digits, _, found := strings.Cut(id, "-")
	n, err := strconv.ParseUint(digits, 10, 63)
	return n, found && err == nil && strconv.FormatUint(n, 10) == digits
}

// paidModel reports whether a record is the charge of a model of this dataset.
func (c *Trainings) paidModel(r *ledger.Record) bool {
	return r.Kind == ledger.KindCharge && r.Dataset == c.Dataset.Name && strings.HasPrefix(r.Mechanisms, modelMark)
}

// Model returns the model that a charge paid for, as it was released. It is [api.ErrNoModel] where
// the charge is none of a model, where its training failed or was not finished, and where the model
// was kept after asOf, which is a moment or zero: see [Question].
func (c *Trainings) Model(ctx context.Context, r *ledger.Record, asOf time.Time) (*api.KeptModel, error) {
	if !c.paidModel(r) {
		return nil, api.ErrNoModel
	}
	text, found, err := c.memory.Answer(ctx, r.Request)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, api.ErrNoModel
	}
	kept, err := decodeModel(text)
	if err != nil {
		return nil, err
	}
	if kept.model == nil || !c.memory.Shows(r.Sequence, kept.at, answercache.Horizon{AsOf: asOf, Spoken: true}) {
		return nil, api.ErrNoModel
	}
	paid := api.Receipt{Sequence: r.Sequence, Hash: ledger.Hash(r.Encode()), Free: true}
	return &api.KeptModel{ID: modelID(paid), Dataset: r.Dataset, Analyst: r.Analyst, Time: r.Time, Cost: r.Cost, Receipt: paid,
		Target: kept.model.Encoding.Target.Name, Model: kept.model}, nil
}
