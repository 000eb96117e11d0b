package holdoutsession

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/holdout"
	"github.com/discreet-dp/discreet/internal/answers"
)

// answer says what a session answered.
func (p *submission) answer(a *holdout.Answer) *api.HoldoutAnswer {
	out := &api.HoldoutAnswer{
		Dataset: p.open.board.host.Dataset.Name, Holdout: p.of.Name, Score: showScore(a.Score), Spent: a.Spent,
		Training: showScore(p.training),
		Error:    p.error(a.Spent), Confidence: answers.SixDecimals(1 - p.beta), Left: a.Left, Free: a.Cost == dp.Cost{}, Again: a.Again,
		Cost:    a.Cost,
		Receipt: api.Receipt{Sequence: a.Receipt.Sequence, Hash: a.Receipt.Hash, Free: a.Cost == dp.Cost{}},
	}
	out.Notes = p.notes(out)
	return out
}

// error is the error bar of an answer.
func (p *submission) error(spent bool) float64 {
	if spent {
		return p.open.tariff.Answered(p.beta)
	}
	return p.open.tariff.Confirmed(p.beta)
}

// notes are what a reader should know.
func (p *submission) notes(a *api.HoldoutAnswer) []string {
	var out []string
	probability := strconv.FormatFloat(a.Confidence, 'g', -1, 64)
	if a.Spent {
		out = append(out,
			fmt.Sprintf("the holdout contradicts the training value %s: this score comes from the holdout, with noise of scale %s, and "+
				"is within %.4f of its mean with probability %s", a.Training, showScore(p.of.Noise), a.Error, probability))
	} else {
		out = append(out,
			fmt.Sprintf("the holdout confirms the training value: this score is that value as it was given, and the mean over the "+
				"holdout is within %.4f of it with probability %s", a.Error, probability))
	}
	switch {
	case a.Again:
		out = append(out, "it was answered before, and is free")
	case a.Free:
		out = append(out, "the round that it belongs to had been paid for, so it is free")
	default:
		out = append(out, "it is the first of a round, and paid for the whole round: all further scores are free up to and including the "+
			"next one that the holdout contradicts")
	}
	return append(out, fmt.Sprintf("%d of %d answers from the holdout are left", a.Left, p.of.Answers))
}

// showScore writes a score: all its digits where they end, and nine of them where they do not.
func showScore(x *big.Rat) string {
	for digits := range 13 {
		if new(big.Rat).Mul(x, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil))).IsInt() {
			return x.FloatString(digits)
		}
	}
	return strings.TrimRight(x.FloatString(9), "0")
}

// table is the answer as one of SQL: one row with the score.
func (p *submission) table(a *api.HoldoutAnswer) *api.Answer {
	half := a.Error
	return &api.Answer{
		Columns: p.columns(), Rows: [][]any{{json.Number(a.Score)}}, Errors: [][]*float64{{&half}}, Confidence: a.Confidence,
		Notes: a.Notes, Cost: a.Cost, Remaining: a.Remaining, Receipt: a.Receipt, Version: a.Version, Alerts: a.Alerts,
		Limits: api.Limits{MaxRows: 1, MaxGroups: 1},
	}
}

func (p *submission) columns() []api.Column {
	return []api.Column{{Name: p.query.Name, Kind: "real", Type: "float8", Noisy: true, Approximate: true, Decimals: -1}}
}

// explanation says what a score would cost and how exact it would be.
func (p *submission) explanation(s holdout.Status) api.Inquiry {
	deviation, _ := p.of.Noise.Float64()
	answered := p.open.tariff.Answered(p.beta)
	why := fmt.Sprintf("Thresholdout: the score is compared with the training value %s. Where they are less than about %s apart the "+
		"answer is the training value, which is then within %.4f of the mean over the holdout; "+
		"where not, it is the mean with noise, within %.4f, and one of the %d answers that are left is used up. A round is paid for "+
		"once, and lasts until that happens", showScore(p.training), showScore(p.of.Threshold), p.open.tariff.Confirmed(p.beta), answered,
		s.Left)
	if s.Open {
		why += ". A round is open, so this score is free"
	}
	return api.Inquiry{
		Tables: []string{p.of.Table}, Keys: []api.KeyInquiry{}, Groups: 1, MaxRows: 1, MaxGroups: 1, Known: s.Known,
		Record: s.Receipt.Sequence,
		Bounds: fmt.Sprintf("one person is one row, and counts with 0 to 1; scores are means over %d people", p.open.config.Size),
		Measures: []api.Measurement{{
			Measure: "holdout_mean(" + p.query.Describe() + ")", Mechanism: "thresholdout", Sensitivity: 1 / float64(p.open.config.Size),
			Norm: "l1",
			Step: fmt.Sprintf("1/%d", p.open.config.Size*p.open.config.Steps), Deviation: deviation, Error: &answered, Why: why,
			Cost: p.open.tariff.Round,
		}},
		Cost: p.open.tariff.Round,
	}
}
