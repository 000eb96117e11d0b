package tree

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/policy"
)

func Hashed(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		n := sha256.Sum256([]byte(p))
		h.Write(n[:])
	}
	return hex.EncodeToString(h.Sum(nil)[:20])
}

// Format writes an expression in one canonical spelling. It names each
// column's lattice and bounds, so that a changed policy is another question.
func Format(e Expr) string {
	var b strings.Builder
	format(&b, e)
	return b.String()
}

// NoOutside is for expressions outside of an [Exists]: more fields than a row has.
const NoOutside = math.MaxInt

// format writes an expression. It stands in so many [Exists], one in the other, and outer has the
// first field of the relation of each, from the outermost to the innermost. The fields of each are
// counted from its first: how many the row outside has depends on what else is asked about it, and
// in which order.
func format(b *strings.Builder, e Expr, outer ...int) {
	list := func(op string, args ...Expr) {
		b.WriteByte('(')
		b.WriteString(op)
		for _, a := range args {
			b.WriteByte(' ')
			format(b, a, outer...)
		}
		b.WriteByte(')')
	}
	switch e := e.(type) {
	case *Column:
		index := e.Index
		for i, first := range slices.Backward(outer) {
			if index >= first {
				b.WriteString(strings.Repeat("one level out of ", len(outer)-1-i) + "inside ")
				index -= first
				break
			}
		}
		b.WriteString(strconv.Itoa(index))
		b.WriteByte(':')
		b.WriteString(e.Field.format())
		b.WriteByte(':')
		b.WriteString(e.Field.Type.String())
		if c := e.Field.Source; (e.Field.Type.Kind == Date || e.Field.Type.Kind == Timestamp) && c != nil && c.Bounds != nil {
			fmt.Fprintf(b, "[%s..%s]", c.Show(c.Bounds.LoSteps), c.Show(c.Bounds.HiSteps))
		} else if e.Field.Type.Kind == Number && c != nil && c.Type == policy.Decimal && e.Field.Type.Step.IsInt() {
			// The same interval as that of an integer, and another value: what is no integer is
			// NULL to one and a number to the other.
			b.WriteString(" decimal")
		}
	case *Literal:
		b.WriteString(e.format())
	case *Released:
		fmt.Fprintf(b, "#%d.%d", e.Stat, e.Part)
	case *Rescale:
		list("scale "+e.Factor.String(), e.X)
	case *ToReal:
		list("real", e.X)
	case *Arith:
		list(string(e.Op), e.L, e.R)
	case *Compare:
		list(string(e.Op), e.L, e.R)
	case *Logic:
		list(string(e.Op), e.Args...)
	case *Not:
		list("NOT", e.X)
	case *In:
		b.WriteString("(IN ")
		format(b, e.X, outer...)
		for _, l := range e.List {
			b.WriteByte(' ')
			b.WriteString(l.format())
		}
		b.WriteByte(')')
	case *IsNull:
		list("NULL?", e.X)
	case *Exists:
		fmt.Fprintf(b, "(exists %s", FormatRelation(e.From))
		if e.On != nil {
			b.WriteString(" on ")
			format(b, e.On, append(slices.Clone(outer), e.Outer)...)
		}
		b.WriteByte(')')
	case *Case:
		list("case", Parts(e)...)
	case *Call:
		list(e.Fn, e.Args...)
	case *Within:
		list("within "+e.ends(), e.X)
	case *Like:
		list("like "+strconv.Quote(e.Pattern.String()), e.X)
	default:
		panic(fmt.Sprintf("plan: no spelling for %T", e))
	}
}

func (e *Literal) format() string {
	switch v := e.Value().(type) {
	case nil:
		if e.Typ.Kind == Number && !e.Typ.Integer() {
			return "null*" + e.Typ.Step.RatString()
		}
		return "null"
	case string:
		return strconv.Quote(v)
	case bool:
		return strconv.FormatBool(v)
	case Day:
		return v.String()
	case Moment:
		return v.String()
	default:
		s := fmt.Sprint(v)
		if n, ok := v.(*big.Int); ok {
			s = n.String()
		}
		if !e.Typ.Integer() {
			s += "*" + e.Typ.Step.RatString()
		}
		return s
	}
}

// Describe writes an expression for a reader, as SQL without parameters.
func Describe(e Expr) string {
	switch e := e.(type) {
	case *Column:
		return e.Field.Describe()
	case *Literal:
		return describeLiteral(e)
	case *Rescale:
		return Describe(e.X)
	case *ToReal:
		return Describe(e.X)
	case *Arith:
		return formatNested(e.L) + " " + Symbol(e.Op) + " " + formatNested(e.R)
	case *Compare:
		return formatNested(e.L) + " " + string(e.Op) + " " + formatNested(e.R)
	case *Logic:
		args := make([]string, len(e.Args))
		for i, a := range e.Args {
			args[i] = formatNested(a)
		}
		return strings.Join(args, " "+string(e.Op)+" ")
	case *Not:
		return "NOT " + formatNested(e.X)
	case *In:
		args := make([]string, len(e.List))
		for i, l := range e.List {
			args[i] = describeLiteral(l)
		}
		return formatNested(e.X) + " IN (" + strings.Join(args, ", ") + ")"
	case *IsNull:
		return formatNested(e.X) + " IS NULL"
	case *Exists:
		return "EXISTS (...)"
	case *Case:
		text := "CASE"
		for _, w := range e.Whens {
			text += " WHEN " + Describe(w.If) + " THEN " + Describe(w.Then)
		}
		return text + " ELSE " + Describe(e.Else) + " END"
	case *Call:
		args := make([]string, len(e.Args))
		for i, a := range e.Args {
			args[i] = Describe(a)
		}
		return e.Fn + "(" + strings.Join(args, ", ") + ")"
	case *Within:
		return Describe(e.X)
	case *Like:
		return formatNested(e.X) + " LIKE " + Quote(e.Pattern.String())
	}
	return "?"
}

// Describe names a field; one that has no name of its own says whose a row is.
func (f Field) Describe() string {
	if f.Name == "" {
		return f.Identity
	}
	return f.Name
}

func formatNested(e Expr) string {
	switch e := e.(type) {
	case *Within:
		return formatNested(e.X)
	case *Rescale:
		return formatNested(e.X)
	case *ToReal:
		return formatNested(e.X)
	case *Arith, *Compare, *Logic, *Not, *In, *IsNull, *Like:
		return "(" + Describe(e) + ")"
	}
	return Describe(e)
}

func describeLiteral(e *Literal) string {
	switch v := e.Value().(type) {
	case *big.Int:
		x := new(big.Rat).Mul(new(big.Rat).SetInt(v), e.Typ.Step)
		return strings.TrimSuffix(strings.TrimRight(x.FloatString(12), "0"), ".")
	case string:
		return Quote(v)
	case Day:
		return "'" + v.String() + "'"
	case Moment:
		return "'" + v.String() + "'"
	case bool:
		if v {
			return "true"
		}
		return "false"
	}
	return "NULL"
}

// Quote writes a text as a constant. PostgreSQL's grammar gives a backslash no meaning there, and a
// quote is doubled.
func Quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
