package expr

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// castFunctions are what casts become. They have no names in SQL.
func castFunctions() []Function {
	return []Function{
		{names: "parse_integer", vanishes: true, scratch: 64, eval: func(_ *tree.Call, a []tree.Value) tree.Value {
			if !integerText.MatchString(a[0].(string)) {
				return nil
			}
			n, _ := new(big.Int).SetString(a[0].(string), 10)
			return n
		}},
		{names: "parse_decimal", vanishes: true, scratch: 512, eval: func(e *tree.Call, a []tree.Value) tree.Value {
			if !decimalText.MatchString(a[0].(string)) {
				return nil
			}
			r, _ := new(big.Rat).SetString(a[0].(string))
			r.Quo(r, e.Typ.Step)
			return roundRatio("round", big.NewInt(1), r.Num(), r.Denom())
		}},
		{names: "parse_boolean", vanishes: true, copies: 2, eval: func(_ *tree.Call, a []tree.Value) tree.Value {
			if b, ok := tree.ReadBoolean(a[0].(string)); ok {
				return b
			}
			return nil
		}},
		{names: "parse_date", vanishes: true, scratch: 192, eval: func(_ *tree.Call, a []tree.Value) tree.Value {
			if !dateText.MatchString(a[0].(string)) {
				return nil
			}
			if d, ok := policy.ParseDate(a[0].(string)); ok && d >= tree.FirstDay {
				return tree.Day(d)
			}
			return nil
		}},
		{names: "parse_timestamp", vanishes: true, scratch: 384, eval: func(_ *tree.Call, a []tree.Value) tree.Value {
			if !timestampText.MatchString(a[0].(string)) {
				return nil
			}
			if m, ok := policy.ParseTimestamp(a[0].(string)); ok && m >= tree.FirstMicros {
				return tree.Moment(m)
			}
			return nil
		}},
		{names: "text", scratch: 320, eval: func(e *tree.Call, a []tree.Value) tree.Value { return spell(e.Args[0].Type(), a[0]) }},
	}
}

// CastKinds are the types that can be cast to.
var CastKinds = map[string]tree.Kind{
	"date": tree.Date, "timestamp": tree.Timestamp, "timestamptz": tree.Timestamp, "bool": tree.Boolean, "text": tree.Text,
	"varchar": tree.Text,
	"int2":    tree.Number, "int4": tree.Number, "int8": tree.Number, "numeric": tree.Number, "float4": tree.Real, "float8": tree.Real,
}

// CastConstant casts a constant now: one that is not of the type is a mistake to be told.
func CastConstant(l *tree.Literal, name string, kind tree.Kind, pos int32) (tree.Expr, bool, error) {
	switch {
	case l.IsNullLiteral():
		return NewNull(tree.Type{}), true, nil
	case l.Typ.Kind == kind || l.Typ.Kind == tree.Number && kind == tree.Real:
	case l.Text != nil:
		told := kind
		if kind == tree.Real {
			told = tree.Number
		}
		lit, ok := readLiteral(*l.Text, kind)
		if !ok {
			return nil, true, syntax.Refuse(badText(told), pos, "write for example DATE '2024-01-31', true or 12.5", "this text is not %s",
				Article(told))
		}
		l = lit
	default:
		return nil, false, nil
	}
	if strings.HasPrefix(name, "int") && !l.Typ.Integer() {
		return nil, true, syntax.Refuse(syntax.BadText, pos, "write a whole number", "this constant is not a whole number")
	}
	if kind == tree.Real || name == "numeric" { // it divides as they do
		pointed := *l
		pointed.Point = true
		l = &pointed
	}
	e, err := Checked(l, pos)
	return e, true, err
}

// NewCast makes a cast of something that is no constant.
func NewCast(x tree.Expr, name string, kind tree.Kind, mods []int64, pos int32) (tree.Expr, error) {
	from := x.Type().Kind
	no := func(instead string) (tree.Expr, error) {
		return nil, syntax.Refuse(syntax.CannotCast, pos, instead, "%s cannot be cast to %s", Article(from), Article(kind))
	}
	switch kind {
	case tree.Number:
		return castNumber(x, name, mods, pos)
	case tree.Real:
		switch from {
		case tree.Number, tree.Real:
			return Real(x), nil
		}
		return no("cast to numeric(p,s), as in CAST(x AS numeric(10,2))")
	case tree.Text:
		e, err := castText(x, pos)
		if err != nil || name == "text" || len(mods) == 0 {
			return e, err
		}
		return Named("left", []tree.Expr{e, NewNumber(big.NewRat(mods[0], 1))}, pos)
	case tree.Boolean:
		switch {
		case from == tree.Boolean:
			return x, nil
		case from == tree.Text:
			return NewCall("parse_boolean", tree.Bool, pos, x)
		case x.Type().Integer():
			return NewCompare(tree.Ne, x, NewNumber(big.NewRat(0, 1)), pos)
		}
		return no("write a comparison, such as x <> 0")
	case tree.Date:
		switch from {
		case tree.Date:
			return x, nil
		case tree.Timestamp:
			x, err := Civil(x, pos)
			if err != nil {
				return nil, err
			}
			lo, hi := x.Type().Span()
			t := tree.TimeType(tree.Date, big.NewInt(int64(tree.Moment(lo.Int64()).Day())),
				big.NewInt(int64(tree.Moment(hi.Int64()).Day())), x.Type().Declared)
			return NewCall("date", t, pos, x)
		case tree.Text:
			return NewCall("parse_date", tree.TimeType(tree.Date, big.NewInt(tree.FirstDay), big.NewInt(tree.LastDay), false), pos, x)
		}
		return no("only a text or a timestamp can be cast to it")
	}
	if len(mods) > 0 {
		return nil, syntax.Refuse(syntax.Unsupported, pos, "write timestamp, or use date_trunc('second', x)",
			"timestamps have microseconds here")
	}
	switch from {
	case tree.Timestamp:
		return x, nil
	case tree.Date:
		return Midnight(x, pos)
	case tree.Text:
		return NewCall("parse_timestamp",
			tree.TimeType(tree.Timestamp, big.NewInt(tree.FirstMicros), big.NewInt(tree.LastMicros), false), pos, x)
	}
	return no("only a text or a date can be cast to it")
}

// castNumber casts to whole numbers and to numeric(p, s): rounded, with halves away from
// zero, and NULL where the type does not hold it.
func castNumber(x tree.Expr, name string, mods []int64, pos int32) (tree.Expr, error) {
	scale, limit := 0, new(big.Int)
	lo, declared := new(big.Int), true
	switch name {
	case "numeric":
		if len(mods) == 0 {
			switch x.Type().Kind {
			case tree.Number:
				return Numeric(x, pos)
			case tree.Real:
				return x, nil // a floating-point number all the same; round makes it exact
			case tree.Boolean: // which has its bounds; dbplyr writes it for as.numeric
				e, err := castTruth(x, pos)
				if err != nil {
					return nil, err
				}
				return Numeric(e, pos)
			}
			return nil, syntax.Refuse(syntax.Unsupported, pos, "say how many digits, as in CAST(x AS numeric(10,2))",
				"numeric without digits has no bounds")
		}
		precision := mods[0]
		if len(mods) > 1 {
			scale = int(mods[1])
		}
		if precision < 1 || precision > 30 || scale < 0 || scale > tree.MaxDigits || int64(scale) > precision ||
			precision-int64(scale) > 18 {
			return nil, syntax.Refuse(syntax.BadValue, pos, "write for example numeric(10,2)",
				"numeric(p,s) has up to 18 digits before the point and %d after it", tree.MaxDigits)
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
	step := tree.Power10(-scale)
	var err error
	switch x.Type().Kind {
	case tree.Boolean:
		return castTruth(x, pos)
	case tree.Text:
		most := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(18+scale)), nil)
		t := tree.NumberType(step, new(big.Int).Neg(most), most, false)
		if name == "numeric" {
			// The number of digits is an argument, so that the spelling of the tree says it.
			x, err = NewCall("parse_decimal", t, pos, x, NewNumber(big.NewRat(int64(scale), 1)))
		} else {
			x, err = NewCall("parse_integer", t, pos, x)
		}
	case tree.Real:
		// Far outside first, so that what is rounded is bounded; exactly after.
		f := math.Nextafter(asReal(new(big.Int).Add(limit, big.NewInt(1)), step), math.Inf(1))
		if x, err = restrictReal(x, tree.Range{Low: -f - 1, High: f + 1}, declared, pos); err == nil {
			x, err = newRounding("round", x, scale, pos)
		}
	case tree.Number:
		x, err = newRounding("round", x, scale, pos)
	default:
		return nil, syntax.Refuse(syntax.CannotCast, pos, "use extract(epoch from x) or CAST(x AS date) - DATE '1970-01-01'",
			"%s cannot be cast to a number",
			Article(x.Type().Kind))
	}
	if err != nil {
		return nil, err
	}
	if x.Type().Kind == tree.Number && x.Type().Step.Cmp(step) != 0 {
		// It was on a coarser lattice: the limits are in its steps.
		q := new(big.Rat).Quo(x.Type().Step, step).Num()
		lo, limit = new(big.Int).Quo(lo, q), new(big.Int).Quo(limit, q)
	}
	return restrict(x, lo, limit, declared, pos)
}

// castTruth is 1 for true and 0 for false.
func castTruth(x tree.Expr, pos int32) (tree.Expr, error) {
	no := NewNumber(big.NewRat(0, 1))
	return NewCase([]tree.When{{If: x, Then: NewNumber(tree.One)}, {If: &tree.Not{X: x}, Then: no}}, NewNull(tree.Type{}), pos)
}

func castText(x tree.Expr, pos int32) (tree.Expr, error) {
	t := x.Type()
	length := 0
	switch t.Kind {
	case tree.Text:
		return x, nil
	case tree.Number:
		var ok bool
		if length, ok = spelledLength(t); !ok {
			return nil, syntax.Refuse(syntax.TooComplex, pos, "round it, as in CAST(round(x, 2) AS text)",
				"this number has too many digits for a text")
		}
	case tree.Boolean:
		length = 5
	case tree.Date, tree.Timestamp:
		var err error
		if x, err = Civil(x, pos); err != nil {
			return nil, err
		}
		length = 26
	case tree.Real:
		if isReleased(x) { // which no engine spells
			length = 32
			break
		}
		fallthrough
	default:
		return nil, syntax.Refuse(syntax.Unsupported, pos, "round it, as in CAST(round(x, 2) AS text)",
			"%s cannot be cast to text, because it has no single spelling", Article(t.Kind))
	}
	return NewCall("text", textType(length), pos, x)
}

// spelledLength is how many characters a number has at most that is cast to text: those of one of
// its ends, because what is closer to zero has no more digits. It is none where an engine could not
// spell it: the number of steps has 62 bits, and as many units of the last digit as they are
// together have 36 digits, which is within 128 bits.
func spelledLength(t tree.Type) (int, bool) {
	digits, ok := tree.CountDecimals(t.Step)
	if !ok || t.Wide() {
		return 0, false
	}
	unit := new(big.Rat).Mul(t.Step, tree.Power10(digits))
	length := 0
	for _, end := range []*big.Int{t.Lo, t.Hi} {
		if new(big.Int).Mul(end, unit.Num()).CmpAbs(maxSpelled) >= 0 {
			return 0, false
		}
		length = max(length, len(spell(t, end).(string)))
	}
	// The step itself is written too, even where no number of steps but none is.
	return length, unit.Num().Cmp(maxSpelled) < 0 && (digits == 0 || len(t.Step.FloatString(digits)) < maxStep)
}

// maxSpelled is the first number that is too long to be spelled, and maxStep the length of a step
// with digits after the point that is: an engine multiplies up to 19 digits by it, and has 38.
var maxSpelled = new(big.Int).Exp(big.NewInt(10), big.NewInt(36), nil)

const maxStep = 19

// SpellReal writes a floating-point number of 64 or 32 bits as PostgreSQL does: with as few digits
// as tell it from others, and an exponent where it would have more than 15 digits before the point
// or more than 4 zeros after it (6 and 4 for 32 bits). Zero has no sign.
func SpellReal(f float64, bits int) string {
	if f == 0 {
		return "0"
	}
	digits := map[int]float64{64: 1e15, 32: 1e6}[bits]
	if a := math.Abs(f); a >= digits || a < 1e-4 {
		return strconv.FormatFloat(f, 'e', -1, bits)
	}
	return strconv.FormatFloat(f, 'f', -1, bits)
}

func spell(t tree.Type, v tree.Value) tree.Value {
	switch v := v.(type) {
	case *big.Int:
		if t.Integer() {
			return v.String()
		}
		return new(big.Rat).Mul(new(big.Rat).SetInt(v), t.Step).FloatString(t.Decimals())
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return SpellReal(v, 64)
	case bool:
		if v {
			return "true"
		}
		return "false"
	case tree.Day:
		return v.String()
	case tree.Moment:
		return v.String()
	}
	return nil
}

// timePatterns are the words of a form of times, as to_char has them, the longer ones first.
var timePatterns = []string{"HH24", "HH12", "HH", "MI", "SS", "MS", "US", "AM", "PM", "YYYY", "IYYY", "YY", "MONTH", "Month", "month",
	"MON", "Mon", "mon", "MM", "DAY", "Day", "day", "DDD", "DD", "DY", "Dy", "dy", "ID", "IW", "WW", "Q", "D", "W"}

// formPart is a part of a form: a pattern, or a text that stands for itself.
type formPart struct {
	pattern, text string
	fill          bool // FM: without spaces and zeros in front
}

// splitForm takes a form apart. It is none where it has letters that mean nothing here.
func splitForm(form string) ([]formPart, bool) {
	var out []formPart
	for form != "" {
		if rest, ok := strings.CutPrefix(form, `"`); ok { // a text in quotes
			quoted, after, _ := strings.Cut(rest, `"`)
			out, form = append(out, formPart{text: quoted}), after
			continue
		}
		w, rest := formPart{}, form
		if after, ok := strings.CutPrefix(rest, "FM"); ok {
			w.fill, rest = true, after
		}
		upper := strings.ToUpper(rest)
		for _, p := range timePatterns {
			// Names are written as the pattern is; of the others upper and lower case are one.
			if strings.HasPrefix(rest, p) || strings.ToUpper(p) == p && !isNamePattern(p) && strings.HasPrefix(upper, p) {
				w.pattern = p
				break
			}
		}
		if w.pattern == "" {
			if c := form[0] | 0x20; c >= 'a' && c <= 'z' && c != 't' || strings.HasPrefix(form, "TZ") {
				return nil, false
			}
			w = formPart{text: form[:1]}
			rest = form
		}
		out, form = append(out, w), rest[max(1, len(w.pattern)):]
		if n := len(out); n > 1 && w.pattern == "SS" && out[n-2].pattern == "SS" { // SSSS, the seconds of a day
			return nil, false
		}
	}
	return out, true
}

// isNamePattern reports whether a pattern is the name of a month or a day.
func isNamePattern(p string) bool {
	return slices.Contains([]string{"MONTH", "MON", "DAY", "DY"}, strings.ToUpper(p))
}

func readForm(text, form string) (tree.Moment, bool) {
	t := struct{ year, month, day, hour, minute, second, micros int }{year: 1, month: 1, day: 1}
	number := func(width int, into *int) bool {
		n := 0
		for n < len(text) && n < width && text[n] >= '0' && text[n] <= '9' {
			n++
		}
		v, err := strconv.Atoi(text[:n])
		*into, text = v, text[n:]
		return err == nil
	}
	all, ok := splitForm(form)
	for _, w := range all {
		switch w.pattern {
		case "":
			// Whatever separates may be separated by something else.
			if text != "" && w.text != "" && (text[0] < '0' || text[0] > '9') {
				text = text[min(len(text), len(w.text)):]
			}
		case "YYYY":
			ok = ok && number(4, &t.year)
		case "MM":
			ok = ok && number(2, &t.month)
		case "DD":
			ok = ok && number(2, &t.day)
		case "HH24":
			ok = ok && number(2, &t.hour)
		case "MI":
			ok = ok && number(2, &t.minute)
		case "SS":
			ok = ok && number(2, &t.second)
		case "US", "MS":
			before, width := len(text), map[string]int{"US": 6, "MS": 3}[w.pattern]
			ok = ok && number(width, &t.micros)
			for n := before - len(text); n < 6 && n > 0; n++ {
				t.micros *= 10
			}
		case "MON", "Mon", "mon", "MONTH", "Month", "month":
			t.month, text = readMonth(text, len(w.pattern) == 3)
		default:
			ok = false
		}
	}
	at := time.Date(t.year, time.Month(t.month), t.day, t.hour, t.minute, t.second, t.micros*1000, time.UTC)
	exact := at.Year() == t.year && int(at.Month()) == t.month && at.Day() == t.day && at.Hour() == t.hour && at.Minute() == t.minute &&
		at.Second() == t.second
	return tree.Moment(at.UnixMicro()), ok && exact && strings.TrimSpace(text) == "" && t.year >= 1 && t.year <= 9999
}

func readMonth(text string, short bool) (int, string) {
	for m := time.January; m <= time.December; m++ {
		name := m.String()
		if short {
			name = name[:3]
		}
		if len(text) >= len(name) && strings.EqualFold(text[:len(name)], name) {
			return int(m), text[len(name):]
		}
	}
	return 0, text
}
