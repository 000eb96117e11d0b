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
	return fmt.Sprintf("reduce(transform(regexp_extract_all(%s, '(?s).'), c -> codepoint(CAST(c AS varchar(1)))), 0, "+
		"(s, c) -> CASE s%s END, s -> s IN (%s))", x, step.String(), strings.TrimPrefix(end.String(), ", "))
}
