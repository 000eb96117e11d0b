package expr

import (
	"cmp"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// readLiteral reads the text of a literal as a value of a kind.
func readLiteral(text string, k tree.Kind) (*tree.Literal, bool) {
	text = strings.TrimSpace(text)
	switch k {
	case tree.Number, tree.Real:
		if r, err := dp.ParseDecimal(text); err == nil {
			return NewNumber(r), true
		}
	case tree.Date:
		if d, ok := policy.ParseDate(text); ok {
			return newDate(d), true
		}
		// As PostgreSQL reads it, a day is what stands before the time of day.
		if _, ok := readMoment(text); ok {
			d, ok := policy.ParseDate(text[:10])
			return newDate(d), ok
		}
	case tree.Timestamp:
		if m, ok := readMoment(text); ok {
			return newTimestamp(m), true
		}
	case tree.Boolean:
		if b, ok := tree.ReadBoolean(text); ok {
			return NewBool(b), true
		}
	case tree.Text:
		return NewText(text), true
	}
	return nil, false
}

// zone is what a time may end with: how far its clock is from UTC.
var zone = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(.{10}[T ].*\d) ?(?:([Zz]|UTC|GMT)|([+-])(\d\d):?(\d\d)?)$`)
})

// readMoment reads a timestamp in UTC, as RFC 3339 writes it too; seconds may be left out.
func readMoment(text string) (int64, bool) {
	away := int64(0)
	if len(text) > 40 {
		return 0, false
	}
	if m := zone().FindStringSubmatch(text); m != nil {
		text = m[1]
		if m[3] != "" {
			hours, _ := strconv.ParseInt(m[4], 10, 64)
			minutes, _ := strconv.ParseInt("0"+m[5], 10, 64)
			if away = (hours*60 + minutes) * 60_000_000; hours > 15 || minutes > 59 {
				return 0, false
			}
			if m[3] == "-" {
				away = -away
			}
		}
	}
	if len(text) == len("2024-01-31 12:30") {
		text += ":00"
	}
	n, ok := policy.ParseTimestamp(text)
	return n - away, ok
}

// ExceedsInt64 reports whether a constant is a number that no key can hold.
func ExceedsInt64(l *tree.Literal) bool { return l.Number != nil && !l.Number.IsInt64() }

// MaxDomain bounds how many combinations of values are tried to find those of an expression.
const MaxDomain = 1 << 16

// Points lists the lattice between the ends of a type.
func Points(t tree.Type) ([]policy.Value, bool, error) {
	width := new(big.Int).Sub(t.Hi, t.Lo)
	if width.Cmp(big.NewInt(policy.MaxPublicValues)) >= 0 || !t.Lo.IsInt64() || !t.Hi.IsInt64() {
		return nil, false, nil
	}
	var out []policy.Value
	for i := t.Lo.Int64(); i <= t.Hi.Int64(); i++ {
		out = append(out, policy.Value{Type: policy.Integer, Int: i})
	}
	return out, true, nil
}

// Results returns the results of a CASE whose results are all constants.
func Results(e tree.Expr) ([]policy.Value, bool) {
	c, ok := e.(*tree.Case)
	if !ok {
		return nil, false
	}
	results := []tree.Expr{c.Else}
	for _, w := range c.Whens {
		results = append(results, w.Then)
	}
	var out []policy.Value
	for _, r := range results {
		l, ok := r.(*tree.Literal)
		if !ok {
			return nil, false
		}
		out = append(out, KeyValue(l.Value(), e.Type()))
	}
	return SortedValues(out), true
}

func BoolValue(b bool) policy.Value {
	v := policy.Value{Type: policy.Boolean}
	if b {
		v.Int = 1
	}
	return v
}

// KeyValue is a value of an expression as a key.
func KeyValue(v tree.Value, t tree.Type) policy.Value {
	switch x := v.(type) {
	case *big.Int:
		return policy.Value{Type: policy.Integer, Int: x.Int64()}
	case string:
		return policy.Value{Type: policy.Text, Text: x}
	case bool:
		return BoolValue(x)
	case tree.Day:
		return policy.Value{Type: policy.Date, Int: int64(x)}
	case tree.Moment:
		return policy.Value{Type: policy.Timestamp, Int: int64(x)}
	}
	return policy.Value{Type: KeyType(t), Null: true}
}

func KeyType(t tree.Type) policy.Type {
	return map[tree.Kind]policy.Type{tree.Text: policy.Text, tree.Boolean: policy.Boolean, tree.Date: policy.Date,
		tree.Timestamp: policy.Timestamp, tree.Number: policy.Integer}[t.Kind]
}

// FromKey is a key as a value of an expression of a type.
func FromKey(k policy.Value, t tree.Type) tree.Value {
	switch {
	case k.Null:
		return nil
	case t.Kind == tree.Text:
		return k.Text
	case t.Kind == tree.Boolean:
		return k.Bool()
	case t.Kind == tree.Date:
		return tree.Day(k.Int)
	case t.Kind == tree.Timestamp:
		return tree.Moment(k.Int)
	}
	return big.NewInt(k.Int)
}

// SortedValues sorts, NULL last, and leaves out repetitions.
func SortedValues(all []policy.Value) []policy.Value {
	slices.SortFunc(all, func(a, b policy.Value) int {
		if a.Null != b.Null {
			if a.Null {
				return 1
			}
			return -1
		}
		return cmp.Or(cmp.Compare(a.Text, b.Text), cmp.Compare(a.Int, b.Int))
	})
	return slices.Compact(all)
}

// Exact is a floating-point expression as the exact number that it stands for: a cast of an exact
// number, and sums, differences, products and choices of such, and their quotients by a constant.
// What an engine adds up is then a whole number of steps, as without the cast. Where there is none,
// as of a quotient of two columns, it reports false.
func Exact(e tree.Expr, pos int32) (tree.Expr, bool) {
	if e.Type().Kind == tree.Number {
		return e, true
	}
	switch x := e.(type) {
	case *tree.ToReal:
		return x.X, true
	case *tree.Arith:
		return exactArith(x, pos)
	case *tree.Case:
		return exactCase(x, pos)
	case *tree.Call:
		switch x.Fn {
		case "coalesce", "nullif", "greatest", "least", "abs":
			args, ok := exactAll(x.Args, pos)
			if !ok {
				return nil, false
			}
			out, err := Named(x.Fn, args, pos)
			return out, err == nil && out.Type().Kind == tree.Number
		}
	}
	return nil, false
}

func exactArith(e *tree.Arith, pos int32) (tree.Expr, bool) {
	l, ok1 := Exact(e.L, pos)
	r, ok2 := Exact(e.R, pos)
	if !ok1 || !ok2 {
		return nil, false
	}
	op := e.Op
	if op == tree.Div {
		c, ok := Constant(r)
		if !ok || c.Number == nil || c.Number.Sign() == 0 {
			return nil, false
		}
		value := new(big.Rat).Mul(new(big.Rat).SetInt(c.Number), c.Typ.Step)
		op, r = tree.Mul, NewNumber(value.Inv(value))
	}
	out, err := NewArith(op, l, r, pos)
	return out, err == nil && out.Type().Kind == tree.Number
}

func exactCase(e *tree.Case, pos int32) (tree.Expr, bool) {
	values := make([]tree.Expr, len(e.Whens), len(e.Whens)+1)
	for i, w := range e.Whens {
		values[i] = w.Then
	}
	values, ok := exactAll(append(values, e.Else), pos)
	if !ok {
		return nil, false
	}
	whens := make([]tree.When, len(e.Whens))
	for i, w := range e.Whens {
		whens[i] = tree.When{If: w.If, Then: values[i]}
	}
	out, err := NewCase(whens, values[len(whens)], pos)
	return out, err == nil && out.Type().Kind == tree.Number
}

// exactAll is [Exact] of each. A NULL is one of any kind.
func exactAll(all []tree.Expr, pos int32) ([]tree.Expr, bool) {
	out := make([]tree.Expr, len(all))
	for i, e := range all {
		if l, ok := e.(*tree.Literal); ok && l.IsNullLiteral() {
			out[i] = NewNull(tree.Type{})
			continue
		}
		var ok bool
		if out[i], ok = Exact(e, pos); !ok {
			return nil, false
		}
	}
	return out, true
}

// Numeric is a whole number that divides as PostgreSQL's numeric does, and not as its integers: the
// same number, times 1.0, which [Normal] leaves out again.
func Numeric(e tree.Expr, pos int32) (tree.Expr, error) {
	if !e.Type().Integer() || Pointed(e) {
		return e, nil
	}
	one := NewNumber(tree.One)
	one.Point = true
	return NewArith(tree.Mul, e, one, pos)
}

// Plain is an expression without the mark of [Numeric].
func Plain(e tree.Expr) tree.Expr {
	if a, ok := e.(*tree.Arith); ok && a.Op == tree.Mul && a.Typ.Integer() {
		if l, ok := a.R.(*tree.Literal); ok && l.Point && IsNumber(l, 1) && a.L.Type().Integer() {
			return a.L
		}
	}
	return e
}

var integerText, decimalText, dateText, timestampText = regexp.MustCompile(`\A` + tree.IntegerText + `\z`),
	regexp.MustCompile(`\A` + tree.DecimalText + `\z`),
	regexp.MustCompile(`\A` + tree.DateText + `\z`), regexp.MustCompile(`\A` + tree.TimestampText + `\z`)
