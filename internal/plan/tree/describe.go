package tree

import (
	"math/big"
	"strings"
)

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
		return nested(e.L) + " " + Symbol(e.Op) + " " + nested(e.R)
	case *Compare:
		return nested(e.L) + " " + string(e.Op) + " " + nested(e.R)
	case *Logic:
		args := make([]string, len(e.Args))
		for i, a := range e.Args {
			args[i] = nested(a)
		}
		return strings.Join(args, " "+string(e.Op)+" ")
	case *Not:
		return "NOT " + nested(e.X)
	case *In:
		args := make([]string, len(e.List))
		for i, l := range e.List {
			args[i] = describeLiteral(l)
		}
		return nested(e.X) + " IN (" + strings.Join(args, ", ") + ")"
	case *IsNull:
		return nested(e.X) + " IS NULL"
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
		return nested(e.X) + " LIKE " + Quote(e.Pattern.String())
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

func nested(e Expr) string {
	switch e := e.(type) {
	case *Within:
		return nested(e.X)
	case *Rescale:
		return nested(e.X)
	case *ToReal:
		return nested(e.X)
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

// Quote writes a text as a constant. PostgreSQL's grammar gives a backslash no meaning there, and a quote is doubled.
func Quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
