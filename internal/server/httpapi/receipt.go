package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/ledger"
)

// Receipt is a charge, for those who paid it: nothing of it is about others.
type Receipt struct {
	Sequence   uint64           `json:"sequence"`
	Hash       string           `json:"hash" doc:"The head of the ledger right after it. Kept elsewhere, it tells the ledger from an older copy of itself"`
	Time       time.Time        `json:"time"`
	Request    string           `json:"request" doc:"The Idempotency-Key; for the owner, with who sent it before it"`
	Analyst    string           `json:"analyst"`
	Dataset    string           `json:"dataset"`
	Window     uint64           `json:"window"`
	Query      string           `json:"query" doc:"The hash of the question"`
	Mechanisms string           `json:"mechanisms"`
	Cost       dp.Cost          `json:"cost"`
	Balances   []ledger.Balance `json:"balances" doc:"Your own account after it; for the owner, all that were charged"`
}

// Receipts are several, in their order.
type Receipts struct {
	Receipts []Receipt `json:"receipts"`
	Next     *uint64   `json:"next,omitempty" doc:"Where to go on: the next after. Left out at the end of the ledger"`
}

type pageInput struct {
	After int64 `query:"after" minimum:"-1" default:"-1" doc:"Only what comes after this record"`
	Limit int   `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"How many at most"`
}

type sequencePath struct {
	Sequence uint64 `path:"sequence" maximum:"9007199254740991"`
}

// mostRead is how many records of the ledger one request looks through.
const mostRead = 100_000

func (d *door) receipts() {
	register(d, operation(anyUser, http.MethodGet, "/v1/receipts/{sequence}", "receipt", "A charge",
		"One of your own; an owner sees all. There is no difference between another's and one that does not exist.", http.StatusNotFound),
		func(ctx context.Context, u users.User, in *sequencePath) (*body[Receipt], error) {
			r, err := d.Dispatcher.DB().Record(ctx, in.Sequence)
			if errors.As(err, new(*ledger.NoRecordError)) || err == nil && !paid(u, r) {
				return nil, missing("receipt")
			}
			if err != nil {
				return nil, err
			}
			return of(receiptOf(u, r)), nil
		})
	register(d, operation(anyUser, http.MethodGet, "/v1/receipts", "receipts", "Your charges",
		"Page by page: a page can have fewer than limit, or none, and still a next.", http.StatusNotFound),
		func(ctx context.Context, u users.User, in *pageInput) (*body[Receipts], error) {
			out, read := Receipts{Receipts: []Receipt{}}, 0
			for r, err := range d.Dispatcher.DB().Records(ctx, uint64(in.After+1)) {
				if err != nil {
					return nil, err
				}
				if paid(u, r) {
					out.Receipts = append(out.Receipts, receiptOf(u, r))
				}
				if read++; len(out.Receipts) == in.Limit || read == mostRead {
					out.Next = new(r.Sequence)
					break
				}
			}
			return of(out), nil
		})
}

// paid says whether a record is a charge that a user may see.
func paid(u users.User, r *ledger.Record) bool {
	return r.Kind == ledger.KindCharge && (u.Role == users.Owner || r.Analyst == u.Name)
}

func receiptOf(u users.User, r *ledger.Record) Receipt {
	out := Receipt{
		Sequence: r.Sequence, Hash: ledger.Hash(r.Encode()), Time: r.Time.UTC(), Request: r.Request, Analyst: r.Analyst, Dataset: r.Dataset,
		Window: r.Window,
		Query:  r.Query, Mechanisms: r.Mechanisms, Cost: r.Cost, Balances: []ledger.Balance{},
	}
	if u.Role != users.Owner {
		out.Request = admission.RequestName(u.Name, r.Request)
	}
	for _, b := range r.Balances {
		// What is spent of the dataset's account tells what others spend.
		if u.Role == users.Owner || owns(u.Name, r.Dataset, b.Account) {
			out.Balances = append(out.Balances, b)
		}
	}
	return out
}
