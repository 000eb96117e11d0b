package trino

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/posix"
)

// finds prints that a text has a part of a pattern, which stands in quotes.
func finds(x, pattern string) string {
	a, err := posix.NewAutomaton(strings.ReplaceAll(strings.Trim(pattern, "'"), "''", "'"))
	if err != nil {
		panic("trino: a pattern that was not refused: " + err.Error()) // see package plan
	}
	return follow(a, x)
}

// follow writes the automaton.
func follow(a *posix.Automaton, x string) string {
	var step, end strings.Builder
	for i, s := range a.States {
		fmt.Fprintf(&step, " WHEN %d THEN ", i)
		if len(s.Edges) == 1 {
			fmt.Fprint(&step, s.Edges[0].To)
		} else {
			step.WriteString("CASE")
			for _, e := range s.Edges[:len(s.Edges)-1] {
				fmt.Fprintf(&step, " WHEN c <= %d THEN %d", e.Upto, e.To)
			}
			fmt.Fprintf(&step, " ELSE %d END", s.Edges[len(s.Edges)-1].To)
		}
		if s.Ends {
			fmt.Fprintf(&end, ", %d", i)
		}
	}
	if end.Len() == 0 {
		end.WriteString(", -1")
	}
	read := fmt.Sprintf("reduce(transform(regexp_extract_all(t, '(?s).'), c -> codepoint(CAST(c AS varchar(1)))), b, "+
		"(s, c) -> CASE s%s END, s -> s)", step.String())
	return fmt.Sprintf("reduce(regexp_extract_all(%s, '(?s).{1,%d}'), 0, (b, t) -> %s, s -> s IN (%s))", x, atOnce, read,
		strings.TrimPrefix(end.String(), ", "))
}

// atOnce is how many characters of a text are in a list at a time. There an element is many times
// what its character is in the text, and one person's text may be as long as they like.
const atOnce = 1000
