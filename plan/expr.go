package plan

import (
	"math/big"

	"github.com/discreet-dp/discreet/policy"
)

// Expr is a checked expression. The set of nodes is closed: what is not here
// cannot be asked, and each engine prints every node and nothing else. Every
// node is total: it has a value, perhaps NULL, for every row, and no row makes it
// fail or take longer.
type Expr interface {
	Type() Type
	expr()
}

// Column is a column of the private table as the policy declares it: cast to its
// type, rounded to its lattice, clamped to its bounds. What cannot be cast is NULL.
type Column struct {
	*policy.Column
	typ Type
}

// Literal is a constant of the question. Exactly one field says its value;
// none for NULL, which may be of any kind.
type Literal struct {
	typ    Type
	Number *big.Int // in steps of its type
	Text   *string
	Bool   *bool
	Days   *int64 // a date, in days since 1970-01-01
	Micros *int64 // a timestamp, in microseconds since 1970-01-01
	// point says that a number was written with a point or an exponent, as 2.0 is.
	point bool
}

// Released is a value of the answer, after noise: a key, or an aggregate.
// It appears in HAVING and ORDER BY only, never below the noise.
type Released struct {
	Output int // index into Plan.Outputs
	typ    Type
}

// Rescale multiplies a number of steps by a positive integer, which puts the
// same number on a finer lattice.
type Rescale struct {
	X      Expr
	Factor *big.Int
	typ    Type
}

// ToReal turns a number on a lattice into a floating-point number.
type ToReal struct {
	X   Expr
	typ Type
}

// Arith is +, - or * on numbers of one lattice, or on reals; quo and rem on integers,
// truncated towards zero as in PostgreSQL; and / on reals. Quo, rem and / by
// zero are NULL.
type Arith struct {
	Op   ArithOp
	L, R Expr
	typ  Type
}

// ArithOp is the operation of an Arith.
type ArithOp string

// The operations of Arith.
const (
	Add ArithOp = "+"
	Sub ArithOp = "-"
	Mul ArithOp = "*"
	Div ArithOp = "/"
	Quo ArithOp = "quo"
	Rem ArithOp = "rem"
)

// Compare compares two values of one type.
type Compare struct {
	Op   CompareOp
	L, R Expr
}

// CompareOp is the operation of a Compare, spelled as in SQL.
type CompareOp string

// The operations of Compare.
const (
	Eq CompareOp = "="
	Ne CompareOp = "<>"
	Lt CompareOp = "<"
	Le CompareOp = "<="
	Gt CompareOp = ">"
	Ge CompareOp = ">="
	// These two are never NULL: NULL is a value like others to them.
	Distinct    CompareOp = "IS DISTINCT FROM"
	NotDistinct CompareOp = "IS NOT DISTINCT FROM"
)

// Logic is AND or OR of two or more, with SQL's NULL.
type Logic struct {
	Op   LogicOp
	Args []Expr
}

// LogicOp is AND or OR.
type LogicOp string

// The operations of Logic.
const (
	And LogicOp = "AND"
	Or  LogicOp = "OR"
)

// Not is SQL's NOT.
type Not struct{ X Expr }

// In is membership in a list of literals of the type of X. Its list has no NULL.
type In struct {
	X    Expr
	List []*Literal
}

// IsNull is true or false, never NULL.
type IsNull struct{ X Expr }

var boolean = Type{Kind: Boolean}

func (e *Column) Type() Type   { return e.typ }
func (e *Literal) Type() Type  { return e.typ }
func (e *Released) Type() Type { return e.typ }
func (e *Rescale) Type() Type  { return e.typ }
func (e *ToReal) Type() Type   { return e.typ }
func (e *Arith) Type() Type    { return e.typ }
func (*Compare) Type() Type    { return boolean }
func (*Logic) Type() Type      { return boolean }
func (*Not) Type() Type        { return boolean }
func (*In) Type() Type         { return boolean }
func (*IsNull) Type() Type     { return boolean }
func (e *Case) Type() Type     { return e.typ }
func (e *Call) Type() Type     { return e.typ }
func (e *Within) Type() Type   { return e.typ }
func (*Like) Type() Type       { return boolean }

func (*Column) expr()   {}
func (*Literal) expr()  {}
func (*Released) expr() {}
func (*Rescale) expr()  {}
func (*ToReal) expr()   {}
func (*Arith) expr()    {}
func (*Compare) expr()  {}
func (*Logic) expr()    {}
func (*Not) expr()      {}
func (*In) expr()       {}
func (*IsNull) expr()   {}
func (*Case) expr()     {}
func (*Call) expr()     {}
func (*Within) expr()   {}
func (*Like) expr()     {}

// IsNullLiteral reports whether the literal is NULL.
func (e *Literal) IsNullLiteral() bool {
	return e.Number == nil && e.Text == nil && e.Bool == nil && e.Days == nil && e.Micros == nil
}

// columnExpr gives a policy column its type.
func columnExpr(c *policy.Column) *Column {
	e := &Column{Column: c}
	switch c.Type {
	case policy.Text:
		e.typ = Type{Kind: Text}
	case policy.Boolean:
		e.typ = boolean
	case policy.Date:
		e.typ = timeColumn(Date, c)
	case policy.Timestamp:
		e.typ = timeColumn(Timestamp, c)
	case policy.Integer, policy.Decimal:
		switch {
		case c.Bounds != nil:
			e.typ = numberType(c.Granularity, big.NewInt(c.Bounds.LoSteps), big.NewInt(c.Bounds.HiSteps), true)
		case c.Granularity != nil:
			e.typ = numberType(c.Granularity, minInt64, maxInt64, false)
		default: // a decimal of unknown granularity can only be compared
			e.typ = Type{Kind: Real, Exponent: anyExponent}
		}
	}
	return e
}

var (
	minInt64 = big.NewInt(-1 << 63)
	maxInt64 = big.NewInt(1<<63 - 1)
)

// parts returns the expressions directly below e.
func parts(e Expr) []Expr {
	switch e := e.(type) {
	case *Rescale:
		return []Expr{e.X}
	case *ToReal:
		return []Expr{e.X}
	case *Arith:
		return []Expr{e.L, e.R}
	case *Compare:
		return []Expr{e.L, e.R}
	case *Logic:
		return e.Args
	case *Not:
		return []Expr{e.X}
	case *In:
		return []Expr{e.X}
	case *IsNull:
		return []Expr{e.X}
	case *Case:
		var all []Expr
		for _, w := range e.Whens {
			all = append(all, w.If, w.Then)
		}
		return append(all, e.Else)
	case *Call:
		return e.Args
	case *Within:
		return []Expr{e.X}
	case *Like:
		return []Expr{e.X}
	}
	return nil
}

// walk calls f for e and everything below it. A value that is NULL outside of an
// interval has a NULL in it, as a CASE has that says the same.
func walk(e Expr, f func(Expr)) {
	f(e)
	if mayVanish(e) {
		f(newNull(e.Type()))
	}
	for _, p := range parts(e) {
		walk(p, f)
	}
}

// levels returns how deep e is nested.
func levels(e Expr) int {
	deepest := 0
	for _, p := range parts(e) {
		deepest = max(deepest, levels(p))
	}
	return deepest + 1
}
