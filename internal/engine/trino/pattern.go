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

// follow writes the automaton. Bytes that are none of Unicode's are U+FFFD: codepoint fails over
// them, and TRY does not catch it.
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
	return within(x, fmt.Sprintf("reduce(transform(regexp_extract_all(from_utf8(to_utf8(x)), '(?s).'), "+
		"c -> codepoint(CAST(c AS varchar(1)))), 0, (s, c) -> CASE s%s END, s -> s IN (%s))", step.String(),
		strings.TrimPrefix(end.String(), ", ")))
}

// within prints what is computed from each character of a text x, or NULL where that is longer than
// any text should be: it takes a second for some million characters, and one person's text must not
// be what a question waits for.
func within(text, in string) string {
	return let(text, "x", fmt.Sprintf("CASE WHEN length(to_utf8(x)) <= %d THEN %s END", longest, in))
}

// longest is how many bytes of a text are looked at one by one.
const longest = 1 << 20
