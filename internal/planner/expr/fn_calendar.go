package expr

import (
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// Functions of times that are made of others, so that no engine has to know them.

// builder makes expressions one after the other, and stops at the first that is refused.
type builder struct {
	pos int32
	err error
}

func (b *builder) arith(op tree.ArithOp, l, r tree.Expr) tree.Expr {
	if b.err != nil {
		return l
	}
	e, err := NewArith(op, l, r, b.pos)
	if err != nil {
		b.err = err
		return l
	}
	return e
}

func (b *builder) named(name string, args ...tree.Expr) tree.Expr {
	if b.err != nil {
		return args[0]
	}
	e, err := Named(name, args, b.pos)
	if err != nil {
		b.err = err
		return args[0]
	}
	return e
}

func (b *builder) field(name string, of tree.Expr) tree.Expr {
	if b.err != nil {
		return NewNumber(tree.One)
	}
	e, err := newExtract([]tree.Expr{NewText(name), of}, b.pos)
	if err != nil {
		b.err = err
		return NewNumber(tree.One)
	}
	return e
}

func count(n int64) *tree.Literal { return NewNumber(big.NewRat(n, 1)) }

// deriveField makes the fields of a time that follow from others: a decade is a tenth of a year,
// and the first century began in the year 1.
func deriveField(field string, x tree.Expr, pos int32) (tree.Expr, bool, error) {
	b := &builder{pos: pos}
	var e tree.Expr
	switch field {
	case "decade":
		e = b.arith(tree.Div, b.field("year", x), count(10))
	case "century":
		e = b.arith(tree.Div, b.arith(tree.Add, b.field("year", x), count(99)), count(100))
	case "millennium":
		e = b.arith(tree.Div, b.arith(tree.Add, b.field("year", x), count(999)), count(1000))
	case "milliseconds":
		e = b.arith(tree.Mul, b.field("second", x), count(1000))
	case "microseconds":
		e = b.arith(tree.Mul, b.field("second", x), count(1_000_000))
	case "julian":
		if x.Type().Kind != tree.Date {
			return nil, true, syntax.Refuse(syntax.Unsupported, pos, "take it from a date, as in extract(julian from CAST(x AS date))",
				"the Julian day of a timestamp is not a whole number of steps")
		}
		const firstJulian = 2440588 // 1970-01-01
		e = b.arith(tree.Add, b.arith(tree.Div, b.field("epoch", x), count(86400)), count(firstJulian))
	default:
		return nil, false, nil
	}
	return e, true, b.err
}

// truncLong is the beginning of a decade, a century or a millennium: a number of days after the
// first of January of the year 1. The first decade begins a year before it, and is NULL.
func truncLong(unit string, x tree.Expr, pos int32) (tree.Expr, error) {
	b := &builder{pos: pos}
	year := b.field("year", x)
	long := map[string]int64{"decade": 10, "century": 100, "millennium": 1000}[unit]
	before := b.arith(tree.Sub, year, count(1)) // whole years before
	if unit == "decade" {
		before = b.arith(tree.Sub, b.arith(tree.Mul, b.arith(tree.Div, year, count(long)), count(long)), count(1))
	} else {
		before = b.arith(tree.Mul, b.arith(tree.Div, before, count(long)), count(long))
	}
	days := b.arith(tree.Add, b.arith(tree.Mul, before, count(365)), b.arith(tree.Div, before, count(4)))
	days = b.arith(tree.Add, b.arith(tree.Sub, days, b.arith(tree.Div, before, count(100))), b.arith(tree.Div, before, count(400)))
	if b.err != nil {
		return nil, b.err
	}
	e, err := addDays("+", newDate(tree.FirstDay), days, pos)
	if err != nil || x.Type().Kind == tree.Date {
		return e, err
	}
	return Midnight(e, pos)
}

// maxMicros is more than there are between the years 1 and 9999.
var maxMicros = new(big.Int).Mul(maxDays, big.NewInt(tree.DayMicros))

var microStep = big.NewRat(1, 1_000_000)

// AddSeconds adds a number of seconds to a moment, to the microsecond.
func AddSeconds(at, n tree.Expr, pos int32) (tree.Expr, error) {
	n, err := newRounding("round", n, 6, pos)
	if err != nil {
		return nil, err
	}
	if n, err = onLattice(n, microStep, pos); err != nil {
		return nil, err
	}
	if n, err = restrict(n, new(big.Int).Neg(maxMicros), maxMicros, false, pos); err != nil {
		return nil, err
	}
	if at, err = Civil(at, pos); err != nil {
		return nil, err
	}
	if l, ok := n.(*tree.Literal); ok && l.IsNullLiteral() {
		return NewNull(at.Type()), nil
	}
	lo, hi := at.Type().Span()
	t := tree.TimeType(tree.Timestamp, new(big.Int).Add(lo, n.Type().Lo), new(big.Int).Add(hi, n.Type().Hi),
		at.Type().Declared && n.Type().Declared)
	e, err := NewCall("add_micros", t, pos, at, n)
	if err != nil {
		return nil, err
	}
	return Civil(e, pos)
}

// NewBin is the beginning of the part of time that a moment is in, where all have one length and
// one of them begins at the origin.
func NewBin(seconds *big.Rat, at, origin tree.Expr, pos int32) (tree.Expr, error) {
	b := &builder{pos: pos}
	for _, x := range []*tree.Expr{&at, &origin} {
		var err error
		if *x = Adopt(*x, newTimestamp(0)); (*x).Type().Kind == tree.Date {
			*x, err = Midnight(*x, pos)
		} else if (*x).Type().Kind == tree.Timestamp {
			*x, err = Civil(*x, pos)
		} else {
			err = syntax.Refuse(syntax.Unsupported, pos, "write date_bin(INTERVAL '15 minutes', at, '2024-01-01')",
				"date_bin takes two times")
		}
		if err != nil {
			return nil, err
		}
	}
	start, ok := Constant(origin)
	if !ok || start.Micros == nil {
		return nil, syntax.Refuse(syntax.Unsupported, pos, "write date_bin(INTERVAL '15 minutes', at, '2024-01-01')",
			"the origin of date_bin must be a "+
				"constant")
	}
	away := b.arith(tree.Sub, b.field("epoch", at), b.field("epoch", start))
	parts := b.named("floor", b.arith(tree.Mul, away, NewNumber(new(big.Rat).Inv(seconds))))
	shift := b.arith(tree.Mul, parts, NewNumber(seconds))
	if b.err != nil {
		return nil, b.err
	}
	return AddSeconds(start, shift, pos)
}

// refuseBin is date_bin of something else than an interval: there is no kind of value that is one,
// so a call with one is made before its arguments are.
func refuseBin(_ []tree.Expr, pos int32) (tree.Expr, error) {
	return nil, syntax.Refuse(syntax.NoFunction, pos, "write date_bin(INTERVAL '15 minutes', at, '2024-01-01')",
		"the first argument of date_bin must be an INTERVAL")
}

// newTimezone is x AT TIME ZONE 'UTC', which is x: all times are in UTC.
func newTimezone(args []tree.Expr, pos int32) (tree.Expr, error) {
	if err := onlyUTC(args[0], pos); err != nil {
		return nil, err
	}
	x, err := requireKind("timezone", args[1], pos, tree.Timestamp, tree.Date)
	if err != nil || x.Type().Kind == tree.Timestamp {
		return x, err
	}
	return Midnight(x, pos)
}

// onlyUTC refuses another time zone than the one that there is.
func onlyUTC(zone tree.Expr, pos int32) error {
	name, err := TextConstant(zone, 40, "AT TIME ZONE 'UTC'", pos)
	if err != nil {
		return err
	}
	switch strings.ToLower(name) {
	case "utc", "gmt", "z", "zulu", "etc/utc", "etc/gmt", "uct", "universal":
		return nil
	}
	return syntax.Refuse(syntax.BadValue, pos, "leave it out, or add an INTERVAL, as in at + INTERVAL '2 hours'",
		"UTC is the only time zone here")
}

// newToTimestamp is a moment by its seconds since 1970, or a constant text in a form of its own.
func newToTimestamp(args []tree.Expr, pos int32) (tree.Expr, error) {
	if len(args) == 2 {
		m, err := readFormatted("to_timestamp", args, pos)
		if err != nil {
			return nil, err
		}
		return newTimestamp(int64(m)), nil
	}
	n, err := requireKind("to_timestamp", AdoptNumber(args[0]), pos, tree.Number, tree.Real)
	if err != nil {
		return nil, err
	}
	return AddSeconds(newTimestamp(0), n, pos)
}

// newToDate is a day written in a form of its own.
func newToDate(args []tree.Expr, pos int32) (tree.Expr, error) {
	m, err := readFormatted("to_date", args, pos)
	if err != nil {
		return nil, err
	}
	return newDate(int64(m.Day())), nil
}

func readFormatted(name string, args []tree.Expr, pos int32) (tree.Moment, error) {
	text, err := TextConstant(args[0], 100, Lookup(name).Usage, pos)
	if err != nil {
		return 0, syntax.Refuse(syntax.Unsupported, pos, "cast the column, as in CAST(x AS "+strings.TrimPrefix(name, "to_")+
			"), if it is written as 2024-01-31", "%s reads only constants", name)
	}
	form, err := TextConstant(args[1], 100, Lookup(name).Usage, pos)
	if err != nil {
		return 0, err
	}
	m, ok := readForm(text, form)
	if !ok {
		return 0, syntax.Refuse(syntax.BadTime, pos, "write for example "+Lookup(name).Usage,
			"this text does not have this format, or the format "+
				"has more than YYYY, MM, DD, Mon, Month, HH24, MI, SS, MS and US")
	}
	return m, nil
}

// FieldName reads the name of a field of a time.
func FieldName(text string) string { return unitName(text) }

// Epoch is the number of seconds since 1970 of a time.
func Epoch(x tree.Expr, pos int32) (tree.Expr, error) {
	return newExtract([]tree.Expr{NewText("epoch"), x}, pos)
}

// MonthsBetween is the number of whole months from b to a; negative where b is later.
func MonthsBetween(a, b tree.Expr, pos int32) (tree.Expr, error) {
	var sides [2]tree.Expr
	for i, x := range []tree.Expr{a, b} {
		x, err := requireKind("date_trunc", x, pos, tree.Timestamp, tree.Date)
		if err == nil && x.Type().Kind == tree.Date {
			x, err = Midnight(x, pos)
		} else if err == nil {
			x, err = Civil(x, pos)
		}
		if err != nil {
			return nil, err
		}
		sides[i] = x
	}
	m := &builder{pos: pos}
	since := func(x tree.Expr) tree.Expr { // microseconds since the month began
		return m.arith(tree.Sub, m.field("epoch", x), m.field("epoch", m.named("date_trunc", NewText("month"), x)))
	}
	number := func(x tree.Expr) tree.Expr {
		return m.arith(tree.Add, m.arith(tree.Mul, m.field("year", x), count(12)), m.field("month", x))
	}
	whole := func(x, y tree.Expr) tree.Expr {
		begun := m.choice([]tree.When{{If: m.compared(tree.Lt, since(x), since(y)), Then: count(1)}}, count(0))
		return m.arith(tree.Sub, m.arith(tree.Sub, number(x), number(y)), begun)
	}
	forward, back := whole(sides[0], sides[1]), m.arith(tree.Sub, count(0), whole(sides[1], sides[0]))
	later := m.compared(tree.Ge, sides[0], sides[1])
	earlier := m.compared(tree.Lt, sides[0], sides[1])
	out := m.choice([]tree.When{{If: later, Then: forward}, {If: earlier, Then: back}}, NewNull(tree.Type{}))
	return out, m.err
}
