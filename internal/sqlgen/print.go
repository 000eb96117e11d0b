package sqlgen

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// output is what one statement has so far beside its text: its parameters and its aliases.
type output struct {
	*Schema
	Args    []any // the parameters so far
	aliases int   // how many there are, so that no two are the same
}

// Printer writes SQL over the rows of a relation. Numbers and times are integers
// everywhere: steps of their lattice, days or microseconds since 1970-01-01.
type Printer struct {
	*output
	Row       *ExprPrinter // prints expressions over a row of the relation
	relations *relationPrinter
	relation  *frame // what all of it is about
}

type ExprPrinter struct {
	*output
	relations *relationPrinter // for subqueries
	row       tuple            // what columns of an expression mean now
	// exists says that a subquery was printed since it was last unset.
	exists bool
	// trying says that what is printed stands inside of TRY, and decided what a subquery inside of
	// it is taken to be.
	trying  bool
	decided map[*tree.Exists]bool
}

// Print begins to write SQL over the rows of a relation.
func (s *Schema) Print(r tree.Relation) *Printer {
	out := &output{Schema: s}
	relations := &relationPrinter{output: out}
	relations.exprs = &ExprPrinter{output: out, relations: relations}
	of := relations.frame(r)
	relations.exprs.row = tuple{of}
	return &Printer{output: out, Row: relations.exprs, relations: relations, relation: of}
}

// FromClause prints the relation, and which of its rows are meant, as what follows FROM. It comes
// last, when all that is used is known.
func (p *Printer) FromClause(where ...string) string {
	text := p.relations.from(p.relation)
	if len(where) > 0 {
		text += " WHERE " + strings.Join(where, " AND ")
	}
	return text
}

func (p *Printer) Unit() string { return p.relation.field(p.relation.relation.Unit()) }

func (p *output) parameter(v any) string {
	if p.Parameter == nil {
		return p.Constant(v)
	}
	p.Args = append(p.Args, v)
	return p.Parameter(len(p.Args))
}

// let prints an expression that names a value more than once.
func (p *output) let(x string, in func(x string) string) string {
	if p.Let == nil || len(x) <= short {
		return in(x)
	}
	p.aliases++
	name := fmt.Sprintf("v%d", p.aliases)
	return p.Let(x, name, in(name))
}

// short is how long a text is, such as the name of a field, that may as well be written again.
const short = 40

func (p *output) typedParameter(v any, typ string) string {
	return "CAST(" + p.parameter(v) + " AS " + typ + ")"
}

func (p *output) integer(n *big.Int) string {
	if n.IsInt64() {
		return p.typedParameter(n.Int64(), p.Int64)
	}
	// As text, because drivers do not agree on how a big.Int is passed.
	return "CAST(" + p.typedParameter(n.String(), p.Text) + " AS " + p.Int128 + ")"
}

// Expr prints an expression over the row. What computes something is printed inside of TRY: no row
// makes it fail.
func (p *ExprPrinter) Expr(e tree.Expr) string {
	if !p.trying && tree.Computes(e) {
		return p.attempt(e, p.untried)
	}
	return p.untried(e)
}

// Cast prints an expression as a number of a type, or NULL.
func (p *ExprPrinter) Cast(e tree.Expr, typ string) string {
	return p.attempt(e, func(e tree.Expr) string { return "CAST(" + p.untried(e) + " AS " + typ + ")" })
}

// untried prints an expression without the TRY around it. Parentheses are always
// written, so that no precedence has to be right.
func (p *ExprPrinter) untried(e tree.Expr) string {
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
			return p.typedParameter(yes, p.Bool)
		}
		return p.existsQuery(e)
	}
	panic(fmt.Sprintf("dialect: no SQL for %T", e))
}

func (p *ExprPrinter) literal(e *tree.Literal) string {
	switch v := e.Value().(type) {
	case *big.Int:
		return p.integer(v)
	case string:
		return p.typedParameter(v, p.Text)
	case bool:
		return p.typedParameter(v, p.Bool)
	case tree.Day:
		return p.typedParameter(int64(v), p.Int64)
	case tree.Moment:
		return p.typedParameter(int64(v), p.Int64)
	}
	return "CAST(NULL AS " + p.holder(e.Type()) + ")"
}

// number prints a number for an operation that needs 128 bits, or 64. A stored
// integer without bounds is 64 bits wide, so its type alone does not say how it
// is held: where 128 bits are needed they are always asked for.
func (p *ExprPrinter) number(e tree.Expr, wide bool) string {
	if wide && e.Type().Kind == tree.Number {
		return "CAST(" + p.Expr(e) + " AS " + p.Int128 + ")"
	}
	return p.Expr(e)
}

// multiply prints a number times a constant. Constants that it is multiplied by already are in that
// one: no two stand where a database could multiply them with each other.
func (p *ExprPrinter) multiply(e tree.Expr, by *big.Int, wide bool) string {
	x, f := tree.Factored(e)
	if f.Mul(f, by); f.Cmp(one.Num()) == 0 {
		return p.number(x, wide)
	}
	return "(" + p.number(x, wide) + " * " + p.integer(f) + ")"
}

func (p *ExprPrinter) arith(e *tree.Arith) string {
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

// tuple says how the fields of a row are called. To name a field is to use it: a relation is
// printed last, when the fields in use are known, and has no others.
type tuple []*frame

// frame is a relation in a FROM clause. Its name is its own in the whole statement, so that
// a subquery can name the rows around it.
type frame struct {
	relation tree.Relation
	alias    string
	used     []bool
	loose    []bool // fields that are also used before the clamp to their bounds
	coded    []bool // fields of which the code is used
	number   bool   // whether the number of a person is used
	cut      int    // how many fields are seen; 0 stands for all
}

func (p *relationPrinter) frame(r tree.Relation) *frame {
	p.aliases++
	return &frame{relation: r, alias: fmt.Sprintf("t%d", p.aliases), used: make([]bool, len(r.Fields())),
		loose: make([]bool, len(r.Fields())), coded: make([]bool, len(r.Fields()))}
}

// first is a row without the fields that come after the first n.
func (r tuple) first(n int) tuple {
	var out tuple
	for _, f := range r {
		if f.size() > n {
			cut := *f
			cut.cut = n
			f = &cut // it shares used and loose, so that to name a field here is to use it there
		}
		out, n = append(out, f), n-f.size()
		if n == 0 {
			return out
		}
	}
	panic("sqlgen: a row with fewer fields than a subquery asks about") // package planner makes none
}

// size is how many fields of a frame there are to be named.
func (f *frame) size() int {
	if f.cut > 0 {
		return f.cut
	}
	return len(f.used)
}

// field names a field by its place among those of all frames.
func (r tuple) field(i int) string {
	f, at := r.frame(i)
	return f.field(at)
}

// frame finds the frame of a field, and its place there.
func (r tuple) frame(i int) (*frame, int) {
	for _, f := range r {
		if i < f.size() {
			return f, i
		}
		i -= f.size()
	}
	panic("sqlgen: a field that no row has") // package planner names no such field
}

func (f *frame) field(i int) string {
	f.used[i] = true
	return fmt.Sprintf("%s.f%d", f.alias, i)
}

// unclamped names a field of a table as it is before the clamp to its bounds: where package
// contribution clamps it, which does that faster than DuckDB, and where a comparison says the same
// of both.
func (f *frame) unclamped(i int) string {
	f.loose[i] = true
	return fmt.Sprintf("%s.r%d", f.alias, i)
}

// exprOver prints an expression of some rows, which follow each other.
func (p *ExprPrinter) exprOver(r tuple, e tree.Expr) string {
	outer := p.row
	p.row = r
	text := p.Expr(e)
	p.row = outer
	return text
}

// existsQuery prints EXISTS. Nothing inside of it is computed once a row: a database makes a join
// of it, because the relation itself names no row outside, and the condition alone does.
func (p *ExprPrinter) existsQuery(e *tree.Exists) string {
	inner := p.relations.frame(e.From)
	where := ""
	if e.On != nil {
		// The row that asks may have got more fields since: a subquery that is a value is joined to
		// it. On does not know them, and counts the inner row's from Outer on.
		where = " WHERE " + p.exprOver(append(p.row.first(e.Outer), inner), e.On)
	}
	p.exists = true
	return "EXISTS (SELECT 1 FROM " + p.relations.from(inner) + where + ")"
}

// No row makes a question fail. That nothing overflows, divides by zero or cannot be cast is proven
// by package planner, and the printers use no function outside of where it is defined; this is what
// holds where one of them is wrong. Whatever computes something from a row is printed inside of the
// dialect's TRY, which is NULL where there would have been an error. What is left outside are
// columns, constants, comparisons, AND, OR, NOT, IN, IS NULL, CASE and EXISTS, which cannot fail. A
// database that moves a part of TRY out of it would undo that: its driver has to see to it that
// none does.

// attempt prints an expression inside of TRY. A subquery cannot stand there, and EXISTS is true or
// false and nothing else: so it is asked outside, and the expression is printed for either.
func (p *ExprPrinter) attempt(e tree.Expr, print func(tree.Expr) string) string {
	if p.trying {
		return print(e)
	}
	for _, x := range subqueries(e) {
		if _, ok := p.decided[x]; ok {
			continue
		}
		text := p.existsQuery(x)
		yes, no := p.attemptDecided(x, true, e, print), p.attemptDecided(x, false, e, print)
		return "(CASE WHEN " + text + " THEN " + yes + " ELSE " + no + " END)"
	}
	p.trying = true
	defer func() { p.trying = false }()
	return p.Try(print(e))
}

// attemptDecided prints an expression in which a subquery is true, or false.
func (p *ExprPrinter) attemptDecided(x *tree.Exists, yes bool, e tree.Expr, print func(tree.Expr) string) string {
	if p.decided == nil {
		p.decided = map[*tree.Exists]bool{}
	}
	p.decided[x] = yes
	defer delete(p.decided, x)
	return p.attempt(e, print)
}

// subqueries are those of an expression, without those inside of them.
func subqueries(e tree.Expr) (out []*tree.Exists) {
	tree.WalkRow(e, func(e tree.Expr) {
		if x, ok := e.(*tree.Exists); ok && !slices.Contains(out, x) {
			out = append(out, x)
		}
	})
	return out
}

// compare prints a comparison. That of a column with a number between its bounds says the same of
// the column before its clamp: what is outside is on the same side of the number as the bound it
// would become. It is printed so, and with the number in the text, because a database then reads
// only the parts of a table where it can hold. We spell the number, not the analyst.
func (p *ExprPrinter) compare(e *tree.Compare) string {
	c, column := e.L.(*tree.Column)
	n, literal := e.R.(*tree.Literal)
	op := e.Op
	if !column || !literal {
		c, column = e.R.(*tree.Column)
		n, literal = e.L.(*tree.Literal)
		op = mirrored[op]
	}
	if column && literal && n.Number != nil && n.Number.IsInt64() && p.isBoundedScan(c) {
		if b := c.Field.Source.Bounds; unmoved(op, n.Number.Int64(), b.LoSteps, b.HiSteps) {
			f, at := p.row.frame(c.Index)
			return fmt.Sprintf("(%s %s CAST(%d AS %s))", f.unclamped(at), op, n.Number.Int64(), p.Int64)
		}
	}
	text := p.Expr(e.L) + " " + string(e.Op) + " " + p.Expr(e.R)
	if p.Compare != nil {
		return p.Compare(text)
	}
	return "(" + text + ")"
}

// mirrored is each operation with its sides exchanged.
var mirrored = map[tree.CompareOp]tree.CompareOp{tree.Eq: tree.Eq, tree.Ne: tree.Ne, tree.Lt: tree.Gt, tree.Gt: tree.Lt, tree.Le: tree.Ge,
	tree.Ge: tree.Le}

// unmoved reports whether a clamp to lo and hi changes nothing about a comparison with n.
func unmoved(op tree.CompareOp, n, lo, hi int64) bool {
	switch op {
	case tree.Lt, tree.Ge:
		return lo < n && n <= hi
	case tree.Le, tree.Gt:
		return lo <= n && n < hi
	case tree.Eq, tree.Ne:
		return lo < n && n < hi
	}
	return false
}
