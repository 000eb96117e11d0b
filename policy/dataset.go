package policy

import (
	"maps"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/account"
	"github.com/discreet-dp/discreet/dp"
)

// Dataset is the tables that share one budget, because they speak about the
// same people.
type Dataset struct {
	Name string
	// Engine runs the questions. It is "duckdb", or "trino" where the source is a Trino cluster.
	Engine string
	// Source is the database file, the folder or the single file that holds the
	// tables, joined with the policy's folder. It is empty where every table
	// names a file of its own.
	Source string
	// VersionQuery is the owner's SQL that names the state of the database. It is empty
	// where the contents do.
	VersionQuery string
	// Refresh is for how long a copy of a PostgreSQL database is used, or a Trino cluster taken
	// to be as it was, before it is looked whether that has changed; 0 stands for no time: it is
	// looked before every question.
	Refresh    time.Duration
	Unit       Unit
	Neighbours dp.Neighbours
	Budget     Budget
	Analysts   map[string]*Analyst
	// Groups are analysts who share a quota, by name. There may be none.
	Groups map[string]*Group
	Tables map[string]*Table
	// Views are questions that others build on, as SQL by name. They are read as
	// text; whether they can be asked is for package plan to say.
	Views map[string]string
	// MaxFanout is how many rows of public tables one private row may meet in a question; 0 stands
	// for the default. See Fanout.
	MaxFanout int64
	// Release says when answers leave a server. It is for package admission, and is no matter of
	// budgets.
	Release Release
	// Sizes are how large the data is, where the owner declares it; nil where it is counted.
	Sizes *Sizes
	// Failures are how many questions may fail; see [Dataset.Borne] for what zero stands for.
	Failures Failures
	// Streams are columns of a table over which very many questions are answered on one budget, by
	// name. There may be none.
	Streams map[string]*Stream
	// Holdouts are data on which scores are checked, by name. There may be none.
	Holdouts map[string]*Holdout

	order, viewOrder, streamOrder, holdoutOrder []string
	// filter is the filter of the budget filterOf. It is remembered because the
	// conversion to rho is a search, and a filter is asked for with every charge.
	filter   account.Filter
	filterOf Budget
	rhos     map[dp.Amount]dp.Amount // the same for the epsilons of quotas
}

// TableNames returns the names of the tables in the order of the file; sorted,
// where the dataset does not come from a file.
func (d *Dataset) TableNames() []string { return inOrder(d.order, d.Tables) }

// inOrder returns the remembered order while it still is the order of the map.
func inOrder[V any](order []string, m map[string]V) []string {
	if len(order) == len(m) {
		return slices.Clone(order)
	}
	return slices.Sorted(maps.Keys(m))
}

// read fills the dataset from its mapping.
func (d *Dataset) read(r *reader, at place, dir string) {
	f, ok := r.fields(at, at.node, "a dataset", datasetKeys)
	if !ok {
		return
	}
	sourceOK := d.readSource(r, f, dir)
	d.readEngine(r, f)
	d.readVersion(r, f, sourceOK)
	d.readRefresh(r, f, sourceOK)
	if v, ok := f.get("neighbours"); ok {
		if text, ok := r.text(v, "neighbours", "add-remove or substitute"); ok {
			n, err := dp.ParseNeighbours(text)
			if err != nil {
				r.at(v, "%v%s", err, didYouMean(text, "add-remove", "substitute"))
			}
			d.Neighbours = n
		}
	}
	d.readRelease(r, f)
	d.readFailures(r, f)
	d.readFanout(r, f)
	budget := d.readBudget(r, f)
	before := len(r.problems)
	d.readTables(r, f, dir, sourceOK)
	if len(r.problems) == before { // what is missing there is told when the tables are mended
		d.readSizes(r, f)
	}
	d.readViews(r, f)
	// The rest of the budget depends on the tables, and shares on the budget.
	d.finishBudget(r, budget)
	d.readAnalysts(r, f)
	d.readGroups(r, f)
	d.finishNoise()
	d.readStreams(r, f)
	d.readHoldouts(r, f, dir)
}

func (d *Dataset) readEngine(r *reader, f fields) {
	if _, given := f.get("engine"); d.Engine != "" && !given {
		return
	}
	v, ok := f.need(r, "engine", "write engine: duckdb")
	if !ok {
		return
	}
	text, ok := r.text(v, "engine", "duckdb")
	if !ok {
		return
	}
	switch remote := d.Engine == "trino"; text {
	case "duckdb", "trino":
		if remote != (text == "trino") {
			r.at(v, "the engine trino asks a Trino cluster, and duckdb reads everything else; write the one that the source is for, or "+
				"leave out the engine of an address")
			return
		}
		d.Engine = text
	case "postgres", "postgresql":
		r.at(v, "tables of a PostgreSQL database are copied into DuckDB, which runs the questions; write engine: duckdb, and the address "+
			"under 'source'")
	default:
		r.at(v, "there is no engine %s; write duckdb, which reads CSV, Parquet and its own files, or leave it out where "+
			"the source is an address", quote(text))
	}
}

// readTables reads the unit and the tables together, because each gives the
// other its meaning.
func (d *Dataset) readTables(r *reader, f fields, dir string, sourceOK bool) {
	unit, unitText, unitOK := d.readUnit(r, f)
	v, ok := f.need(r, "tables", "list the tables that analysts may ask about")
	if !ok {
		return
	}
	entries, ok := r.entries(v, "tables", "table", checkName)
	if !ok {
		return
	}
	d.Tables = map[string]*Table{}
	if len(entries) == 0 {
		r.at(v, "there are no tables; list at least one, because a table that is not listed does not exist for analysts")
		return
	}
	var texts []tableText
	private := false
	for _, e := range entries {
		t := &Table{Name: e.name, MaxRows: 1, MaxGroups: 1}
		d.Tables[e.name] = t
		d.order = append(d.order, e.name)
		f, ok := r.fields(e.place, e.node, "a table", tableKeys)
		if ok {
			t.readPublic(r, f)
			texts = append(texts, tableText{e.name, e.place, f})
		}
		private = private || !t.Public
	}
	if !private {
		r.at(v,
			"all tables are public, so there is nobody to protect and nothing that needs a budget; list the table whose people the "+
				"budget protects")
		unitOK = false
	}
	if unitOK {
		unitOK = d.resolveUnit(r, unit, unitText)
	}
	var p paths
	if unitOK && !d.Unit.Row() {
		p = d.readPaths(r, texts)
	}
	for _, t := range texts {
		d.Tables[t.name].read(r, t, d, dir, p, unitOK, sourceOK)
	}
}
