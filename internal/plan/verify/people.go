package verify

import (
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// People checks the query whose result is told exactly, because it is how many people there are and
// people are replaced and not added: one count, over the one table that has rows of people, each of
// whom has some, and of which none is left out by what it says.
func People(ds *policy.Dataset, q *tree.Query) error {
	return guarded(func() {
		c := &checker{ds: ds}
		c.query(q, asked)
		c.must(ds.Neighbours == dp.Substitute && q.Neighbours == dp.Substitute, "how many people there are is private")
		scan, ok := q.From.(*tree.Scan)
		c.must(ok && q.Where == nil && len(q.Keys) == 0 && q.Choice == nil, "it is about some of the people")
		for _, t := range ds.Tables {
			c.must(t.Public || t.Name == scan.Table.Name, "somebody may be in another table alone")
		}
		t := ds.Tables[scan.Table.Name]
		c.must(t != nil && !t.Public && t.UnitKind != policy.NoUnit && len(t.Path) == 0, "its rows lead to people, or are about nobody")
		c.must(len(q.Measures) == 1 && q.Measures[0].Arg == nil, "it is more than one count")
		switch q.Measures[0].Kind {
		case tree.CountPersons:
		case tree.CountRows:
			c.must(t.UnitKind == policy.Row || t.UnitKind == policy.Unique, "somebody may have several rows")
		default:
			c.fail("it is no count of people")
		}
		c.must(t.CSV.RefuseBadLines || everyLine(ds, t), "a row may be left out for what is written in it")
	})
}

// everyLine reports whether a table is nowhere read from text, of which a line may be no row.
func everyLine(ds *policy.Dataset, t *policy.Table) bool {
	if t.Source != "" {
		return policy.IsParquet(t.Source)
	}
	return policy.IsDatabase(ds.Source) || policy.IsParquet(ds.Source)
}
