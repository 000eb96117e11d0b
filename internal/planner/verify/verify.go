// Package verify looks at a finished private query once more, before it is priced, and derives
// again what its noise rests on: it is a second opinion about what package planner has built.
//
// It is written from the meaning of the tree and from the policy, and shares no code with what
// builds trees: of package planner it uses the types of the tree, their fields, and what they claim
// of themselves, and no function that derives or decides; a test reads its uses. So a mistake in
// one of the two is seen by the other, and costs a question and not a person.
//
// What is derived again, from the policy upwards:
//
//   - every column is the field that its relation has at that place, with that name, type, identity
//     and source. Inside of EXISTS the places below Outer are those of the row that asks, and the
//     others are the inner relation's;
//   - whose each row is: where a private relation's unit stands, and that private rows meet only
//     where both are one person's: in joins, in EXISTS, in unions, in what is grouped by the
//     person. That nobody has more than one row follows from the policy;
//   - the kind, the lattice and an interval of every expression, in integers of any size, in IEEE's
//     own arithmetic for floating-point numbers, and in characters for texts. What a node claims
//     may be wider and not narrower. Steps are the same;
//   - everything that a printer computes on the way, such as twice a numerator: it fits in 64 bits
//     where it is printed as a BIGINT, and in 128 where it is a HUGEINT;
//   - how much of one person counts, what it is clamped to, and how far one person moves a measure,
//     in both norms;
//   - public values of keys: of the key's type, each once, and of a private column only those that
//     the policy or the question lists;
//   - how much one person can add to the work, from sizes of public tables: see [Work].
//
// What is not proven here: that an engine computes what a tree says, and that data is as the policy
// says it is.
package verify

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Difference says where a tree claims something that does not follow. Its text is for the owner: it
// is made of the question and the policy, and of no data.
type Difference struct{ Where, What string }

func (d *Difference) Error() string { return d.Where + ": " + d.What }

// Query checks what a question asks an engine for.
func Query(ds *policy.Dataset, q *tree.Query) error {
	return guarded(func() { newQueryChecker(ds).checkQuery(q, asked) })
}

// Cells checks the query of a stream's cells: one row a person, and keys that nobody sees.
func Cells(ds *policy.Dataset, q *tree.Query) error {
	return guarded(func() { newQueryChecker(ds).checkQuery(q, cells) })
}

// Holdout checks a question to a holdout: what one person adds is between 0 and 1, in parts of
// 1/Steps, and what is told of the training table is about public rows alone.
func Holdout(ds *policy.Dataset, h *tree.Holdout) error {
	return guarded(func() {
		c := newQueryChecker(ds)
		c.checkQuery(&h.Query, asked)
		c.checkHoldout(h)
		if h.Train != nil {
			c.checkQuery(h.Train, told)
		}
	})
}

func Table(ds *policy.Dataset, t *tree.Table) error {
	return guarded(func() { newQueryChecker(ds).checkTable(t) })
}

// purpose is what becomes of a query's result.
type purpose int

const (
	asked purpose = iota // it is released with noise
	cells                // it is the cells of a stream, sealed
	told                 // it is told exactly, because it is about nobody
)

// trail says where a check is in a tree, and ends the check there where something does not hold.
type trail struct {
	at []any // from the root: nodes, and words of the check's own
}

// exprChecker derives what expressions are, each about a row.
type exprChecker struct {
	*trail
	functions  *functions
	arithmetic *arithmetic
	relations  *relationChecker // for subqueries
}

type relationChecker struct {
	*trail
	ds    *policy.Dataset
	exprs *exprChecker
}

// queryChecker checks a query as a whole: its keys, its measures and how much of one person counts.
type queryChecker struct {
	*trail
	ds        *policy.Dataset
	relations *relationChecker
	exprs     *exprChecker
}

func newQueryChecker(ds *policy.Dataset) *queryChecker {
	at := &trail{}
	exprs := &exprChecker{trail: at, functions: &functions{at}, arithmetic: &arithmetic{at}}
	relations := &relationChecker{at, ds, exprs}
	exprs.relations = relations
	return &queryChecker{at, ds, relations, exprs}
}

// guarded runs a check. A tree on which the check itself breaks is not one that was understood.
func guarded(check func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *Difference:
			err = r
		default:
			err = &Difference{"the tree", fmt.Sprintf("it cannot be walked (%T)", r)}
		}
	}()
	check()
	return nil
}

// fail ends the check.
func (c *trail) fail(format string, args ...any) {
	where := []string{"the query"}
	for _, at := range c.at {
		where = append(where, name(at))
	}
	panic(&Difference{strings.Join(where, ", "), fmt.Sprintf(format, args...)})
}

// name is what the owner reads about a place in a tree.
func name(at any) string {
	switch at := at.(type) {
	case string:
		return at
	case *tree.Call:
		return at.Fn
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", at), "*plan.")
}

// must ends the check where something does not hold.
func (c *trail) must(holds bool, format string, args ...any) {
	if !holds {
		c.fail(format, args...)
	}
}

// locate notes where the check is while it looks at a part.
func (c *trail) locate(where any, look func()) {
	c.at = append(c.at, where)
	look()
	c.at = c.at[:len(c.at)-1]
}
