package render

import (
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// AnswerJSON is an answer for machines, the same on the command line and over HTTP. Keys stay in this order.
type AnswerJSON struct {
	Columns    []string        `json:"columns" doc:"The names of the columns"`
	Rows       [][]any         `json:"rows" doc:"The noisy values: null, texts, booleans and numbers"`
	Errors     [][]*float64    `json:"errors" nullable:"true" doc:"For each value the half width of an interval that holds the exact one with the probability of confidence; null where there is none"`
	Cost       dp.Cost         `json:"cost" doc:"What this answer cost; zero where it had been paid for before"`
	Remaining  api.Remaining   `json:"remaining" doc:"What the analyst can still spend"`
	Receipt    ReceiptJSON     `json:"receipt" doc:"Where the charge stands in the ledger"`
	Limits     LimitsJSON      `json:"limits" doc:"How much of one person counts"`
	Confidence float64         `json:"confidence" doc:"The probability of the error bars"`
	Notes      []string        `json:"notes" doc:"What a reader should know about the answer"`
	Version    api.DataVersion `json:"data_version" doc:"Which version of the data the answer is about"`
	Alerts     []ledger.Alert  `json:"alerts" doc:"Accounts that this answer took over 50, 80 or 95 % of their limits"`
	Streams    []api.Through   `json:"streams,omitempty" doc:"Which parts of it went through streams of the policy, and how much of them was free; missing where none did"`
}

// ReceiptJSON says where a charge stands in the ledger.
type ReceiptJSON struct {
	Sequence uint64 `json:"sequence"`
	Hash     string `json:"hash"`
	Free     bool   `json:"free"`
}

// LimitsJSON says how much of one person counts.
type LimitsJSON struct {
	MaxRows   int64 `json:"max_rows"`
	MaxGroups int64 `json:"max_groups"`
}

// JSON turns an answer into what machines read. Lists are never null, but for the errors of a query around answers, which nobody knows.
func JSON(a *api.Answer) AnswerJSON {
	out := AnswerJSON{
		Columns: make([]string, len(a.Columns)), Rows: a.Rows, Errors: a.Errors, Cost: a.Cost, Remaining: a.Remaining,
		Receipt: receiptJSON(a.Receipt), Limits: LimitsJSON{a.MaxRows, a.MaxGroups}, Confidence: a.Confidence,
		Notes: a.Notes, Version: a.Version, Alerts: a.Alerts, Streams: a.Through,
	}
	for i, c := range a.Columns {
		out.Columns[i] = c.Name
	}
	if out.Rows == nil {
		out.Rows = [][]any{}
	}
	if out.Errors == nil && len(out.Rows) == 0 {
		out.Errors = [][]*float64{}
	}
	if out.Notes == nil {
		out.Notes = []string{}
	}
	if out.Alerts == nil {
		out.Alerts = []ledger.Alert{}
	}
	return out
}

func receiptJSON(r api.Receipt) ReceiptJSON { return ReceiptJSON{r.Sequence, r.Hash, r.Free} }
