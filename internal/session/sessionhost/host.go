package sessionhost

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/mechanism/session"
	"github.com/discreet-dp/discreet/ledger"
)

// Host runs an interactive session (package session) on the ledger: its charges are charges like
// others, in the accounts of whoever caused them, and its journal is notes.
//
// A session belongs to a dataset and not to an analyst, so there is a host for each question, with
// who pays for it; one without a payer reads the journal and charges nothing. A charge has a
// request that follows from the session, the charge's name and who pays. So what one analyst has
// been charged for and never got, because the process ended in between, is drawn anew for the same
// charge when that analyst asks again; where somebody else is first, they pay for it themselves,
// and the first charge bought nothing. Either way every noise that was drawn has been paid for.
//
// What sessions have answered is seen through answers, and those leave on their tick. Quotes are
// another matter; see streamsession.
type Host struct {
	Access
	ID   string // of the session: what it is, on which data, by which rules
	Data ledger.Version
	// Apart says that the session is about something else than the tables, such as a file of
	// labels: its charges are made in whatever version the tables have by then. One that named the
	// version of when the session was opened would record that the tables have changed back.
	Apart bool
	// Accounts are the session's own, beside those of whoever pays.
	Accounts []ledger.Account
	Payer    *Payer
}

var (
	_ session.Host   = (*Host)(nil)
	_ session.Shared = (*Host)(nil)
)

// Payer is who pays for what a session charges while it answers one question, and what came of it.
type Payer struct {
	Analyst string
	Free    bool // nothing is to be charged: every charge is refused with [ErrNotFree]
	Charged bool // something was, for this question, so that no refusal may say that nothing was
	// Unanswered says that the session has not answered the question before, so that nothing is
	// noted for it where the analyst is locked out.
	Unanswered bool
	// Sequence is the last charge that was made or found for this question; 0 where the session had
	// been paid for before.
	Sequence uint64
	// window is the one in which the session answers this question, where the budget is renewed:
	// what it notes in another is paid for by nobody there.
	window uint64
	Alerts []ledger.Alert
}

// sessionRequests begins the names of requests that sessions make. Nobody else's may: whoever had
// one could keep a session from being paid for.
const sessionRequests = "session "

// CheckRequest refuses a request with a name that only sessions give.
func CheckRequest(request string) error {
	if strings.HasPrefix(request, sessionRequests) {
		return api.Refuse("begin it with something else", "the name of a request cannot begin with %q: such names are for "+
			"sessions", sessionRequests)
	}
	return nil
}

// named names something about the session, by a hash that is as long as a ledger wants it.
func (h *Host) named(parts ...string) string {
	sum := sha256.New()
	for _, s := range append([]string{"interactive session", h.ID}, parts...) {
		fmt.Fprintf(sum, "%d:%s,", len(s), s)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

func (h *Host) Charge(ctx context.Context, charge session.Charge) (session.Receipt, error) {
	who := h.Payer
	if who == nil {
		return session.Receipt{}, errNoPayer
	}
	if who.Free {
		return session.Receipt{}, ErrNotFree
	}
	// What was charged in another window and never drawn is charged again: that window's account
	// has not paid for this one. That counts also where the policy had windows once and has none
	// now.
	window, err := h.Window(ctx, h.Dataset.Name)
	if err != nil {
		return session.Receipt{}, err
	}
	request := []string{"request", charge.Name, who.Analyst}
	if window > 1 || h.Dataset.Budget.Renews() {
		request = append(request, fmt.Sprint(window))
	}
	version := h.Data
	if h.Apart {
		now, err := h.Access.Data(ctx)
		if err != nil {
			return session.Receipt{}, err
		}
		version = now.Version
		request = append(request, version.String())
	}
	receipt, err := h.Access.Charge(ctx, who.Analyst, ledger.Charge{
		Request:     sessionRequests + h.named(request...),
		Analyst:     who.Analyst,
		Dataset:     h.Dataset.Name,
		DataVersion: version.String(),
		Query:       h.named("charge", charge.Name, charge.Mechanisms),
		Mechanisms:  pricing.Shorten(charge.Mechanisms, ledger.MaxMechanisms-96),
		Cost:        charge.Cost,
		Accounts:    h.Accounts,
	})
	if err != nil {
		return session.Receipt{}, asSessionError(err)
	}
	who.Charged, who.Sequence = who.Charged || !receipt.Again, receipt.Sequence
	who.Alerts = append(who.Alerts, receipt.Alerts()...)
	return session.Receipt{Sequence: receipt.Sequence, Hash: receipt.Hash, Again: receipt.Again}, nil
}

// Period implements [session.Periodic]: it is the window, where the budget is renewed.
func (h *Host) Period(ctx context.Context) (uint64, error) {
	if !h.Dataset.Budget.Renews() {
		return 0, nil
	}
	window, err := h.Window(ctx, h.Dataset.Name)
	if h.Payer != nil && err == nil {
		h.Payer.window = window
	}
	return window, err
}

// errNoPayer is a mistake of ours: a session was asked and nobody was named.
var errNoPayer = errors.New("nobody was named to pay for this session")

// Append implements [session.Host]. Who stops waiting must not make a session lose what was paid
// for, so the context's end is not looked at. A session asks for the period when it begins with a
// question; where a renewal comes while the engine runs, what was paid for before it is refused.
func (h *Host) Append(ctx context.Context, entry []byte) error {
	return h.note(ctx, entry, ledger.Provided{})
}

// AppendAfter implements [session.Shared]: other servers may have the same ledger.
func (h *Host) AppendAfter(ctx context.Context, entries int, entry []byte) error {
	err := h.note(ctx, entry, ledger.After(entries))
	if errors.Is(err, ledger.ErrBehind) {
		return session.ErrBehind
	}
	return err
}

func (h *Host) note(ctx context.Context, entry []byte, p ledger.Provided) error {
	if h.Payer != nil {
		p.Dataset, p.Window = h.Dataset.Name, h.Payer.window
		if h.Payer.Unanswered {
			p.Analyst = h.Payer.Analyst
		}
	}
	return h.NoteIf(context.WithoutCancel(ctx), h.named("journal"), entry, p)
}

func (h *Host) Entries(ctx context.Context) ([][]byte, error) {
	return h.Notes(ctx, h.named("journal"))
}

func (h *Host) EntriesAfter(ctx context.Context, entries int) ([][]byte, error) {
	return h.NotesAfter(ctx, h.named("journal"), entries)
}

// overBudget is a budget error of the curator, with its advice, that a session knows as its own.
type overBudget struct{ error }

// asSessionError makes a budget error one that is [session.ErrBudget] too.
func asSessionError(err error) error {
	if errors.As(err, new(*ledger.BudgetError)) {
		return overBudget{err}
	}
	return err
}

func (e overBudget) Unwrap() error        { return e.error }
func (e overBudget) Is(target error) bool { return target == session.ErrBudget }
