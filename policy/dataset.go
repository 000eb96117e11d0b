package policy

import (
	"maps"
	"slices"

	"github.com/discreet-dp/discreet/account"
	"github.com/discreet-dp/discreet/dp"
)

// Dataset is the tables that share one budget, because they speak about the
// same people.
type Dataset struct {
	Name string
	// Engine runs the questions. It is "duckdb".
	Engine string
	// Source is the database file, the folder or the single file that holds the
	// tables, joined with the policy's folder. It is empty where every table
	// names a file of its own.
	Source     string
	Unit       Unit
	Neighbours dp.Neighbours
	Budget     Budget
	Analysts   map[string]*Analyst
	Tables     map[string]*Table

	order []string
	// filter is the filter of the budget filterOf. It is remembered because the
	// conversion to rho is a search, and a filter is asked for with every charge.
	filter   account.Filter
	filterOf Budget
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
	d.readEngine(r, f)
	sourceOK := d.readSource(r, f, dir)
	if v, ok := f.get("neighbours"); ok {
		if text, ok := r.text(v, "neighbours", "add-remove or substitute"); ok {
			n, err := dp.ParseNeighbours(text)
			if err != nil {
				r.at(v, "%v%s", err, didYouMean(text, "add-remove", "substitute"))
			}
			d.Neighbours = n
		}
	}
	d.readBudget(r, f)
	d.readAnalysts(r, f)
	d.readTables(r, f, dir, sourceOK)
}

func (d *Dataset) readEngine(r *reader, f fields) {
	v, ok := f.need(r, "engine", "write engine: duckdb")
	if !ok {
		return
	}
	text, ok := r.text(v, "engine", "duckdb")
	if !ok {
		return
	}
	switch text {
	case "duckdb":
		d.Engine = text
	case "postgres", "postgresql", "trino":
		r.at(v, "the engine %s is not supported yet; write duckdb, which reads CSV, Parquet and its own files", text)
	default:
		r.at(v, "there is no engine %s; write duckdb, which reads CSV, Parquet and its own files", quote(text))
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
	for _, e := range entries {
		d.Tables[e.name] = &Table{Name: e.name}
		d.order = append(d.order, e.name)
	}
	if unitOK {
		unitOK = d.resolveUnit(r, unit, unitText)
	}
	for _, e := range entries {
		d.Tables[e.name].read(r, e.place, d, dir, unitOK, sourceOK)
	}
}
