package dialect

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// Printer writes SQL over the rows of a relation. Numbers and times are integers
// everywhere: steps of their lattice, days or microseconds since 1970-01-01.
type Printer struct {
	*Schema
	Args []any // the parameters so far

	relation *frame // what all of it is about
	row      tuple  // what columns of an expression mean now
	aliases  int    // how many there are, so that no two are the same
	// exists says that a subquery was printed since it was last unset.
	exists bool
	// trying says that what is printed stands inside of TRY, and decided what a subquery inside of
	// it is taken to be.
	trying  bool
	decided map[*tree.Exists]bool
}

// Print begins to write SQL over the rows of a relation.
func (s *Schema) Print(r tree.Relation) *Printer {
	p := &Printer{Schema: s}
	p.relation = p.frame(r)
	p.row = tuple{p.relation}
	return p
}

// FromClause prints the relation, and which of its rows are meant, as what follows FROM. It comes
// last, when all that is used is known.
func (p *Printer) FromClause(where ...string) string {
	text := p.source(p.relation)
	if len(where) > 0 {
		text += " WHERE " + strings.Join(where, " AND ")
	}
	return text
}

// Unit prints whose a row is.
func (p *Printer) Unit() string { return p.relation.field(p.relation.relation.Unit()) }

// add adds a parameter.
func (p *Printer) add(v any) string {
	if p.Parameter == nil {
		return p.Constant(v)
	}
	p.Args = append(p.Args, v)
	return p.Parameter(len(p.Args))
}

// let prints an expression that names a value more than once.
func (p *Printer) let(x string, in func(x string) string) string {
	if p.Let == nil || len(x) <= short {
		return in(x)
	}
	p.aliases++
	name := fmt.Sprintf("v%d", p.aliases)
	return p.Let(x, name, in(name))
}

// short is how long a text is, such as the name of a field, that may as well be written again.
const short = 40

// arg adds a parameter of a type.
func (p *Printer) arg(v any, typ string) string { return "CAST(" + p.add(v) + " AS " + typ + ")" }

func (p *Printer) integer(n *big.Int) string {
	if n.IsInt64() {
		return p.arg(n.Int64(), p.Int64)
	}
	// As text, because drivers do not agree on how a big.Int is passed.
	return "CAST(" + p.arg(n.String(), p.Text) + " AS " + p.Int128 + ")"
}

// Expr prints an expression over the row. What computes something is printed inside of TRY: no row
// makes it fail.
func (p *Printer) Expr(e tree.Expr) string {
	if !p.trying && tree.Computes(e) {
		return p.attempt(e, p.bare)
	}
	return p.bare(e)
}

// Cast prints an expression as a number of a type, or NULL.
func (p *Printer) Cast(e tree.Expr, typ string) string {
	return p.attempt(e, func(e tree.Expr) string { return "CAST(" + p.bare(e) + " AS " + typ + ")" })
}

// bare prints an expression without the TRY around it. Parentheses are always
// written, so that no precedence has to be right.
func (p *Printer) bare(e tree.Expr) string {
	switch e := e.(type) {
	case *tree.Column:
		return p.row.field(e.Index)
	case *tree.Literal:
		return p.literal(e)
	case *tree.Rescale:
		return p.multiply(e, big.NewInt(1), e.Type().Wide())
	case *tree.ToReal:
		step := e.X.Type().Step
		// DuckDB rounds some integers of 128 bits to a neighbour of the nearest double, and
		// their texts to the nearest.
		via := p.Int64
		if e.X.Type().Wide() {
			via = p.Text
		}
		return fmt.Sprintf("(CAST(CAST(%s AS %s) AS %s) * %s / %s)", p.Expr(e.X), via, p.Float64, p.Double(step.Num().String()),
			p.Double(step.Denom().String()))
	case *tree.Arith:
		return p.arith(e)
	case *tree.Case:
		var b strings.Builder
		for _, w := range e.Whens {
			b.WriteString(" WHEN " + p.Expr(w.If) + " THEN " + p.Expr(w.Then))
		}
		return "(CASE" + b.String() + " ELSE " + p.Expr(e.Else) + " END)"
	case *tree.Call:
		return p.call(e)
	case *tree.Within:
		return p.interval(e)
	case *tree.Like:
		return p.like(e)
	case *tree.Compare:
		return p.compare(e)
	case *tree.Logic:
		args := make([]string, len(e.Args))
		for i, a := range e.Args {
			args[i] = p.Expr(a)
		}
		return "(" + strings.Join(args, " "+string(e.Op)+" ") + ")"
	case *tree.Not:
		return "(NOT " + p.Expr(e.X) + ")"
	case *tree.In:
		x := p.Expr(e.X)
		list := make([]string, len(e.List))
		for i, l := range e.List {
			list[i] = p.literal(l)
		}
		return "(" + x + " IN (" + strings.Join(list, ", ") + "))"
	case *tree.IsNull:
		return "(" + p.Expr(e.X) + " IS NULL)"
	case *tree.Exists:
		if yes, ok := p.decided[e]; ok {
			return p.arg(yes, p.Bool)
		}
		return p.existing(e)
	}
	panic(fmt.Sprintf("dialect: no SQL for %T", e))
}

func (p *Printer) literal(e *tree.Literal) string {
	switch v := e.Value().(type) {
	case *big.Int:
		return p.integer(v)
	case string:
		return p.arg(v, p.Text)
	case bool:
		return p.arg(v, p.Bool)
	case tree.Day:
		return p.arg(int64(v), p.Int64)
	case tree.Moment:
		return p.arg(int64(v), p.Int64)
	}
	return "CAST(NULL AS " + p.holder(e.Type()) + ")"
}

// number prints a number for an operation that needs 128 bits, or 64. A stored
// integer without bounds is 64 bits wide, so its type alone does not say how it
// is held: where 128 bits are needed they are always asked for.
func (p *Printer) number(e tree.Expr, wide bool) string {
	if wide && e.Type().Kind == tree.Number {
		return "CAST(" + p.Expr(e) + " AS " + p.Int128 + ")"
	}
	return p.Expr(e)
}

// multiply prints a number times a constant. Constants that it is multiplied by already are in that
// one: no two stand where a database could multiply them with each other.
func (p *Printer) multiply(e tree.Expr, by *big.Int, wide bool) string {
	x, f := tree.Factored(e)
	if f.Mul(f, by); f.Cmp(one.Num()) == 0 {
		return p.number(x, wide)
	}
	return "(" + p.number(x, wide) + " * " + p.integer(f) + ")"
}

func (p *Printer) arith(e *tree.Arith) string {
	wide := e.Type().Wide() || e.L.Type().Wide() || e.R.Type().Wide()
	l, r := p.number(e.L, wide), p.number(e.R, wide)
	switch e.Op {
	case tree.Add, tree.Sub, tree.Mul:
		return "(" + l + " " + string(e.Op) + " " + r + ")"
	}
	// The divisor is made NULL where it is zero, and so is the result.
	r = "nullif(" + r + ", 0)"
	switch e.Op {
	case tree.Quo:
		return "(" + p.Quotient(l, r, wide) + ")"
	case tree.Rem:
		return "(" + l + " % " + r + ")"
	}
	return "(" + l + " / " + r + ")"
}
