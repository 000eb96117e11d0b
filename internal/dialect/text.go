package dialect

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// like prints a pattern as what it is: an equality, a beginning, an end, a part. Others are the
// dialect's, and take time in proportion to the text: DuckDB's own LIKE takes longer the more % and
// _ a pattern has.
func (p *Printer) like(e *tree.Like) string {
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
	part := p.arg(text.String(), p.Text)
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
func (p *Printer) matches(e *tree.Call) string {
	return p.Finds(p.Expr(e.Args[0]), QuoteText(*e.Args[1].(*tree.Literal).Text))
}

// pad prints lpad and rpad, whose length databases want as a small number.
func (p *Printer) pad(e *tree.Call) string {
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
func (p *Printer) parse(e *tree.Call, form, typ string) string {
	return p.TryCast(p.Form(p.Expr(e.Args[0]), form), typ)
}

// TimeForm prints a text of a form, which begins with a year.
func (p *Printer) TimeForm(e *tree.Call, form string) string {
	return p.Form(p.Expr(e.Args[0]), years+strings.TrimPrefix(form, "[0-9]{4}"))
}

// parseDecimal reads a decimal number exactly: with its digits after the point, and then
// without the point.
func (p *Printer) parseDecimal(e *tree.Call) string {
	decimal := p.parse(e, tree.DecimalText, fmt.Sprintf("DECIMAL(38,%d)", e.Type().Decimals()))
	return p.TryCast("replace(CAST("+decimal+" AS "+p.Text+"), '.', '')", p.Int128)
}

func (p *Printer) parseBoolean(e *tree.Call) string {
	// Letters of ASCII have a lower case here and no others: the Kelvin sign is no k.
	x := "translate(" + p.Expr(e.Args[0]) + ", 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')"
	quoted := func(texts []string) string { return "'" + strings.Join(texts, "', '") + "'" }
	return "(CASE WHEN " + x + " IN (" + quoted(tree.TrueTexts) + ") THEN true WHEN " + x + " IN (" + quoted(tree.FalseTexts) +
		") THEN false END)"
}

// PrintText prints a value as text.
func (p *Printer) PrintText(e *tree.Call) string {
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
