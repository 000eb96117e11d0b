package sqlengine

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/publictime"
	"github.com/discreet-dp/discreet/policy"
)

// Counting is how a database counts what is public about how large the data is.
type Counting struct {
	Bytes     string // the function that says how many bytes a text has
	Different string // the one that counts different values, about
}

// longestText is as how many bytes a text counts in the mean at most: one text must not move it.
const longestText = "16384"

// Sizes are how large the tables are, rounded up. It reads each of them once.
func (d *Database) Sizes(ctx context.Context, ds *policy.Dataset, how Counting) (publictime.Sizes, error) {
	out := publictime.Sizes{Tables: map[string]publictime.Table{}, Fanout: ds.Fanout()}
	total := int64(0)
	for _, name := range slices.Sorted(maps.Keys(d.Tables)) {
		t := d.Tables[name]
		size, people, err := d.size(ctx, t, ds, how)
		if err != nil {
			return publictime.Sizes{}, errors.New("table " + name + ": its rows cannot be counted")
		}
		if !t.Public {
			total += size.Rows
		}
		if name == ds.Unit.Table {
			out.People = people
		}
		if t.Public {
			size.Rows = publictime.Round(max(1, size.Rows))
		} else {
			size.Rows = publictime.Round(max(size.Rows, publictime.Fewest))
		}
		out.Tables[name] = size
	}
	if ds.Unit.Row() {
		out.People = total
	}
	out.People = publictime.Round(max(out.People, publictime.Fewest))
	return out, nil
}

// size counts one table's rows, which are not rounded yet, and the people where it is the unit's.
func (d *Database) size(ctx context.Context, t *dialect.Table, ds *policy.Dataset, how Counting) (publictime.Table, int64, error) {
	var lengths, keys []string
	list := []string{"count(*)"}
	for _, name := range t.Needed() {
		if kind := t.Stored[name].Type; kind == t.Text || strings.HasPrefix(strings.ToLower(kind), "varchar") {
			lengths = append(lengths, name)
			list = append(list, "avg(least("+how.Bytes+"("+dialect.QuoteName(t.Stored[name].Name)+"), "+longestText+"))")
		}
	}
	for _, name := range t.ColumnNames() {
		if c := t.Columns[name]; c.Keys == policy.PrivateKeys && !t.Public {
			keys = append(keys, name)
			list = append(list, how.Different+"("+t.Cast(name)+")")
		}
	}
	unit := t.Name == ds.Unit.Table && !ds.Unit.Row()
	if unit {
		identity := tree.IdentityName(ds.Unit.Table, ds.Unit.Column)
		list = append(list, how.Different+"("+d.Identity(t, ds.Unit.Column, identity)+")")
	}
	cells, into := make([]sql.NullFloat64, len(list)), make([]any, len(list))
	for i := range cells {
		into[i] = &cells[i]
	}
	if err := d.DB.QueryRowContext(ctx, "SELECT "+strings.Join(list, ", ")+" FROM "+t.From).Scan(into...); err != nil {
		return publictime.Table{}, 0, err
	}
	out := publictime.Table{Rows: int64(cells[0].Float64), Lengths: map[string]int64{}, Values: map[string]int64{}}
	for i, name := range lengths {
		out.Lengths[name] = publictime.Round(max(int64(math.Ceil(cells[1+i].Float64)), publictime.Shortest))
	}
	for i, name := range keys {
		out.Values[name] = publictime.Round(max(int64(cells[1+len(lengths)+i].Float64), publictime.Fewest))
	}
	people := out.Rows
	if unit && t.UnitKind != policy.Unique {
		people = min(people, int64(cells[len(cells)-1].Float64))
	}
	if !t.Public {
		return out, people, nil
	}
	var err error
	out.Most, err = d.mostAlike(ctx, t)
	return out, people, err
}

// mostAlike is how many rows of a public table have one value of a column at most.
func (d *Database) mostAlike(ctx context.Context, t *dialect.Table) (map[string]int64, error) {
	out := map[string]int64{}
	for _, name := range t.ColumnNames() {
		if name == t.UniqueColumn {
			out[name] = 1
			continue
		}
		var n sql.NullInt64
		value := t.Declared(name)
		if err := d.DB.QueryRowContext(ctx, "SELECT max(n) FROM (SELECT count(*) AS n FROM (SELECT "+value+" AS v FROM "+t.From+
			") WHERE v IS NOT NULL GROUP BY v)").Scan(&n); err != nil {
			return nil, err
		}
		out[name] = publictime.Round(max(1, n.Int64))
	}
	return out, nil
}
