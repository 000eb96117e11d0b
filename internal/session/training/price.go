package training

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/mechanism/learn"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// training is a question for a model with its price: everything that is decided before the data is
// looked at.
type training struct {
	table    *tree.Table
	plan     *learn.Plan
	currency pricing.Currency
	epsilon  dp.Amount // what was asked for: the weights, and the estimate on top
	hash     string
}

// errTrainingPrice is a mistake of ours: the plan costs more than what was asked for.
var errTrainingPrice = errors.New("the price of this training is not what was asked for, and nothing was charged; please report it")

// prepareTraining does the steps that cost nothing: check, and price. The text, the spec, the
// settings and the policy decide all of it.
func (c *Trainings) prepareTraining(ctx context.Context, q api.TrainingQuestion) (*training, error) {
	if err := c.Admit(q.Analyst); err != nil {
		return nil, err
	}
	t := &training{currency: pricing.Currency{Pure: c.Dataset.Budget.Pure()}}
	spec, err := t.price(c, q.Spec)
	if err != nil {
		return nil, err
	}
	if t.table, err = planner.PrepareTable(c.Dataset, q.Features, q.Target, c.Options(ctx, api.Settings{})); err != nil {
		return nil, err
	}
	if err := c.CheckTable(t.table); err != nil {
		return nil, err
	}
	if t.plan, err = learn.Prepare(encodingOf(t.table), spec,
		learn.Group{Neighbours: c.Dataset.Neighbours, MaxRows: int(t.table.MaxRows())}); err != nil {
		return nil, refused(err)
	}
	if err := CheckSize(t.plan.Encoding); err != nil {
		return nil, err
	}
	if !t.fitsPrice(spec) {
		return nil, errTrainingPrice
	}
	t.hash, err = t.named()
	return t, err
}

// refused makes a refusal of an error about what is public.
func refused(err error) error {
	var already *api.Refusal
	if errors.As(err, &already) {
		return err
	}
	reason, instead, _ := strings.Cut(err.Error(), "; ")
	return api.Refuse(instead, "%s", reason)
}

// price checks what is asked for against what one question may cost, and says it in the dataset's
// currency: a pure budget pays epsilon, and an (epsilon, delta) budget the rho that any mechanism
// of that epsilon would cost, for the weights and for the estimate each. See price for other
// questions.
func (t *training) price(c *Trainings, s learn.Spec) (learn.Spec, error) {
	b := c.Dataset.Budget
	switch {
	case s.Budget.Delta != 0 || s.Budget.Rho != 0:
		return s, api.Refuse("name only an epsilon",
			"the policy sets the currency that a training of %s is paid in, so delta and rho cannot be given", c.Dataset.Name)
	case s.Budget.Epsilon == 0:
		return s, api.Refuse("write for example epsilon 1", "a training needs an epsilon above 0")
	case s.Budget.Epsilon > b.MaxEpsilon || s.Evaluate > b.MaxEpsilon || s.Budget.Epsilon.Add(s.Evaluate) > b.MaxEpsilon:
		return s, api.Refuse("ask with at most "+b.MaxEpsilon.String()+" for the model and the estimate together",
			"epsilon %v is more than one question may cost here", s.Budget.Epsilon.Add(s.Evaluate))
	case s.Budget.Epsilon < b.MinEpsilon:
		return s, api.Refuse("ask with at least "+b.MinEpsilon.String(), "epsilon %v is less than a question costs here", s.Budget.Epsilon)
	case s.Evaluate != 0 && s.Evaluate < b.MinEpsilon:
		return s, api.Refuse("ask with at least "+b.MinEpsilon.String()+", or for no estimate",
			"epsilon %v for an estimate of the accuracy is less than a question costs here", s.Evaluate)
	}
	t.epsilon = s.Budget.Epsilon.Add(s.Evaluate)
	if !t.currency.Pure {
		s.Budget, s.Evaluate = learn.Budget{Rho: t.currency.Amount(s.Budget.Epsilon)}, t.currency.Amount(s.Evaluate)
	}
	return s, nil
}

// fitsPrice reports whether a plan costs at most what was asked for, and claims it in the currency
// that the budget adds up.
func (t *training) fitsPrice(s learn.Spec) bool {
	cost := t.plan.Cost
	if t.currency.Pure {
		return cost.Delta == 0 && cost.Epsilon > 0 && cost.Epsilon <= s.Budget.Epsilon.Add(s.Evaluate)
	}
	return cost.Delta == 0 && cost.Rho > 0 && cost.Rho <= s.Budget.Rho.Add(s.Evaluate)
}

// tag is the price as an analyst reads it: see [pricing.Priced.Tag].
func (t *training) tag() dp.Cost {
	cost := t.plan.Cost
	if !t.currency.Pure {
		cost.Epsilon = t.epsilon
	}
	return cost
}

// named names the rows, the features, the spec and the noise. It is no hash of another kind of
// question, so a request that was used for one cannot be used for the other.
func (t *training) named() (string, error) {
	encoding, err := json.Marshal(t.plan.Encoding)
	if err != nil {
		return "", api.Refuse("write finite numbers", "the features cannot be written down: %v", err)
	}
	spec, err := json.Marshal(t.plan.Spec)
	if err != nil {
		return "", api.Refuse("write finite numbers", "the request cannot be written down: %v", err)
	}
	h := sha256.New()
	for _, s := range []string{"training of a model", t.table.Hash(), string(encoding), string(spec), fmt.Sprint(t.plan.Group),
		t.plan.Spelling()} {
		fmt.Fprintf(h, "%d:%s,", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// key names the model: the same training on the same data.
func (t *training) key(version string) string {
	return t.table.Dataset + " " + version + " model " + t.hash
}

// modelMark begins the list of mechanisms of a charge for a model, and of no other.
const modelMark = "model: "

// mechanisms names the noise for the ledger.
func (t *training) mechanisms() string { return pricing.Shorten(modelMark+t.plan.Spelling(), 4000) }
