package duckdb

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// printer writes DuckDB's SQL for a query. Numbers and times are integers
// everywhere: steps of their lattice, days or microseconds since 1970-01-01.
type printer struct {
	*snapshot
	row     tuple // what columns of an expression mean now
	aliases int   // how many there are, so that no two are the same
	args    []any
	// exists says that a subquery was printed since it was last unset.
	exists bool
	// trying says that what is printed stands inside of TRY, and decided what a subquery inside of it is taken to be.
	trying  bool
	decided map[*tree.Exists]bool
}

// arg adds a parameter.
func (p *printer) arg(v any, typ string) string {
	p.args = append(p.args, v)
	return fmt.Sprintf("CAST($%d AS %s)", len(p.args), typ)
}

func (p *printer) integer(n *big.Int) string {
	if n.IsInt64() {
		return p.arg(n.Int64(), "BIGINT")
	}
	// As text, because the driver passes a big.Int as a BIGNUM, which DuckDB does
	// not cast to a HUGEINT.
	return "CAST(" + p.arg(n.String(), "VARCHAR") + " AS HUGEINT)"
}

// expr prints an expression over the row. What computes something is printed inside of TRY: no row makes it fail.
func (p *printer) expr(e tree.Expr) string {
	if !p.trying && tree.Computes(e) {
		return p.try(e, p.bare)
	}
	return p.bare(e)
}

// cast prints an expression as a number of a type, or NULL.
func (p *printer) cast(e tree.Expr, typ string) string {
	return p.try(e, func(e tree.Expr) string { return "CAST(" + p.bare(e) + " AS " + typ + ")" })
}

// bare prints an expression without the TRY around it. Parentheses are always
// written, so that no precedence has to be right.
func (p *printer) bare(e tree.Expr) string {
	switch e := e.(type) {
	case *tree.Column:
		return p.row.field(e.Index)
	case *tree.Literal:
		return p.literal(e)
	case *tree.Rescale:
		return p.times(e, big.NewInt(1), e.Type().Wide())
	case *tree.ToReal:
		step := e.X.Type().Step
		// DuckDB rounds some integers of 128 bits to a neighbour of the nearest double, and
		// their texts to the nearest.
		via := "BIGINT"
		if e.X.Type().Wide() {
			via = "VARCHAR"
		}
		return fmt.Sprintf("(CAST(CAST(%s AS %s) AS DOUBLE) * %v::DOUBLE / %v::DOUBLE)", p.expr(e.X), via, step.Num(), step.Denom())
	case *tree.Arith:
		return p.arith(e)
	case *tree.Case:
		var b strings.Builder
		for _, w := range e.Whens {
			b.WriteString(" WHEN " + p.expr(w.If) + " THEN " + p.expr(w.Then))
		}
		return "(CASE" + b.String() + " ELSE " + p.expr(e.Else) + " END)"
	case *tree.Call:
		return p.call(e)
	case *tree.Within:
		return p.within(e)
	case *tree.Like:
		return p.like(e)
	case *tree.Compare:
		return p.compare(e)
	case *tree.Logic:
		args := make([]string, len(e.Args))
		for i, a := range e.Args {
			args[i] = p.expr(a)
		}
		return "(" + strings.Join(args, " "+string(e.Op)+" ") + ")"
	case *tree.Not:
		return "(NOT " + p.expr(e.X) + ")"
	case *tree.In:
		x := p.expr(e.X)
		list := make([]string, len(e.List))
		for i, l := range e.List {
			list[i] = p.literal(l)
		}
		return "(" + x + " IN (" + strings.Join(list, ", ") + "))"
	case *tree.IsNull:
		return "(" + p.expr(e.X) + " IS NULL)"
	case *tree.Exists:
		if yes, ok := p.decided[e]; ok {
			return p.arg(yes, "BOOLEAN")
		}
		return p.existing(e)
	}
	panic(fmt.Sprintf("duckdb: no SQL for %T", e))
}

func (p *printer) literal(e *tree.Literal) string {
	switch v := e.Value().(type) {
	case *big.Int:
		return p.integer(v)
	case string:
		return p.arg(v, "VARCHAR")
	case bool:
		return p.arg(v, "BOOLEAN")
	case tree.Day:
		return p.arg(int64(v), "BIGINT")
	case tree.Moment:
		return p.arg(int64(v), "BIGINT")
	}
	return "CAST(NULL AS " + sqlType(e.Type()) + ")"
}

func sqlType(t tree.Type) string {
	switch t.Kind {
	case tree.Text:
		return "VARCHAR"
	case tree.Boolean:
		return "BOOLEAN"
	case tree.Real:
		return "DOUBLE"
	}
	return "BIGINT"
}

// number prints a number for an operation that needs 128 bits, or 64. A stored
// integer without bounds is 64 bits wide, so its type alone does not say how it
// is held: where 128 bits are needed they are always asked for.
func (p *printer) number(e tree.Expr, wide bool) string {
	if wide && e.Type().Kind == tree.Number {
		return "CAST(" + p.expr(e) + " AS HUGEINT)"
	}
	return p.expr(e)
}

// times prints a number times a constant. Constants that it is multiplied by already are in that one: no two stand where DuckDB could
// multiply them with each other.
func (p *printer) times(e tree.Expr, by *big.Int, wide bool) string {
	x, f := tree.Factored(e)
	if f.Mul(f, by); f.Cmp(one.Num()) == 0 {
		return p.number(x, wide)
	}
	return "(" + p.number(x, wide) + " * " + p.integer(f) + ")"
}

func (p *printer) arith(e *tree.Arith) string {
	wide := e.Type().Wide() || e.L.Type().Wide() || e.R.Type().Wide()
	l, r := p.number(e.L, wide), p.number(e.R, wide)
	switch e.Op {
	case tree.Add, tree.Sub, tree.Mul:
		return "(" + l + " " + string(e.Op) + " " + r + ")"
	}
	// The divisor is made NULL where it is zero, and so is the result.
	op := map[tree.ArithOp]string{tree.Div: "/", tree.Quo: "//", tree.Rem: "%"}[e.Op]
	return "(" + l + " " + op + " nullif(" + r + ", 0))"
}
