package curator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/pricing"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/session"
)

// host runs an interactive session (package session) on the ledger: its charges are charges like others, in the accounts of whoever caused them, and its
// journal is notes.
//
// A session belongs to a dataset and not to an analyst, so who pays is said by the context of a question; see [payer]. A charge has a request that follows from the
// session, the charge's name and who pays. So what one analyst has been charged for and never got, because the process ended in between, is drawn anew for the same charge when that analyst
// asks again; where somebody else is first, they pay for it themselves, and the first charge bought nothing. Either way every noise that was drawn has been paid for.
//
// What sessions have answered is seen through answers, and those leave on their tick. Quotes are another matter; see [Curator.QuoteStream].
type host struct {
	c       *Curator
	id      string // of the session: what it is, on which data, by which rules
	version ledger.Version
	// apart says that the session is about something else than the tables, such as a file of labels: its charges are made in whatever version the tables have by then. One that named the version of
	// when the session was opened would record that the tables have changed back.
	apart bool
}

var _ session.Host = (*host)(nil)

// payer is who pays for what a session charges while it answers one question, and what came of it.
type payer struct {
	analyst string
	charged bool // something was, for this question, so that no refusal may say that nothing was
	// sequence is the last charge that was made or found for this question; 0 where the session had been paid for before.
	sequence uint64
	// window is the one in which the session answers this question, where the budget is renewed: what it notes in another is paid for by nobody there.
	window uint64
	alerts []ledger.Alert
}

type payerKey struct{}

// paidBy says in a context who pays.
func paidBy(ctx context.Context, p *payer) context.Context {
	return context.WithValue(ctx, payerKey{}, p)
}

// sessionRequests begins the names of requests that sessions make. Nobody else's may: whoever had one could keep a session from being paid for.
const sessionRequests = "session "

// foreign refuses a request with a name that only sessions give.
func foreign(request string) error {
	if strings.HasPrefix(request, sessionRequests) {
		return api.Refuse("begin it with something else", "no request is called %q and more: such names are for sessions", sessionRequests)
	}
	return nil
}

// named names something about the session, by a hash that is as long as a ledger wants it.
func (h *host) named(parts ...string) string {
	sum := sha256.New()
	for _, s := range append([]string{"interactive session", h.id}, parts...) {
		fmt.Fprintf(sum, "%d:%s,", len(s), s)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Charge implements [session.Host].
func (h *host) Charge(ctx context.Context, charge session.Charge) (session.Receipt, error) {
	who, ok := ctx.Value(payerKey{}).(*payer)
	if !ok {
		return session.Receipt{}, errNoPayer
	}
	// What was charged in another window and never drawn is charged again: that window's account has not paid for this one.
	// That counts also where the policy had windows once and has none now.
	window, err := h.c.ledger.Window(ctx, h.c.dataset.Name)
	if err != nil {
		return session.Receipt{}, err
	}
	request := []string{"request", charge.Name, who.analyst}
	if window > 1 || h.c.dataset.Budget.Renews() {
		request = append(request, fmt.Sprint(window))
	}
	version := h.version
	if h.apart {
		now, err := h.c.data(ctx)
		if err != nil {
			return session.Receipt{}, err
		}
		version = now.Version
		request = append(request, version.String())
	}
	receipt, err := h.c.charge(ctx, who.analyst, ledger.Charge{
		Request:     sessionRequests + h.named(request...),
		Analyst:     who.analyst,
		Dataset:     h.c.dataset.Name,
		DataVersion: version.String(),
		Query:       h.named("charge", charge.Name, charge.Mechanisms),
		Mechanisms:  pricing.Shorten(charge.Mechanisms, ledger.MaxMechanisms-96),
		Cost:        charge.Cost,
	})
	if err != nil {
		return session.Receipt{}, ofSession(err)
	}
	who.charged, who.sequence = who.charged || !receipt.Again, receipt.Sequence
	who.alerts = append(who.alerts, receipt.Alerts()...)
	return session.Receipt{Sequence: receipt.Sequence, Hash: receipt.Hash, Again: receipt.Again}, nil
}

// Period implements [session.Periodic]: it is the window, where the budget is renewed.
func (h *host) Period(ctx context.Context) (uint64, error) {
	if !h.c.dataset.Budget.Renews() {
		return 0, nil
	}
	window, err := h.c.ledger.Window(ctx, h.c.dataset.Name)
	if who, ok := ctx.Value(payerKey{}).(*payer); ok && err == nil {
		who.window = window
	}
	return window, err
}

// errNoPayer is a mistake of ours: a session was asked and nobody was named.
var errNoPayer = errors.New("nobody was named who pays for this session")

// Append implements [session.Host]. Who stops waiting must not make a session lose what was paid for, so the context's end is not looked at. A session asks
// for the period when it begins with a question; where a renewal comes while the engine runs, what was paid for before it is refused.
func (h *host) Append(ctx context.Context, entry []byte) error {
	if who, ok := ctx.Value(payerKey{}).(*payer); ok && who.window != 0 {
		return h.c.ledger.NoteIn(context.WithoutCancel(ctx), h.c.dataset.Name, who.window, h.named("journal"), entry)
	}
	return h.c.ledger.Note(context.WithoutCancel(ctx), h.named("journal"), entry)
}

// Entries implements [session.Host].
func (h *host) Entries(ctx context.Context) ([][]byte, error) {
	return h.c.ledger.Notes(ctx, h.named("journal"))
}

// overBudget is a budget error of the curator, with its advice, that a session knows as its own.
type overBudget struct{ error }

// ofSession makes a budget error one that is [session.ErrBudget] too.
func ofSession(err error) error {
	if errors.As(err, new(*ledger.BudgetError)) {
		return overBudget{err}
	}
	return err
}

func (e overBudget) Unwrap() error        { return e.error }
func (e overBudget) Is(target error) bool { return target == session.ErrBudget }
