package grammar

import pg "github.com/pganalyze/pg_query_go/v6"

// deeper returns where a text is first nested more than limit levels deep, and whether it is.
//
// What nests is parentheses, brackets, CASEs, and operators that stand before something, such as
// NOT and -, in a row. The measure is never below the nesting of what the grammar has accepted so
// far. It may be above: AS case opens a CASE that nothing closes but a bracket around it.
func deeper(words []Word, limit int) (at int32, found bool) {
	var open stack
	chain, before := 0, pg.Token_NUL
	for _, w := range words {
		switch w.Kind {
		case pg.Token_SQL_COMMENT, pg.Token_C_COMMENT:
			continue // it separates nothing: NOT /**/ NOT is NOT NOT
		case pg.Token_ASCII_40, pg.Token_ASCII_91, pg.Token_CASE: // ( [ CASE
			open = append(open, w.Kind)
		case pg.Token_ASCII_41: // )
			open.close(pg.Token_ASCII_40)
		case pg.Token_ASCII_93: // ]
			open.close(pg.Token_ASCII_91)
		case pg.Token_END_P:
			// END is also a name, in SELECT 1 end, SELECT 1 AS end and t.end. A name after a dot
			// can stand inside of a CASE.
			if before != pg.Token_ASCII_46 && before != pg.Token_AS && open.top() == pg.Token_CASE {
				open = open[:len(open)-1]
			}
		}
		switch w.Kind {
		case pg.Token_NOT, pg.Token_ASCII_45, pg.Token_ASCII_43, pg.Token_Op: // NOT - + and others
			chain++
		default:
			chain = 0
		}
		if len(open) > limit || chain > limit {
			return w.Start, true
		}
		before = w.Kind
	}
	return 0, false
}

// stack is what is open, the innermost last.
type stack []pg.Token

func (s stack) top() pg.Token {
	if len(s) == 0 {
		return pg.Token_NUL
	}
	return s[len(s)-1]
}

// close closes down to the innermost opener of a kind, and nothing where there is none: the grammar
// stops there.
func (s *stack) close(opener pg.Token) {
	for i := len(*s) - 1; i >= 0; i-- {
		if (*s)[i] == opener {
			*s = (*s)[:i]
			return
		}
	}
}
