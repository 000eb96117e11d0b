package render

import (
	"fmt"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/stream"
)

// StreamAnswerJSON is an answer of a stream for machines, the same on the command line and over HTTP.
type StreamAnswerJSON struct {
	Dataset    string          `json:"dataset"`
	Stream     string          `json:"stream"`
	Value      int64           `json:"value" doc:"How many people, or nearly"`
	Error      *int64          `json:"error" nullable:"true" doc:"How far the value may be off: all answers of the stream are within their errors with the probability that the policy promises. Null where nothing is known, which is where way is unchecked"`
	Confidence float64         `json:"confidence" doc:"That probability"`
	Way        string          `json:"way" enum:"cached,predicted,paid,plain,unchecked" doc:"How it was found. cached: asked before. predicted: predicted from released answers, and the test agreed; free, unless it is the first of a round of tests. paid: the test did not agree, so the value has noise of its own; the round was paid for when it began. plain: paid for without a test. unchecked: predicted without a test, because the budget is gone"`
	Free       bool            `json:"free" doc:"Whether nothing was charged"`
	Cost       dp.Cost         `json:"cost" doc:"What this answer made the stream charge"`
	Receipt    ReceiptJSON     `json:"receipt" doc:"Where the charge stands in the ledger; its sequence is 0 where nothing was charged"`
	Remaining  api.Remaining   `json:"remaining" doc:"What the analyst can still spend"`
	Version    api.DataVersion `json:"data_version" doc:"Which version of the data the answer is about"`
	Alerts     []ledger.Alert  `json:"alerts" doc:"Accounts that this answer took over 50, 80 or 95 % of their limits"`
}

// StreamJSON turns an answer of a stream into what machines read.
func StreamJSON(a *api.StreamAnswer) StreamAnswerJSON {
	out := StreamAnswerJSON{
		Dataset: a.Dataset, Stream: a.Stream, Value: a.Value, Error: a.Error, Confidence: a.Confidence, Way: string(a.Way), Free: a.Free, Cost: a.Cost,
		Receipt: receiptJSON(a.Receipt), Remaining: a.Remaining, Version: a.Version, Alerts: a.Alerts,
	}
	out.Receipt.Free = a.Free
	if out.Alerts == nil {
		out.Alerts = []ledger.Alert{}
	}
	return out
}

// StreamQuoteJSON is what a stream would do with a question.
type StreamQuoteJSON struct {
	Dataset string  `json:"dataset"`
	Stream  string  `json:"stream"`
	Way     string  `json:"way" enum:"cached,predicted,paid,plain,unchecked" doc:"How it would be answered. predicted: predicted and tested, where most is zero in a round that was paid for"`
	Most    dp.Cost `json:"most" doc:"The most that it can cost now"`
	Error   *int64  `json:"error" nullable:"true" doc:"How far the answer may be off. Null where nobody would know, which is where way is unchecked"`
}

// StreamQuote turns a quote into what machines read.
func StreamQuote(q *api.StreamQuote) StreamQuoteJSON {
	return StreamQuoteJSON{q.Dataset, q.Stream, string(q.Way), q.Cost, q.Error}
}

// StreamPrice says in one line what an answer of a stream cost and why, and what is left.
func StreamPrice(a *api.StreamAnswer) string {
	return "price: " + streamWay(a) + "; left: " + Left(a.Remaining)
}

func streamWay(a *api.StreamAnswer) string {
	switch {
	case a.Way == "cached":
		return "free, it was asked before"
	case a.Way == "unchecked":
		return "free, predicted without a test: the budget is gone, and nobody knows how far off it is"
	case a.Way == "predicted" && a.Free:
		return "free, predicted from released answers, and the test agreed"
	case a.Way == "predicted":
		return priceTag(a.Cost, a.Remaining) + " for a round of tests; this one agreed with what was predicted, and the next are free until one does not"
	case a.Way == "paid" && a.Free:
		return "free, the test did not agree with what was predicted, and its round was paid for"
	case a.Way == "paid":
		return priceTag(a.Cost, a.Remaining) + ", the test did not agree with what was predicted"
	}
	return priceTag(a.Cost, a.Remaining) + ", without a test"
}

// StreamQuoteWords say what a stream would do with a question.
func StreamQuoteWords(q *api.StreamQuote) string {
	switch {
	case q.Way == "cached":
		return "free: it was asked before"
	case q.Way == "unchecked":
		return "free: predicted without a test, because the budget is gone; nobody would know how far off it is"
	case q.Way == "plain":
		return "at most " + Cost(q.Cost) + ": it is paid for without a test"
	case q.Cost == dp.Cost{}:
		return "free: it is predicted and tested, in a round that was paid for"
	}
	return "at most " + Cost(q.Cost) + ": it is predicted and tested, in a new round, in which the next are free until a test does not agree"
}

// Cost shows a cost in whichever currency it is in.
func Cost(c dp.Cost) string {
	if Claim(c) == "rho" {
		return "rho " + c.Rho.Short()
	}
	return "epsilon " + c.Epsilon.Short()
}

// Claim names the currency of a cost.
func Claim(c dp.Cost) string {
	if c.Epsilon == dp.Unbounded || c.Epsilon == 0 && c.Rho > 0 {
		return "rho"
	}
	return "epsilon"
}

// StreamValue shows the value of an answer with its error.
func StreamValue(a *api.StreamAnswer) string {
	if a.Error == nil {
		return fmt.Sprintf("%d", a.Value)
	}
	return fmt.Sprintf("%d ±%d", a.Value, *a.Error)
}

// StreamInfoJSON is what the policy says about a stream.
type StreamInfoJSON struct {
	Dataset    string                `json:"dataset"`
	Name       string                `json:"name"`
	Table      string                `json:"table"`
	Attributes []StreamAttributeJSON `json:"attributes" doc:"What conditions can be about. The cells of the stream are all combinations of their values"`
	Cells      int64                 `json:"cells" doc:"How many combinations there are"`
	Size       int64                 `json:"size" doc:"The public number of people that alpha is a share of"`
	Alpha      float64               `json:"alpha" doc:"How far answers may be off, as a share of size"`
	Error      int64                 `json:"error" doc:"The same in people"`
	Beta       float64               `json:"beta" doc:"The probability that any answer is further off"`
	Queries    int                   `json:"queries" doc:"For how many different questions beta holds"`
	Predictor  string                `json:"predictor" doc:"What predicts: halving, ensemble or weights"`
	Round      dp.Cost               `json:"round" doc:"What a round costs: all tests up to the first that does not agree with what was predicted, and the noisy answer to that one"`
	Plain      dp.Cost               `json:"plain" doc:"What an answer costs that is paid for without a test"`
	MostPaid   int                   `json:"most_paid" doc:"How many rounds the budget of the stream holds"`
	MostPlain  int                   `json:"most_plain" doc:"How many plain answers the budget of the stream holds"`
}

// StreamAttributeJSON is a column of a stream.
type StreamAttributeJSON struct {
	Name   string   `json:"name"`
	Values []string `json:"values" doc:"Public keys, or the labels of ranges"`
}

// StreamInfo turns what the policy says about a stream into what machines read.
func StreamInfo(s api.StreamInfo) StreamInfoJSON {
	out := StreamInfoJSON{
		Dataset: s.Dataset, Name: s.Name, Table: s.Table, Attributes: []StreamAttributeJSON{}, Cells: s.Cells, Size: s.Size, Alpha: s.Alpha, Error: s.Error, Beta: s.Beta,
		Queries: s.Queries, Predictor: s.Predictor, Round: s.Round, Plain: s.Plain, MostPaid: s.MostPaid, MostPlain: s.MostPlain,
	}
	for _, a := range s.Attributes {
		out.Attributes = append(out.Attributes, StreamAttributeJSON{a.Name, append([]string{}, a.Values...)})
	}
	return out
}

// StreamReportJSON is the books of a stream.
type StreamReportJSON struct {
	Asked     int     `json:"asked"`
	Different int     `json:"different" doc:"How many different questions"`
	Cached    int     `json:"cached" doc:"Free: asked before"`
	Predicted int     `json:"predicted" doc:"Predicted, and the test agreed: free, but for the first of a round"`
	Paid      int     `json:"paid" doc:"The test did not agree with what was predicted"`
	Plain     int     `json:"plain" doc:"Paid for without a test"`
	Unchecked int     `json:"unchecked" doc:"Free, and without the guarantee: predicted when the budget was gone"`
	Refused   int     `json:"refused" doc:"The budget was gone"`
	Spent     dp.Cost `json:"spent"`
	Cache     dp.Cost `json:"cache" doc:"What remembering answers alone would have cost"`
	Naive     dp.Cost `json:"naive" doc:"What paying for every question would have cost"`
}

// StreamReport turns the books of a stream into what machines read.
func StreamReport(r stream.Report) StreamReportJSON {
	return StreamReportJSON{r.Asked, r.Different, r.Cached, r.Predicted, r.Paid, r.Plain, r.Unchecked, r.Refused, r.Spent, r.Cache, r.Naive}
}
