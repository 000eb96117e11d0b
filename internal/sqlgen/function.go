package sqlgen

import (
	"fmt"
	"maps"
	"math/big"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// Function prints a function of the plan. It writes an argument at most as often as the planner
// counts, and uses no function of the database's outside of where it is defined.
type Function func(p *ExprPrinter, e *tree.Call) string

// Plain is a function that the database has, perhaps under another name.
func Plain(name string) Function {
	return func(p *ExprPrinter, e *tree.Call) string { return name + "(" + strings.Join(p.All(e.Args), ", ") + ")" }
}

func infix(operator string) Function {
	return func(p *ExprPrinter, e *tree.Call) string { return "(" + strings.Join(p.All(e.Args), operator) + ")" }
}

// years are those of a date as a text, from 1 on.
const years = "(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})"

// Functions returns how all functions are printed: those of a dialect, and what is the same
// everywhere.
func Functions(own map[string]Function) map[string]Function {
	out := map[string]Function{
		"abs": abs, "sign": sign,
		"round": rounding, "floor": rounding, "ceil": rounding, "trunc": rounding,
		"||": infix(" || "), "add_days": infix(" + "), "add_micros": addMicros, "days_between": infix(" - "),
		"extract": extract, "date_trunc": dateTrunc, "add_interval": addInterval,
		"timestamp":     func(p *ExprPrinter, e *tree.Call) string { return "(" + p.Expr(e.Args[0]) + " * 86400000000)" },
		"date":          func(p *ExprPrinter, e *tree.Call) string { return p.floorDiv(e.Args[0], dayMicros) },
		"parse_integer": func(p *ExprPrinter, e *tree.Call) string { return p.parse(e, tree.IntegerText, p.Int64) },
		"parse_decimal": parseDecimal,
		"parse_boolean": parseBoolean,
		"parse_date": func(p *ExprPrinter, e *tree.Call) string {
			return p.Days(p.TryCast(p.TimeForm(e, tree.DateText), p.Day))
		},
		"parse_timestamp": func(p *ExprPrinter, e *tree.Call) string {
			return p.Micros(p.TryCast(p.TimeForm(e, tree.TimestampText), p.Moment))
		},
		"text":    PrintText,
		"matches": matches, "lpad": pad, "rpad": pad,
	}
	for _, name := range []string{"coalesce", "nullif", "greatest", "least", "sqrt", "ln", "log10", "exp", "length", "lower", "upper",
		"strpos", "right",
		"ltrim", "rtrim", "substring", "concat", "split_part", "replace", "concat_ws"} {
		out[name] = Plain(name)
	}
	maps.Copy(out, own)
	return out
}

func (p *ExprPrinter) call(e *tree.Call) string {
	f, ok := p.Functions[e.Fn]
	if !ok {
		panic("sqlgen: no SQL for the function " + e.Fn)
	}
	return f(p, e)
}

func (p *ExprPrinter) All(args []tree.Expr) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = p.Expr(a)
	}
	return out
}

// double prints a double as the same double.
func (p *output) double(f float64) string {
	return p.Double("'" + strconv.FormatFloat(f, 'g', -1, 64) + "'")
}

// interval prints a value that is NULL outside of its interval.
func (p *ExprPrinter) interval(e *tree.Within) string {
	t := e.Type()
	return p.let(p.Expr(e.X), func(x string) string {
		if t.Kind == tree.Real {
			return fmt.Sprintf("(CASE WHEN %s BETWEEN %s AND %s THEN %s END)", x, p.double(t.Range.Low), p.double(t.Range.High), x)
		}
		return fmt.Sprintf("(CASE WHEN %s BETWEEN %s AND %s THEN %s END)", x, p.Whole(t.Lo), p.Whole(t.Hi), x)
	})
}

func abs(p *ExprPrinter, e *tree.Call) string {
	x := e.Args[0]
	return "abs(" + p.number(x, x.Type().Wide()) + ")"
}

func sign(p *ExprPrinter, e *tree.Call) string {
	return "CAST(sign(" + p.Expr(e.Args[0]) + ") AS " + p.Int64 + ")"
}

func rounding(p *ExprPrinter, e *tree.Call) string {
	if e.Args[0].Type().Kind == tree.Real {
		return roundingReal(p, e)
	}
	// n steps of the argument are n num / den steps of the result.
	t := e.Args[0].Type()
	num, den := e.RoundingRatio()
	two := big.NewInt(2)
	half := e.Fn == "round"
	if half {
		num, den = new(big.Int).Mul(num, two), new(big.Int).Mul(den, two)
	}
	reach := new(big.Int).Mul(largest(t.Lo, t.Hi), num)
	reach.Add(reach, new(big.Int).Mul(den, two))
	wide := t.Wide() || reach.BitLen() > 61
	scaled := p.multiply(e.Args[0], num, wide)
	lo := new(big.Int).Mul(t.Lo, num)
	switch e.Fn {
	case "trunc":
		return "(" + p.Quotient(scaled, p.integer(den), wide) + ")"
	case "round":
		quarter := new(big.Int).Quo(den, two) // half of the old denominator, on twice the numbers
		if lo.Sign() >= 0 {
			return "(" + p.Quotient("("+scaled+" + "+p.integer(quarter)+")", p.integer(den), wide) + ")"
		}
		half := "(" + scaled + " + sign(" + p.number(e.Args[0], wide) + ") * " + p.integer(quarter) + ")"
		return "(" + p.Quotient(half, p.integer(den), wide) + ")"
	}
	// Division truncates. Moved up by a multiple of the divisor that makes everything
	// positive it rounds down, and moved up by almost one more it rounds up.
	shift := new(big.Int).Div(lo, den) // rounded down
	add := new(big.Int).Neg(new(big.Int).Mul(shift, den))
	if e.Fn == "ceil" {
		add.Add(add, new(big.Int).Sub(den, one.Num()))
	}
	return "(" + p.Quotient("("+scaled+" + "+p.integer(add)+")", p.integer(den), wide) + " + " + p.integer(shift) + ")"
}

func largest(a, b *big.Int) *big.Int {
	if a.CmpAbs(b) > 0 {
		return new(big.Int).Abs(a)
	}
	return new(big.Int).Abs(b)
}

// roundingReal rounds a double for each row by itself, and clamps it to what is proven: a
// logarithm may differ between machines in its last bits.
func roundingReal(p *ExprPrinter, e *tree.Call) string {
	x, t := p.Expr(e.Args[0]), e.Type()
	digits := e.Args[1].(*tree.Literal).Number.Int64()
	scale := new(big.Int).Exp(big.NewInt(10), new(big.Int).Abs(big.NewInt(digits)), nil)
	switch {
	case digits > 0:
		x = "(" + x + " * " + p.Double(scale.String()) + ")"
	case digits < 0:
		x = "(" + x + " / " + p.Double(scale.String()) + ")"
	}
	return "(" + p.let(p.Round(e.Fn, x, t.Wide()), func(x string) string { return p.clamp(x, t.Lo, t.Hi) }) + ")"
}

func (p *ExprPrinter) floorDiv(e tree.Expr, by int64) string {
	shift := new(big.Int).Div(e.Type().Lo, big.NewInt(by))
	add := new(big.Int).Mul(shift, big.NewInt(by))
	return fmt.Sprintf("(%s + (%v))", p.Quotient(fmt.Sprintf("(%s - (%v))", p.Expr(e), add), strconv.FormatInt(by, 10), false), shift)
}

// like prints a pattern as what it is: an equality, a beginning, an end, a part. Others are the
// dialect's, and take time in proportion to the text: DuckDB's own LIKE takes longer the more % and
// _ a pattern has.
func (p *ExprPrinter) like(e *tree.Like) string {
	x, pattern := p.Expr(e.X), e.Pattern
	first := len(pattern) > 0 && pattern[0].Anything()
	last := len(pattern) > 1 && pattern[len(pattern)-1].Anything()
	middle := pattern
	if first {
		middle = middle[1:]
	}
	if last {
		middle = middle[:len(middle)-1]
	}
	var text strings.Builder
	for _, c := range middle {
		if c.Anything() || c.One() {
			return p.Match(x, pattern)
		}
		text.WriteRune(rune(c))
	}
	part := p.typedParameter(text.String(), p.Text)
	switch {
	case first && last:
		return p.Contains(x, part)
	case first && p.HasSuffix != nil:
		return p.HasSuffix(x, part)
	case first:
		return p.Match(x, pattern)
	case last:
		return p.HasPrefix(x, part)
	}
	return "(" + x + " = " + part + ")"
}

// matches prints a match of a pattern, which is in signs of its own and in no text of the
// analyst's.
func matches(p *ExprPrinter, e *tree.Call) string {
	return p.Finds(p.Expr(e.Args[0]), QuoteText(*e.Args[1].(*tree.Literal).Text))
}

// pad prints lpad and rpad, whose length databases want as a small number.
func pad(p *ExprPrinter, e *tree.Call) string {
	return fmt.Sprintf("%s(%s, %v, %s)", e.Fn, p.Expr(e.Args[0]), e.Args[1].(*tree.Literal).Number, p.Expr(e.Args[2]))
}

// RegularExpression writes a pattern for what reads \x{61} as a character. A character of the
// pattern is written as its number, so that nothing of the analyst's text is in the statement.
func RegularExpression(pattern tree.Pattern) string {
	var b strings.Builder
	for _, c := range pattern {
		switch {
		case c.Anything():
			b.WriteString(".*")
		case c.One():
			b.WriteString(".")
		default:
			fmt.Fprintf(&b, `\x{%x}`, rune(c))
		}
	}
	return b.String()
}

// parse reads a text of a form as a type. What is not of the form is no value.
func (p *ExprPrinter) parse(e *tree.Call, form, typ string) string {
	return p.TryCast(p.Form(p.Expr(e.Args[0]), form), typ)
}

// TimeForm prints a text of a form, which begins with a year.
func (p *ExprPrinter) TimeForm(e *tree.Call, form string) string {
	return p.Form(p.Expr(e.Args[0]), years+strings.TrimPrefix(form, "[0-9]{4}"))
}

// parseDecimal reads a decimal number exactly: with its digits after the point, and then
// without the point.
func parseDecimal(p *ExprPrinter, e *tree.Call) string {
	decimal := p.parse(e, tree.DecimalText, fmt.Sprintf("DECIMAL(38,%d)", e.Type().Decimals()))
	return p.TryCast("replace(CAST("+decimal+" AS "+p.Text+"), '.', '')", p.Int128)
}

func parseBoolean(p *ExprPrinter, e *tree.Call) string {
	// Letters of ASCII have a lower case here and no others: the Kelvin sign is no k.
	x := "translate(" + p.Expr(e.Args[0]) + ", 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')"
	quoted := func(texts []string) string { return "'" + strings.Join(texts, "', '") + "'" }
	return "(CASE WHEN " + x + " IN (" + quoted(tree.TrueTexts) + ") THEN true WHEN " + x + " IN (" + quoted(tree.FalseTexts) +
		") THEN false END)"
}

func PrintText(p *ExprPrinter, e *tree.Call) string {
	t := e.Args[0].Type()
	text := " AS " + p.Text + ")"
	if t.Kind == tree.Date || t.Kind == tree.Timestamp {
		return "CAST(" + p.Calendar(e.Args[0]) + text
	}
	if t.Kind == tree.Number {
		digits := t.Decimals()
		// Whole numbers of the last digit, as a decimal number.
		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
		factor := new(big.Rat).Mul(t.Step, new(big.Rat).SetInt(unit)).Num()
		if digits == 0 {
			return "CAST(CAST(" + p.multiply(e.Args[0], factor, true) + " AS " + p.Int128 + ")" + text
		}
		x, step := p.Expr(e.Args[0]), t.Step.FloatString(digits)
		return fmt.Sprintf("CAST(CAST(%s AS DECIMAL(19,0)) * CAST(%s AS DECIMAL(%d,%d))%s", x, step, len(step)-1, digits, text)
	}
	return "CAST(" + p.Expr(e.Args[0]) + text
}

const dayMicros = 24 * 60 * 60 * 1_000_000

// extract prints a field of a date or a timestamp.
func extract(p *ExprPrinter, e *tree.Call) string {
	field, x := *e.Args[0].(*tree.Literal).Text, e.Args[1]
	size := map[string][2]int64{"hour": {3_600_000_000, 24}, "minute": {60_000_000, 60}, "second": {1, 60_000_000}}[field]
	switch {
	case field == "epoch" && x.Type().Kind == tree.Timestamp:
		return p.Expr(x)
	case field == "epoch":
		return "(" + p.Expr(x) + " * 86400)"
	case size[0] > 0:
		// Microseconds since the year 1, which are positive.
		positive := fmt.Sprintf("(%s + %d)", p.Expr(x), int64(719162)*dayMicros)
		return fmt.Sprintf("(%s %% %d)", p.Quotient(positive, strconv.FormatInt(size[0], 10), false), size[1])
	}
	return "CAST(" + p.Part(field, p.Calendar(x)) + " AS " + p.Int64 + ")"
}

func (p *ExprPrinter) Calendar(x tree.Expr) string {
	if x.Type().Kind == tree.Date {
		return p.Date(p.Expr(x))
	}
	return p.Timestamp("CAST(" + p.Expr(x) + " AS " + p.Int64 + ")")
}

// addMicros adds a number of microseconds, which may have been computed in 128 bits and fits in 64.
func addMicros(p *ExprPrinter, e *tree.Call) string {
	return "(" + p.Expr(e.Args[0]) + " + CAST(" + p.Expr(e.Args[1]) + " AS " + p.Int64 + "))"
}

func dateTrunc(p *ExprPrinter, e *tree.Call) string {
	size := map[string]int64{"hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000, "milliseconds": 1000}
	if by := size[*e.Args[0].(*tree.Literal).Text]; by > 0 && e.Type().Kind == tree.Timestamp {
		return fmt.Sprintf("(%s * %d)", p.floorDiv(e.Args[1], by), by)
	}
	trunc := "date_trunc('" + *e.Args[0].(*tree.Literal).Text + "', " + p.Calendar(e.Args[1]) + ")"
	if e.Type().Kind == tree.Date {
		return p.Days("CAST(" + trunc + " AS " + p.Day + ")")
	}
	return p.Micros("CAST(" + trunc + " AS " + p.Moment + ")")
}

func addInterval(p *ExprPrinter, e *tree.Call) string {
	n := func(i int) *big.Int { return e.Args[i].(*tree.Literal).Number }
	return p.Shift(p.Calendar(e.Args[0]), n(1), n(2), n(3))
}
