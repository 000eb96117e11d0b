package dialect

import (
	"fmt"
	"maps"
	"math/big"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// Function prints a function of the plan. It writes an argument at most as often as the planner
// counts, and uses no function of the database's outside of where it is defined.
type Function func(p *Printer, e *tree.Call) string

// Plain is a function that the database has, perhaps under another name.
func Plain(name string) Function {
	return func(p *Printer, e *tree.Call) string { return name + "(" + strings.Join(p.All(e.Args), ", ") + ")" }
}

// infix is an operator between all arguments.
func infix(operator string) Function {
	return func(p *Printer, e *tree.Call) string { return "(" + strings.Join(p.All(e.Args), operator) + ")" }
}

// years are those of a date as a text, from 1 on.
const years = "(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})"

// Functions returns how all functions are printed: those of a dialect, and what is the same
// everywhere.
func Functions(own map[string]Function) map[string]Function {
	out := map[string]Function{
		"abs": (*Printer).abs, "sign": (*Printer).sign,
		"round": (*Printer).rounding, "floor": (*Printer).rounding, "ceil": (*Printer).rounding, "trunc": (*Printer).rounding,
		"||": infix(" || "), "add_days": infix(" + "), "add_micros": (*Printer).addMicros, "days_between": infix(" - "),
		"extract": (*Printer).extract, "date_trunc": (*Printer).dateTrunc, "add_interval": (*Printer).addInterval,
		"timestamp":     func(p *Printer, e *tree.Call) string { return "(" + p.Expr(e.Args[0]) + " * 86400000000)" },
		"date":          func(p *Printer, e *tree.Call) string { return p.floorDiv(e.Args[0], dayMicros) },
		"parse_integer": func(p *Printer, e *tree.Call) string { return p.parse(e, tree.IntegerText, p.Int64) },
		"parse_decimal": (*Printer).parseDecimal,
		"parse_boolean": (*Printer).parseBoolean,
		"parse_date":    func(p *Printer, e *tree.Call) string { return p.Days(p.TryCast(p.TimeForm(e, tree.DateText), p.Day)) },
		"parse_timestamp": func(p *Printer, e *tree.Call) string {
			return p.Micros(p.TryCast(p.TimeForm(e, tree.TimestampText), p.Moment))
		},
		"text":    (*Printer).PrintText,
		"matches": (*Printer).matches, "lpad": (*Printer).pad, "rpad": (*Printer).pad,
	}
	for _, name := range []string{"coalesce", "nullif", "greatest", "least", "sqrt", "ln", "log10", "exp", "length", "lower", "upper",
		"strpos", "right",
		"ltrim", "rtrim", "substring", "concat", "split_part", "replace", "concat_ws"} {
		out[name] = Plain(name)
	}
	maps.Copy(out, own)
	return out
}

func (p *Printer) call(e *tree.Call) string {
	f, ok := p.Functions[e.Fn]
	if !ok {
		panic("dialect: no SQL for the function " + e.Fn)
	}
	return f(p, e)
}

// All prints expressions.
func (p *Printer) All(args []tree.Expr) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = p.Expr(a)
	}
	return out
}

// real prints a double as the same double.
func (p *Printer) real(f float64) string {
	return p.Double("'" + strconv.FormatFloat(f, 'g', -1, 64) + "'")
}

// interval prints a value that is NULL outside of its interval.
func (p *Printer) interval(e *tree.Within) string {
	t := e.Type()
	return p.let(p.Expr(e.X), func(x string) string {
		if t.Kind == tree.Real {
			return fmt.Sprintf("(CASE WHEN %s BETWEEN %s AND %s THEN %s END)", x, p.real(t.Range.Low), p.real(t.Range.High), x)
		}
		return fmt.Sprintf("(CASE WHEN %s BETWEEN %s AND %s THEN %s END)", x, p.Whole(t.Lo), p.Whole(t.Hi), x)
	})
}

func (p *Printer) abs(e *tree.Call) string {
	x := e.Args[0]
	return "abs(" + p.number(x, x.Type().Wide()) + ")"
}

func (p *Printer) sign(e *tree.Call) string {
	return "CAST(sign(" + p.Expr(e.Args[0]) + ") AS " + p.Int64 + ")"
}

// rounding prints round, floor, ceil and trunc.
func (p *Printer) rounding(e *tree.Call) string {
	if e.Args[0].Type().Kind == tree.Real {
		return p.roundingReal(e)
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
func (p *Printer) roundingReal(e *tree.Call) string {
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

// floorDiv divides an integer and rounds down.
func (p *Printer) floorDiv(e tree.Expr, by int64) string {
	shift := new(big.Int).Div(e.Type().Lo, big.NewInt(by))
	add := new(big.Int).Mul(shift, big.NewInt(by))
	return fmt.Sprintf("(%s + (%v))", p.Quotient(fmt.Sprintf("(%s - (%v))", p.Expr(e), add), strconv.FormatInt(by, 10), false), shift)
}
