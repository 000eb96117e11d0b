package tree

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// Expr is a checked expression. The set of nodes is closed: what is not here cannot be asked, and
// each engine prints every node and nothing else. Every node is total: it has a value, perhaps
// NULL, for every row, and no row makes it fail or take longer.
type Expr interface {
	Type() Type
	expr()
}

// Column is a field of the relation that the expression is about. A column of a table is as the
// policy declares it: cast to its type, rounded to its lattice, clamped to its bounds. What cannot
// be cast is NULL.
type Column struct {
	Index int // into Relation.Fields
	Field Field
}

// Literal is a constant of the question. Exactly one field says its value;
// none for NULL, which may be of any kind.
type Literal struct {
	Typ    Type
	Number *big.Int // in steps of its type
	Text   *string
	Bool   *bool
	Days   *int64 // a date, in days since 1970-01-01
	Micros *int64 // a timestamp, in microseconds since 1970-01-01
	// point says that a number was written with a point or an exponent, as 2.0 is.
	Point bool
}

// Released is a value of the answer, after noise: a key, or an aggregate.
// It appears above the noise only, never below.
type Released struct {
	Stat int // index into Plan.Stats
	Part ReleasedPart
	Typ  Type
	// Summed says that it is a sum, which PostgreSQL divides as a decimal number, and not as a
	// whole one.
	Summed bool
}

// ReleasedPart is the value itself, or an end of its interval.
type ReleasedPart int

const (
	// PartValue is the released value.
	PartValue ReleasedPart = iota
	// PartLow and PartHigh are the ends of its interval: dp_low(x), dp_high(x).
	PartLow
	PartHigh
	// PartError is half of the interval's width: dp_error(x).
	PartError
)

// Exists reports whether a relation has a row that fits: EXISTS, and IN with a subquery. A private
// relation is linked by an identity to the row that asks.
type Exists struct {
	From  Relation
	Outer int  // how many fields the row that asks has
	On    Expr // over those fields, and then those of From; nil stands for true
}

// Rescale multiplies a number of steps by a positive integer, which puts the
// same number on a finer lattice.
type Rescale struct {
	X      Expr
	Factor *big.Int
	Typ    Type
}

// ToReal turns a number on a lattice into a floating-point number.
type ToReal struct {
	X   Expr
	Typ Type
}

// Arith is +, - or * on numbers of one lattice, or on reals; quo and rem on integers, truncated
// towards zero as in PostgreSQL; and / on reals. Quo, rem and / by zero are NULL.
type Arith struct {
	Op   ArithOp
	L, R Expr
	Typ  Type
}

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

// Equates reports whether it says, or may be made to say by NOT, that two values are equal of which
// neither is a literal.
func (e *Compare) Equates() bool {
	_, left := e.L.(*Literal)
	_, right := e.R.(*Literal)
	return !left && !right && (e.Op == Eq || e.Op == Ne || e.Op == Distinct || e.Op == NotDistinct)
}

// Logic is AND or OR of two or more, with SQL's NULL.
type Logic struct {
	Op   LogicOp
	Args []Expr
}

type LogicOp string

// The operations of Logic.
const (
	And LogicOp = "AND"
	Or  LogicOp = "OR"
)

type Not struct{ X Expr }

// In is membership in a list of literals of the type of X. Its list has no NULL.
type In struct {
	X    Expr
	List []*Literal
}

// IsNull is true or false, never NULL.
type IsNull struct{ X Expr }

var Bool = Type{Kind: Boolean}

func (e *Column) Type() Type { return e.Field.Type }

func (e *Literal) Type() Type { return e.Typ }

func (e *Released) Type() Type { return e.Typ }

func (e *Rescale) Type() Type { return e.Typ }

func (e *ToReal) Type() Type { return e.Typ }

func (e *Arith) Type() Type { return e.Typ }

func (*Compare) Type() Type { return Bool }

func (*Logic) Type() Type { return Bool }

func (*Not) Type() Type { return Bool }

func (*In) Type() Type { return Bool }

func (*IsNull) Type() Type { return Bool }

func (*Exists) Type() Type { return Bool }

func (e *Case) Type() Type { return e.Typ }

func (e *Call) Type() Type { return e.Typ }

func (e *Within) Type() Type { return e.Typ }

func (*Like) Type() Type { return Bool }

func (*Column) expr() {}

func (*Literal) expr() {}

func (*Released) expr() {}

func (*Rescale) expr() {}

func (*ToReal) expr() {}

func (*Arith) expr() {}

func (*Compare) expr() {}

func (*Logic) expr() {}

func (*Not) expr() {}

func (*In) expr() {}

func (*IsNull) expr() {}

func (*Exists) expr() {}

func (*Case) expr() {}

func (*Call) expr() {}

func (*Within) expr() {}

func (*Like) expr() {}

func (e *Literal) IsNullLiteral() bool {
	return e.Number == nil && e.Text == nil && e.Bool == nil && e.Days == nil && e.Micros == nil
}

func NewColumn(r Relation, field int) *Column { return &Column{Index: field, Field: r.Fields()[field]} }

var (
	MinInt64 = big.NewInt(-1 << 63)
	MaxInt64 = big.NewInt(1<<63 - 1)
)

func Parts(e Expr) (all []Expr) {
	switch e := e.(type) {
	case *Logic:
		return e.Args
	case *Call:
		return e.Args
	}
	EachPart(e, func(p Expr) { all = append(all, p) })
	return all
}

// EachPart calls f for the expressions directly below e, in their order.
func EachPart(e Expr, f func(Expr)) {
	switch e := e.(type) {
	case *Rescale:
		f(e.X)
	case *ToReal:
		f(e.X)
	case *Arith:
		f(e.L)
		f(e.R)
	case *Compare:
		f(e.L)
		f(e.R)
	case *Logic:
		for _, a := range e.Args {
			f(a)
		}
	case *Not:
		f(e.X)
	case *In:
		f(e.X)
	case *IsNull:
		f(e.X)
	case *Exists:
		if e.On != nil {
			f(e.On)
		}
	case *Case:
		for _, w := range e.Whens {
			f(w.If)
			f(w.Then)
		}
		f(e.Else)
	case *Call:
		for _, a := range e.Args {
			f(a)
		}
	case *Within:
		f(e.X)
	case *Like:
		f(e.X)
	}
}

// Walk calls f for an expression and everything below it.
func Walk(e Expr, f func(Expr)) {
	f(e)
	EachPart(e, func(p Expr) { Walk(p, f) })
}

// Size is how much there is to compute in an expression: its parts, and what it is compared with.
func Size(e Expr) int {
	n := 0
	Walk(e, func(x Expr) {
		n++
		if in, ok := x.(*In); ok {
			n += len(in.List)
		}
	})
	return n
}

// WalkRow is Walk without what is inside of an [Exists], which is about other rows too and whose
// value is true or false.
func WalkRow(e Expr, f func(Expr)) {
	f(e)
	if _, ok := e.(*Exists); ok {
		return
	}
	EachPart(e, func(p Expr) { WalkRow(p, f) })
}

func Levels(e Expr) int {
	deepest := 0
	EachPart(e, func(p Expr) { deepest = max(deepest, Levels(p)) })
	return deepest + 1
}

// Stored is an identity as it is stored.
func (e *Column) Stored() *Column {
	if e.Field.Raw() {
		return e
	}
	f := e.Field
	f.Type, f.Nullable, f.Twin, f.Source = Type{Kind: Identity}, true, 0, nil
	return &Column{Index: e.Index + e.Field.Twin, Field: f}
}

func Symbol(op ArithOp) string {
	switch op {
	case Quo:
		return "/"
	case Rem:
		return "%"
	}
	return string(op)
}

// Call is a function of the table in function.go, on arguments for which it is defined: what is not
// is NULL, and a Within below says so. Arguments that the table wants as constants are literals.
type Call struct {
	Fn   string
	Args []Expr
	Typ  Type
}

// Within is X where it lies in the interval of the type, and NULL elsewhere. It makes
// partial functions total: a square root is that of a number that is NULL below zero.
type Within struct {
	X   Expr
	Typ Type
}

func (e *Within) ends() string {
	if r := e.Typ.Range; r != nil {
		return fmt.Sprintf("[%x..%x]", r.Low, r.High)
	}
	return fmt.Sprintf("[%v..%v]", e.Typ.Lo, e.Typ.Hi)
}

// Case is the Then of the first When whose If is true, and otherwise Else. CASE
// without ELSE has a NULL there.
type Case struct {
	Whens []When
	Else  Expr
	Typ   Type
}

type When struct{ If, Then Expr }

// RoundingRatio returns how many steps of a rounding one step of its argument is, as a fraction.
func (e *Call) RoundingRatio() (p, q *big.Int) { return e.Args[0].Type().RoundingRatio(e.Typ.Step) }

// Computes reports whether a node makes a new value of others: not one that compares, chooses or
// asks.
func Computes(e Expr) bool {
	switch e.(type) {
	case *Rescale, *ToReal, *Arith, *Call, *Within, *Like:
		return true
	}
	return false
}

// CountAsked counts the subqueries of an expression, without those inside of them.
func CountAsked(e Expr) int {
	n := 0
	WalkRow(e, func(x Expr) {
		if _, ok := x.(*Exists); ok {
			n++
		}
	})
	return n
}

// Like is whether all of a text matches a pattern, which is read when the
// question is planned. Its time is in proportion to the text for every pattern.
type Like struct {
	X       Expr
	Pattern Pattern
}

// Pattern is a sequence of characters and wildcards. No two Anything follow each other.
type Pattern []PatternPart

type PatternPart rune

const (
	// PatternAnything is %, any number of any characters.
	PatternAnything PatternPart = -1
	// PatternOne is _, one character.
	PatternOne PatternPart = -2
)

// Anything reports whether the part is %, any number of characters.
func (p PatternPart) Anything() bool { return p == PatternAnything }

// One reports whether the part is _, any one character.
func (p PatternPart) One() bool { return p == PatternOne }

// String writes a pattern with a backslash before what is no wildcard.
func (p Pattern) String() string {
	var b strings.Builder
	for _, c := range p {
		switch {
		case c.Anything():
			b.WriteByte('%')
		case c.One():
			b.WriteByte('_')
		case c == '%' || c == '_' || c == '\\':
			b.WriteString("\\" + string(rune(c)))
		default:
			b.WriteRune(rune(c))
		}
	}
	return b.String()
}

// Casts are functions like others: they have a value for every row, and it is NULL where
// there is none in the new type. What a text must look like is said here once, and
// engines check the same before they read it.
const (
	// IntegerText is the text of a whole number.
	IntegerText = `[+-]?[0-9]{1,18}`
	// DecimalText is the text of a decimal number.
	DecimalText = `[+-]?[0-9]{1,18}(\.[0-9]{1,18})?`
	// DateText is the text of a date, of the years 1 to 9999.
	DateText = `[0-9]{4}-[0-9]{2}-[0-9]{2}`
	// TimestampText is the text of a timestamp, in UTC.
	TimestampText = DateText + `([ T]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?)?`
)

// TrueTexts and FalseTexts are the texts of booleans, in lower case.
var (
	TrueTexts  = []string{"true", "t", "yes", "y", "on", "1"}
	FalseTexts = []string{"false", "f", "no", "n", "off", "0"}
)

// ReadBoolean reads the text of a boolean. Only the letters of ASCII have a lower case here.
func ReadBoolean(text string) (value, ok bool) {
	text = strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
	return slices.Contains(TrueTexts, text), slices.Contains(TrueTexts, text) || slices.Contains(FalseTexts, text)
}
