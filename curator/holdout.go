package curator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/holdout"
	"github.com/discreet-dp/discreet/holdout/labels"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/plan"
	"github.com/discreet-dp/discreet/policy"
)

// HoldoutQuestion asks how well something does on a holdout of the policy, in a way that stays honest however often one asks: Thresholdout, of package holdout.
type HoldoutQuestion struct {
	Analyst string
	// Holdout is its name; it may be empty where the dataset has one, or where SQL names a table that has one.
	Holdout string
	// Predictions are for a holdout of labels: one for each row, with IDs that say whose each is where the rows have identifiers.
	Predictions, IDs []string
	// SQL is for a holdout that is a table: SELECT holdout_mean(expression) FROM table, or the expression alone.
	SQL string
	// Training is how well it does on the training data, as a decimal number from 0 to 1. It may be empty where the policy has a table to compute it on, or where SQL
	// has it.
	Training string
	// Name is what the score is called on the board; empty where it is not to be there.
	Name string
	// Confidence is the probability of the error bar; 0 means 0.95.
	Confidence float64
}

// HoldoutAnswer is a score that stays honest.
type HoldoutAnswer struct {
	Dataset string `json:"dataset"`
	Holdout string `json:"holdout"`
	// Score is a decimal number from 0 to 1. Where Spent is false it is the training value, which the holdout confirms; where it is true it comes from the holdout, with
	// noise, and has used up one of its answers.
	Score    string `json:"score"`
	Spent    bool   `json:"spent"`
	Training string `json:"training"`
	// Error is how far the mean over the holdout may be from Score, but for a probability of 1 - Confidence; see [holdout.Tariff.Confirmed].
	Error      float64 `json:"error"`
	Confidence float64 `json:"confidence"`
	Left       int     `json:"left"` // how many answers can still come from the holdout
	// Free says that nothing was charged for this answer: the first question of a round is charged for all of them.
	Free      bool           `json:"free"`
	Again     bool           `json:"again"` // it was answered before, in the same words
	Cost      dp.Cost        `json:"cost"`
	Receipt   Receipt        `json:"receipt"` // of the round that the answer belongs to
	Remaining Remaining      `json:"remaining"`
	Alerts    []ledger.Alert `json:"alerts"`
	Notes     []string       `json:"notes"`
	Version   DataVersion    `json:"data_version"` // of the tables; a file of labels has no number
}

// How a holdout fails, beside refusals and budgets.
var (
	// ErrHoldoutRun is returned when the engine failed while it computed a score. Questions of an open round are free, so what such a failure tells would be free too, as often as one likes: the
	// holdout answers nothing new until the process is started again.
	ErrHoldoutRun = errors.New("the engine could not compute this score, and the holdout answers nothing new until it is started again; ask the owner to run 'discreet check'")
	// ErrLabels is returned when the file of labels cannot be read. What is wrong with it is for the owner.
	ErrLabels = errors.New("the labels of this holdout cannot be read; ask the owner to run 'discreet check'. Nothing was charged")
)

// AskHoldout scores something on a holdout. It is charged for by rounds: all questions up to the next one that the holdout contradicts, and that one. The first question of a round pays for
// it, before any noise is drawn and before the score is computed; the others are free. A question that was answered before is answered again, by whoever asks.
//
// The order is that of the package: prepare (the text, or the predictions, against what is public), price (the policy says it), recall, charge, run, release, keep. The labels are
// in memory before, because they are loaded for their owner, whoever asks what: what is looked at after the charge is what they say about these predictions.
//
// What is promised is in package holdout. It needs of every question that its sum moves by at most Steps between neighbours. For labels that is package labels', where
// neighbours differ in one label; for a table it is checked here once more, by what [plan.Query.Sensitivity] says.
func (c *Curator) AskHoldout(ctx context.Context, q HoldoutQuestion) (*HoldoutAnswer, error) {
	p, err := c.prepareHoldout(ctx, q)
	if err != nil {
		return nil, err
	}
	// One at a time, and who waits can stop waiting.
	leave, err := c.flights.enter(ctx, p.open.id)
	if err != nil {
		return nil, err
	}
	defer leave()
	status, err := p.open.session.Status(ctx, p.key)
	if err != nil {
		return nil, err
	}
	if !status.Known && status.Told >= maxScores {
		return nil, refusal("scores that were told before are told again, free; ask the owner for another holdout", "the holdout %s has told %d different scores, and remembers no more", quoted(p.of.Name), status.Told)
	}
	pays := &payer{analyst: q.Analyst, alerts: []ledger.Alert{}}
	var over *ledger.BudgetError
	a, err := p.open.session.Ask(paidBy(ctx, pays), holdout.Question{Key: p.key, Training: p.training, Holdout: p.score})
	switch {
	case errors.Is(err, holdout.ErrUsedUp):
		return nil, p.usedUp()
	case errors.As(err, &over):
		// What other questions are advised, to ask with less, nobody can do here: the price is the policy's.
		return nil, fmt.Errorf("%w. This is the price of a round of the holdout, which the policy sets; scores that were told before stay free, and the owner of the data can raise the limit", over)
	case errors.Is(err, holdout.ErrQuestion):
		return nil, refusal("", "%v", err)
	case err != nil:
		return nil, err
	}
	p.open.tell(p.key, a)
	out := p.answer(a)
	out.Alerts = pays.alerts
	if err := c.onBoard(ctx, p, out, q); err != nil {
		return nil, err
	}
	if out.Remaining, err = c.Remaining(ctx, q.Analyst); err != nil {
		return nil, err
	}
	if p.of.Table != "" {
		now, err := c.ledger.DataVersion(ctx, c.dataset.Name, p.data.Label, p.data.state)
		if err != nil {
			return nil, err
		}
		out.Version = DataVersion{now.Number, now.Label}
	}
	return out, nil
}

func (p *submission) usedUp() error {
	return refusal("scores that were told before are told again, free; for new ones the owner has to hold out fresh data", "the holdout %s is used up: all its %d answers have been given", quoted(p.of.Name), p.of.Answers)
}

// submission is a checked question to a holdout: everything but its answer, and all of it public.
type submission struct {
	of       *policy.Holdout
	open     *openHoldout
	data     data
	key      string
	training *big.Rat
	score    func(context.Context) (mech.Exact, error) // the exact sum, sealed
	beta     float64
	query    *plan.Holdout // of a table
	name     string        // on the board
}

// prepareHoldout does what costs nothing.
func (c *Curator) prepareHoldout(ctx context.Context, q HoldoutQuestion) (*submission, error) {
	if err := c.admit(q.Analyst); err != nil {
		return nil, err
	}
	p := &submission{beta: 1 - Confidence}
	if q.Confidence != 0 {
		if !(q.Confidence >= leastConfidence && q.Confidence <= mostConfidence) {
			return nil, refusal("", "a confidence is from %v to %v", leastConfidence, mostConfidence)
		}
		p.beta = 1 - q.Confidence
	}
	var err error
	if p.name, err = boardName(q.Name); err != nil {
		return nil, err
	}
	if p.of, err = c.holdout(q); err != nil {
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
func (c *Curator) holdout(q HoldoutQuestion) (*policy.Holdout, error) {
	names := c.dataset.HoldoutNames()
	switch {
	case len(names) == 0:
		return nil, refusal("ask the owner for one in the policy", "the dataset %s has no holdout", c.dataset.Name)
	case q.Holdout != "":
		if h := c.dataset.Holdouts[q.Holdout]; h != nil {
			return h, nil
		}
		return nil, refusal("name one of "+strings.Join(names, ", "), "there is no holdout %s", quoted(q.Holdout))
	case len(names) == 1:
		return c.dataset.Holdouts[names[0]], nil
	case q.SQL != "" && isSelect(q.SQL):
		h, err := plan.PrepareHoldout(c.dataset, q.SQL, "")
		if err != nil {
			return nil, err
		}
		return h.Of, nil
	}
	return nil, refusal("name one of "+strings.Join(names, ", "), "the dataset %s has several holdouts", c.dataset.Name)
}

// trainingOf reads a training value; nil where there is none.
func trainingOf(text string) (*big.Rat, error) {
	if text == "" {
		return nil, nil
	}
	x, err := dp.ParseDecimal(text)
	if err != nil || x.Sign() < 0 || x.Cmp(big.NewRat(1, 1)) > 0 {
		return nil, refusal("write how well it does on your training data as a decimal number, such as 0.81", "the training value is not a number from 0 to 1")
	}
	return x, nil
}

var errNoTraining = refusal("give it, such as 0.81: how well the same does on your training data", "the training value is missing")

// prepareLabels checks predictions.
func (c *Curator) prepareLabels(ctx context.Context, p *submission, q HoldoutQuestion, given *big.Rat) error {
	switch {
	case q.SQL != "":
		return refusal("submit predictions", "the holdout %s has labels and no table, so it cannot be asked with SQL", quoted(p.of.Name))
	case len(q.Predictions) == 0:
		return refusal("submit one for each row", "there are no predictions")
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
		return refusal(wrong.Instead, "%s", wrong.Problem)
	}
	if err != nil {
		return err
	}
	p.training, p.key = given, holdoutKey("predictions", checked.Key(), given)
	p.score = func(context.Context) (mech.Exact, error) { return all.Score(checked) }
	return c.openFor(ctx, p, all)
}

// prepareTable checks an expression.
func (c *Curator) prepareTable(ctx context.Context, p *submission, q HoldoutQuestion, given *big.Rat) error {
	switch {
	case len(q.Predictions) > 0 || len(q.IDs) > 0:
		return refusal("ask with an expression over its columns, as in "+p.example(), "the holdout %s is the table %s, and takes no predictions", quoted(p.of.Name), quoted(p.of.Table))
	case q.SQL == "":
		return refusal("write for example "+p.example(), "there is no expression")
	}
	text, before := q.SQL, 0
	if !isSelect(text) {
		const opening = "SELECT holdout_mean("
		text, before = opening+text+`) FROM "`+strings.ReplaceAll(p.of.Table, `"`, `""`)+`"`, len(opening)
	}
	h, err := plan.PrepareHoldout(c.dataset, text, p.of.Name)
	if err != nil {
		return inExpression(err, before, len(q.SQL))
	}
	if h.Training != nil && given != nil && h.Training.Cmp(given) != 0 {
		return refusal("leave one of them out", "the question has two training values, %s and %s", h.Training.RatString(), given.RatString())
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
	p.score = func(ctx context.Context) (mech.Exact, error) { return c.runHoldout(ctx, p) }
	return c.openFor(ctx, p, nil)
}

// inExpression moves the place of a refusal from the text that was made to the one that was given.
func inExpression(err error, before, length int) error {
	var r *plan.Refusal
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

// withinSteps checks what the noise is calibrated to: one person moves the sum by at most the steps of a score of 1.
func (c *Curator) withinSteps(h *plan.Holdout) error {
	moves := h.Query.Sensitivity(h.Query.Measures[0], dp.L1).L1()
	moves.Mul(moves, big.NewInt(h.Factor))
	lo, _ := h.Query.Interval(h.Query.Measures[0])
	if moves.Cmp(big.NewInt(h.Of.Steps)) > 0 || lo.Sign() < 0 {
		return refusal("bring it between 0 and 1, as in greatest(0, least(1, x))", "one person can move this score further than the holdout's noise is for")
	}
	return nil
}

// onTraining computes the mean over the public table of training rows. It is told exactly, because it is about nobody.
func (c *Curator) onTraining(ctx context.Context, h *plan.Holdout) (*big.Rat, error) {
	if h.Train == nil {
		return nil, errNoTraining
	}
	sums, err := engine.RunPublic(ctx, c.engine, h.Train)
	if err != nil {
		return nil, err
	}
	if sums[1] == 0 {
		return nil, refusal("give the training value", "the training table %s has no rows", quoted(h.Of.Train))
	}
	x := new(big.Rat).Mul(new(big.Rat).SetInt64(sums[0]), h.TrainStep)
	return x.Quo(x, new(big.Rat).SetInt64(sums[1])), nil
}

// runHoldout computes the sum over the holdout. Who stops waiting does not stop it: an engine that was stopped has failed, and ends the holdout for everybody.
func (c *Curator) runHoldout(ctx context.Context, p *submission) (mech.Exact, error) {
	if p.open.failed.Load() {
		return mech.Exact{}, ErrHoldoutRun
	}
	r, err := c.engine.Run(context.WithoutCancel(ctx), &p.query.Query)
	if err != nil || len(r.Measures) != 1 || r.Measures[0].Len() != 1 {
		p.open.failed.Store(true)
		return mech.Exact{}, ErrHoldoutRun
	}
	return r.Measures[0].Weighted([]int64{p.query.Factor}), nil
}

// holdoutKey names a question: what is scored, and what it is compared with. Nothing private is in it.
func holdoutKey(kind, what string, training *big.Rat) string {
	h := sha256.New()
	for _, s := range []string{"holdout question", kind, what, training.RatString()} {
		fmt.Fprintf(h, "%d:%s,", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil))
}
