package generate

import (
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/policy"
)

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
		Name: "town " + n.String(), Engine: "duckdb", Neighbours: n, Budget: policy.Budget{Epsilon: dp.One, Delta: 1 << 20},
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
				MaxGroups: 1, Columns: columns(
					whole("price", 0, 5), text("anything"), boolean("gift"), whole("seven", 7, 7),
				)},
			&policy.Table{Name: "codes", Public: true, UnitKind: policy.NoUnit, UniqueColumn: "code", MaxRows: 1,
				MaxGroups: 1, Columns: columns(
					whole("code", 0, 4), text("label"), any64("big"),
				)},
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
		Name: "roll " + n.String(), Engine: "duckdb", Neighbours: n, Budget: policy.Budget{Epsilon: dp.One, Delta: 1 << 20},
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
				MaxGroups: 1, Columns: columns(
					whole("code", 0, 4), text("label"),
				)},
			&policy.Table{Name: skewed, Public: true, UnitKind: policy.NoUnit, MaxRows: 3, MaxGroups: 1, Columns: columns(
				whole("code", 0, 4), whole("rate", 0, 5), text("zone"),
			)},
		),
		Holdouts: held("north"),
	}
}

// ever is a day without bounds.
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
