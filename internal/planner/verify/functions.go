package verify

import (
	"math"
	"math/big"
	"regexp"
	"regexp/syntax"

	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// arity is how many arguments the functions have that take a fixed number.
var arity = map[string]int{
	"nullif": 2, "abs": 1, "sign": 1, "round": 2, "floor": 2, "ceil": 2, "trunc": 2, "sqrt": 1, "ln": 1, "log10": 1, "exp": 1, "power": 2,
	"length": 1, "lower": 1, "upper": 1, "btrim": 2, "ltrim": 2, "rtrim": 2, "substring": 3, "right": 2, "strpos": 2, "text": 1,
	"matches": 2, "split_part": 3, "replace": 3, "lpad": 3, "rpad": 3,
	"extract": 2, "date_trunc": 2, "timestamp": 1, "date": 1, "add_days": 2, "days_between": 2, "add_interval": 4,
	"add_micros":    2,
	"parse_integer": 1, "parse_decimal": 2, "parse_boolean": 1, "parse_date": 1, "parse_timestamp": 1,
}

// call derives a function. One that is not here is not known, and refused.
func (c *exprChecker) call(s *scope, e *tree.Call) fact {
	args := make([]fact, len(e.Args))
	derived, never := false, false
	for i, a := range e.Args {
		args[i] = c.expr(s, a)
		c.must(args[i].kind != tree.Identity, "an identity is computed with")
		derived, never = derived || args[i].derived, never || args[i].never
	}
	n, fixed := arity[e.Fn]
	c.must(!fixed || len(args) == n, "it has %d arguments", len(args))
	c.must(len(args) > 0, "it has no arguments")
	var out fact
	switch e.Fn {
	case "coalesce":
		out = c.hull(args)
	case "nullif":
		c.checkComparable(args[0], args[1])
		out = args[0]
	case "greatest", "least":
		out = c.functions.extreme(e, args)
	case "abs", "sign", "round", "floor", "ceil", "trunc":
		out = c.functions.numeric(e, args)
	case "sqrt", "ln", "log10", "exp":
		out = c.functions.transcendental(e.Fn, args[0])
	case "power":
		out = c.functions.power(args[0], args[1])
	case "length", "lower", "upper", "btrim", "ltrim", "rtrim", "substring", "right", "strpos", "||", "concat",
		"split_part", "replace", "concat_ws", "lpad", "rpad":
		out = c.functions.text(e, args)
	case "matches":
		out = c.functions.match(e, args)
	case "text":
		out = c.functions.spell(e, args[0])
	case "extract", "date_trunc", "timestamp", "date", "add_days", "add_micros", "days_between", "add_interval":
		out = c.functions.time(e, args)
	case "parse_integer", "parse_decimal", "parse_boolean", "parse_date", "parse_timestamp":
		out = c.functions.parse(e, args)
	default:
		c.fail("no function that is known here")
	}
	switch e.Fn {
	case "coalesce", "nullif", "greatest", "least", "concat", "concat_ws": // which want to see NULLs
	default:
		out.never = out.never || never
	}
	out.derived = derived
	return out
}

// functions derives the values of functions from what is known about their arguments.
type functions struct{ *trail }

// surely reports whether something is never NULL. What the policy says of a column is not a proof.
func surely(e tree.Expr) bool {
	switch e := e.(type) {
	case *tree.Literal:
		return !e.IsNullLiteral()
	case *tree.Rescale:
		return surely(e.X)
	case *tree.ToReal:
		return surely(e.X)
	}
	return false
}

// extreme derives greatest and least, which pass over NULL: what is never NULL bounds the result
// from its side.
func (c *functions) extreme(e *tree.Call, args []fact) fact {
	out := c.hull(args)
	for i, a := range args {
		if out.never || a.never || !surely(e.Args[i]) {
			continue
		}
		switch {
		case out.kind == tree.Real && e.Fn == "greatest":
			out.low = max(out.low, a.low)
		case out.kind == tree.Real:
			out.high = min(out.high, a.high)
		case out.lo == nil:
		case e.Fn == "greatest":
			out.lo = upper(out.lo, a.lo)
		default:
			out.hi = lower(out.hi, a.hi)
		}
	}
	return out
}

// constant reads an argument that must be a whole number.
func (c *functions) constant(e tree.Expr, from, upto int64) int64 {
	l, ok := e.(*tree.Literal)
	c.must(ok && l.Number != nil && sameStep(l.Type().Step, whole) && l.Number.IsInt64(),
		"an argument that must be a whole constant is none")
	n := l.Number.Int64()
	c.must(n >= from && n <= upto, "a constant of %d where %d to %d is meant", n, from, upto)
	return n
}

// word reads an argument that must be a constant text.
func (c *functions) word(e tree.Expr) string {
	l, ok := e.(*tree.Literal)
	c.must(ok && l.Text != nil, "an argument that must be a constant text is none")
	return *l.Text
}

// numeric derives functions whose value is an exact number, or an absolute value.
func (c *functions) numeric(e *tree.Call, args []fact) fact {
	x := args[0]
	c.must(x.kind == tree.Number || x.kind == tree.Real, "%s of %v", e.Fn, x.kind)
	switch {
	case e.Fn == "sign":
		return integers(-1, 1)
	case e.Fn == "abs" && x.never:
		return x
	case e.Fn == "abs" && x.kind == tree.Real:
		low := 0.0
		if x.low > 0 || x.high < 0 {
			low = min(math.Abs(x.low), math.Abs(x.high))
		}
		return real(low, max(math.Abs(x.low), math.Abs(x.high)))
	case e.Fn == "abs":
		low := zero
		if x.lo.Sign() > 0 {
			low = x.lo
		} else if x.hi.Sign() < 0 {
			low = new(big.Int).Neg(x.hi)
		}
		return number(x.step, low, x.farthest())
	}
	digits := c.constant(e.Args[1], -40, 40)
	step := tenth(digits)
	if x.never {
		return fact{kind: tree.Number, step: step, never: true}
	}
	if x.kind == tree.Real {
		return c.roundReal(e, x, digits, step)
	}
	return c.round(e, x, step)
}

// tenth is 10^-digits.
func tenth(digits int64) *big.Rat {
	p := new(big.Int).Exp(big.NewInt(10), big.NewInt(max(digits, -digits)), nil)
	if digits > 0 {
		return new(big.Rat).SetFrac(unit, p)
	}
	return new(big.Rat).SetInt(p)
}

// round derives the rounding of an exact number. An engine multiplies by p, adds something and
// divides by q; all of it stays in 128 bits, and in 64 where it decides for these.
func (c *functions) round(e *tree.Call, x fact, step *big.Rat) fact {
	ratio := new(big.Rat).Quo(x.step, step)
	p, q := new(big.Int).Set(ratio.Num()), new(big.Int).Set(ratio.Denom())
	c.checkRounding(e, p, q)
	return number(step, rounded(e.Fn, x.lo, p, q), rounded(e.Fn, x.hi, p, q))
}

// checkRounding bounds what is computed for a rounding. It follows the printer: twice of all for
// halves, and what is claimed of the argument decides how wide it is and how far it is moved.
func (c *functions) checkRounding(e *tree.Call, p, q *big.Int) {
	t := e.Args[0].Type()
	if e.Fn == "round" {
		p, q = new(big.Int).Lsh(p, 1), new(big.Int).Lsh(q, 1)
	}
	far := new(big.Int).Abs(t.Lo)
	if t.Hi.CmpAbs(far) > 0 {
		far.Abs(t.Hi)
	}
	scaled := far.Mul(far, p)
	// Below it is moved up by its lower end and by at most two divisors.
	reach := new(big.Int).Add(new(big.Int).Lsh(scaled, 1), new(big.Int).Lsh(q, 1))
	c.must(reach.Cmp(bits128) <= 0 && p.Cmp(bits128) <= 0 && q.Cmp(bits128) <= 0, "a rounding overflows on its way")
	c.checkConstants(e.Args[0], wide(t) || reach.Cmp(narrow) > 0, p)
}

// rounded is n p / q, rounded; halves go away from zero.
func rounded(fn string, n, p, q *big.Int) *big.Int {
	x := new(big.Int).Mul(n, p)
	quotient, rest := new(big.Int).QuoRem(x, q, new(big.Int)) // towards zero
	away := int64(x.Sign())
	switch {
	case rest.Sign() == 0 || fn == "trunc":
	case fn == "floor":
		if away < 0 {
			quotient.Sub(quotient, unit)
		}
	case fn == "ceil":
		if away > 0 {
			quotient.Add(quotient, unit)
		}
	case new(big.Int).Lsh(rest.Abs(rest), 1).Cmp(q) >= 0:
		quotient.Add(quotient, big.NewInt(away))
	}
	return quotient
}

// roundReal derives the rounding of a double, which is multiplied or divided by a power of ten
// first.
func (c *functions) roundReal(e *tree.Call, x fact, digits int64, step *big.Rat) fact {
	power, _ := new(big.Float).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(max(digits, -digits)), nil)).Float64()
	at := func(f float64) *big.Int {
		if digits >= 0 {
			f *= power
		} else {
			f /= power
		}
		switch e.Fn {
		case "trunc":
			f = math.Trunc(f)
		case "floor":
			f = math.Floor(f)
		case "ceil":
			f = math.Ceil(f)
		default:
			f = math.Round(f)
		}
		c.must(math.Abs(f) <= 0x1p120, "a real number is rounded to more than 120 bits")
		n, _ := new(big.Float).SetFloat64(f).Int(nil)
		return n
	}
	return number(step, at(x.low), at(x.high))
}

// signs are all that may stand in a pattern: characters are numbers, and nothing in it can end the
// text of a statement that it stands in.
var signs = regexp.MustCompile(`\A(?:\\x\{[0-9a-f]{1,6}\}|\\[AzbB]|\(\?:|[\[\])|*+?^-]|\{[0-9]{1,3},[0-9]{0,3}\})*\z`)

// mostSteps is how many steps a matcher may take for one character of a text.
const mostSteps = 4000

// match derives a match of a pattern: it is true or false for every text, in time that is in
// proportion to the text.
func (c *functions) match(e *tree.Call, args []fact) fact {
	c.must(args[0].kind == tree.Text, "a pattern is looked for in %v", args[0].kind)
	pattern := c.word(e.Args[1])
	c.must(signs.MatchString(pattern), "a pattern has signs that are not known here")
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	c.must(err == nil, "a pattern cannot be read")
	program, err := syntax.Compile(parsed.Simplify())
	c.must(err == nil && len(program.Inst) <= mostSteps, "a pattern is too large")
	return boolean()
}

// text derives functions of texts. A character is a code point, and lower and upper map one to one.
func (c *functions) text(e *tree.Call, args []fact) fact {
	if e.Fn == "||" || e.Fn == "concat" {
		return c.concatenate(args)
	}
	if e.Fn == "concat_ws" {
		out := c.concatenate(args[1:])
		out.length += len([]rune(c.word(e.Args[0]))) * max(0, len(args)-2)
		c.must(len(args) > 1 && out.length <= 1000, "a text of up to %d characters is made", out.length)
		return out
	}
	x := args[0]
	c.must(x.kind == tree.Text, "%s of %v", e.Fn, x.kind)
	switch e.Fn {
	case "length":
		return integers(0, int64(x.length))
	case "strpos":
		c.must(c.word(e.Args[1]) != "", "the empty text is looked for")
		return integers(0, int64(x.length))
	case "btrim", "ltrim", "rtrim":
		c.word(e.Args[1])
	case "lpad", "rpad":
		c.must(c.word(e.Args[2]) != "", "a text is filled up with nothing")
		return text(int(c.constant(e.Args[1], 1, 1000)))
	case "split_part":
		c.must(c.word(e.Args[1]) != "", "a text is split by nothing")
		c.constant(e.Args[2], 1, 1000)
	case "replace":
		from, to := len([]rune(c.word(e.Args[1]))), len([]rune(c.word(e.Args[2])))
		c.must(from > 0, "nothing is replaced")
		if to > from { // each character may become as many
			out := text(x.length * to)
			c.must(out.length <= 1000, "a text of up to %d characters is made", out.length)
			return out
		}
	case "right":
		return text(int(min(c.constant(e.Args[1], 0, anyLength), int64(x.length))))
	case "substring":
		c.constant(e.Args[1], 1, anyLength)
		return text(int(min(c.constant(e.Args[2], 0, anyLength), int64(x.length))))
	}
	return text(x.length)
}

// concatenate is several texts in a row. It is the one function whose value is longer than what
// went in, and must be short.
func (c *functions) concatenate(args []fact) fact {
	out := text(0)
	for _, a := range args {
		c.must(a.kind == tree.Text, "texts are joined with %v", a.kind)
		if !a.never {
			out.length += a.length
		}
	}
	c.must(out.length <= 1000, "a text of up to %d characters is made", out.length)
	return out
}

func (c *functions) spell(e *tree.Call, x fact) fact {
	switch x.kind {
	case tree.Boolean:
		return text(len("false"))
	case tree.Date:
		c.checkCivil(x)
		return text(len("9999-12-31"))
	case tree.Timestamp:
		c.checkCivil(x)
		return text(len("9999-12-31 23:59:59.999999"))
	case tree.Number:
		return c.spellNumber(e, x)
	}
	c.fail("%v has no one spelling", x.kind)
	return fact{}
}

// spellNumber is a number as a text: whole numbers of the last digit after the point, in 128 bits
// or in a DECIMAL(38).
func (c *functions) spellNumber(e *tree.Call, x fact) fact {
	decimals, exact := x.step.FloatPrec()
	c.must(exact && decimals <= 36, "a number with too many digits is spelled")
	t := e.Args[0].Type()
	// One step is this many of the last digit.
	last := new(big.Rat).Mul(x.step, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)))
	factor := last.Num()
	far := new(big.Int).Abs(t.Lo)
	if t.Hi.CmpAbs(far) > 0 {
		far.Abs(t.Hi)
	}
	reach := new(big.Int).Mul(far, factor)
	if decimals == 0 {
		c.must(reach.Cmp(bits128) <= 0 && factor.Cmp(bits128) <= 0, "the digits of a number overflow on their way to a text")
		c.checkConstants(e.Args[0], true, factor)
	} else {
		c.must(len(far.String()) <= 19 && len(reach.String()) <= 38 && len(x.step.FloatString(decimals)) <= 38,
			"the digits of a number overflow on their way to a text")
	}
	if x.never {
		return text(0)
	}
	most := 0
	for _, end := range []*big.Int{x.lo, x.hi} {
		most = max(most, len(new(big.Rat).Mul(new(big.Rat).SetInt(end), x.step).FloatString(decimals)))
	}
	return text(most)
}

// parse reads a text. What is not of the form is NULL.
func (c *functions) parse(e *tree.Call, args []fact) fact {
	c.must(args[0].kind == tree.Text, "%s of %v", e.Fn, args[0].kind)
	eighteen := func(more int64) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(18+more), nil) }
	switch e.Fn {
	case "parse_boolean":
		return boolean()
	case "parse_date":
		return fact{kind: tree.Date, lo: firstDay, hi: lastDay}
	case "parse_timestamp":
		return fact{kind: tree.Timestamp, lo: firstMicros, hi: lastMicros}
	case "parse_decimal":
		// 18 digits before the point, rounded at the last one after it: that may carry into one
		// more.
		digits := c.constant(e.Args[1], 0, 18)
		return number(tenth(digits), new(big.Int).Neg(eighteen(digits)), eighteen(digits))
	}
	nines := new(big.Int).Sub(eighteen(0), unit)
	return number(whole, new(big.Int).Neg(nines), nines)
}
