package httpapi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
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
	Next     *uint64   `json:"next,omitempty" doc:"Where to go on: the next after, or with newest the next before. Left out at the end of the ledger"`
}

// Page is a page of records, in their order.
type Page struct {
	After int64 `query:"after" minimum:"-1" default:"-1" doc:"Only what comes after this record"`
	Limit int   `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"How many at most"`
}

// receiptsInput is a page of charges, and which of them.
type receiptsInput struct {
	Page
	Newest  bool      `query:"newest" doc:"The newest first"`
	Before  int64     `query:"before" minimum:"0" default:"0" doc:"With newest: only what comes before this record; 0 is the end of the ledger"`
	Analyst string    `query:"analyst" maxLength:"64" doc:"Only theirs. Analysts see their own, whatever stands here"`
	Dataset string    `query:"dataset" maxLength:"64" doc:"Only of this dataset"`
	Since   time.Time `query:"since" doc:"Only from this time on"`
	Until   time.Time `query:"until" doc:"Only before this time"`
	Query   string    `query:"query" pattern:"^[0-9a-f]{0,64}$" doc:"Only of questions whose hash begins like this"`
	Receipt string    `query:"receipt" pattern:"^[0-9a-f]{0,64}$" doc:"Only charges whose own hash begins like this"`
}

func (in *receiptsInput) check() error {
	if in.Newest && in.After != -1 {
		return unfit("query.after", "with newest, page on with before")
	}
	if !in.Newest && in.Before != 0 {
		return unfit("query.before", "it is for newest; page on with after")
	}
	return nil
}

// wanted says whether a charge is one of those that are looked for.
func (in *receiptsInput) wanted(u users.User, r *ledger.Record) bool {
	return paid(u, r) && (in.Analyst == "" || u.Role != users.Owner || r.Analyst == in.Analyst) &&
		(in.Dataset == "" || r.Dataset == in.Dataset) && (in.Since.IsZero() || !r.Time.Before(in.Since)) &&
		(in.Until.IsZero() || r.Time.Before(in.Until)) && strings.HasPrefix(r.Query, in.Query) &&
		(in.Receipt == "" || strings.HasPrefix(ledger.Hash(r.Encode()), in.Receipt))
}

// block is how many records are read at once on the way back.
const block = 1024

// own returns a page of an analyst's own. Nobody else's is counted on the way, so that neither
// where a page ends nor how long it takes tells how much others ask.
func (d *door) own(ctx context.Context, u users.User, in *receiptsInput) (*Receipts, error) {
	db := d.Dispatcher.DB()
	all, err := d.past.charged(ctx, db, u.Name)
	if err != nil {
		return nil, err
	}
	if first, _ := slices.BinarySearch(all, uint64(in.After+1)); !in.Newest {
		all = all[first:]
	} else {
		if end, _ := slices.BinarySearch(all, uint64(in.Before)); in.Before > 0 {
			all = all[:end]
		}
		all = slices.Clone(all)
		slices.Reverse(all)
	}
	out := &Receipts{Receipts: []Receipt{}}
	for i, at := range all {
		r, err := db.Record(ctx, at)
		if err != nil {
			return nil, err
		}
		if in.wanted(u, r) {
			out.Receipts = append(out.Receipts, receiptOf(u, r))
		}
		if len(out.Receipts) == in.Limit || i+1 == mostOwn {
			out.Next = new(at)
			break
		}
	}
	return out, nil
}

// mostOwn is how many charges of their own one request of an analyst looks through.
const mostOwn = 10_000

// charges returns a page of those that are looked for.
func (d *door) charges(ctx context.Context, u users.User, in *receiptsInput) (*Receipts, error) {
	if u.Role != users.Owner {
		return d.own(ctx, u, in)
	}
	out, db := &Receipts{Receipts: []Receipt{}}, d.Dispatcher.DB()
	if !in.Newest {
		read := 0
		for r, err := range db.Records(ctx, uint64(in.After+1)) {
			if err != nil {
				return nil, err
			}
			if in.wanted(u, r) {
				out.Receipts = append(out.Receipts, receiptOf(u, r))
			}
			if read++; len(out.Receipts) == in.Limit || read == d.most {
				out.Next = new(r.Sequence)
				break
			}
		}
		return out, nil
	}
	end := uint64(in.Before)
	if last, err := d.head.read(ctx, db); err != nil {
		return nil, err
	} else if end == 0 || end > last.Sequence {
		end = last.Sequence + 1
	}
	for read := 0; end > 0; {
		from := end - min(end, block)
		var found []*ledger.Record
		for r, err := range db.Records(ctx, from) {
			if err != nil {
				return nil, err
			}
			if r.Sequence >= end {
				break
			}
			if read++; in.wanted(u, r) {
				found = append(found, r)
			}
		}
		for _, r := range slices.Backward(found) {
			if out.Receipts = append(out.Receipts, receiptOf(u, r)); len(out.Receipts) == in.Limit {
				out.Next = new(r.Sequence)
				return out, nil
			}
		}
		if end = from; read >= d.most && end > 0 {
			out.Next = &end
			return out, nil
		}
	}
	return out, nil
}

type sequencePath struct {
	Sequence uint64 `path:"sequence" maximum:"9007199254740991"`
}

// mostRead is how many records of the ledger one request looks through at most.
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
		"Page by page: a page can have fewer than limit, or none, and still a next. With newest they come from the last one back, and "+
			"next is the next before. An owner sees everybody's.", http.StatusNotFound),
		func(ctx context.Context, u users.User, in *receiptsInput) (*body[Receipts], error) {
			if err := in.check(); err != nil {
				return nil, err
			}
			out, err := d.charges(ctx, u, in)
			if err != nil {
				return nil, err
			}
			return of(*out), nil
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
