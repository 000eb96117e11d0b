package duckdb

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// like prints a pattern as what it is: an equality, a beginning, an end, a part. Others are
// regular expressions of DuckDB's, which take time in proportion to the text; its own LIKE
// takes longer the more % and _ a pattern has. A character of the pattern is written as its number,
// so that nothing of the analyst's text is in the statement.
func (p *printer) like(e *tree.Like) string {
	x, pattern := p.expr(e.X), e.Pattern
	first := len(pattern) > 0 && pattern[0].Anything()
	last := len(pattern) > 1 && pattern[len(pattern)-1].Anything()
	middle := pattern
	if first {
		middle = middle[1:]
	}
	if last {
		middle = middle[:len(middle)-1]
	}
	var text, expression strings.Builder
	for _, c := range middle {
		if c.Anything() || c.One() {
			return fmt.Sprintf("regexp_full_match(%s, '%s', 's')", x, regularExpression(pattern, &expression))
		}
		text.WriteRune(rune(c))
	}
	part := p.arg(text.String(), "VARCHAR")
	switch {
	case first && last:
		return "contains(" + x + ", " + part + ")"
	case first:
		return "suffix(" + x + ", " + part + ")"
	case last:
		return "prefix(" + x + ", " + part + ")"
	}
	return "(" + x + " = " + part + ")"
}

func regularExpression(pattern tree.Pattern, b *strings.Builder) string {
	for _, c := range pattern {
		switch {
		case c.Anything():
			b.WriteString(".*")
		case c.One():
			b.WriteString(".")
		default:
			fmt.Fprintf(b, `\x{%x}`, rune(c))
		}
	}
	return b.String()
}

// spelled prints a text that is empty where it is not of a form, which then is no value.
func (p *printer) spelled(e *tree.Call, form string) string {
	return "regexp_extract(" + p.expr(e.Args[0]) + `, '\A(?:` + form + `)\z')`
}

// parseDecimal reads a decimal number exactly: with its digits after the point, and then
// without the point.
func (p *printer) parseDecimal(e *tree.Call) string {
	return fmt.Sprintf("TRY_CAST(replace(CAST(TRY_CAST(%s AS DECIMAL(38,%d)) AS VARCHAR), '.', '') AS HUGEINT)",
		p.spelled(e, tree.DecimalText), e.Type().Decimals())
}

func (p *printer) parseBoolean(e *tree.Call) string {
	// Letters of ASCII have a lower case here and no others: the Kelvin sign is no k.
	x := "translate(" + p.expr(e.Args[0]) + ", 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')"
	quoted := func(texts []string) string { return "'" + strings.Join(texts, "', '") + "'" }
	return "(CASE WHEN " + x + " IN (" + quoted(tree.TrueTexts) + ") THEN true WHEN " + x + " IN (" + quoted(tree.FalseTexts) + ") THEN false END)"
}

// text prints a value as text.
func (p *printer) text(e *tree.Call) string {
	t := e.Args[0].Type()
	if t.Kind == tree.Date || t.Kind == tree.Timestamp {
		return "CAST(" + p.calendar(e.Args[0]) + " AS VARCHAR)"
	}
	if t.Kind == tree.Number {
		digits := t.Decimals()
		// Whole numbers of the last digit, as a decimal number.
		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
		factor := new(big.Rat).Mul(t.Step, new(big.Rat).SetInt(unit)).Num()
		if digits == 0 {
			return "CAST(CAST(" + p.times(e.Args[0], factor, true) + " AS HUGEINT) AS VARCHAR)"
		}
		x := p.expr(e.Args[0])
		return fmt.Sprintf("CAST(CAST(%s AS DECIMAL(19,0)) * CAST(%s AS DECIMAL(%d,%d)) AS VARCHAR)", x, t.Step.FloatString(digits), len(t.Step.FloatString(digits))-1, digits)
	}
	return "CAST(" + p.expr(e.Args[0]) + " AS VARCHAR)"
}
