package generate

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/policy"
)

// Worlds returns policies with something of everything: tables where a person has one row and many,
// paths of one, two and three steps, identities that are listed and that are not, and clamped where
// they are; public tables with a unique column and without; both kinds of neighbours; and one where
// every row is a person. Limits and bounds are small, so that people exceed them.
func Worlds() []*policy.Dataset {
	return []*policy.Dataset{clinic(dp.AddRemove), clinic(dp.Substitute), census(dp.AddRemove), census(dp.Substitute)}
}

func clinic(n dp.Neighbours) *policy.Dataset {
	buyer := policy.Step{Column: "buyer", Table: "patients", Key: "pid"}
	order := policy.Step{Column: "oid", Table: "orders", Key: "oid"}
	item := policy.Step{Column: "iid", Table: "items", Key: "iid"}
	return &policy.Dataset{
		Name: "clinic " + n.String(), Engine: "duckdb", Neighbours: n, Existence: 2, Budget: policy.Budget{Epsilon: dp.One, Delta: 1 << 20},
		Unit: policy.Unit{Table: "patients", Column: "pid"},
		Tables: tables(
			&policy.Table{Name: "patients", UnitKind: policy.Unique, UnitColumn: "pid", MaxRows: 1, MaxGroups: 1, Columns: columns(
				whole("pid", 0, 3), required(whole("age", 0, 10)), listed("sex", "F", "M", "X", ""), text("zip"), secret(text("diagnosis")),
				grain("cost", -4, 10, 1, 2), boolean("smoker"), day("admitted", 19000, 19002), whole("code", 0, 4), real("weight"),
				any64("balance"),
			)},
			&policy.Table{Name: "profiles", UnitKind: policy.Unique, UnitColumn: "owner",
				Path: []policy.Step{{Column: "owner", Table: "patients", Key: "pid"}}, MaxRows: 1, MaxGroups: 1, Columns: columns(
					whole("score", -5, 5), listed("tier", "gold", "none"), whole("code", 0, 4), anytime("moment"),
				)},
			&policy.Table{Name: "visits", UnitKind: policy.Many, UnitColumn: "pid",
				Path: []policy.Step{{Column: "pid", Table: "patients", Key: "pid"}}, MaxRows: 3, MaxGroups: 2, Columns: columns(
					listed("ward", "a", "b", "c", "d"), day("day", 19000, 19004), grain("cost", -2, 8, 1, 2), whole("code", 0, 4),
					secret(text("note")), boolean("urgent"), stamp("moment", 19000, 19003),
				)},
			&policy.Table{Name: "labs", UnitKind: policy.Many, UnitColumn: "person",
				Path: []policy.Step{{Column: "person", Table: "patients", Key: "pid"}}, MaxRows: 2, MaxGroups: 1, Columns: columns(
					any64("person"), whole("value", 0, 6), listed("kind", "x", "y", "z"), secret(whole("place", -2, 2)),
				)},
			&policy.Table{Name: "orders", UnitKind: policy.Many, UnitColumn: "buyer", Path: []policy.Step{buyer}, MaxRows: 2,
				MaxGroups: 2, Columns: columns(whole("total", -1, 9), listed("status", "open", "paid"), whole("code", 0, 4))},
			&policy.Table{Name: "items", UnitKind: policy.Many, Path: []policy.Step{order, buyer}, MaxRows: 2,
				MaxGroups: 2, Columns: columns(whole("oid", 0, 2), whole("price", 0, 5), secret(text("sku")), boolean("gift"))},
			&policy.Table{Name: "parts", UnitKind: policy.Many, Path: []policy.Step{item, order, buyer}, MaxRows: 1,
				MaxGroups: 3, Columns: columns(whole("grams", -3, 3), listed("stuff", "wood", "iron"))},
			&policy.Table{Name: "codes", Public: true, UnitKind: policy.NoUnit, UniqueColumn: "code", MaxRows: 1,
				MaxGroups: 1, Columns: columns(whole("code", 0, 4), text("label"), whole("chapter", 0, 2))},
			&policy.Table{Name: "rates", Public: true, UnitKind: policy.NoUnit, MaxRows: 2, MaxGroups: 1, Columns: columns(
				whole("code", 0, 4), whole("rate", 0, 5), text("zone"),
			)},
		),
		Views: map[string]string{
			"dear":     "SELECT pid, cost, ward FROM visits WHERE cost > 1",
			"everyday": "SELECT pid AS who, count(*) AS often FROM visits GROUP BY pid",
		},
	}
}

func census(n dp.Neighbours) *policy.Dataset {
	budget := policy.Budget{Epsilon: dp.One, Delta: 1 << 20}
	if n == dp.AddRemove {
		budget.Delta = 0 // with which averages are made of other sums
	}
	return &policy.Dataset{
		Name: "census " + n.String(), Engine: "duckdb", Neighbours: n, Existence: 2, Budget: budget,
		Tables: tables(
			&policy.Table{Name: "north", UnitKind: policy.Row, MaxRows: 1, MaxGroups: 1, Columns: columns(
				whole("age", 0, 10), listed("sex", "F", "M"), secret(text("job")), whole("code", 0, 4), boolean("owner"),
				stamp("moment", 19000, 19001),
			)},
			&policy.Table{Name: "south", UnitKind: policy.Row, MaxRows: 1, MaxGroups: 1, Columns: columns(
				whole("age", -5, 5), listed("sex", "F", "X"), secret(text("job")), whole("code", 0, 4), grain("income", -3, 9, 1, 4),
			)},
			// The same columns as north, with other bounds: a row may be equal to one there, and is
			// somebody else.
			&policy.Table{Name: "west", UnitKind: policy.Row, MaxRows: 1, MaxGroups: 1, Columns: columns(
				whole("age", -9, 2), listed("sex", "F", "M"), secret(text("job")), whole("code", 1, 3), boolean("owner"),
			)},
			&policy.Table{Name: "codes", Public: true, UnitKind: policy.NoUnit, UniqueColumn: "code", MaxRows: 1,
				MaxGroups: 1, Columns: columns(whole("code", 0, 4), text("label"))},
			&policy.Table{Name: "rates", Public: true, UnitKind: policy.NoUnit, MaxRows: 3, MaxGroups: 1, Columns: columns(
				whole("code", 0, 4), whole("rate", 0, 5), text("zone"),
			)},
		),
	}
}

func tables(all ...*policy.Table) map[string]*policy.Table {
	out := map[string]*policy.Table{}
	for _, t := range all {
		out[t.Name] = t
	}
	return out
}

func columns(all ...*policy.Column) map[string]*policy.Column {
	out := map[string]*policy.Column{}
	for _, c := range all {
		out[c.Name] = c
	}
	return out
}

func any64(name string) *policy.Column {
	return &policy.Column{Name: name, Type: policy.Integer, Nullable: true, Granularity: big.NewRat(1, 1)}
}

func whole(name string, lo, hi int64) *policy.Column {
	return grainOf(policy.Integer, name, lo, hi, 1, 1)
}

// grain is a decimal with bounds in steps of num/den.
func grain(name string, lo, hi, num, den int64) *policy.Column {
	return grainOf(policy.Decimal, name, lo, hi, num, den)
}

func day(name string, lo, hi int64) *policy.Column { return grainOf(policy.Date, name, lo, hi, 1, 1) }

// stamp is a moment of some days, to the microsecond.
func stamp(name string, first, last int64) *policy.Column {
	return grainOf(policy.Timestamp, name, first*dayMicros, (last+1)*dayMicros-1, 1, 1)
}

func anytime(name string) *policy.Column {
	return &policy.Column{Name: name, Type: policy.Timestamp, Nullable: true, Granularity: big.NewRat(1, 1)}
}

const dayMicros = 24 * 60 * 60 * 1_000_000

func grainOf(t policy.Type, name string, lo, hi, num, den int64) *policy.Column {
	g := big.NewRat(num, den)
	end := func(n int64) *big.Rat { return new(big.Rat).Mul(g, new(big.Rat).SetInt64(n)) }
	return &policy.Column{Name: name, Type: t, Nullable: true, Granularity: g,
		Bounds: &policy.Bounds{Lo: end(lo), Hi: end(hi), LoSteps: lo, HiSteps: hi}}
}

func text(name string) *policy.Column {
	return &policy.Column{Name: name, Type: policy.Text, Nullable: true}
}
func real(name string) *policy.Column {
	return &policy.Column{Name: name, Type: policy.Decimal, Nullable: true}
}
func boolean(name string) *policy.Column {
	return &policy.Column{Name: name, Type: policy.Boolean, Nullable: true}
}
func required(c *policy.Column) *policy.Column { c.Nullable = false; return c }
func secret(c *policy.Column) *policy.Column   { c.Keys = policy.PrivateKeys; return c }

// listed is a text with public keys; the empty one stands for NULL.
func listed(name string, keys ...string) *policy.Column {
	c := text(name)
	c.Keys = policy.PublicKeys
	for _, k := range keys {
		c.KeyValues = append(c.KeyValues, policy.Value{Type: policy.Text, Text: k, Null: k == ""})
	}
	return c
}

// pathColumns returns the columns of a table that paths use: its own way out, and what paths of
// others come in by.
func pathColumns(ds *policy.Dataset, t *policy.Table) (out []string, keys []string) {
	if t.UnitColumn != "" {
		out = append(out, t.UnitColumn)
	} else if len(t.Path) > 0 {
		out = append(out, t.Path[0].Column)
	}
	for _, name := range ds.TableNames() {
		if p := ds.Tables[name].Path; len(p) > 1 && p[0].Table == t.Name {
			keys = append(keys, p[0].Key)
		}
	}
	return out, keys
}

// identities returns what the identities of a table's columns mean, by column, as the planner does.
func identities(ds *policy.Dataset, t *policy.Table) map[string]string {
	out := map[string]string{}
	if t.Public || ds.Unit.Row() {
		return out
	}
	_, keys := pathColumns(ds, t)
	for _, k := range keys {
		out[k] = fmt.Sprintf("%s.%s", t.Name, k)
	}
	if t.UnitColumn != "" {
		out[t.UnitColumn] = ds.Unit.String()
	} else if len(t.Path) > 1 {
		out[t.Path[0].Column] = fmt.Sprintf("%s.%s", t.Path[0].Table, t.Path[0].Key)
	}
	return out
}

// Pair makes a database with a person whom questions can single out, because nobody else has the
// text [Target] anywhere, and its neighbour: without that person, or with somebody else instead, as
// the dataset says.
func Pair(d Dice, ds *policy.Dataset) (with, without *Database) {
	with = Make(d, ds)
	owner := with.target(d)
	for _, t := range with.order() {
		all := with.Tables[t.Name]
		for i, r := range all.Rows {
			if with.owners[t.Name][i] == owner {
				mark(d, t, all.Columns, r)
			}
		}
	}
	without = with.without(d, owner)
	if d.One(3) { // not always: an engine is faster where it finds people's rows together
		without.shuffle(d)
	}
	return with, without
}

// target adds a person who has at least a row, and returns whose those are.
func (db *Database) target(d Dice) string {
	m := detrand.Pick(d, []manner{anyhow, high, high, low, many, odd})
	if !db.Dataset.Unit.Row() {
		name := detrand.Pick(d, []int64{77, 77, 77, 1<<53 + 3, -77})
		owner := fmt.Sprint("person ", name)
		for !slices.ContainsFunc(db.order(), func(t *policy.Table) bool { return slices.Contains(db.owners[t.Name], owner) }) {
			db.somebody(d, name, m)
		}
		return owner
	}
	private := slices.DeleteFunc(db.order(), func(t *policy.Table) bool { return t.Public })
	t := detrand.Pick(d, private)
	owner := fmt.Sprint("row ", db.rows)
	db.rows++
	db.add(t, db.row(d, t, m), owner)
	return owner
}

// mark writes the target's text into most of somebody's texts.
func mark(d Dice, t *policy.Table, columns []string, r []any) {
	for i, name := range columns {
		if c := t.Columns[name]; c != nil && c.Type == policy.Text && !d.One(5) {
			r[i] = Target
		}
	}
}

// Public tables with names of their own: one has a key that is there sixty times, the other has no
// rows.
const (
	skewed = "skewed"
	empty  = "nothing"
)

// Extremes returns policies whose columns lie at the ends of what there is: integers without bounds
// and with bounds of 2^52, bounds that are one point, steps of a millionth and of a thousand, days
// of the years 1 and 9999, texts of anything; public tables that are skewed and that are empty; a
// holdout.
func Extremes() []*policy.Dataset {
	return []*policy.Dataset{town(dp.AddRemove), town(dp.Substitute), roll(dp.AddRemove), roll(dp.Substitute)}
}

func town(n dp.Neighbours) *policy.Dataset {
	person := policy.Step{Column: "pid", Table: "people", Key: "pid"}
	bill := policy.Step{Column: "bid", Table: "bills", Key: "bid"}
	return &policy.Dataset{
		Name: "town " + n.String(), Engine: "duckdb", Neighbours: n, Existence: 2, Budget: policy.Budget{Epsilon: dp.One, Delta: 1 << 20},
		Unit: policy.Unit{Table: "people", Column: "pid"},
		Tables: tables(
			&policy.Table{Name: "people", UnitKind: policy.Unique, UnitColumn: "pid", MaxRows: 1, MaxGroups: 1, Columns: columns(
				whole("pid", 0, 3), whole("age", 0, 100), listed("sex", "F", "M", ""), secret(text("town")), text("anything"), any64("big"),
				whole("none", 0, 0), whole("seven", 7, 7), whole("wide", -1<<52, 1<<52), required(whole("few", 0, 9)),
				grain("tiny", -5_000_000, 5_000_000, 1, 1_000_000), grain("coarse", -9, 9, 1000, 1),
				real("weight"), boolean("sick"), day("born", -719162, 2932896), day("due", 19000, 19000), ever("seen"), whole("code", 0, 4),
			)},
			&policy.Table{Name: "cards", UnitKind: policy.Unique, UnitColumn: "owner",
				Path: []policy.Step{{Column: "owner", Table: "people", Key: "pid"}}, MaxRows: 1, MaxGroups: 1, Columns: columns(
					whole("score", -5, 5), listed("tier", "gold", "none"), any64("big"), secret(text("town")),
				)},
			&policy.Table{Name: "visits", UnitKind: policy.Many, UnitColumn: "pid", Path: []policy.Step{person}, MaxRows: 3,
				MaxGroups: 2, Columns: columns(
					listed("ward", "a", "b", "c"), whole("num", 0, 6), grain("cost", -200, 800, 1, 100), whole("code", 0, 4),
					secret(text("kind")), day("day", 19000, 19004), boolean("urgent"), whole("none", 0, 0), stamp("moment", 19000, 19003),
				)},
			&policy.Table{Name: "bills", UnitKind: policy.Many, UnitColumn: "pid", Path: []policy.Step{person}, MaxRows: 2,
				MaxGroups: 2, Columns: columns(
					any64("big"), whole("total", -1, 1<<40), secret(text("town")), listed("status", "open", "paid"), anytime("moment"),
				)},
			&policy.Table{Name: "lines", UnitKind: policy.Many, Path: []policy.Step{bill, person}, MaxRows: 2,
				MaxGroups: 1, Columns: columns(whole("price", 0, 5), text("anything"), boolean("gift"), whole("seven", 7, 7))},
			&policy.Table{Name: "codes", Public: true, UnitKind: policy.NoUnit, UniqueColumn: "code", MaxRows: 1,
				MaxGroups: 1, Columns: columns(whole("code", 0, 4), text("label"), any64("big"))},
			&policy.Table{Name: skewed, Public: true, UnitKind: policy.NoUnit, MaxRows: 2, MaxGroups: 1, Columns: columns(
				whole("code", 0, 4), whole("rate", 0, 5), text("zone"),
			)},
			&policy.Table{Name: empty, Public: true, UnitKind: policy.NoUnit, MaxRows: 2, MaxGroups: 1, Columns: columns(
				whole("code", 0, 4), text("label"),
			)},
		),
		Views: map[string]string{
			"dear":     "SELECT pid, cost, ward FROM visits WHERE cost > 1",
			"everyday": "SELECT pid AS who, count(*) AS often FROM visits GROUP BY pid",
		},
		Holdouts: held("people"),
	}
}

func roll(n dp.Neighbours) *policy.Dataset {
	return &policy.Dataset{
		Name: "roll " + n.String(), Engine: "duckdb", Neighbours: n, Existence: 2, Budget: policy.Budget{Epsilon: dp.One, Delta: 1 << 20},
		Tables: tables(
			&policy.Table{Name: "north", UnitKind: policy.Row, MaxRows: 1, MaxGroups: 1, Columns: columns(
				whole("age", 0, 100), listed("sex", "F", "M"), secret(text("town")), whole("code", 0, 4), boolean("owner"), any64("big"),
				whole("none", 0, 0), grain("tiny", -5_000_000, 5_000_000, 1, 1_000_000),
			)},
			&policy.Table{Name: "south", UnitKind: policy.Row, MaxRows: 1, MaxGroups: 1, Columns: columns(
				whole("age", -9, 9), text("anything"), secret(text("town")), whole("code", 0, 4), grain("coarse", -9, 9, 1000, 1),
				day("born", -719162, 2932896), ever("seen"), real("weight"), stamp("moment", 18999, 19001),
			)},
			&policy.Table{Name: "codes", Public: true, UnitKind: policy.NoUnit, UniqueColumn: "code", MaxRows: 1,
				MaxGroups: 1, Columns: columns(whole("code", 0, 4), text("label"))},
			&policy.Table{Name: skewed, Public: true, UnitKind: policy.NoUnit, MaxRows: 3, MaxGroups: 1, Columns: columns(
				whole("code", 0, 4), whole("rate", 0, 5), text("zone"),
			)},
		),
		Holdouts: held("north"),
	}
}

func ever(name string) *policy.Column {
	return &policy.Column{Name: name, Type: policy.Date, Nullable: true, Granularity: big.NewRat(1, 1)}
}

// held is a holdout of a table, with values in steps of a hundredth.
func held(table string) map[string]*policy.Holdout {
	return map[string]*policy.Holdout{"test": {Name: "test", Table: table, Size: 5, Threshold: big.NewRat(1, 10), Noise: big.NewRat(1, 100),
		Answers: 10, Steps: 100}}
}

// Generous takes a dataset's limits out of reach, so that nobody is cut and every engine has to
// compute the same.
func Generous(ds *policy.Dataset) *policy.Dataset {
	for _, table := range ds.Tables {
		if table.UnitKind == policy.Many {
			table.MaxRows, table.MaxGroups = 100_000, 100_000
		}
		if table.Public {
			table.MaxRows = 1000
		}
	}
	ds.Name += ", nobody is cut"
	return ds
}

// Narrow makes the limits on what is joined and computed with as small as they can be, so that
// people with a dozen rows are cut wherever anybody is.
func Narrow(ds *policy.Dataset) *policy.Dataset {
	for _, table := range ds.Tables {
		if table.UnitKind == policy.Many {
			table.MaxJoined = 1
		}
	}
	ds.Name += ", many are cut"
	return ds
}
