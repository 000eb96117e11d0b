package trino

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// functions are those that Trino has not, or means otherwise.
var functions = map[string]dialect.Function{
	"power": dialect.Plain("power"),
	"btrim": trim("BOTH"), "ltrim": trim("LEADING"), "rtrim": trim("TRAILING"),
	"greatest": extreme("array_max"), "least": extreme("array_min"),
	// Trino's capital of ß is itself.
	"upper": func(p *dialect.ExprPrinter, e *tree.Call) string {
		return "replace(upper(" + p.Expr(e.Args[0]) + "), " + constant("ß") + ", " + constant("ẞ") + ")"
	},
	"right": func(p *dialect.ExprPrinter, e *tree.Call) string {
		return let(p.Expr(e.Args[0]), "x", fmt.Sprintf("substr(x, greatest(length(x) - %v + 1, 1))", e.Args[1].(*tree.Literal).Number))
	},
	"concat": func(p *dialect.ExprPrinter, e *tree.Call) string {
		all := p.All(e.Args)
		for i, x := range all {
			all[i] = "coalesce(" + x + ", '')"
		}
		return "(" + strings.Join(all, " || ") + ")"
	},
	"split_part": func(p *dialect.ExprPrinter, e *tree.Call) string {
		by := p.All(e.Args[1:])
		return let(p.Expr(e.Args[0]), "x", "CASE WHEN x IS NOT NULL THEN coalesce(split_part(x, "+strings.Join(by, ", ")+"), '') END")
	},
	"parse_timestamp": func(p *dialect.ExprPrinter, e *tree.Call) string {
		return micros(tryCast("replace("+p.TimeForm(e, tree.TimestampText)+", 'T', ' ')", moment))
	},
	"text": func(p *dialect.ExprPrinter, e *tree.Call) string {
		if x := e.Args[0]; x.Type().Kind == tree.Timestamp {
			// Trino writes all six digits, and others none that are not needed.
			return "trim(TRAILING '.' FROM trim(TRAILING '0' FROM CAST(" + p.Calendar(x) + " AS varchar)))"
		}
		return dialect.PrintText(p, e)
	},
}

func trim(where string) dialect.Function {
	return func(p *dialect.ExprPrinter, e *tree.Call) string {
		return "trim(" + where + " " + p.Expr(e.Args[1]) + " FROM " + p.Expr(e.Args[0]) + ")"
	}
}

// extreme is the greatest or the least of what is not NULL: Trino's own is NULL where one is.
func extreme(of string) dialect.Function {
	return func(p *dialect.ExprPrinter, e *tree.Call) string {
		return of + "(filter(ARRAY[" + strings.Join(p.All(e.Args), ", ") + "], v -> v IS NOT NULL))"
	}
}

// like prints a pattern as LIKE, which Trino runs as an automaton, in time that is proportional to
// the text.
func like(x string, p tree.Pattern) string {
	var b strings.Builder
	for _, c := range p {
		switch {
		case c.Anything():
			b.WriteByte('%')
		case c.One():
			b.WriteByte('_')
		default:
			if strings.ContainsRune(`%_\`, rune(c)) {
				b.WriteByte('\\')
			}
			b.WriteRune(rune(c))
		}
	}
	return "(" + x + " LIKE " + constant(b.String()) + ` ESCAPE '\')`
}
