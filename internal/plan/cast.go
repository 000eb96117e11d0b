package plan

import (
	"math"
	"math/big"
	"regexp"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/policy"
)

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

var integerText, decimalText, dateText, timestampText = regexp.MustCompile(`\A` + IntegerText + `\z`), regexp.MustCompile(`\A` + DecimalText + `\z`),
	regexp.MustCompile(`\A` + DateText + `\z`), regexp.MustCompile(`\A` + TimestampText + `\z`)

func init() {
	nodes["parse_integer"] = node{vanishes: true, eval: func(_ *Call, a []Value) Value {
		if !integerText.MatchString(a[0].(string)) {
			return nil
		}
		n, _ := new(big.Int).SetString(a[0].(string), 10)
		return n
	}}
	nodes["parse_decimal"] = node{vanishes: true, eval: func(e *Call, a []Value) Value {
		if !decimalText.MatchString(a[0].(string)) {
			return nil
		}
		r, _ := new(big.Rat).SetString(a[0].(string))
		r.Quo(r, e.typ.Step)
		return roundRatio("round", big.NewInt(1), r.Num(), r.Denom())
	}}
	nodes["parse_boolean"] = node{vanishes: true, copies: 2, eval: func(_ *Call, a []Value) Value {
		if b, ok := readBoolean(a[0].(string)); ok {
			return b
		}
		return nil
	}}
	nodes["parse_date"] = node{vanishes: true, eval: func(_ *Call, a []Value) Value {
		if d, ok := policy.ParseDate(a[0].(string)); ok && d >= firstDay && dateText.MatchString(a[0].(string)) {
			return Day(d)
		}
		return nil
	}}
	nodes["parse_timestamp"] = node{vanishes: true, eval: func(_ *Call, a []Value) Value {
		if m, ok := policy.ParseTimestamp(a[0].(string)); ok && m >= firstMicros && timestampText.MatchString(a[0].(string)) {
			return Moment(m)
		}
		return nil
	}}
	nodes["text"] = node{eval: func(e *Call, a []Value) Value { return spell(e.Args[0].Type(), a[0]) }}
}

// readBoolean reads the text of a boolean. Only the letters of ASCII have a lower case here.
func readBoolean(text string) (value, ok bool) {
	text = strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
	return slices.Contains(TrueTexts, text), slices.Contains(TrueTexts, text) || slices.Contains(FalseTexts, text)
}

// typeName returns the name of the type of a cast, or nothing.
func typeName(c *pg.TypeCast) string {
	t := c.GetTypeName()
	names := t.GetNames()
	if len(names) == 0 || len(t.GetArrayBounds()) > 0 || t.GetSetof() {
		return ""
	}
	return names[len(names)-1].GetString_().GetSval()
}

// castPlace is where a cast stands. DATE '2024-01-31' has no place of its own.
func castPlace(c *pg.TypeCast) int32 {
	if c.Location < 0 {
		return location(c.Arg)
	}
	return c.Location
}

// castKinds are the types that can be cast to.
var castKinds = map[string]Kind{
	"date": Date, "timestamp": Timestamp, "bool": Boolean, "text": Text, "varchar": Text,
	"int2": Number, "int4": Number, "int8": Number, "numeric": Number, "float4": Real, "float8": Real,
}

func checkCast(s scope, c *pg.TypeCast) (Expr, error) {
	pos, name := castPlace(c), typeName(c)
	kind, ok := castKinds[name]
	switch {
	case name == "interval":
		return nil, refuse(pos, "add it to a date or a timestamp, as in day + INTERVAL '1 month'", "an INTERVAL cannot stand alone")
	case name == "timestamptz":
		return nil, refuse(pos, "write TIMESTAMP; all times are in UTC", "there are no time zones here")
	case !ok:
		return nil, refuse(pos, "cast to integer, bigint, numeric(p,s), text, boolean, date or timestamp", "a cast to this type cannot be used here")
	}
	var mods []int64
	for _, n := range c.TypeName.GetTypmods() {
		v, ok := n.GetAConst().GetVal().(*pg.A_Const_Ival)
		if !ok {
			return nil, refuse(pos, "write numbers, as in numeric(10,2)", "this type has a size that cannot be read")
		}
		mods = append(mods, int64(v.Ival.GetIval()))
	}
	x, err := checkExpr(s, c.Arg)
	if err != nil {
		return nil, err
	}
	if l, ok := x.(*Literal); ok && len(mods) == 0 {
		if e, done, err := castConstant(l, name, kind, pos); done {
			return e, err
		}
	}
	if x.Type().Kind == 0 {
		x = newNull(Type{Kind: Text})
	}
	return newCast(x, name, kind, mods, pos)
}

// castConstant casts a constant now: one that is not of the type is a mistake to be told.
func castConstant(l *Literal, name string, kind Kind, pos int32) (Expr, bool, error) {
	switch {
	case l.IsNullLiteral():
		return newNull(Type{}), true, nil
	case l.typ.Kind == kind || l.typ.Kind == Number && kind == Real:
	case l.Text != nil:
		told := kind
		if kind == Real {
			told = Number
		}
		lit, ok := readLiteral(*l.Text, kind)
		if !ok {
			return nil, true, refuse(pos, "write for example DATE '2024-01-31', true or 12.5", "this text is not %s", article(told))
		}
		l = lit
	default:
		return nil, false, nil
	}
	if strings.HasPrefix(name, "int") && !l.typ.Integer() {
		return nil, true, refuse(pos, "write a whole number", "this constant is not a whole number")
	}
	e, err := checked(l, pos)
	return e, true, err
}

// newCast makes a cast of something that is no constant.
func newCast(x Expr, name string, kind Kind, mods []int64, pos int32) (Expr, error) {
	from := x.Type().Kind
	no := func(instead string) (Expr, error) {
		return nil, refuse(pos, instead, "%s cannot be cast to %s", article(from), article(kind))
	}
	switch kind {
	case Number:
		return castNumber(x, name, mods, pos)
	case Real:
		switch from {
		case Number, Real:
			return toReal(x), nil
		}
		return no("cast to numeric(p,s), as in CAST(x AS numeric(10,2))")
	case Text:
		e, err := castText(x, pos)
		if err != nil || name == "text" || len(mods) == 0 {
			return e, err
		}
		return named("left", []Expr{e, newNumber(ratOf(mods[0]))}, pos)
	case Boolean:
		switch {
		case from == Boolean:
			return x, nil
		case from == Text:
			return newCall("parse_boolean", boolean, pos, x)
		case x.Type().Integer():
			return newCompare(Ne, x, newNumber(ratOf(0)), pos)
		}
		return no("write a comparison, such as x <> 0")
	case Date:
		switch from {
		case Date:
			return x, nil
		case Timestamp:
			x, err := civil(x, pos)
			if err != nil {
				return nil, err
			}
			lo, hi := x.Type().span()
			t := timeType(Date, big.NewInt(int64(Moment(lo.Int64()).day())), big.NewInt(int64(Moment(hi.Int64()).day())), x.Type().Declared)
			return newCall("date", t, pos, x)
		case Text:
			return newCall("parse_date", timeType(Date, big.NewInt(firstDay), big.NewInt(lastDay), false), pos, x)
		}
		return no("only a text or a timestamp can be")
	}
	if len(mods) > 0 {
		return nil, refuse(pos, "write timestamp, or use date_trunc('second', x)", "a timestamp has microseconds here")
	}
	switch from {
	case Timestamp:
		return x, nil
	case Date:
		return midnight(x, pos)
	case Text:
		return newCall("parse_timestamp", timeType(Timestamp, big.NewInt(firstMicros), big.NewInt(lastMicros), false), pos, x)
	}
	return no("only a text or a date can be")
}

// castNumber casts to whole numbers and to numeric(p, s): rounded, with halves away from
// zero, and NULL where the type does not hold it.
func castNumber(x Expr, name string, mods []int64, pos int32) (Expr, error) {
	scale, limit := 0, new(big.Int)
	lo, declared := new(big.Int), true
	switch name {
	case "numeric":
		if len(mods) == 0 {
			if x.Type().Kind == Number {
				return x, nil
			}
			return nil, refuse(pos, "say how many digits, as in CAST(x AS numeric(10,2))", "numeric alone has no bounds")
		}
		precision := mods[0]
		if len(mods) > 1 {
			scale = int(mods[1])
		}
		if precision < 1 || precision > 30 || scale < 0 || scale > maxDigits || int64(scale) > precision || precision-int64(scale) > 18 {
			return nil, refuse(pos, "write for example numeric(10,2)", "numeric(p,s) has up to 18 digits before the point and %d after it", maxDigits)
		}
		limit.Sub(new(big.Int).Exp(big.NewInt(10), big.NewInt(precision), nil), big.NewInt(1))
		lo.Neg(limit)
	default:
		bits := map[string]uint{"int2": 15, "int4": 31, "int8": 63}[name]
		limit.Lsh(big.NewInt(1), bits)
		lo.Neg(limit)
		limit.Sub(limit, big.NewInt(1))
		declared = false // a type of storage is no bound that somebody chose
	}
	step := power10(-scale)
	var err error
	switch x.Type().Kind {
	case Boolean:
		no := newNumber(ratOf(0))
		return newCase([]When{{x, newNumber(one)}, {&Not{x}, no}}, newNull(Type{}), pos)
	case Text:
		most := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(18+scale)), nil)
		t := numberType(step, new(big.Int).Neg(most), most, false)
		if name == "numeric" {
			// The number of digits is an argument, so that the spelling of the tree says it.
			x, err = newCall("parse_decimal", t, pos, x, newNumber(ratOf(int64(scale))))
		} else {
			x, err = newCall("parse_integer", t, pos, x)
		}
	case Real:
		// Far outside first, so that what is rounded is bounded; exactly after.
		f := math.Nextafter(asReal(new(big.Int).Add(limit, big.NewInt(1)), step), math.Inf(1))
		if x, err = withinReal(x, Range{-f - 1, f + 1}, declared, pos); err == nil {
			x, err = newRounding("round", x, scale, pos)
		}
	case Number:
		x, err = newRounding("round", x, scale, pos)
	default:
		return nil, refuse(pos, "use extract(epoch from x) or CAST(x AS date) - DATE '1970-01-01'", "%s cannot be cast to a number", article(x.Type().Kind))
	}
	if err != nil {
		return nil, err
	}
	if x.Type().Kind == Number && x.Type().Step.Cmp(step) != 0 {
		// It was on a coarser lattice: the limits are in its steps.
		q := new(big.Rat).Quo(x.Type().Step, step).Num()
		lo, limit = new(big.Int).Quo(lo, q), new(big.Int).Quo(limit, q)
	}
	return within(x, lo, limit, declared, pos)
}

// castText spells a value.
func castText(x Expr, pos int32) (Expr, error) {
	t := x.Type()
	length := 0
	switch t.Kind {
	case Text:
		return x, nil
	case Number:
		var ok bool
		if length, ok = t.spelledLength(); !ok {
			return nil, refuse(pos, "round it, as in CAST(round(x, 2) AS text)", "this number has too many digits for a text")
		}
	case Boolean:
		length = 5
	case Date, Timestamp:
		var err error
		if x, err = civil(x, pos); err != nil {
			return nil, err
		}
		length = 26
	default:
		return nil, refuse(pos, "round it, as in CAST(round(x, 2) AS text)", "%s cannot be cast to text, because it has no one spelling", article(t.Kind))
	}
	return newCall("text", textType(length), pos, x)
}

// spelledLength is how many characters a number has at most that is cast to text: those of one of its ends, because what is closer to
// zero has no more digits. It is none where an engine could not spell it: the number of steps has 62 bits, and as many
// units of the last digit as they are together have 36 digits, which is within 128 bits.
func (t Type) spelledLength() (int, bool) {
	digits, ok := decimalsOf(t.Step)
	if !ok || t.Wide() {
		return 0, false
	}
	unit := new(big.Rat).Mul(t.Step, power10(digits))
	length := 0
	for _, end := range []*big.Int{t.Lo, t.Hi} {
		if new(big.Int).Mul(end, unit.Num()).CmpAbs(mostSpelled) >= 0 {
			return 0, false
		}
		length = max(length, len(spell(t, end).(string)))
	}
	// The step itself is written too, even where no number of steps but none is.
	return length, unit.Num().Cmp(mostSpelled) < 0 && (digits == 0 || len(t.Step.FloatString(digits)) < maxStep)
}

// mostSpelled is the first number that is too long to be spelled, and maxStep the length of a step with digits after the point that is: an
// engine multiplies up to 19 digits by it, and has 38.
var mostSpelled = new(big.Int).Exp(big.NewInt(10), big.NewInt(36), nil)

const maxStep = 19

// decimalsOf returns how many digits after the point multiples of a step have.
func decimalsOf(step *big.Rat) (int, bool) {
	n, exact := step.FloatPrec()
	return n, exact && n <= maxDigits
}

// Decimals returns how many digits after the point a Number has that is cast to text.
func (t Type) Decimals() int { n, _ := decimalsOf(t.Step); return n }

func spell(t Type, v Value) Value {
	switch v := v.(type) {
	case *big.Int:
		return new(big.Rat).Mul(new(big.Rat).SetInt(v), t.Step).FloatString(t.Decimals())
	case bool:
		if v {
			return "true"
		}
		return "false"
	case Day:
		return v.String()
	case Moment:
		return v.String()
	}
	return nil
}
