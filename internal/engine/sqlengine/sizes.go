package sqlengine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/publictime"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/policy"
)

// CountFunctions is how a database counts what is public about how large the data is.
type CountFunctions struct {
	Bytes     string // the function that says how many bytes a text has
	Different string // the one that counts different values, about
}

// longestText is as how many bytes a text counts in the mean at most: one text must not move it.
const longestText = "16384"

// Sizes are how large the tables are: what the policy declares of private ones, where it does, so
// that nobody in them moves it; and else what is counted, rounded up.
func (d *Database) Sizes(ctx context.Context, ds *policy.Dataset, how CountFunctions) (publictime.Sizes, error) {
	counted, err := d.count(ctx, ds, how, func(t *sqlgen.Table) bool { return t.Public || ds.Sizes == nil })
	if err != nil {
		return publictime.Sizes{}, err
	}
	out := publictime.Sizes{Tables: map[string]publictime.Table{}, Fanout: ds.Fanout()}
	for name, size := range counted.Tables {
		fewest := int64(publictime.MinCount)
		if d.Tables[name].Public {
			fewest = 1
		}
		size.Rows = publictime.Round(max(size.Rows, fewest))
		round(size.Lengths, publictime.MinLength)
		round(size.Values, publictime.MinCount)
		round(size.Most, 1)
		out.Tables[name] = size
	}
	if ds.Sizes == nil {
		out.People = publictime.Round(max(counted.People, publictime.MinCount))
		return out, nil
	}
	out.People = ds.Sizes.People
	for name, t := range ds.Sizes.Tables {
		size := publictime.Table{Rows: t.Rows, Lengths: maps.Clone(t.Lengths), Values: maps.Clone(t.Values)}
		for _, column := range d.Tables[name].Paths {
			if _, ok := size.Lengths[column]; !ok && isText(d.Tables[name], column) {
				size.Lengths[column] = publictime.NameLength
			}
		}
		out.Tables[name] = size
	}
	return out, nil
}

func round(numbers map[string]int64, least int64) {
	for name, n := range numbers {
		numbers[name] = publictime.Round(max(n, least))
	}
}

// Count counts how large the tables are, whatever the policy declares. It is for the owner: nothing
// is rounded.
func (d *Database) Count(ctx context.Context, ds *policy.Dataset, how CountFunctions) (publictime.Sizes, error) {
	return d.count(ctx, ds, how, func(*sqlgen.Table) bool { return true })
}

func (d *Database) count(
	ctx context.Context, ds *policy.Dataset, how CountFunctions, counted func(*sqlgen.Table) bool,
) (publictime.Sizes, error) {
	out := publictime.Sizes{Tables: map[string]publictime.Table{}}
	for _, name := range slices.Sorted(maps.Keys(d.Tables)) {
		t := d.Tables[name]
		if !counted(t) {
			continue
		}
		size, people, err := d.size(ctx, t, ds, how)
		if err != nil {
			return publictime.Sizes{}, errors.New("table " + name + ": its rows cannot be counted")
		}
		switch {
		case ds.Unit.Row() && !t.Public:
			out.People += size.Rows
		case name == ds.Unit.Table:
			out.People = people
		}
		out.Tables[name] = size
	}
	return out, nil
}

// isText reports whether a column is stored as texts of any length.
func isText(t *sqlgen.Table, name string) bool {
	kind := t.Stored[name].Type
	return kind == t.Text || strings.HasPrefix(strings.ToLower(kind), "varchar")
}

// size counts one table's rows, and the people where it is the unit's.
func (d *Database) size(ctx context.Context, t *sqlgen.Table, ds *policy.Dataset, how CountFunctions) (publictime.Table, int64, error) {
	var lengths, keys []string
	list := []string{"count(*)"}
	for _, name := range t.Needed() {
		// Of a text that is declared as something else only that counts.
		if c := t.Columns[name]; isText(t, name) && (c == nil || c.Type == policy.Text || slices.Contains(t.Paths, name)) {
			lengths = append(lengths, name)
			list = append(list, meanLength(how.Bytes+"("+sqlgen.QuoteName(t.Stored[name].Name)+")"))
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
		out.Lengths[name] = int64(math.Ceil(cells[1+i].Float64))
	}
	for i, name := range keys {
		out.Values[name] = int64(cells[1+len(lengths)+i].Float64)
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

// meanLength prints how many bytes texts have in the mean of all rows: one that is NULL has none,
// or the only one who has a text would be the mean.
func meanLength(bytes string) string {
	return "avg(CASE WHEN " + bytes + " > " + longestText + " THEN " + longestText +
		" WHEN " + bytes + " IS NULL THEN 0 ELSE " + bytes + " END)"
}

// mostAlike is how many rows of a public table have one value of a column at most.
func (d *Database) mostAlike(ctx context.Context, t *sqlgen.Table) (map[string]int64, error) {
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
		out[name] = n.Int64
	}
	return out, nil
}

// CheckSizes says where the data has outgrown what the policy declares. It reads nothing where that
// declares nothing.
func (d *Database) CheckSizes(ctx context.Context, ds *policy.Dataset, how CountFunctions) ([]engine.Finding, error) {
	if ds.Sizes == nil {
		return nil, nil
	}
	counted, err := d.Count(ctx, ds, how)
	if err != nil {
		return nil, err
	}
	return FindOutgrown(ds, counted), nil
}

// FindOutgrown says where what was counted is more than the policy declares. What was not counted
// is left out.
func FindOutgrown(ds *policy.Dataset, counted publictime.Sizes) (out []engine.Finding) {
	if ds.Sizes == nil {
		return nil
	}
	check := func(table, column, what string, n, declared int64) {
		if n > declared {
			out = append(out, engine.Finding{Table: table, Column: column, Text: fmt.Sprintf("%s %d, but 'sizes' declares %d, so "+
				"answers can be late or fail; declare more ('discreet check --sizes' prints a block to paste)", what, n, declared)})
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
func (d *Database) ProposeSizes(ctx context.Context, ds *policy.Dataset, how CountFunctions) (*policy.Sizes, error) {
	counted, err := d.Count(ctx, ds, how)
	if err != nil {
		return nil, err
	}
	out := &policy.Sizes{Tables: map[string]policy.TableSizes{}}
	if !ds.Unit.Row() {
		out.People = powerWithSpare(counted.People, publictime.MinCount, policy.MostDeclared)
	}
	for name, t := range ds.Tables {
		if t.Public {
			continue
		}
		found := counted.Tables[name]
		size := policy.TableSizes{Rows: powerWithSpare(found.Rows, publictime.MinCount, policy.MostDeclared), Lengths: map[string]int64{},
			Values: map[string]int64{}}
		for column, n := range found.Lengths {
			size.Lengths[column] = powerWithSpare(n, publictime.MinLength, policy.MostDeclaredLength)
		}
		for column, c := range t.Columns {
			if _, ok := size.Lengths[column]; c.Type == policy.Text && !ok { // it is stored as something else
				size.Lengths[column] = publictime.NameLength
			}
			if c.Keys == policy.PrivateKeys {
				size.Values[column] = powerWithSpare(found.Values[column], publictime.MinCount, policy.MostDeclared)
			}
		}
		out.Tables[name] = size
	}
	return out, nil
}

// powerWithSpare is the next power of two that leaves a quarter of a number as room to grow.
func powerWithSpare(n, least, most int64) int64 {
	n = max(n+n/4, least)
	return min(1<<bits.Len64(uint64(n-1)), most)
}

// Magnitude is the smallest power of ten that is no less than the number of rows, all tables
// together. What a server does with it, its tick, can be seen by everybody. Of private tables what
// the policy declares counts, where it does, and they are not read; else one person's rows move it
// only where the number is next to a power of ten.
func (d *Database) Magnitude(ctx context.Context, ds *policy.Dataset) (int, error) {
	rows := map[string]int64{}
	for name, t := range d.Tables {
		if !t.Public && ds.Sizes != nil {
			continue
		}
		var n int64
		if err := d.DB.QueryRowContext(ctx, "SELECT count(*) FROM "+t.From).Scan(&n); err != nil {
			return 0, errors.New("table " + t.Name + ": its rows cannot be counted")
		}
		rows[name] = n
	}
	return MagnitudeOf(ds, rows), nil
}

// MagnitudeOf is the magnitude of tables of which some were counted.
func MagnitudeOf(ds *policy.Dataset, counted map[string]int64) int {
	rows := int64(0)
	for name, t := range ds.Tables {
		if ds.Sizes != nil && !t.Public {
			rows += ds.Sizes.Tables[name].Rows
		} else {
			rows += counted[name]
		}
	}
	return PowerOfTen(rows)
}

// PowerOfTen is the smallest k with n <= 10^k.
func PowerOfTen(n int64) int {
	k := 0
	for most := int64(1); most < n && k < 18; most *= 10 {
		k++
	}
	return k
}
