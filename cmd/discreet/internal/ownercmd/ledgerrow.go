package ownercmd

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/ledger"
)

// exactCost is a cost as exact decimals; nil is an unbounded claim.
type exactCost struct {
	Epsilon *string `json:"epsilon"`
	Rho     *string `json:"rho"`
	Delta   *string `json:"delta"`
}

func newExactCost(c dp.Cost) exactCost {
	return exactCost{ExactDecimal(c.Epsilon), ExactDecimal(c.Rho), ExactDecimal(c.Delta)}
}

// ExactDecimal writes an amount without rounding: it is a multiple of 2^-40, so forty places behind
// the point are enough.
func ExactDecimal(a dp.Amount) *string {
	if a == dp.Unbounded {
		return nil
	}
	b := strconv.AppendUint(make([]byte, 0, 64), uint64(a/dp.One), 10)
	rest := a % dp.One
	if rest > 0 {
		b = append(b, '.')
	}
	for ; rest > 0; rest %= dp.One {
		rest *= 10 // less than 2^44
		b = append(b, '0'+byte(rest/dp.One))
	}
	text := string(b)
	return &text
}

// ledgerRow is a record for machines. What its kind does not have is left out, but for a charge,
// which has every field.
type ledgerRow struct {
	ledgerRowHead
	charge *chargeRow
	entry  *entryRow // where it is no charge
	ledgerRowTail
}

type ledgerRowHead struct {
	Sequence uint64      `json:"sequence"`
	Time     string      `json:"time"`
	Kind     ledger.Kind `json:"kind"`
}

type ledgerRowTail struct {
	Hash     string `json:"hash"`
	Previous string `json:"previous"`
	Record   string `json:"record,omitempty"` // the text whose SHA-256 is the hash
}

// flat returns the row as what is marshalled as one flat object.
func (r *ledgerRow) flat() any {
	if r.charge != nil {
		return struct {
			ledgerRowHead
			*chargeRow
			ledgerRowTail
		}{r.ledgerRowHead, r.charge, r.ledgerRowTail}
	}
	return struct {
		ledgerRowHead
		*entryRow
		ledgerRowTail
	}{r.ledgerRowHead, r.entry, r.ledgerRowTail}
}

func (r ledgerRow) MarshalJSON() ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(r.flat())
	return text.Bytes(), err
}

type chargeRow struct {
	Request     string `json:"request"`
	Analyst     string `json:"analyst"`
	Dataset     string `json:"dataset"`
	DataVersion string `json:"data_version"`
	Window      uint64 `json:"window"`
	Query       string `json:"query"`
	Mechanisms  string `json:"mechanisms"`
	exactCost
	Accounts   []accountRow   `json:"accounts"`
	Alerts     []ledger.Alert `json:"alerts,omitempty"`
	Answer     *uint64        `json:"answer"` // the sequence of its answer, where one was kept
	AnswerHash *string        `json:"answer_hash"`
}

type accountRow struct {
	Account string     `json:"account"`
	Limit   *exactCost `json:"limit,omitempty"`
	Granted *exactCost `json:"granted,omitempty"`
	Spent   exactCost  `json:"spent"`
}

// entryRow is everything that is not a charge.
type entryRow struct {
	Identity       string       `json:"identity,omitempty"`
	Charge         *uint64      `json:"charge,omitempty"`
	AnswerHash     string       `json:"answer_hash,omitempty"`
	Dataset        string       `json:"dataset,omitempty"`
	DataVersion    *string      `json:"data_version,omitempty"`
	Window         uint64       `json:"window,omitempty"`
	Raised         []string     `json:"raised,omitempty"`
	Amount         *exactCost   `json:"amount,omitempty"`
	Accounts       []accountRow `json:"accounts,omitempty"`
	Reason         string       `json:"reason,omitempty"`
	PublicKey      string       `json:"public_key,omitempty"`
	Signature      string       `json:"signature,omitempty"`
	AnchorSequence *uint64      `json:"anchor_sequence,omitempty"`
	AnchorHash     string       `json:"anchor_hash,omitempty"`
	Analyst        string       `json:"analyst,omitempty"` // of an incident or a release
	Failure        string       `json:"failure,omitempty"`
	ByAnalyst      uint64       `json:"borne_by_analyst,omitempty"`
	ByDataset      uint64       `json:"borne_by_dataset,omitempty"`
	Session        string       `json:"session,omitempty"` // of a note, whose contents stay where they are
}

type keptAnswer struct {
	sequence uint64
	hash     string
}

// newLedgerRow returns a record for machines. It shares no memory with the line but texts.
func newLedgerRow(line chain.Line, answers map[uint64]keptAnswer) ledgerRow {
	r := line.Record
	row := ledgerRow{ledgerRowHead: ledgerRowHead{r.Sequence, r.Time.UTC().Format(time.RFC3339Nano), r.Kind},
		ledgerRowTail: ledgerRowTail{Hash: line.Hash, Previous: r.Previous}}
	if r.Kind == ledger.KindCharge {
		c := &chargeRow{
			Request: r.Request, Analyst: r.Analyst, Dataset: r.Dataset, DataVersion: r.DataVersion, Window: r.Window, Query: r.Query,
			Mechanisms: r.Mechanisms, exactCost: newExactCost(r.Cost), Accounts: []accountRow{}, Alerts: alertsOf(r),
		}
		for _, b := range r.Balances {
			limit, granted := newExactCost(b.Limit), newExactCost(b.Granted)
			c.Accounts = append(c.Accounts, accountRow{b.Account, &limit, &granted, newExactCost(b.Spent)})
		}
		if a, ok := answers[r.Sequence]; ok {
			c.Answer, c.AnswerHash = &a.sequence, &a.hash
		}
		row.charge = c
		return row
	}
	e := &entryRow{Identity: r.Identity, AnswerHash: r.AnswerHash, Dataset: r.Dataset, Window: r.Window, Reason: r.Reason,
		PublicKey: r.PublicKey, Signature: r.Signature, AnchorHash: r.AnchorHash, Session: r.Session, Analyst: r.Analyst,
		Failure: string(r.Failure), ByAnalyst: r.ByAnalyst, ByDataset: r.ByDataset}
	switch r.Kind {
	case ledger.KindAnswer, ledger.KindIncident:
		n := r.Charge
		e.Charge = &n
	case ledger.KindVersion:
		v := r.DataVersion
		e.DataVersion = &v
	case ledger.KindTopUp:
		amount := newExactCost(r.Cost)
		e.Raised, e.Amount = append([]string{}, r.Accounts...), &amount
	case ledger.KindRecovery:
		n := r.AnchorSequence
		e.AnchorSequence = &n
		for _, b := range r.Balances {
			e.Accounts = append(e.Accounts, accountRow{Account: b.Account, Spent: newExactCost(b.Spent)})
		}
	}
	row.entry = e
	return row
}

// alertsOf are the thresholds that a charge passed.
func alertsOf(r *ledger.Record) []ledger.Alert {
	return ledger.Receipt{Cost: r.Cost, Balances: r.Balances}.Alerts()
}

// escapeFormula puts a quote before what a spreadsheet would take for a formula, and before a
// quote, so that it can be taken away again.
func escapeFormula(text string) string {
	if text != "" && strings.ContainsRune("=+-@'\t\r\n", rune(text[0])) {
		return "'" + text
	}
	return text
}
