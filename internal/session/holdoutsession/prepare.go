package holdoutsession

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/mechanism/holdout/labels"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/policy"
)

func (p *submission) usedUp() error {
	return api.Refuse("scores that were given before are given again, free; for new ones the owner has to hold out fresh data",
		"the holdout %s is used up: all its %d answers have been given", strconv.Quote(p.of.Name), p.of.Answers)
}

// submission is a checked question to a holdout: everything but its answer, and all of it public.
type submission struct {
	of       *policy.Holdout
	open     *openHoldout
	data     sessionhost.Data
	key      string
	training *big.Rat
	score    func(context.Context, *sessionhost.Payer) (mech.Exact, error) // the exact sum, sealed
	beta     float64
	query    *tree.Holdout // of a table
	name     string        // on the board
}

func (c *Sessions) prepareHoldout(ctx context.Context, q api.HoldoutQuestion) (*submission, error) {
	ctx = meter.With(ctx)
	if err := c.Admit(q.Analyst); err != nil {
		return nil, err
	}
	p := &submission{beta: 1 - api.Confidence}
	if q.Confidence != 0 {
		if !(q.Confidence >= api.LeastConfidence && q.Confidence <= api.MostConfidence) {
			return nil, api.Refuse("", "a confidence must be from %v to %v", api.LeastConfidence, api.MostConfidence)
		}
		p.beta = 1 - q.Confidence
	}
	var err error
	if p.name, err = boardName(q.Name); err != nil {
		return nil, err
	}
	if p.of, err = c.holdout(ctx, q); err != nil {
		return nil, err
	}
	given, err := trainingOf(q.Training)
	if err != nil {
		return nil, err
	}
	if p.of.Labels != "" {
		return p, c.prepareLabels(ctx, p, q, given)
	}
	return p, c.prepareTable(ctx, p, q, given)
}

// holdout finds the holdout that is asked.
func (c *Sessions) holdout(ctx context.Context, q api.HoldoutQuestion) (*policy.Holdout, error) {
	names := c.Dataset.HoldoutNames()
	switch {
	case len(names) == 0:
		return nil, api.Refuse("ask the owner for one in the policy", "the dataset %s has no holdout", c.Dataset.Name)
	case q.Holdout != "":
		if h := c.Dataset.Holdouts[q.Holdout]; h != nil {
			return h, nil
		}
		return nil, api.Refuse("name one of "+strings.Join(names, ", "), "there is no holdout %s", strconv.Quote(q.Holdout))
	case len(names) == 1:
		return c.Dataset.Holdouts[names[0]], nil
	case q.SQL != "" && isSelect(q.SQL):
		h, err := planner.PrepareHoldout(c.Dataset, syntax.Open(q.SQL, q.Parsed), "", planner.Options{Meter: meter.Of(ctx)})
		if err != nil {
			return nil, err
		}
		return h.Of, nil
	}
	return nil, api.Refuse("name one of "+strings.Join(names, ", "), "the dataset %s has several holdouts", c.Dataset.Name)
}

// trainingOf reads a training value; nil where there is none.
func trainingOf(text string) (*big.Rat, error) {
	if text == "" {
		return nil, nil
	}
	x, err := dp.ParseDecimal(text)
	if err != nil || x.Sign() < 0 || x.Cmp(big.NewRat(1, 1)) > 0 {
		return nil, api.Refuse("write how well it does on your training data as a decimal number, such as 0.81",
			"the training value is not a number from 0 to 1")
	}
	return x, nil
}

var errNoTraining = api.Refuse("give it, such as 0.81: how well the model does on your training data", "the training value is missing")

func (c *Sessions) prepareLabels(ctx context.Context, p *submission, q api.HoldoutQuestion, given *big.Rat) error {
	switch {
	case q.SQL != "":
		return api.Refuse("submit predictions", "the holdout %s has labels and no table, so it cannot be asked with SQL",
			strconv.Quote(p.of.Name))
	case len(q.Predictions) == 0:
		return api.Refuse("submit one for each row", "there are no predictions")
	case given == nil:
		return errNoTraining
	}
	all, err := c.labels(p.of)
	if err != nil {
		return err
	}
	checked, err := all.Check(labels.Predictions{Values: q.Predictions, IDs: q.IDs})
	var wrong *labels.PredictionsError
	if errors.As(err, &wrong) {
		return api.Refuse(wrong.Instead, "%s", wrong.Problem)
	}
	if err != nil {
		return err
	}
	p.training, p.key = given, holdoutKey("predictions", checked.Key(), given)
	p.score = func(context.Context, *sessionhost.Payer) (mech.Exact, error) { return all.Score(checked) }
	return c.openFor(ctx, p, all)
}

func (c *Sessions) prepareTable(ctx context.Context, p *submission, q api.HoldoutQuestion, given *big.Rat) error {
	switch {
	case len(q.Predictions) > 0 || len(q.IDs) > 0:
		return api.Refuse("ask with an expression over its columns, as in "+p.example(),
			"the holdout %s is the table %s, and takes no predictions", strconv.Quote(p.of.Name), strconv.Quote(p.of.Table))
	case q.SQL == "":
		return api.Refuse("write for example "+p.example(), "there is no expression")
	}
	text, before := q.SQL, 0
	if !isSelect(text) {
		const opening = "SELECT holdout_mean("
		text, before = opening+text+`) FROM "`+strings.ReplaceAll(p.of.Table, `"`, `""`)+`"`, len(opening)
	}
	h, err := planner.PrepareHoldout(c.Dataset, syntax.Open(text, q.Parsed), p.of.Name, c.Options(ctx, api.Settings{}))
	if err != nil {
		return inExpression(err, before, len(q.SQL))
	}
	if err := c.CheckHoldout(h); err != nil {
		return err
	}
	if h.Training != nil && given != nil && h.Training.Cmp(given) != 0 {
		return api.Refuse("leave one of them out", "the question has two training values, %s and %s",
			h.Training.RatString(), given.RatString())
	}
	if err := c.withinSteps(h); err != nil {
		return err
	}
	if given == nil {
		given = h.Training
	}
	if given == nil {
		if given, err = c.onTraining(ctx, h); err != nil {
			return err
		}
	}
	p.query, p.training, p.key = h, given, holdoutKey("query", h.Query.Hash(), given)
	p.score = func(ctx context.Context, who *sessionhost.Payer) (mech.Exact, error) {
		return c.runHoldout(ctx, p, who)
	}
	return c.openFor(ctx, p, nil)
}

// inExpression moves the place of a refusal from the text that was made to the one that was given.
func inExpression(err error, before, length int) error {
	var r *api.Refusal
	if before > 0 && errors.As(err, &r) && r.Position >= 0 {
		if r.Position -= before; r.Position < 0 || r.Position > length {
			r.Position = -1
		}
	}
	return err
}

func isSelect(text string) bool {
	first, _, _ := strings.Cut(strings.TrimLeft(text, " \t\r\n("), " ")
	first, _, _ = strings.Cut(first, "\n")
	first, _, _ = strings.Cut(first, "\t")
	return strings.EqualFold(first, "select") || strings.EqualFold(first, "with")
}

func (p *submission) example() string {
	return "SELECT holdout_mean(predicted = outcome) FROM " + p.of.Table
}

// withinSteps checks what the noise is calibrated to: one person moves the sum by at most the steps
// of a score of 1.
func (c *Sessions) withinSteps(h *tree.Holdout) error {
	moves := h.Query.Sensitivity(h.Query.Measures[0], dp.L1).L1()
	moves.Mul(moves, big.NewInt(h.Factor))
	lo, _ := h.Query.Interval(h.Query.Measures[0])
	if moves.Cmp(big.NewInt(h.Of.Steps)) > 0 || lo.Sign() < 0 {
		return api.Refuse("bring it between 0 and 1, as in greatest(0, least(1, x))",
			"one person can move this score further than the holdout's noise allows for")
	}
	return nil
}

// onTraining computes the mean over the public table of training rows. It is told exactly, because
// it is about nobody.
func (c *Sessions) onTraining(ctx context.Context, h *tree.Holdout) (*big.Rat, error) {
	if h.Train == nil {
		return nil, errNoTraining
	}
	sums, err := c.RunPublic(ctx, h.Train)
	if err != nil {
		return nil, err
	}
	if sums[1] == 0 {
		return nil, api.Refuse("give the training value", "the training table %s has no rows", strconv.Quote(h.Of.Train))
	}
	x := new(big.Rat).Mul(new(big.Rat).SetInt64(sums[0]), h.TrainStep)
	return x.Quo(x, new(big.Rat).SetInt64(sums[1])), nil
}

// holdoutKey names a question: what is scored, and what it is compared with. Nothing private is in
// it.
func holdoutKey(kind, what string, training *big.Rat) string {
	h := sha256.New()
	for _, s := range []string{"holdout question", kind, what, training.RatString()} {
		fmt.Fprintf(h, "%d:%s,", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil))
}
