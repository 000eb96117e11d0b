package training

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/pricing"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/policy"
)

// encodingOf says how the columns of a table become features. All of it follows from the text and
// the policy.
func encodingOf(t *tree.Table) *learn.Encoding {
	e := &learn.Encoding{Target: columnOf(t.Target())}
	for _, k := range t.Features() {
		e.Features = append(e.Features, columnOf(k))
	}
	return e
}

func columnOf(k tree.TableColumn) learn.Column {
	out, of := learn.Column{Name: k.Name}, k.Expr.Type()
	if k.Values == nil {
		out.Lo, out.Hi, out.Step = k.Bounds()
		if of.Kind == tree.Date {
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
	return new(big.Rat).Mul(new(big.Rat).SetInt64(v.Int), step).FloatString(pricing.Decimals(step))
}
