package curator

import (
	"math/big"

	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/plan"
	"github.com/discreet-dp/discreet/policy"
)

// encodingOf says how the columns of a table become features. All of it follows from the text and the policy.
func encodingOf(t *plan.Table) *learn.Encoding {
	e := &learn.Encoding{Target: columnOf(t.Target())}
	for _, k := range t.Features() {
		e.Features = append(e.Features, columnOf(k))
	}
	return e
}

func columnOf(k plan.TableColumn) learn.Column {
	out, of := learn.Column{Name: k.Name}, k.Expr.Type()
	if k.Values == nil {
		out.Lo, out.Hi, out.Step = k.Bounds()
		if of.Kind == plan.Date {
			out.Kind = "date"
		}
		return out
	}
	for _, v := range k.Values {
		out.Values = append(out.Values, showKey(v, of.Step))
	}
	return out
}

// showKey writes a public value as a row that is predicted for has it.
func showKey(v policy.Value, step *big.Rat) string {
	if v.Type != policy.Integer || step == nil {
		return v.String()
	}
	return new(big.Rat).Mul(new(big.Rat).SetInt64(v.Int), step).FloatString(decimals(step))
}

// modelBytes is the most that a model of so many weights takes in the ledger, however it turns out.
const (
	weightBytes = 64      // a whole number, and room for what is said about it
	modelBytes  = 1 << 20 // everything that is not a weight, a name or a value
)

// fits refuses a model that the ledger could not keep. It is decided by what is public, before anything is paid.
func (t *training) fits() error {
	e := t.plan.Encoding
	weights, text := 1, 0
	for _, f := range append(append([]learn.Column{}, e.Features...), e.Target) {
		text += 6 * len(f.Name) // every character may need six where it is quoted
		for _, v := range f.Values {
			text += 6*len(v) + 4
		}
	}
	for _, f := range e.Features {
		weights += max(1, len(f.Values))
	}
	models := max(1, len(e.Target.Values))
	if room := maxBytes - modelBytes - 4*text; room < 0 || weights > room/weightBytes/models {
		return refusal("select fewer columns, or columns with fewer keys", "the model would have %d weights for each of %d classes, which is more than can be kept", weights, models)
	}
	return nil
}
