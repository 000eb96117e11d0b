package generate

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/test/reference"
	"github.com/discreet-dp/discreet/policy"
)

// Database is made-up data, and whose each row is, which is known because it was made for them.
type Database struct {
	Dataset *policy.Dataset
	Tables  map[string]reference.Table
	// owners say whose a row of a table is; empty for nobody and for public rows.
	owners map[string][]string
	next   int64 // the next key
	rows   int   // the next row that is a person
}

type manner int

const (
	anyhow manner = iota // something of everything
	low                  // as low as they can be, in one group
	high                 // as high as they can be, in one group
	many                 // many rows, in every group
	odd                  // as strange as they can be
	lost                 // no values
	busy                 // very many rows, in every group
)

func Make(d Dice, ds *policy.Dataset) *Database {
	db := &Database{Dataset: ds, Tables: map[string]reference.Table{}, owners: map[string][]string{}, next: 1}
	for _, t := range db.order() {
		db.Tables[t.Name] = reference.Table{Columns: header(ds, t)}
		if t.Public {
			db.public(d, t)
		}
	}
	for i := range 1 + d.Below(4) {
		db.somebody(d, person(d, i), manner(d.Below(6)))
	}
	if !ds.Unit.Row() && d.One(3) {
		db.somebody(d, nil, anyhow) // rows of nobody
		db.orphans(d)
	}
	return db
}

// person names people as data does: by small numbers, and by those that a clamp or a cast makes
// equal to others.
func person(d Dice, i int) any {
	if d.One(8) {
		return detrand.Pick(d, []int64{0, -1, math.MaxInt64, math.MinInt64, 1 << 53, 1<<53 + 1})
	}
	return int64(i + 1)
}

// order returns the tables so that a path leads to one before.
func (db *Database) order() []*policy.Table {
	var out []*policy.Table
	for _, name := range db.Dataset.TableNames() {
		out = append(out, db.Dataset.Tables[name])
	}
	slices.SortStableFunc(out, func(a, b *policy.Table) int { return cmp.Compare(len(a.Path), len(b.Path)) })
	return out
}

// header is the columns of the policy, then those that paths use and that are not among them.
func header(ds *policy.Dataset, t *policy.Table) []string {
	out := t.ColumnNames()
	ways, keys := pathColumns(ds, t)
	for _, name := range append(ways, keys...) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func (db *Database) public(d Dice, t *policy.Table) {
	for i := range 5 {
		times := 1 + i%3
		switch {
		case t.Name == empty:
			return
		case t.Name == skewed && i == 0:
			times = 60
		}
		for range times {
			r := db.row(d, t, anyhow)
			if c := t.UniqueColumn; c != "" {
				r[slices.Index(header(db.Dataset, t), c)] = int64(i)
			} else if t.Name == skewed {
				r[slices.Index(header(db.Dataset, t), "code")] = int64(i)
			}
			db.add(t, r, "")
			if t.UniqueColumn != "" {
				break
			}
		}
	}
}

func (db *Database) row(d Dice, t *policy.Table, m manner) []any {
	out := make([]any, len(header(db.Dataset, t)))
	for i, name := range t.ColumnNames() {
		out[i] = value(d, t.Columns[name], m)
	}
	return out
}

func (db *Database) add(t *policy.Table, r []any, owner string) {
	all := db.Tables[t.Name]
	all.Rows = append(all.Rows, r)
	db.Tables[t.Name] = all
	db.owners[t.Name] = append(db.owners[t.Name], owner)
}

// somebody adds a person's rows in all tables. Where every row is a person, these are as many
// people.
func (db *Database) somebody(d Dice, name any, m manner) {
	ds := db.Dataset
	owner := ""
	if name != nil {
		owner = fmt.Sprint("person ", name)
		if slices.ContainsFunc(slices.Collect(maps.Values(db.owners)), func(all []string) bool { return slices.Contains(all, owner) }) {
			return // they are there already
		}
	}
	keys := map[string][]any{} // of this person's rows, by table and column
	for _, t := range db.order() {
		if t.Public {
			continue
		}
		var same []any
		for range db.many(d, t, m, name == nil) {
			r := db.row(d, t, m)
			if (m == low || m == high) && same != nil {
				copy(r, same)
			}
			same = slices.Clone(r)
			columns := header(ds, t)
			set := func(column string, v any) { r[slices.Index(columns, column)] = v }
			switch {
			case t.UnitKind == policy.Row:
				owner = fmt.Sprint("row ", db.rows)
				db.rows++
			case t.UnitColumn != "":
				set(t.UnitColumn, name)
			default:
				parents := keys[t.Path[0].Table+"."+t.Path[0].Key]
				if len(parents) == 0 {
					continue
				}
				set(t.Path[0].Column, detrand.Pick(d, parents))
			}
			_, own := pathColumns(ds, t)
			for _, k := range own {
				if d.One(12) {
					set(k, nil)
					continue
				}
				set(k, db.next)
				keys[t.Name+"."+k] = append(keys[t.Name+"."+k], db.next)
				db.next++
			}
			db.add(t, r, owner)
		}
	}
}

// many says how many rows somebody has in a table.
func (db *Database) many(d Dice, t *policy.Table, m manner, nobody bool) int {
	switch {
	case t.UnitKind == policy.Unique && !nobody:
		return min(1, d.Below(5)) // a person need not be in the table of people
	case t.UnitKind == policy.Row:
		return 1 + d.Below(2)
	case m == busy:
		return 15 + d.Below(20)
	case m == many && d.One(30):
		return 60
	case m == many:
		return 3 + d.Below(12)
	case m == low || m == high:
		return d.Below(6)
	}
	return d.Below(4)
}

// orphans adds rows whose path ends nowhere.
func (db *Database) orphans(d Dice) {
	for _, t := range db.order() {
		if len(t.Path) < 2 {
			continue
		}
		for _, to := range []any{nil, int64(-7), int64(1 << 40)} {
			r := db.row(d, t, anyhow)
			columns := header(db.Dataset, t)
			_, own := pathColumns(db.Dataset, t)
			for _, k := range own {
				r[slices.Index(columns, k)] = db.next
				db.next++
			}
			r[slices.Index(columns, t.Path[0].Column)] = to
			db.add(t, r, "")
		}
	}
}

// Neighbour returns the database without one person, or with somebody else instead, as the dataset
// says, and with its rows in another order. It reports false where there is nobody.
func (db *Database) Neighbour(d Dice) (*Database, bool) {
	all := map[string]int{}
	for _, owners := range db.owners {
		for _, o := range owners {
			if o != "" {
				all[o]++
			}
		}
	}
	if len(all) == 0 {
		return nil, false
	}
	gone := detrand.Pick(d, slices.Sorted(maps.Keys(all)))
	if d.One(2) { // whoever has the most rows
		gone = slices.MaxFunc(slices.Sorted(maps.Keys(all)), func(a, b string) int { return cmp.Compare(all[a], all[b]) })
	}
	out := db.without(d, gone)
	out.shuffle(d)
	return out, true
}

// without is the database without somebody, or with somebody else instead, in the same order.
func (db *Database) without(d Dice, gone string) *Database {
	out := &Database{Dataset: db.Dataset, Tables: map[string]reference.Table{}, owners: map[string][]string{},
		next: db.next + 1000, rows: db.rows}
	var replaced *policy.Table
	for _, t := range db.order() {
		out.Tables[t.Name] = reference.Table{Columns: db.Tables[t.Name].Columns}
		for i, r := range db.Tables[t.Name].Rows {
			if db.owners[t.Name][i] == gone {
				replaced = t
				continue
			}
			out.add(t, r, db.owners[t.Name][i])
		}
	}
	switch {
	case db.Dataset.Neighbours == dp.AddRemove:
	case db.Dataset.Unit.Row():
		out.add(replaced, out.row(d, replaced, manner(d.Below(6))), "somebody else")
	default:
		// Under the same name or under another.
		name := int64(1000)
		if d.One(2) {
			fmt.Sscanf(gone, "person %d", &name)
		}
		out.somebody(d, name, manner(d.Below(6)))
	}
	return out
}

// Shuffled is the same people with the same rows, stored in another order.
func (db *Database) Shuffled(d Dice) *Database {
	out := db.clone()
	out.shuffle(d)
	return out
}

// Crowded is the database with many more people, most of whom have more rows than count: where
// which ones are kept depends on something else than they themselves, some of them show it.
func (db *Database) Crowded(d Dice) *Database {
	out := db.clone()
	for i := range 30 {
		out.somebody(d, int64(5000+i), detrand.Pick(d, []manner{busy, busy, many, odd}))
	}
	return out
}

func (db *Database) clone() *Database {
	out := &Database{Dataset: db.Dataset, Tables: map[string]reference.Table{}, owners: map[string][]string{}, next: db.next, rows: db.rows}
	for name, t := range db.Tables {
		out.Tables[name] = reference.Table{Columns: t.Columns, Rows: slices.Clone(t.Rows)}
		out.owners[name] = slices.Clone(db.owners[name])
	}
	return out
}

func (db *Database) shuffle(d Dice) {
	for _, t := range db.order() {
		rows, owners := db.Tables[t.Name].Rows, db.owners[t.Name]
		for i := len(rows) - 1; i > 0; i-- {
			k := d.Below(i + 1)
			rows[i], rows[k] = rows[k], rows[i]
			owners[i], owners[k] = owners[k], owners[i]
		}
	}
}

// Rows is how many rows there are in all tables.
func (db *Database) Rows() int {
	n := 0
	for _, t := range db.Tables {
		n += len(t.Rows)
	}
	return n
}

var oddTexts = []any{"", " ", "null", "NULL", "'", `"`, `\`, "two\nlines", "é", "e\u0301", "\u200b", "ﬁ", "İ", "\U0001F600",
	"'; DROP TABLE t; --", "%", "_", "f", "F ", " F"}

// edgeValues are stored texts that are hard to count, to cut, to print or to read: with a zero
// byte, at the ends of what surrogates leave free, of marks that combine and belong to nothing, of
// ten thousand characters, and of what looks like a number or a date.
var edgeValues = []any{"a\x00b", "\x00", "\ud7ff\ue000", "\U0010ffff\uffff", "\u0301\u0301\u0301", strings.Repeat("ä", 10_000),
	strings.Repeat("9", 40), "-9223372036854775808", "1e308", "NaN", "0.000000000001", "9999-12-31", "0001-01-01", "2024-02-30", "true"}

func value(d Dice, c *policy.Column, m manner) any {
	if m == lost || d.One(12) {
		return nil
	}
	if m == odd || d.One(10) {
		switch c.Type {
		case policy.Text:
			if c.Name == "anything" {
				return detrand.Pick(d, edgeValues)
			}
			return detrand.Pick(d, oddTexts)
		case policy.Decimal:
			return detrand.Pick(d,
				[]any{math.NaN(), math.Inf(1), math.Inf(-1), 1e308, -1e308, 5e-324, math.Copysign(0, -1), 0.25, 0.75, 1e18, -1e18, 9.3e18})
		case policy.Integer:
			return detrand.Pick(d, []any{int64(math.MaxInt64), int64(math.MinInt64), int64(0), int64(-1), int64(1)})
		case policy.Date:
			return detrand.Pick(d, []any{int64(-719162), int64(2932896), int64(0)})
		case policy.Timestamp:
			return detrand.Pick(d, oddMoments)
		}
	}
	switch c.Type {
	case policy.Boolean:
		return d.One(2)
	case policy.Text:
		if public := c.PublicValues(); len(public) > 0 && !d.One(8) {
			k := detrand.Pick(d, public)
			if m == low || m == high {
				k = public[0]
			}
			if k.Null {
				return nil
			}
			return k.Text
		}
		return detrand.Pick(d, []any{"p", "q", "r", "s"})
	}
	if c.Type == policy.Timestamp && m != low && m != high && !d.One(6) {
		return moments(d, c)
	}
	lo, hi := int64(-3), int64(3)
	if b := c.Bounds; b != nil {
		lo, hi = b.LoSteps, b.HiSteps
	}
	steps := between(d, lo, hi)
	switch {
	case m == low:
		steps = lo - int64(d.Below(2))
	case m == high:
		steps = hi + int64(d.Below(2))
	case d.One(8):
		steps = detrand.Pick(d, []int64{lo, hi, lo - 1, hi + 1, lo - 100, hi + 100})
	}
	if c.Type == policy.Decimal {
		if c.Granularity == nil {
			return float64(steps) / 2
		}
		g, _ := c.Granularity.Float64()
		return float64(steps) * g
	}
	return steps
}

// oddMoments are the ends of the calendar, of 64 bits as far as DuckDB goes, and what is no moment.
var oddMoments = []any{int64(-62135596800000000), int64(253402300799999999), int64(0), int64(-1), int64(math.MaxInt64 - 1),
	int64(-9223372022400000000), math.Inf(1), math.Inf(-1)}

// moments picks a moment of a day that the column has: often one that others have too, or that
// lies beside it.
func moments(d Dice, c *policy.Column) any {
	first, last := int64(18999), int64(19002)
	if b := c.Bounds; b != nil {
		first, last = b.LoSteps/dayMicros, b.HiSteps/dayMicros
	}
	const hour = dayMicros / 24
	return between(d, first, last)*dayMicros + detrand.Pick(d, []int64{0, 1, 10 * hour, 10*hour + hour/4, 11*hour - 1, 12*hour + 500_000,
		dayMicros - 1, int64(d.Below(dayMicros))})
}

// between picks a number of an interval: any of a short one, and of a long one its ends, and some
// that are near zero or anywhere.
func between(d Dice, lo, hi int64) int64 {
	if hi-lo < 1<<20 {
		return lo + int64(d.Below(int(hi-lo)+1))
	}
	inside := func(n int64) int64 { return min(hi, max(lo, n)) }
	return detrand.Pick(d, []int64{lo, hi, lo + 1, hi - 1, inside(0), inside(int64(d.Below(10))), lo + int64(d.Below(1<<40))%(hi-lo)})
}
