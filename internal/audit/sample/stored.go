package sample

import (
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/policy"
)

// Types are those in which a database may have stored columns of a policy's type, in two ways, and
// one for each way for what says whose a row is and is no column of the policy.
type Types struct {
	Of  map[policy.Type][2][]string
	Who [2]string
}

// Stored is a schema of tables that nobody has, stored in one of two ways. Table is what follows
// FROM for a table of some name.
func Stored(d *dialect.Dialect, ds *policy.Dataset, types Types, way int, table func(name string) string) dialect.Schema {
	s := dialect.NewSchema(d, ds)
	for _, name := range ds.TableNames() {
		p := ds.Tables[name]
		tb := &dialect.Table{Table: p, Dialect: d, Paths: ds.PathColumns(p), From: table(name), Collated: way == 1,
			Stored: map[string]dialect.Column{}, OnLattice: map[string]bool{}}
		for i, c := range tb.Needed() {
			typ := types.Who[way]
			if c := p.Columns[c]; c != nil {
				some := types.Of[c.Type][way]
				typ = some[i%len(some)]
				if way == 1 && c.Type == policy.Decimal && c.Granularity != nil {
					tb.OnLattice[c.Name] = true
				}
			}
			if slices.Contains(tb.Paths, c) && way == 1 {
				typ = types.Who[way]
			}
			tb.Stored[c] = dialect.Column{Name: strings.ToUpper(c), Type: typ}
		}
		s.Tables[name] = tb
	}
	return s
}
