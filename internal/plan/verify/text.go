package verify

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// textual derives functions of texts. A character is a code point, and lower and upper map one to
// one.
func (c *checker) textual(e *tree.Call, args []fact) fact {
	if e.Fn == "||" || e.Fn == "concat" {
		return c.joined(args)
	}
	if e.Fn == "concat_ws" {
		out := c.joined(args[1:])
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

// joined is several texts in a row. It is the one function whose value is longer than what went in,
// and must be short.
func (c *checker) joined(args []fact) fact {
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

// spelled is a value as a text.
func (c *checker) spelled(e *tree.Call, x fact) fact {
	switch x.kind {
	case tree.Boolean:
		return text(len("false"))
	case tree.Date:
		c.civil(x)
		return text(len("9999-12-31"))
	case tree.Timestamp:
		c.civil(x)
		return text(len("9999-12-31 23:59:59.999999"))
	case tree.Number:
		return c.digits(e, x)
	}
	c.fail("%v has no one spelling", x.kind)
	return fact{}
}

// digits is a number as a text: whole numbers of the last digit after the point, in 128 bits or in
// a DECIMAL(38).
func (c *checker) digits(e *tree.Call, x fact) fact {
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
		c.constants(e.Args[0], true, factor)
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

// parsed reads a text. What is not of the form is NULL.
func (c *checker) parsed(e *tree.Call, args []fact) fact {
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
