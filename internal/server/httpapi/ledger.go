package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/ledger"
)

type Records struct {
	Records []Record `json:"records"`
	Next    *uint64  `json:"next,omitempty" doc:"Where to continue: the next value of after. Left out at the end of the ledger"`
}

// ledgerHandler sends the records of the ledger.
type ledgerHandler struct {
	dispatcher *admission.Dispatcher
	head       *head
}

func (h *ledgerHandler) register(r *router) {
	o := operation(ownerOnly, http.MethodGet, "/v1/ledger", "ledger", "The records of the ledger",
		"For the owner, page by page. Accept: application/x-ndjson sends all records from there on, one per line, whatever the limit.")
	setContent(&o, http.StatusOK, map[string]*huma.Schema{mediaJSON: schema[Records](r), mediaNDJSON: schema[Record](r)})
	register(r, o, func(ctx context.Context, _ users.User, in *Page) (*streamedBody, error) {
		from := uint64(in.After + 1)
		if infoOf(ctx).accept == mediaNDJSON {
			return &streamedBody{func(c huma.Context) { h.records(c, from) }}, nil
		}
		out := Records{Records: []Record{}}
		for r, err := range h.dispatcher.DB().Records(ctx, from) {
			if err != nil {
				return nil, err
			}
			if out.Records = append(out.Records, recordOf(r)); len(out.Records) == in.Limit {
				out.Next = new(r.Sequence)
				break
			}
		}
		return &streamedBody{func(c huma.Context) { writeJSON(c, out) }}, nil
	})
	register(r, operation(ownerOnly, http.MethodGet, "/v1/ledger/head", "head", "The last record of the ledger",
		"For the owner. Keep it elsewhere: it tells the ledger from an older copy of itself."),
		func(ctx context.Context, _ users.User, _ *empty) (*body[Head], error) {
			h, err := h.head.read(ctx, h.dispatcher.DB())
			return bodyOf(h), err
		})
}

// records sends the records from a sequence on, one a line. The ledger is read in small parts, so
// that a slow reader holds up nobody. Where it cannot be read to its end the connection is cut.
func (h *ledgerHandler) records(c huma.Context, from uint64) {
	r, w := humago.Unwrap(c)
	control := http.NewResponseController(w)
	c.SetHeader("Content-Type", mediaNDJSON)
	c.SetStatus(http.StatusOK)
	out := bufio.NewWriter(w)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	n := 0
	for record, err := range h.dispatcher.DB().Records(r.Context(), from) {
		if err != nil {
			abort()
		}
		if e.Encode(recordOf(record)) != nil {
			abort()
		}
		if n++; n%rowsPerFlush == 0 && (out.Flush() != nil || control.Flush() != nil) {
			abort()
		}
	}
	if out.Flush() == nil {
		control.Flush()
	}
}

// Record is a record of the ledger, for the owner. What its kind does not have is left out.
type Record struct {
	Sequence    uint64           `json:"sequence"`
	Time        time.Time        `json:"time"`
	Kind        string           `json:"kind" enum:"ledger,charge,answer,version,renewal,owner,topup,recovery,note,incident,release"`
	Hash        string           `json:"hash"`
	Previous    string           `json:"previous,omitempty" doc:"The hash of the previous record"`
	Request     string           `json:"request,omitempty"`
	Analyst     string           `json:"analyst,omitempty"`
	Dataset     string           `json:"dataset,omitempty"`
	DataVersion string           `json:"data_version,omitempty"`
	Query       string           `json:"query,omitempty" doc:"The hash of the question"`
	Mechanisms  string           `json:"mechanisms,omitempty"`
	Window      uint64           `json:"window,omitempty"`
	Cost        *dp.Cost         `json:"cost,omitempty" doc:"What a charge costs; for a top-up, what it adds"`
	Balances    []ledger.Balance `json:"balances,omitempty" doc:"The accounts after this record"`
	Charge      *uint64          `json:"charge,omitempty" doc:"For an answer or an incident: the charge that paid for it"`
	AnswerHash  string           `json:"answer_hash,omitempty"`
	Accounts    []string         `json:"accounts,omitempty" doc:"For a top-up: which limits it raises"`
	Reason      string           `json:"reason,omitempty"`
	PublicKey   string           `json:"public_key,omitempty"`
	Signature   string           `json:"signature,omitempty"`
	Anchor      *uint64          `json:"anchor_sequence,omitempty"`
	AnchorHash  string           `json:"anchor_hash,omitempty"`
	Failure     string           `json:"failure,omitempty" doc:"For an incident: error, memory, time, panic or crash"`
	ByAnalyst   uint64           `json:"borne_by_analyst,omitempty" doc:"For an incident: how many the policy then tolerated from one analyst"`
	ByDataset   uint64           `json:"borne_by_dataset,omitempty" doc:"For an incident: how many the policy then tolerated from all analysts"`
	Session     string           `json:"session,omitempty" doc:"For a note: whose it is. Its text stays in the ledger"`
	Text        string           `json:"record,omitempty" doc:"The text whose SHA-256 is the hash, with exact amounts; left out of the first record, which holds a secret of the ledger"`
}

func recordOf(r *ledger.Record) Record {
	encoded := r.Encode()
	out := Record{
		Sequence: r.Sequence, Time: r.Time.UTC(), Kind: string(r.Kind), Hash: ledger.Hash(encoded), Previous: r.Previous,
		Request: r.Request, Analyst: r.Analyst, Dataset: r.Dataset, DataVersion: r.DataVersion, Query: r.Query, Mechanisms: r.Mechanisms,
		Window:   r.Window,
		Balances: r.Balances, AnswerHash: r.AnswerHash, Accounts: r.Accounts, Reason: r.Reason, PublicKey: r.PublicKey,
		Signature: r.Signature, AnchorHash: r.AnchorHash, Session: r.Session,
	}
	switch r.Kind {
	case ledger.KindCharge, ledger.KindTopUp:
		out.Cost = new(r.Cost)
	case ledger.KindAnswer:
		out.Charge = new(r.Charge)
	case ledger.KindIncident:
		out.Charge, out.Failure, out.ByAnalyst, out.ByDataset = new(r.Charge), string(r.Failure), r.ByAnalyst, r.ByDataset
	case ledger.KindRecovery:
		out.Anchor = new(r.AnchorSequence)
	}
	// With the identity of the ledger, which is in its first record, guesses about the data can be
	// tested against the names of its versions. It stays on the owner's machine.
	if r.Kind != ledger.KindLedger {
		out.Text = encoded
	}
	return out
}

// Head is the last record of the ledger.
type Head struct {
	Sequence uint64 `json:"sequence"`
	Hash     string `json:"hash"`
}

// head remembers how far the ledger was read, so that each record is read once.
type head struct {
	mu   sync.Mutex
	last Head
}

func (h *head) read(ctx context.Context, db *discreet.DB) (Head, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for r, err := range db.Records(ctx, h.last.Sequence) {
		if err != nil {
			return Head{}, err
		}
		h.last = Head{r.Sequence, ledger.Hash(r.Encode())}
	}
	return h.last, nil
}

// Receipt is a charge, for those who paid it: nothing of it is about others.
type Receipt struct {
	Sequence   uint64           `json:"sequence"`
	Hash       string           `json:"hash" doc:"The head of the ledger right after it. Keep it elsewhere: it tells the ledger from an older copy of itself"`
	Time       time.Time        `json:"time"`
	Request    string           `json:"request" doc:"The Idempotency-Key; for the owner, prefixed with the sender"`
	Analyst    string           `json:"analyst"`
	Dataset    string           `json:"dataset"`
	Window     uint64           `json:"window"`
	Query      string           `json:"query" doc:"The hash of the question"`
	Mechanisms string           `json:"mechanisms"`
	Cost       dp.Cost          `json:"cost"`
	Balances   []ledger.Balance `json:"balances" doc:"Your own account after it; for the owner, all accounts that were charged"`
}

type Receipts struct {
	Receipts []Receipt `json:"receipts"`
	Next     *uint64   `json:"next,omitempty" doc:"Where to continue: the next value of after, or with newest the next value of before. Left out at the end of the ledger"`
}

// Page is a page of records, in their order.
type Page struct {
	After int64 `query:"after" minimum:"-1" default:"-1" doc:"Only records after this one"`
	Limit int   `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"The most to return"`
}

// receiptsInput is a page of charges, and which of them.
type receiptsInput struct {
	Page
	Newest  bool      `query:"newest" doc:"Newest first"`
	Before  int64     `query:"before" minimum:"0" default:"0" doc:"With newest: only records before this one; 0 is the end of the ledger"`
	Analyst string    `query:"analyst" maxLength:"64" doc:"Only those of this analyst. An analyst sees only their own, whatever this says"`
	Dataset string    `query:"dataset" maxLength:"64" doc:"Only those of this dataset"`
	Since   time.Time `query:"since" doc:"Only from this time on"`
	Until   time.Time `query:"until" doc:"Only before this time"`
	Query   string    `query:"query" pattern:"^[0-9a-f]{0,64}$" doc:"Only charges for questions whose hash begins with this"`
	Receipt string    `query:"receipt" pattern:"^[0-9a-f]{0,64}$" doc:"Only charges whose own hash begins with this"`
}

func (in *receiptsInput) check() error {
	if in.Newest && in.After != -1 {
		return invalidInput("query.after", "with newest, continue with before")
	}
	if !in.Newest && in.Before != 0 {
		return invalidInput("query.before", "it belongs to newest; continue with after")
	}
	return nil
}

// matches says whether a charge is one of those that are looked for.
func (in *receiptsInput) matches(u users.User, r *ledger.Record) bool {
	return isVisibleCharge(u, r) && (in.Analyst == "" || u.Role != users.Owner || r.Analyst == in.Analyst) &&
		(in.Dataset == "" || r.Dataset == in.Dataset) && (in.Since.IsZero() || !r.Time.Before(in.Since)) &&
		(in.Until.IsZero() || r.Time.Before(in.Until)) && strings.HasPrefix(r.Query, in.Query) &&
		(in.Receipt == "" || strings.HasPrefix(ledger.Hash(r.Encode()), in.Receipt))
}

// recordsPerBlock is how many records are read at once on the way back.
const recordsPerBlock = 1024

// ownReceipts returns a page of an analyst's own. Nobody else's is counted on the way, so that
// neither where a page ends nor how long it takes tells how much others ask.
func (h *receiptHandler) ownReceipts(ctx context.Context, u users.User, in *receiptsInput) (*Receipts, error) {
	db := h.dispatcher.DB()
	all, err := h.history.chargesOf(ctx, db, u.Name)
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
		if in.matches(u, r) {
			out.Receipts = append(out.Receipts, receiptOf(u, r))
		}
		if len(out.Receipts) == in.Limit || i+1 == maxOwnCharges {
			out.Next = new(at)
			break
		}
	}
	return out, nil
}

// maxOwnCharges is how many charges of their own one request of an analyst looks through.
const maxOwnCharges = 10_000

// receipts returns a page of those that are looked for.
func (h *receiptHandler) receipts(ctx context.Context, u users.User, in *receiptsInput) (*Receipts, error) {
	if u.Role != users.Owner {
		return h.ownReceipts(ctx, u, in)
	}
	out, db := &Receipts{Receipts: []Receipt{}}, h.dispatcher.DB()
	if !in.Newest {
		read := 0
		for r, err := range db.Records(ctx, uint64(in.After+1)) {
			if err != nil {
				return nil, err
			}
			if in.matches(u, r) {
				out.Receipts = append(out.Receipts, receiptOf(u, r))
			}
			if read++; len(out.Receipts) == in.Limit || read == h.maxRead {
				out.Next = new(r.Sequence)
				break
			}
		}
		return out, nil
	}
	end := uint64(in.Before)
	if last, err := h.head.read(ctx, db); err != nil {
		return nil, err
	} else if end == 0 || end > last.Sequence {
		end = last.Sequence + 1
	}
	for read := 0; end > 0; {
		from := end - min(end, recordsPerBlock)
		var found []*ledger.Record
		for r, err := range db.Records(ctx, from) {
			if err != nil {
				return nil, err
			}
			if r.Sequence >= end {
				break
			}
			if read++; in.matches(u, r) {
				found = append(found, r)
			}
		}
		for _, r := range slices.Backward(found) {
			if out.Receipts = append(out.Receipts, receiptOf(u, r)); len(out.Receipts) == in.Limit {
				out.Next = new(r.Sequence)
				return out, nil
			}
		}
		if end = from; read >= h.maxRead && end > 0 {
			out.Next = &end
			return out, nil
		}
	}
	return out, nil
}

type sequencePath struct {
	Sequence uint64 `path:"sequence" maximum:"9007199254740991"`
}

// maxRecordsRead is how many records of the ledger one request looks through at most.
const maxRecordsRead = 100_000

type receiptHandler struct {
	dispatcher *admission.Dispatcher
	history    *history
	head       *head
	maxRead    int // of the records of the ledger that one request looks through
}

func (h *receiptHandler) register(r *router) {
	register(r, operation(anyUser, http.MethodGet, "/v1/receipts/{sequence}", "receipt", "A charge",
		"One of your own; an owner sees all. Somebody else's looks the same as one that does not exist.", http.StatusNotFound),
		func(ctx context.Context, u users.User, in *sequencePath) (*body[Receipt], error) {
			r, err := h.dispatcher.DB().Record(ctx, in.Sequence)
			if errors.As(err, new(*ledger.NoRecordError)) || err == nil && !isVisibleCharge(u, r) {
				return nil, missing("receipt")
			}
			if err != nil {
				return nil, err
			}
			return bodyOf(receiptOf(u, r)), nil
		})
	register(r, operation(anyUser, http.MethodGet, "/v1/receipts", "receipts", "Your charges",
		"Page by page: a page can have fewer than limit, or none, and still a next. With newest they come in reverse order, and next is "+
			"the next value of before. An owner sees everybody's.", http.StatusNotFound),
		func(ctx context.Context, u users.User, in *receiptsInput) (*body[Receipts], error) {
			if err := in.check(); err != nil {
				return nil, err
			}
			out, err := h.receipts(ctx, u, in)
			if err != nil {
				return nil, err
			}
			return bodyOf(*out), nil
		})
}

// isVisibleCharge says whether a record is a charge that a user may see.
func isVisibleCharge(u users.User, r *ledger.Record) bool {
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
		if u.Role == users.Owner || isOwnAccount(u.Name, r.Dataset, b.Account) {
			out.Balances = append(out.Balances, b)
		}
	}
	return out
}
