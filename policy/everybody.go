package policy

import "github.com/discreet-dp/discreet/dp"

// Everybody returns the table that tells how many people there are, where that is public; nil where
// it is not, or where no table tells it.
//
// Under substitution one person is replaced by another, so how many there are is the same in all
// neighbours: the relation itself makes it public. A table tells that number, and no more, where
// everybody has a row in it and nothing but being somebody decides that:
//
//   - it is the only private table. With a second one somebody who is in both could be replaced by
//     somebody who is in the other alone, and the first would have a row less.
//   - it names the unit itself, or its rows are the people. Rows that lead to nobody are no person's.
//   - no row is left out for what is written in it, as lines of a CSV file are that are no rows:
//     whether somebody's line is one would be told exactly.
func (d *Dataset) Everybody() *Table {
	if d.Neighbours != dp.Substitute {
		return nil
	}
	var only *Table
	for _, t := range d.Tables {
		switch {
		case t.Public:
		case only != nil:
			return nil
		default:
			only = t
		}
	}
	if only == nil || len(only.Path) > 0 || only.mayBeCSV(d) && !only.CSV.RefuseBadLines {
		return nil
	}
	return only
}
