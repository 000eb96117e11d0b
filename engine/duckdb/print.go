package duckdb

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/plan"
)

// printer writes DuckDB's SQL for a query. Numbers and dates are integers
// everywhere: steps of their lattice, days since 1970-01-01.
type printer struct {
	table *table
	used  map[string]string // alias by column, for those that the query uses
	names []string          // in order of use
	loose []string          // columns that are clamped elsewhere
	unit  bool              // whether the unit column is used, as it is stored
	args  []any
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

// column returns the alias of a column in the inner SELECT.
func (p *printer) column(name string) string {
	alias, ok := p.used[name]
	if !ok {
		alias = fmt.Sprintf("c%d", len(p.names))
		p.used[name] = alias
		p.names = append(p.names, name)
	}
	return alias
}

// unclamped returns the alias of a column as it is before the clamp to its bounds. Package bound does that
// faster than DuckDB.
func (p *printer) unclamped(name string) string {
	p.loose = append(p.loose, name)
	return fmt.Sprintf("r%d", len(p.loose)-1)
}

// source prints the inner SELECT: each used column as the policy declares it.
// It is printed last, when the columns in use are known.
func (p *printer) source() string {
	var cols []string
	for _, name := range p.names {
		cols = append(cols, p.declared(name)+" AS "+p.used[name])
	}
	for i, name := range p.loose {
		cols = append(cols, p.table.onLattice(name)+fmt.Sprintf(" AS r%d", i))
	}
	if p.unit {
		// As it is stored: a cast or a clamp could make two people one.
		cols = append(cols, p.table.raw(p.table.UnitColumn)+" AS unit")
	}
	if len(cols) == 0 {
		cols = []string{"1 AS c"}
	}
	return "(SELECT " + strings.Join(cols, ", ") + " FROM " + p.table.from + ")"
}

// expr prints an expression over the inner SELECT. Parentheses are always
// written, so that no precedence has to be right.
func (p *printer) expr(e plan.Expr) string {
	switch e := e.(type) {
	case *plan.Column:
		return p.column(e.Name)
	case *plan.Literal:
		return p.literal(e)
	case *plan.Rescale:
		return "(" + p.number(e.X, e.Type().Wide()) + " * " + p.integer(e.Factor) + ")"
	case *plan.ToReal:
		step := e.X.Type().Step
		return fmt.Sprintf("(CAST(%s AS DOUBLE) * %v::DOUBLE / %v::DOUBLE)", p.expr(e.X), step.Num(), step.Denom())
	case *plan.Arith:
		return p.arith(e)
	case *plan.Compare:
		return "(" + p.expr(e.L) + " " + string(e.Op) + " " + p.expr(e.R) + ")"
	case *plan.Logic:
		args := make([]string, len(e.Args))
		for i, a := range e.Args {
			args[i] = p.expr(a)
		}
		return "(" + strings.Join(args, " "+string(e.Op)+" ") + ")"
	case *plan.Not:
		return "(NOT " + p.expr(e.X) + ")"
	case *plan.In:
		x := p.expr(e.X)
		list := make([]string, len(e.List))
		for i, l := range e.List {
			list[i] = p.literal(l)
		}
		return "(" + x + " IN (" + strings.Join(list, ", ") + "))"
	case *plan.IsNull:
		return "(" + p.expr(e.X) + " IS NULL)"
	}
	panic(fmt.Sprintf("duckdb: no SQL for %T", e))
}

func (p *printer) literal(e *plan.Literal) string {
	switch v := e.Value().(type) {
	case *big.Int:
		return p.integer(v)
	case string:
		return p.arg(v, "VARCHAR")
	case bool:
		return p.arg(v, "BOOLEAN")
	case plan.Day:
		return p.arg(int64(v), "BIGINT")
	}
	return "CAST(NULL AS " + sqlType(e.Type()) + ")"
}

func sqlType(t plan.Type) string {
	switch t.Kind {
	case plan.Text:
		return "VARCHAR"
	case plan.Boolean:
		return "BOOLEAN"
	case plan.Real:
		return "DOUBLE"
	}
	return "BIGINT"
}

// number prints a number for an operation that needs 128 bits, or 64. A stored
// integer without bounds is 64 bits wide, so its type alone does not say how it
// is held: where 128 bits are needed they are always asked for.
func (p *printer) number(e plan.Expr, wide bool) string {
	if wide && e.Type().Kind == plan.Number {
		return "CAST(" + p.expr(e) + " AS HUGEINT)"
	}
	return p.expr(e)
}

func (p *printer) arith(e *plan.Arith) string {
	wide := e.Type().Wide() || e.L.Type().Wide() || e.R.Type().Wide()
	l, r := p.number(e.L, wide), p.number(e.R, wide)
	switch e.Op {
	case plan.Add, plan.Sub, plan.Mul:
		return "(" + l + " " + string(e.Op) + " " + r + ")"
	}
	// The divisor is made NULL where it is zero, and so is the result.
	op := map[plan.ArithOp]string{plan.Div: "/", plan.Quo: "//", plan.Rem: "%"}[e.Op]
	return "(" + l + " " + op + " nullif(" + r + ", 0))"
}
