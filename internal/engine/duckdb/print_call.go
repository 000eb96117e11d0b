package duckdb

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// calls print the functions of the plan. Each writes an argument at most as often as the
// planner counts, and uses no function of DuckDB's outside of where it is defined.
var calls map[string]func(p *printer, e *tree.Call) string

func init() {
	plain := func(name string) func(*printer, *tree.Call) string {
		return func(p *printer, e *tree.Call) string { return name + "(" + p.list(e.Args) + ")" }
	}
	calls = map[string]func(*printer, *tree.Call) string{
		"coalesce": plain("coalesce"), "nullif": plain("nullif"), "greatest": plain("greatest"), "least": plain("least"),
		"sqrt": plain("sqrt"), "ln": plain("ln"), "log10": plain("log10"), "exp": plain("exp"), "power": plain("pow"),
		"abs": (*printer).abs, "sign": (*printer).sign,
		"round": (*printer).rounding, "floor": (*printer).rounding, "ceil": (*printer).rounding, "trunc": (*printer).rounding,
		"length": plain("length"), "lower": plain("lower"), "upper": plain("upper"), "strpos": plain("strpos"), "right": plain("right"),
		"btrim": plain("trim"), "ltrim": plain("ltrim"), "rtrim": plain("rtrim"), "substring": plain("substring"), "concat": plain("concat"),
		"||":      func(p *printer, e *tree.Call) string { return "(" + strings.Join(p.all(e.Args), " || ") + ")" },
		"extract": (*printer).extract, "date_trunc": (*printer).dateTrunc, "add_interval": (*printer).addInterval,
		"timestamp":    func(p *printer, e *tree.Call) string { return "(" + p.expr(e.Args[0]) + " * 86400000000)" },
		"date":         func(p *printer, e *tree.Call) string { return p.floorDiv(e.Args[0], dayMicros) },
		"add_days":     func(p *printer, e *tree.Call) string { return "(" + strings.Join(p.all(e.Args), " + ") + ")" },
		"days_between": func(p *printer, e *tree.Call) string { return "(" + strings.Join(p.all(e.Args), " - ") + ")" },
		"parse_integer": func(p *printer, e *tree.Call) string {
			return "TRY_CAST(" + p.spelled(e, tree.IntegerText) + " AS BIGINT)"
		},
		"parse_decimal": (*printer).parseDecimal,
		"parse_boolean": (*printer).parseBoolean,
		"parse_date": func(p *printer, e *tree.Call) string {
			return "(TRY_CAST(" + p.spelled(e, "(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})"+strings.TrimPrefix(tree.DateText, "[0-9]{4}")) + " AS DATE) - DATE '1970-01-01')"
		},
		"parse_timestamp": func(p *printer, e *tree.Call) string {
			return "epoch_us(TRY_CAST(" + p.spelled(e, "(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})"+strings.TrimPrefix(tree.TimestampText, "[0-9]{4}")) + " AS TIMESTAMP))"
		},
		"text": (*printer).text,
	}
}

func (p *printer) call(e *tree.Call) string {
	f, ok := calls[e.Fn]
	if !ok {
		panic("duckdb: no SQL for the function " + e.Fn)
	}
	return f(p, e)
}

func (p *printer) all(args []tree.Expr) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = p.expr(a)
	}
	return out
}

func (p *printer) list(args []tree.Expr) string { return strings.Join(p.all(args), ", ") }

// real prints a double as the same double.
func real(f float64) string { return "'" + strconv.FormatFloat(f, 'g', -1, 64) + "'::DOUBLE" }

// within prints a value that is NULL outside of its interval.
func (p *printer) within(e *tree.Within) string {
	x, t := p.expr(e.X), e.Type()
	if t.Kind == tree.Real {
		return fmt.Sprintf("(CASE WHEN %s BETWEEN %s AND %s THEN %s END)", x, real(t.Range.Low), real(t.Range.High), x)
	}
	return fmt.Sprintf("(CASE WHEN %s BETWEEN %v AND %v THEN %s END)", x, t.Lo, t.Hi, x)
}

func (p *printer) abs(e *tree.Call) string {
	x := e.Args[0]
	return "abs(" + p.number(x, x.Type().Wide()) + ")"
}

func (p *printer) sign(e *tree.Call) string { return "CAST(sign(" + p.expr(e.Args[0]) + ") AS BIGINT)" }

// rounding prints round, floor, ceil and trunc.
func (p *printer) rounding(e *tree.Call) string {
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
	scaled := p.times(e.Args[0], num, wide)
	lo := new(big.Int).Mul(t.Lo, num)
	switch e.Fn {
	case "trunc":
		return "(" + scaled + " // " + p.integer(den) + ")"
	case "round":
		quarter := new(big.Int).Quo(den, two) // half of the old denominator, on twice the numbers
		if lo.Sign() >= 0 {
			return "((" + scaled + " + " + p.integer(quarter) + ") // " + p.integer(den) + ")"
		}
		return "((" + scaled + " + sign(" + p.number(e.Args[0], wide) + ") * " + p.integer(quarter) + ") // " + p.integer(den) + ")"
	}
	// Division truncates. Moved up by a multiple of the divisor that makes everything
	// positive it rounds down, and moved up by almost one more it rounds up.
	shift := new(big.Int).Div(lo, den) // rounded down
	add := new(big.Int).Neg(new(big.Int).Mul(shift, den))
	if e.Fn == "ceil" {
		add.Add(add, new(big.Int).Sub(den, one.Num()))
	}
	return "((" + scaled + " + " + p.integer(add) + ") // " + p.integer(den) + " + " + p.integer(shift) + ")"
}

func largest(a, b *big.Int) *big.Int {
	if a.CmpAbs(b) > 0 {
		return new(big.Int).Abs(a)
	}
	return new(big.Int).Abs(b)
}

// roundingReal rounds a double for each row by itself, and clamps it to what is proven: a
// logarithm may differ between machines in its last bits.
func (p *printer) roundingReal(e *tree.Call) string {
	x, t := p.expr(e.Args[0]), e.Type()
	digits := e.Args[1].(*tree.Literal).Number.Int64()
	scale := new(big.Int).Exp(big.NewInt(10), new(big.Int).Abs(big.NewInt(digits)), nil)
	switch {
	case digits > 0:
		x = fmt.Sprintf("(%s * %v::DOUBLE)", x, scale)
	case digits < 0:
		x = fmt.Sprintf("(%s / %v::DOUBLE)", x, scale)
	}
	typ := "BIGINT"
	if t.Wide() {
		typ = "HUGEINT"
	}
	return "(" + clamp("TRY_CAST("+e.Fn+"("+x+") AS "+typ+")", t.Lo, t.Hi) + ")"
}

// floorDiv divides an integer and rounds down.
func (p *printer) floorDiv(e tree.Expr, by int64) string {
	shift := new(big.Int).Div(e.Type().Lo, big.NewInt(by))
	add := new(big.Int).Mul(shift, big.NewInt(by))
	return fmt.Sprintf("((%s - (%v)) // %d + (%v))", p.expr(e), add, by, shift)
}
