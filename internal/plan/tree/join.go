package tree

import (
	"strings"

	"github.com/discreet-dp/discreet/policy"
)

// Join pairs rows. Two private relations are joined where both rows are one person's, or parts of
// one thing that is: On then has, among what it asks for, that two identities are equal. With a
// public relation On can be anything.
type Join struct {
	Left bool // LEFT JOIN: rows of L without a partner stay, with NULLs
	// Full is a FULL JOIN: rows of R without a partner stay too. It is Left as well. Both sides are
	// private, and On says that both rows are about one person and nothing else, so whether a row
	// has a partner depends on the rows of its person alone. The last field, after those of L and
	// R, is the person: that of the one side or, where it has no row, that of the other.
	Full bool
	L, R Relation
	On   Expr // over the fields of L and then those of R; nil stands for true

	Row       []Field
	UnitField int
	IsSingle  bool
	Many      int64
	Fans      int // how many joins, this one among them, multiply the rows of a person by those of the same person
}

func (j *Join) Fields() []Field   { return j.Row }
func (j *Join) Unit() int         { return j.UnitField }
func (j *Join) Single() bool      { return j.IsSingle }
func (j *Join) PersonRows() int64 { return j.Many }

func (j *Join) PersonGroups() int64 {
	switch {
	case j.IsSingle:
		return 1
	case !Private(j.L):
		return max(j.R.PersonGroups(), AtMost(j.L.PersonRows()))
	case !Private(j.R):
		return max(j.L.PersonGroups(), AtMost(j.R.PersonRows()))
	}
	return max(j.L.PersonGroups(), j.R.PersonGroups())
}

func (j *Join) EachTable(add func(*policy.Table)) {
	j.L.EachTable(add)
	j.R.EachTable(add)
}

func (j *Join) format(b *strings.Builder) {
	b.WriteString("(join")
	switch {
	case j.Full:
		b.WriteString(" full")
	case j.Left:
		b.WriteString(" left")
	}
	b.WriteByte(' ')
	j.L.format(b)
	b.WriteByte(' ')
	j.R.format(b)
	if j.On != nil {
		b.WriteString(" on ")
		format(b, j.On, NoOutside)
	}
	b.WriteByte(')')
}

// Hashable reports whether an engine finds the partners of a row by a table of hashes where there
// are equalities: each condition compares something of the one side with something of the other, or
// is about the right side alone. Otherwise it looks at every pair of rows there is.
func (j *Join) Hashable() bool { return hashable(j.On, len(j.L.Fields())) }

// Apart returns the conditions that are about the right side alone, and the others, of a join that
// has some; nil stands for none.
func (j *Join) Apart() (right, others Expr) {
	var lists [2][]Expr
	var add func(e Expr)
	add = func(e Expr) {
		if and, ok := e.(*Logic); ok && and.Op == And {
			for _, a := range and.Args {
				add(a)
			}
			return
		}
		at := 1
		if l, r := sides(e, len(j.L.Fields())); !l && r {
			at = 0
		}
		lists[at] = append(lists[at], e)
	}
	add(j.On)
	return conjunction(lists[0]), conjunction(lists[1])
}

func conjunction(all []Expr) Expr {
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return &Logic{Op: And, Args: all}
}

func hashable(on Expr, n int) bool {
	if and, ok := on.(*Logic); ok && and.Op == And {
		for _, a := range and.Args {
			if !hashable(a, n) {
				return false
			}
		}
		return true
	}
	if l, r := sides(on, n); !l && r {
		return true
	}
	c, ok := on.(*Compare)
	if !ok {
		return false
	}
	l1, r1 := sides(c.L, n)
	l2, r2 := sides(c.R, n)
	return l1 && !r1 && !l2 && r2 || !l1 && r1 && l2 && !r2
}

// sides says whether an expression names fields of the left side of a join, and of the right.
func sides(e Expr, n int) (left, right bool) {
	Walk(e, func(x Expr) {
		if c, ok := x.(*Column); ok {
			left, right = left || c.Index < n, right || c.Index >= n
		}
	})
	return left, right
}
