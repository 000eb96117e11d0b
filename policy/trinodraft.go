package policy

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/address"
)

// trinoHome reports whether a table is where the address says, under its own name.
func (d *draft) trinoHome(s Schema) bool {
	at, err := address.ParseTrino(d.source)
	return err == nil && at.Schema != "" && s.Relation == at.Catalog+"."+at.Schema+"."+s.Table
}

// writeTrinoRefresh says when tables of a cluster are looked at for changes. Where a store does not
// tell, it has to be said.
func (d *draft) writeTrinoRefresh() {
	if slices.ContainsFunc(d.schemas, func(s Schema) bool { return s.Unmarked && s.LeftOut == "" }) {
		d.comment(2, "Some of these tables are in stores that do not say whether a table has changed. So it is taken to be as it was for "+
			"this long; or write version: SELECT ... in its place, a query that says something else when the data is another.")
		d.line(2, "refresh: 24h")
		return
	}
	d.comment(2, "It is looked for changes before every question. Where it changes all the time, say how fresh answers have to be:")
	d.line(2, "# refresh: 24h")
}
