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

// Error shows one problem a line, in the order of the file, in the form that
// editors jump to.
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

// at records a problem at a place.
func (r *reader) at(p place, format string, args ...any) {
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

// list joins words as a sentence does.
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
