package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Problem is one thing that is wrong with a policy, and what to do about it.
type Problem struct {
	// Line and Column say where, counted from 1.
	Line, Column int
	// Where names the dataset, table and column, joined by dots; empty at the top.
	Where string
	Text  string
}

// Error is returned when a policy's text is not a policy. It holds all problems
// that were found, so that an owner corrects them in one go.
type Error struct {
	// Name is the name the text was read under.
	Name     string
	Problems []Problem
}

// maxShown bounds the text of an error. All problems stay in the list.
const maxShown = 100

// Error shows one problem a line, in the order of the file, in the form that editors jump to.
func (e *Error) Error() string {
	var b strings.Builder
	for i, p := range e.Problems {
		if i > 0 {
			b.WriteByte('\n')
		}
		if i == maxShown {
			fmt.Fprintf(&b, "%s: and %d more problems", e.Name, len(e.Problems)-i)
			break
		}
		fmt.Fprintf(&b, "%s:%d:%d: ", e.Name, p.Line, p.Column)
		if p.Where != "" {
			b.WriteString(p.Where + ": ")
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

func (r *reader) at(p element, format string, args ...any) {
	n := p.mark()
	r.problems = append(r.problems, Problem{n.Line, n.Column, p.where, fmt.Sprintf(format, args...)})
}

// err returns all problems in the order of the file, or nil.
func (r *reader) err(name string) error {
	if len(r.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(r.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return &Error{name, r.problems}
}

// quote shows a text from the file inside a sentence: short, on one line, and
// without characters that a terminal would obey.
func quote(text string) string {
	const most = 60
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	q := strconv.Quote(text)
	return "'" + strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`) + "'"
}

func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// didYouMean returns the end of a sentence that offers the known word nearest to the
// one that was written, or nothing when none is near.
func didYouMean(got string, known ...string) string {
	if best := nearest(got, known); best != "" {
		return "; did you mean " + quote(best) + "?"
	}
	return ""
}

// nearest returns the known word that got is a misspelling of, or nothing. Up to a third
// of the letters may be wrong.
func nearest(got string, known []string) string {
	// Long words are no slip of the pen, and the distance takes quadratic time.
	if got == "" || len(got) > 2*maxName {
		return ""
	}
	best, least := "", max(1, len(got)/3)+1
	for _, k := range known {
		if k == got || len(k) > 2*maxName {
			continue
		}
		if d := distance(strings.ToLower(got), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance is the number of letters to insert, remove, replace or swap with their
// neighbour to turn a into b: the optimal string alignment distance (Damerau 1964).
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	before, last, row := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(s); i++ {
		row[0] = i
		for j := 1; j <= len(t); j++ {
			change := 1
			if s[i-1] == t[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(t)]
}
