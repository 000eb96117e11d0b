package account

import "fmt"

// Interleavable is a guarantee that may be charged for a session: an interactive
// mechanism, such as the sparse vector, that keeps private state between its
// answers, while other sessions and other answers run in between, in an order
// and with prices that the analyst chooses after every message.
//
// Only [Pure] and [ZCDP] implement it, and nothing outside of this package can:
// the charge is made by a method that others cannot name, so a type that embeds
// one of the two is charged for the one that it embeds, whatever it says
// of itself. A session with a delta does not compile.
//
// # Why these two
//
// Pure: an interactive epsilon-differentially private mechanism is an interactive
// function of one randomized response (Vadhan, Wang 2021),
// which is drawn when the session is opened and asked nothing later, so the
// session is a single answer as far as accounts go. The same reduction gives its
// rho.
//
// zCDP: Lyu 2022, and more simply Vadhan, Zhang 2023, for Renyi divergences of
// every fixed order; Haney et al. 2023 when the parameters are chosen as one goes.
// The argument is short. Fix the order a. For a session that is open, let V be the
// supremum, over all ways of going on with it alone, of E exp((a-1) its further
// privacy loss) on the first database, given its transcript. V >= 1, because one
// may stop; V <= exp((a-1) a rho) when it is opened, because it is rho-zCDP.
// Whatever message is sent next, exp((a-1) loss so far) V falls on average or
// stays: it is the value of a game. Sessions have independent coins, so given all
// transcripts a message changes one factor of the product over the sessions, and
// the product W' of
//
//	exp((a-1) loss so far) V exp(-(a-1) a rho)
//
// is a supermartingale that starts at 1. W' is at least the W of [Odometer],
// because V >= 1, so everything that is said there of W holds with sessions.
//
// # Why no delta
//
// Interactive (epsilon, delta)-mechanisms do compose concurrently (Lyu 2022;
// Vadhan, Zhang 2023), but as (epsilon, delta) or f-DP claims. Here one charge is
// read in epsilon and in rho, by different filters, and we know of no theorem for
// delta-approximate zCDP of interactive mechanisms: the event that has
// probability delta would have to be fixed before the analyst's first message.
//
// A session is charged in full when it is opened. That it was closed early is
// something that private data had a say in, so nothing is given back.
type Interleavable interface {
	Claim
	interleavable() (Charge, error)
}

func (g Pure) interleavable() (Charge, error) { return g.Charge() }
func (g ZCDP) interleavable() (Charge, error) { return g.Charge() }

// Open charges for a session, in full. It is refused as [Spending.Spend] refuses.
func (s *Spending) Open(session Interleavable) error {
	if session == nil {
		return fmt.Errorf("%w: there is none", ErrCharge)
	}
	c, err := session.interleavable()
	if err != nil {
		return err
	}
	return s.take(c)
}
