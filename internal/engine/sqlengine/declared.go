package sqlengine

import (
	"context"
	"fmt"
	"maps"
	"math/bits"
	"slices"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/publictime"
	"github.com/discreet-dp/discreet/policy"
)

// CheckSizes says where the data has outgrown what the policy declares. It reads nothing where that
// declares nothing.
func (d *Database) CheckSizes(ctx context.Context, ds *policy.Dataset, how Counting) ([]engine.Finding, error) {
	if ds.Sizes == nil {
		return nil, nil
	}
	counted, err := d.Count(ctx, ds, how)
	if err != nil {
		return nil, err
	}
	return Outgrown(ds, counted), nil
}

// Outgrown says where what was counted is more than the policy declares. What was not counted is
// left out.
func Outgrown(ds *policy.Dataset, counted publictime.Sizes) (out []engine.Finding) {
	if ds.Sizes == nil {
		return nil
	}
	check := func(table, column, what string, n, declared int64) {
		if n > declared {
			out = append(out, engine.Finding{Table: table, Column: column, Text: fmt.Sprintf("%s %d, and 'sizes' declares %d, so answers "+
				"can be late or fail; declare more ('discreet check --sizes' prints a block to paste)", what, n, declared)})
		}
	}
	if !ds.Unit.Row() {
		check(ds.Unit.Table, ds.Unit.Column, "the number of people is about", counted.People, ds.Sizes.People)
	}
	for _, name := range ds.TableNames() {
		declared, ok := ds.Sizes.Tables[name]
		if !ok {
			continue // a public one
		}
		found := counted.Tables[name]
		check(name, "", "the number of rows is", found.Rows, declared.Rows)
		for _, column := range slices.Sorted(maps.Keys(found.Lengths)) {
			most, ok := declared.Lengths[column]
			if !ok {
				most = publictime.NameLength
			}
			check(name, column, "the mean length of texts is", found.Lengths[column], most)
		}
		for _, column := range slices.Sorted(maps.Keys(found.Values)) {
			check(name, column, "the number of different values is about", found.Values[column], declared.Values[column])
		}
	}
	return out
}

// ProposeSizes counts the data and proposes what to declare of it: powers of two, with room to
// grow.
func (d *Database) ProposeSizes(ctx context.Context, ds *policy.Dataset, how Counting) (*policy.Sizes, error) {
	counted, err := d.Count(ctx, ds, how)
	if err != nil {
		return nil, err
	}
	out := &policy.Sizes{Tables: map[string]policy.TableSizes{}}
	if !ds.Unit.Row() {
		out.People = roomy(counted.People, publictime.Fewest, policy.MostDeclared)
	}
	for name, t := range ds.Tables {
		if t.Public {
			continue
		}
		found := counted.Tables[name]
		size := policy.TableSizes{Rows: roomy(found.Rows, publictime.Fewest, policy.MostDeclared), Lengths: map[string]int64{},
			Values: map[string]int64{}}
		for column, n := range found.Lengths {
			size.Lengths[column] = roomy(n, publictime.Shortest, policy.MostDeclaredLength)
		}
		for column, c := range t.Columns {
			if _, ok := size.Lengths[column]; c.Type == policy.Text && !ok { // it is stored as something else
				size.Lengths[column] = publictime.NameLength
			}
			if c.Keys == policy.PrivateKeys {
				size.Values[column] = roomy(found.Values[column], publictime.Fewest, policy.MostDeclared)
			}
		}
		out.Tables[name] = size
	}
	return out, nil
}

// roomy is the next power of two that leaves a quarter of a number as room to grow.
func roomy(n, least, most int64) int64 {
	n = max(n+n/4, least)
	return min(1<<bits.Len64(uint64(n-1)), most)
}
