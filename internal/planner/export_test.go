package planner

import "github.com/discreet-dp/discreet/internal/planner/tree"

// OnceGroups is in how many groups of a query one person is at most, as far as data is as the
// policy says.
func OnceGroups(q *tree.Query) int64 { return personFieldsIn(q.From, q.Where).groups(q.Keys) }
