package plan

import (
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/policy"
)

// Join pairs rows. Two private relations are joined where both rows are one person's, or parts
// of one thing that is: On then has, among what it asks for, that two identities are equal. With a public
// relation On can be anything.
type Join struct {
	Left bool // LEFT JOIN: rows of L without a partner stay, with NULLs
	L, R Relation
	On   Expr // over the fields of L and then those of R; nil stands for true

	fields []Field
	unit   int
	single bool
	many   int64
	fans   int // how many joins, this one among them, multiply the rows of a person by those of the same person
}

func (j *Join) Fields() []Field { return j.fields }
func (j *Join) Unit() int       { return j.unit }
func (j *Join) Single() bool    { return j.single }
func (j *Join) rows() int64     { return j.many }

func (j *Join) groups() int64 {
	switch {
	case j.single:
		return 1
	case !private(j.L):
		return max(j.R.groups(), atMost(j.L.rows()))
	case !private(j.R):
		return max(j.L.groups(), atMost(j.R.rows()))
	}
	return max(j.L.groups(), j.R.groups())
}

func (j *Join) tables(add func(*policy.Table)) {
	j.L.tables(add)
	j.R.tables(add)
}

func newJoin(l, r Relation, on Expr, left bool) *Join {
	l, r = plain(l), plain(r)
	j := &Join{Left: left, L: l, R: r, On: on, unit: -1}
	n := len(l.Fields())
	for i, f := range slices.Concat(l.Fields(), r.Fields()) {
		f.Nullable = f.Nullable || left && i >= n
		f.Once = f.Once && j.keepsOnce(i >= n, n)
		j.fields = append(j.fields, f)
	}
	switch {
	case private(l) && (left || !private(r) || steps(l) <= steps(r)):
		j.unit = l.Unit()
	case private(r):
		j.unit = n + r.Unit()
	}
	// keyed: for one row of the one side at most one row of the other fits.
	keyedL, keyedR := false, false
	for _, c := range conjuncts(on) {
		a, b, ok := equalColumns(c)
		if !ok {
			continue
		}
		if a.Index >= n {
			a, b = b, a
		}
		if a.Index < n && b.Index >= n {
			keyedL = keyedL || l.Fields()[a.Index].Key
			keyedR = keyedR || r.Fields()[b.Index-n].Key
		}
	}
	if !keyedR {
		keyedR = keyedByValue(r, on, n)
	}
	if !keyedL {
		keyedL = keyedByValue(l, on, 0)
	}
	for i := range j.fields {
		// A row that has at most one partner is not there several times.
		j.fields[i].Key = j.fields[i].Key && (i < n && keyedR || i >= n && keyedL)
	}
	j.fans = fans(l) + fans(r)
	switch {
	case !private(l) && !private(r):
		j.many = 1
	case !private(r):
		j.single = l.Single() && keyedR
		j.many = l.rows()
		if !keyedR {
			j.many = atMost(l.rows() * r.rows())
		}
	case !private(l):
		j.single = r.Single() && keyedL
		j.many = r.rows()
		if !keyedL {
			j.many = atMost(l.rows() * r.rows())
		}
	default:
		if !keyedL && !keyedR {
			j.fans++
		}
		j.single = l.Single() && r.Single()
		j.many = atMost(l.rows() * r.rows())
		switch {
		case keyedR:
			j.many = l.rows()
		case keyedL && !left:
			j.many = r.rows()
		case keyedL:
			j.many = max(l.rows(), r.rows())
		}
	}
	return j
}

// keepsOnce reports whether what is the same in all rows of a person of one side stays so. On the left it does. On
// the right a person's rows may come with a partner or without, unless nothing but the person decides.
func (j *Join) keepsOnce(right bool, n int) bool {
	if !private(j.L) || !private(j.R) {
		return private(j.L) != right
	}
	if !right || !j.Left {
		return true
	}
	all := conjuncts(j.On)
	return len(all) == 1 && linked(j.On, n) && j.L.Fields()[j.L.Unit()].Identity == all[0].(*Compare).L.(*Column).Field.Identity
}

// plain is a relation without the names that a SELECT has for its fields.
func plain(r Relation) Relation {
	for {
		named, ok := r.(rows)
		if !ok {
			return r
		}
		r = named.Relation
	}
}

// keyedByValue reports whether On compares a key of a public relation with something of the other side
// that is not a plain column.
func keyedByValue(r Relation, on Expr, offset int) bool {
	if private(r) {
		return false
	}
	n := len(r.Fields())
	inside := func(e Expr) (own, other bool) {
		walk(e, func(x Expr) {
			if c, ok := x.(*Column); ok {
				if c.Index >= offset && c.Index < offset+n {
					own = true
				} else {
					other = true
				}
			}
		})
		return own, other
	}
	for _, c := range conjuncts(on) {
		eq, ok := c.(*Compare)
		if !ok || eq.Op != Eq {
			continue
		}
		for _, pair := range [][2]Expr{{eq.L, eq.R}, {eq.R, eq.L}} {
			col, ok := pair[0].(*Column)
			if ok && col.Index >= offset && col.Index < offset+n && r.Fields()[col.Index-offset].Key {
				if own, _ := inside(pair[1]); !own {
					return true
				}
			}
		}
	}
	return false
}

// conjuncts returns the conditions that all must hold.
func conjuncts(e Expr) []Expr {
	if e == nil {
		return nil
	}
	if l, ok := e.(*Logic); ok && l.Op == And {
		var out []Expr
		for _, a := range l.Args {
			out = append(out, conjuncts(a)...)
		}
		return out
	}
	return []Expr{e}
}

func equalColumns(e Expr) (a, b *Column, ok bool) {
	c, ok := e.(*Compare)
	if !ok || c.Op != Eq {
		return nil, nil, false
	}
	a, ok1 := c.L.(*Column)
	b, ok2 := c.R.(*Column)
	return a, b, ok1 && ok2
}

// linked reports whether a condition asks that a row of the one side and a row of the other are
// one person's: that two identities of the same kind are equal.
func linked(on Expr, n int) bool {
	for _, c := range conjuncts(on) {
		a, b, ok := equalColumns(c)
		if ok && a.Field.raw() && b.Field.raw() && a.Field.Identity != "" && a.Field.Identity == b.Field.Identity && (a.Index < n) != (b.Index < n) {
			return true
		}
	}
	return false
}

// fans is how many joins of a relation multiply the rows of a person by those of the same person.
func fans(r Relation) int {
	switch r := r.(type) {
	case *Join:
		return r.fans
	case *Cut:
		return fans(r.From)
	case *Select:
		return fans(r.From)
	case *Persons:
		return fans(r.From)
	case *Union:
		most := 0
		for _, p := range r.Parts {
			most = max(most, fans(p))
		}
		return most
	}
	return 0
}

// steps is how many joins it takes to find out whose a row is.
func steps(r Relation) int {
	switch r := r.(type) {
	case *Scan:
		return max(0, len(r.Table.Path)-1)
	case *Join:
		n := len(r.L.Fields())
		if r.unit < n {
			return steps(r.L)
		}
		return steps(r.R)
	}
	return 0
}

func (j *Join) format(b *strings.Builder) {
	b.WriteString("(join")
	if j.Left {
		b.WriteString(" left")
	}
	b.WriteByte(' ')
	j.L.format(b)
	b.WriteByte(' ')
	j.R.format(b)
	if j.On != nil {
		b.WriteString(" on ")
		format(b, j.On, noOutside)
	}
	b.WriteByte(')')
}
