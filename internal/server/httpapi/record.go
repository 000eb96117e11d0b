package httpapi

import (
	"context"
	"sync"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// Record is a record of the ledger, for the owner. What its kind does not have is left out.
type Record struct {
	Sequence    uint64           `json:"sequence"`
	Time        time.Time        `json:"time"`
	Kind        string           `json:"kind" enum:"ledger,charge,answer,version,renewal,owner,topup,recovery,note,incident,release"`
	Hash        string           `json:"hash"`
	Previous    string           `json:"previous,omitempty" doc:"The hash of the record before"`
	Request     string           `json:"request,omitempty"`
	Analyst     string           `json:"analyst,omitempty"`
	Dataset     string           `json:"dataset,omitempty"`
	DataVersion string           `json:"data_version,omitempty"`
	Query       string           `json:"query,omitempty" doc:"The hash of the question"`
	Mechanisms  string           `json:"mechanisms,omitempty"`
	Window      uint64           `json:"window,omitempty"`
	Cost        *dp.Cost         `json:"cost,omitempty" doc:"What a charge costs; of a top-up, what it adds"`
	Balances    []ledger.Balance `json:"balances,omitempty" doc:"The accounts after it"`
	Charge      *uint64          `json:"charge,omitempty" doc:"Of an answer or an incident: the charge that paid for it"`
	AnswerHash  string           `json:"answer_hash,omitempty"`
	Accounts    []string         `json:"accounts,omitempty" doc:"Of a top-up: which limits it raises"`
	Reason      string           `json:"reason,omitempty"`
	PublicKey   string           `json:"public_key,omitempty"`
	Signature   string           `json:"signature,omitempty"`
	Anchor      *uint64          `json:"anchor_sequence,omitempty"`
	AnchorHash  string           `json:"anchor_hash,omitempty"`
	Failure     string           `json:"failure,omitempty" doc:"Of an incident: error, memory, time, panic or crash"`
	ByAnalyst   uint64           `json:"borne_by_analyst,omitempty" doc:"Of an incident: how many the policy bore then, of one analyst"`
	ByDataset   uint64           `json:"borne_by_dataset,omitempty" doc:"Of an incident: how many the policy bore then, of all"`
	Session     string           `json:"session,omitempty" doc:"Of a note: whose it is. What it says stays in the ledger"`
	// Text is what was hashed.
	Text string `json:"record,omitempty" doc:"The text whose SHA-256 is the hash, with amounts to the last bit; left out of the first record, which holds a secret of the ledger"`
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
