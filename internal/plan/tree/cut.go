package tree

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/policy"
)

// Cut is at most Rows rows of each person, and no rows of nobody. It stands where a person's rows
// are about to be multiplied, so that the work of a join is bounded by a public number and not by
// the one person with the most rows; see [work].
//
// Which rows are kept depends on that person's rows alone. So whatever is above it moves no further
// between neighbours than it did without. An engine chooses by all fields of From, so none of them
// may be left to where a row is stored: a Cut stands below a [Window] and not on it.
type Cut struct {
	From Relation
	Rows int64
	// Sorted says that it stands there only because a person's rows are put into an order above. An
	// engine that does without may leave it out. It follows from the question, and is no part of
	// its spelling.
	Sorted bool
}

func (c *Cut) Fields() []Field                   { return c.From.Fields() }
func (c *Cut) Unit() int                         { return c.From.Unit() }
func (c *Cut) Single() bool                      { return c.From.Single() }
func (c *Cut) PersonRows() int64                 { return c.From.PersonRows() }
func (c *Cut) PersonGroups() int64               { return c.From.PersonGroups() }
func (c *Cut) EachTable(add func(*policy.Table)) { c.From.EachTable(add) }

// Salt makes the order in which rows are kept another one for other rows. It is public.
func (c *Cut) Salt() string {
	h := sha256.Sum256([]byte(FormatRelation(c)))
	return hex.EncodeToString(h[:])
}

func (c *Cut) format(b *strings.Builder) {
	fmt.Fprintf(b, "(cut %d ", c.Rows)
	c.From.format(b)
	b.WriteByte(')')
}

// Joined is how many rows of one person are there at most before they are joined with others of the
// same person or with public ones, at the place where that is least; 0 where nobody is cut.
func (q *Query) Joined() int64 {
	if c := least(q.From, q.expressions()); c != nil {
		return c.Rows
	}
	return 0
}

// MaxJoined is what the policy says for the rows that [Query.Joined] counts, of which that follows;
// 0 where nobody is cut.
func (q *Query) MaxJoined() int64 {
	if c := least(q.From, q.expressions()); c != nil {
		return Joinable(c.From)
	}
	return 0
}

// Joined is what [Query] has of the same name.
func (t *Table) Joined() int64 { return t.AsQuery().Joined() }

// expressions are all that are computed for the rows of a query.
func (q *Query) expressions() []Expr {
	var out []Expr
	if q.Where != nil {
		out = append(out, q.Where)
	}
	for _, k := range q.Keys {
		out = append(out, k.Expr)
	}
	for _, m := range q.Measures {
		if m.Arg != nil {
			out = append(out, m.Arg)
		}
	}
	return out
}

// least is the smallest cut in a relation and in expressions over it; nil where there is none.
func least(r Relation, over []Expr) *Cut {
	var found *Cut
	take := func(c *Cut) {
		if c != nil && (found == nil || c.Rows < found.Rows) {
			found = c
		}
	}
	switch r := r.(type) {
	case *Cut:
		take(r)
		take(least(r.From, nil))
	case *Join:
		take(least(r.L, nil))
		take(least(r.R, []Expr{r.On}))
	case *Select:
		take(least(r.From, append([]Expr{r.Where}, r.Columns...)))
	case *Union:
		for _, p := range r.Parts {
			take(least(p, nil))
		}
	case *Persons:
		take(least(r.From, append([]Expr{r.Where}, arguments(r)...)))
	case *Window:
		over := []Expr{r.Where}
		for _, o := range r.Calls {
			over = append(over, o.Expressions()...)
		}
		take(least(r.From, over))
	}
	for _, e := range over {
		if e == nil {
			continue
		}
		Walk(e, func(x Expr) {
			if inner, ok := x.(*Exists); ok {
				take(least(inner.From, nil))
			}
		})
	}
	return found
}

// arguments are what the parts of a subquery by person are computed from.
func arguments(p *Persons) []Expr {
	out := slices.Clone(p.Keys)
	for _, part := range p.Parts {
		if part.Arg != nil {
			out = append(out, part.Arg)
		}
	}
	return out
}

// Joinable is how many rows of one person the tables of a relation may have in a join.
func Joinable(r Relation) int64 {
	n := int64(policy.MostJoined)
	r.EachTable(func(t *policy.Table) {
		if !t.Public {
			n = min(n, t.Joined())
		}
	})
	return n
}
