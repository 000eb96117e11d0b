package curator

import (
	"context"
	"errors"
	"slices"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator/answercache"
	"github.com/discreet-dp/discreet/internal/curator/answers"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/ledger"
)

// answerSource is where what a question needs comes from. There are four, tried in this order:
// answers that were kept, public keys, a stream, and the engine, which has everything.
type answerSource interface {
	// claim takes of a question what no source before this one has, and this one can give: at once
	// where it is there, and else to be supplied. It charges nothing.
	claim(ctx context.Context, a *request) error
	// supply pays for what was claimed, and releases it.
	supply(ctx context.Context, a *request) error
}

var answerSources = []answerSource{keptAnswers{}, publicKeys{}, streamAnswers{}, engineAnswers{}}

// claim asks the sources in their order.
func (a *request) claim(ctx context.Context) error {
	for _, s := range answerSources {
		if err := s.claim(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// supply lets them pay, the engine first: what is refused after it is the stream's part alone.
func (a *request) supply(ctx context.Context) error {
	for _, s := range slices.Backward(answerSources) {
		if err := s.supply(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

// keptAnswers are those that were paid for before.
type keptAnswers struct{}

func (keptAnswers) claim(ctx context.Context, a *request) (err error) {
	found, err := a.c.memory.Recall(ctx, a.Priced, a.data.ID, a.horizon)
	if err != nil {
		return err
	}
	a.take(found)
	if a.other != nil {
		err = a.choose(ctx)
	}
	if err == nil {
		err = a.findOwn(ctx)
	}
	return err
}

func (a *request) take(found *answercache.Recalled) {
	a.released, a.paid, a.missed = found.Released, found.Paid, found.Missed
}

func (keptAnswers) supply(context.Context, *request) error { return nil }

// publicKeys are those of questions that ask for nothing else. They were found when the question
// was checked, so there is nothing to pay, to run or to keep.
type publicKeys struct{}

func (publicKeys) claim(_ context.Context, a *request) error {
	for i, b := range a.Purchases {
		if b.Query.ListsKeys() {
			a.released[i] = &answers.Released{}
		}
	}
	return nil
}

func (publicKeys) supply(context.Context, *request) error { return nil }

// streamAnswers come through a stream: where that is cheaper, or where the analyst wants it so, and
// where the accounts admit it. What they do not admit is bought like everything else, or refused.
type streamAnswers struct{}

func (streamAnswers) claim(ctx context.Context, a *request) error {
	for i, b := range a.Purchases {
		if a.released[i] != nil {
			continue
		}
		d, err := a.c.Streams.Divert(ctx, a.Priced, b, a.routes[i], a.question.Analyst, a.horizon)
		if err != nil {
			return err
		}
		if d != nil {
			a.bill.diverted[b] = d
		}
	}
	return nil
}

// supply asks the streams, each for its part, and lets the analyst pay them.
func (streamAnswers) supply(ctx context.Context, a *request) error {
	who := &sessionhost.Payer{Analyst: a.question.Analyst, Free: a.terms.free, Charged: a.spent != (dp.Cost{})}
	for i, b := range a.Purchases {
		d := a.bill.diverted[b]
		if d == nil {
			continue
		}
		r, err := d.Answer(ctx, who)
		if err != nil {
			return err
		}
		a.released[i], a.uses = r, append(a.uses, *r.Through)
		a.spent = a.Currency.Plus(a.spent, r.Through.Cost)
		a.claimed = a.claimed.Add(r.Through.Cost)
		if r.Receipt.Sequence != 0 {
			a.paid = r.Receipt
		}
	}
	a.alerts = append(a.alerts, who.Alerts...)
	return nil
}

// engineAnswers are computed, with one charge for all of them.
type engineAnswers struct{}

func (engineAnswers) claim(ctx context.Context, a *request) error {
	for i, b := range a.Purchases {
		if a.released[i] == nil && a.bill.diverted[b] == nil {
			a.bill.bought = append(a.bill.bought, b)
		}
	}
	return a.findBases(ctx)
}

func (engineAnswers) supply(ctx context.Context, a *request) error {
	defer a.showCharged(a.charged)
	if len(a.bill.bought) == 0 {
		return nil
	}
	err := a.buy(ctx)
	if err != nil && a.switchNoise(ctx, err) {
		err = a.buy(ctx)
	}
	if err != nil {
		return err
	}
	if !a.moved {
		a.c.Streams.Teach(a.routes, a.Purchases, a.bill.bought, a.released)
	}
	return nil
}

// A request has one answer, on however many servers it is asked at once. What was kept for its
// charge comes before what is found by what the question means. Answers are looked for first, and
// the request after them: a charge is refused where there is by then what it was to pay for, so a
// request that is not charged when something was found will not be.

// ownCharge is the charge of a request that was made before, by this question's analyst and about
// the same data.
type ownCharge struct {
	charge *ledger.Record
	hash   string
	kept   bool // it has its answer
}

// waits reports whether there is a charge without an answer.
func (o ownCharge) waits() bool { return o.charge != nil && !o.kept }

// findOwn looks for the charge of the request, and takes what was kept for it.
func (a *request) findOwn(ctx context.Context) error {
	q := a.question
	if q.Request == "" || a.terms.unused {
		return nil
	}
	charge, hash, text, err := a.c.ledger.Request(ctx, q.Request)
	if err != nil || charge == nil || charge.Analyst != q.Analyst || charge.Dataset != a.c.dataset.Name ||
		charge.DataVersion != a.data.Version.String() {
		return err // what is another's is refused when it is charged
	}
	a.own = ownCharge{charge, hash, text != nil}
	if text != nil && !a.takeOwn(text) && a.other != nil {
		a.Priced, a.other = a.other, a.Priced
		if !a.takeOwn(text) {
			a.Priced, a.other = a.other, a.Priced
		}
	}
	if nothing := make([]*answers.Released, len(a.Purchases)); text == nil && len(missing(a.Priced, a.released)) > 0 &&
		pricing.HashAll(missing(a.Priced, nothing)) == charge.Query {
		a.released = nothing // it paid for all of it, and some was bought by others since
	}
	return nil
}

// takeOwn takes what was kept for the request, and reports whether there is something for this
// question.
func (a *request) takeOwn(text []byte) (found bool) {
	kept, moved := answercache.Own(a.Priced, text, a.own.charge.Sequence)
	for i, r := range kept {
		if r != nil {
			a.released[i], found = r, true
		}
	}
	if found {
		a.moved, a.paid = moved, a.own.receipt()
	}
	return found
}

// receipt is that of a charge which was made before.
func (o ownCharge) receipt() api.Receipt {
	return api.Receipt{Sequence: o.charge.Sequence, Hash: o.hash, Free: true}
}

// maxPurchasesToMatch is of how many purchases it is found out which of them a charge has paid for.
const maxPurchasesToMatch = 10

// isOf reports whether the charge is for some of the purchases of a question. Some of them may have
// been there when it was made, or have come through streams.
func (o ownCharge) isOf(p *pricing.Priced) bool {
	if p == nil {
		return false
	}
	all := missing(p, make([]*answers.Released, len(p.Purchases)))
	if len(all) > maxPurchasesToMatch {
		return true // which may be another question's, and then that one has lost its answer
	}
	for set := 1; set < 1<<len(all); set++ {
		var some []*pricing.Purchase
		for i, b := range all {
			if set>>i&1 == 1 {
				some = append(some, b)
			}
		}
		if pricing.HashAll(some) == o.charge.Query {
			return true
		}
	}
	return false
}

// bind makes what was found the answer of a request that was charged and has none: another server
// may be computing one, which is then not told. Where nothing can be kept for the charge any more,
// nothing else will be. A charge for another question, whose name somebody gave to this one, is
// left for that.
func (a *request) bind(ctx context.Context) error {
	if !a.own.waits() || len(a.bill.bought)+len(a.bill.diverted) > 0 || !a.own.isOf(a.Priced) && !a.own.isOf(a.other) {
		return nil
	}
	err := a.c.memory.KeepForRequest(context.WithoutCancel(ctx), a.own.charge.Sequence, a.Purchases, a.released, false)
	if errors.Is(err, ledger.ErrRecovered) || errors.As(err, new(*ledger.LapsedError)) || errors.As(err, new(*ledger.LockoutError)) {
		return nil
	}
	if err == nil {
		a.paid = a.own.receipt()
	}
	return err
}

// charged is what one call was charged, on whichever try: of several servers that answer a request
// the one that made the charge says so.
type charged struct {
	receipt        ledger.Receipt
	spent, claimed dp.Cost
}

// showCharged says what the call was charged.
func (a *request) showCharged(c *charged) {
	if c.receipt.Sequence == 0 {
		return
	}
	a.paid = api.Receipt{Sequence: c.receipt.Sequence, Hash: c.receipt.Hash}
	a.spent, a.claimed, a.alerts = c.spent, c.claimed, c.receipt.Alerts()
}
