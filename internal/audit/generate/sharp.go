package generate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/detrand"
)

// Sharp returns a maker of questions that are made to break something: of constants of every size,
// intervals that are a point, steps that are large, chains of products, texts of everything, values
// by subquery on both sides of IN, and conditions that hold for one person of a [Pair] alone, each
// in every place that takes an expression. It asks the planner about each part that it makes, and
// makes another where that is refused.
func (m *Maker) Sharp() *Maker {
	s := *m
	s.sharp = true
	s.functions = slices.Clone(m.functions)
	for _, f := range edges {
		if s.taken(f) {
			s.functions = append(s.functions, f)
		}
	}
	return &s
}

// deepest is how many subqueries of expressions stand in each other.
const deepest = 2

// edge makes an expression of a kind, as expr does.
func (q *question) edge(s source, k kind, depth int) string {
	if depth <= 0 {
		return q.tip(s, k)
	}
	switch k {
	case truth:
		if q.depth == 1 && q.d.One(5) { // one in another
			if text, ok := q.within(s); ok {
				return text
			}
		}
		switch q.d.Below(10) {
		case 0, 1:
			return q.single(s)
		case 2:
			if text, ok := q.within(s); ok {
				return text
			}
		case 3:
			return "(" + q.single(s) + detrand.Pick(q.d, []string{" AND ", " OR "}) + q.edge(s, truth, depth-1) + ")"
		case 4:
			if text, ok := q.heavy(s); ok && q.d.One(2) {
				return text
			}
		}
	case whole1, number, wide:
		switch q.d.Below(12) {
		case 0, 1:
			return q.chosen(s, k, depth-1)
		case 2, 3:
			return q.chain(s, k, depth-1)
		case 4:
			return q.coarse(s, depth-1)
		case 5:
			return q.point(s, k)
		case 6:
			if text, ok := q.deep(func() (string, bool) { return q.scalar(s) }); ok && s.private {
				return text
			}
		case 7:
			return "length(" + q.spelled(s, depth-1) + ")"
		}
	case words:
		if q.d.One(3) {
			return q.spelled(s, depth-1)
		}
	}
	var fit []function
	for _, f := range q.functions {
		if f.makes.fits(k) {
			fit = append(fit, f)
		}
	}
	if len(fit) == 0 {
		return q.tip(s, k)
	}
	f := detrand.Pick(q.d, fit)
	args := make([]any, len(f.of))
	for i, a := range []byte(f.of) {
		args[i] = q.edge(s, kind(a), depth-1-q.d.Below(2))
	}
	return fmt.Sprintf(q.fill(f.text), args...)
}

// tip is the end of an expression: a column, mostly.
func (q *question) tip(s source, k kind) string {
	if c, ok := q.column(s, k); ok && !q.d.One(6) {
		return c.ref
	}
	switch k {
	case words:
		return q.token('s')
	case truth:
		return q.single(s)
	case date:
		return q.token('d')
	case moment:
		return "CAST(" + q.tip(s, date) + " AS timestamp)"
	case float:
		if c, ok := q.column(s, number); ok {
			return "(" + c.ref + " / 2.5)"
		}
		return "0.5"
	case whole1:
		return wholeNumber(q.d)
	}
	return constant(q.d)
}

// single is a condition that the target alone fulfils, in most databases.
func (q *question) single(s source) string {
	if c, ok := q.column(s, words); ok && !q.d.One(6) {
		return c.ref + detrand.Pick(q.d, []string{" = ", " = ", " = ", " <> "}) + "'" + Target + "'"
	}
	if c, ok := q.column(s, truth); ok && q.d.One(2) {
		return c.ref
	}
	if c, ok := q.column(s, wide); ok {
		return c.ref + detrand.Pick(q.d, []string{" > ", " < ", " = ", " <> "}) + detrand.Pick(q.d, []string{"0", "1", "4", "9"})
	}
	return "true"
}

// heavy is a condition for which so much is computed with each row that people are cut: it looks at
// all rows of a public table, or at a long list.
func (q *question) heavy(s source) (string, bool) {
	x, ok := q.column(s, wide)
	if !ok {
		return "", false
	}
	compare := detrand.Pick(q.d, []string{" > ", " < ", " <> "})
	if public := q.public(); len(public) > 0 && q.d.One(2) {
		t := q.table(detrand.Pick(q.d, public))
		if y, ok := q.column(t, wide); ok {
			return "EXISTS (SELECT 1 FROM " + t.text + " WHERE " + y.ref + compare + x.ref + ")", true
		}
	}
	list := make([]string, detrand.Pick(q.d, []int{50, 300, 1000}))
	for i := range list {
		list[i] = fmt.Sprint(3*i - 9)
	}
	return x.ref + " = ANY ('{" + strings.Join(list, ",") + "}')", true
}

// chosen is one number for the target and another for everybody else.
func (q *question) chosen(s source, k kind, depth int) string {
	here, there := q.edge(s, k, depth-1), q.edge(s, k, 0)
	if q.d.One(2) {
		here = fmt.Sprint(1 + q.d.Below(9))
	}
	if q.d.One(2) {
		there = detrand.Pick(q.d, []string{"0", "0", "1"})
	}
	return "CASE WHEN " + q.single(s) + " THEN " + here + " ELSE " + there + " END"
}

// chain is a product of the same, of several, and of constants, with and without parentheses.
func (q *question) chain(s source, k kind, depth int) string {
	var a string
	same := q.d.One(2)
	switch q.d.Below(6) {
	case 0, 1:
		a = q.coarse(s, depth)
	case 2:
		a, same = q.point(s, k), false
	case 3:
		a = q.edge(s, k, depth)
	default:
		a = q.tip(s, k)
	}
	out := a
	for range 1 + q.d.Below(3) {
		switch {
		case same:
			out += " * " + a
		case q.d.One(4):
			out += " * " + q.tip(s, k)
		default:
			out += " * " + constant(q.d)
		}
		if q.d.One(4) {
			out = "(" + out + ")"
		}
	}
	if q.d.One(4) {
		out += " + " + q.tip(s, k)
	}
	return "(" + out + ")"
}

// coarse is a number on a lattice of large steps, or of small ones: scaled and rounded to as many
// digits.
func (q *question) coarse(s source, depth int) string {
	x := q.tip(s, number)
	switch q.d.Below(4) {
	case 0:
		x = q.edge(s, number, min(depth, 1))
	case 1, 2:
		x = q.chosen(s, number, 0)
	}
	n := 1 + q.d.Below(12)
	if q.d.One(2) {
		n = 12
	}
	if q.d.One(4) {
		return fmt.Sprintf("round(%s * 1e-%d, %d)", x, n, n)
	}
	return fmt.Sprintf("%s(%s * 1%s, -%d)", detrand.Pick(q.d, []string{"round", "trunc"}), x, strings.Repeat("0", n), n)
}

// spelled is something as a text: often what has many digits.
func (q *question) spelled(s source, depth int) string {
	x := ""
	if q.d.One(2) {
		x = q.chain(s, number, depth)
	} else {
		x = q.edge(s, detrand.Pick(q.d, []kind{number, wide, truth, date, moment}), depth)
	}
	return "CAST(" + x + " AS text)"
}

// point is a number whose interval is one point, though it is made of a column.
func (q *question) point(s source, k kind) string {
	x := q.tip(s, k)
	return fmt.Sprintf(detrand.Pick(q.d, []string{"(%s %% 1)", "trunc(%s, -12)", "round(%s, -11)", "(%s * 0)", "least(%s, -1e15)",
		"width_bucket(%s, -1e14, -1e13, 3)", "sign(abs(%s) + 1)", "(%s / 1000000000)"}), x)
}

// deep makes something with a subquery in it, where there are not too many in each other.
func (q *question) deep(f func() (string, bool)) (string, bool) {
	if q.depth >= deepest {
		return "", false
	}
	q.depth++
	defer func() { q.depth-- }()
	return f()
}

// within is a condition with a subquery: EXISTS or IN, with any expression on both sides.
func (q *question) within(s source) (string, bool) {
	return q.deep(func() (string, bool) {
		if q.d.One(3) {
			return q.exists(s)
		}
		t := q.table(detrand.Pick(q.d, q.private()))
		if s.private && q.d.One(2) {
			t = q.from(1)
		}
		if !s.private || len(q.public()) > 0 && q.d.One(4) {
			t = q.table(detrand.Pick(q.d, q.public()))
		}
		both := s.and(t, "")
		link, cond := "", ""
		if t.private {
			a, b, ok := q.linked(s, t)
			if !ok {
				return "", false
			}
			link = a + " = " + b
		}
		if q.d.One(2) {
			cond = q.edge(detrand.Pick(q.d, []source{both, t}), truth, 1)
		}
		if link == "" {
			link = "true"
		}
		if cond != "" {
			link += " AND " + cond
		}
		not := detrand.Pick(q.d, []string{"", "NOT "})
		if q.d.One(3) {
			return not + "EXISTS (SELECT 1 FROM " + t.text + " WHERE " + link + ")", true
		}
		k := detrand.Pick(q.d, []kind{wide, number, number, words, date, truth})
		x := q.edge(s, k, q.d.Below(3))
		if k == number && s.private && q.d.One(2) {
			if value, ok := q.scalar(s); ok {
				x = value
			}
		}
		return "(" + x + ") " + not + "IN (SELECT " + q.edge(t, k, q.d.Below(2)) + " FROM " + t.text + " WHERE " + link + ")", true
	})
}

// accepts asks the planner.
func (q *question) accepts(text string) bool {
	ok := false
	func() {
		defer func() { recover() }() // a panic is for whoever asks the question to find
		_, err := Prepare(q.dataset, q.with()+text, q.options)
		ok = err == nil
	}()
	return ok
}

// tried makes something until a question with it is accepted, a few times, each time smaller.
func (q *question) tried(depth int, make func(depth int) string, question func(string) string) string {
	for ; depth > 0; depth-- {
		for range 2 {
			if x := make(depth); q.accepts(question(x)) {
				return x
			}
		}
	}
	return make(0)
}
