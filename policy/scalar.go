package policy

import (
	"fmt"
	"math/big"

	"go.yaml.in/yaml/v3"

	"github.com/discreet-dp/discreet/dp"
)

// scalar returns the node of a single value.
func (r *reader) scalar(p place, key, want string) (*yaml.Node, bool) {
	switch {
	case p.node.Kind == yaml.AliasNode:
		return nil, false // Refused already.
	case p.node.Kind != yaml.ScalarNode:
		r.at(p, "'%s' must be %s, but this is %s", key, want, kind(p.node))
		return nil, false
	case r.isNull(p):
		r.at(p, "'%s' is empty; write %s", key, want)
		return nil, false
	}
	return p.node, true
}

// text reads a word, taken by its spelling.
func (r *reader) text(p place, key, want string) (string, bool) {
	n, ok := r.scalar(p, key, want)
	if !ok {
		return "", false
	}
	if n.Value == "" {
		r.at(p, "'%s' is empty; write %s", key, want)
		return "", false
	}
	return n.Value, true
}

// number reads a decimal number exactly, from its spelling.
func (r *reader) number(p place, key string) (*big.Rat, bool) {
	n, ok := r.scalar(p, key, "a decimal number")
	if !ok {
		return nil, false
	}
	if !plain(n) {
		r.at(p, "'%s' is text, because it stands in quotes; write the number without them", key)
		return nil, false
	}
	v, err := dp.ParseDecimal(n.Value)
	if err != nil {
		r.at(p, "'%s' is %s, which is not a decimal number; write for example %s", key, quote(n.Value), exampleOf(key))
		return nil, false
	}
	return v, true
}

func exampleOf(key string) string {
	switch key {
	case "failures", "analyst", "dataset":
		return "3"
	case "max_rows", "max_groups", "windows", "every", "answers", "steps", "width":
		return "5"
	case "max_fanout":
		return "1000"
	case "lengths":
		return "30"
	case "max_joined":
		return "500"
	case "granularity", "alpha", "noise", "threshold":
		return "0.01"
	case "beta":
		return "0.001"
	case "size", "queries", "people", "rows", "values":
		return "100000"
	case "delta", "keys_delta":
		return "1e-6"
	}
	return "0.5"
}

// amount reads a positive amount of privacy, rounded down.
func (r *reader) amount(p place, key string) (dp.Amount, bool) {
	n, ok := r.number(p, key)
	if !ok {
		return 0, false
	}
	a, err := dp.Floor(n)
	switch {
	case n.Sign() <= 0:
		r.at(p, "%s must be above 0; write for example 0.5", key)
	case err != nil:
		// The largest amount stands for all that are too large to be one; every
		// limit on an epsilon is far below it.
		return dp.Unbounded, true
	case a == 0:
		r.at(p, "%s %s is below 2^-40, about 1e-12, the smallest amount that is counted; write a larger one", key, p.node.Value)
	default:
		return a, true
	}
	return 0, false
}

// whole reads a whole number between 1 and most.
func (r *reader) whole(p place, key string, most int64, means string) (int64, bool) {
	n, ok := r.number(p, key)
	if !ok {
		return 0, false
	}
	if !n.IsInt() || n.Sign() <= 0 || n.Cmp(new(big.Rat).SetInt64(most)) > 0 {
		r.at(p, "%s must be a whole number from 1 to %d; it is %s", key, most, means)
		return 0, false
	}
	return n.Num().Int64(), true
}

// truth reads true or false. The many other spellings of YAML 1.1 are refused
// here, because next to text columns they are traps.
func (r *reader) truth(p place, key string) (value, ok bool) {
	n, ok := r.scalar(p, key, "true or false")
	if !ok {
		return false, false
	}
	if value, ok = parseBool(n); !ok {
		r.at(p, "'%s' must be true or false, but this is %s", key, quote(n.Value))
	}
	return value, ok
}

func parseBool(n *yaml.Node) (value, ok bool) {
	if !plain(n) || (n.Value != "true" && n.Value != "false") {
		return false, false
	}
	return n.Value == "true", true
}

// parseNumber reads a number exactly, and returns what is wrong where it is none.
func parseNumber(text string) (*big.Rat, string) {
	n, err := dp.ParseDecimal(text)
	if err != nil {
		return nil, fmt.Sprintf("%s is not a decimal number; write for example 0, 110 or 0.5", quote(text))
	}
	return n, ""
}

// decimal writes a number as a person would, exactly where that is short.
func decimal(n *big.Rat) string {
	digits, exact := n.FloatPrec()
	if exact && digits <= 20 && n.Num().BitLen() <= 128 {
		return n.FloatString(digits)
	}
	return "about " + new(big.Float).SetRat(n).Text('g', 6)
}
