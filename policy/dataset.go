package policy

import (
	"maps"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
)

// Dataset is the tables that share one budget, because they speak about the same people.
type Dataset struct {
	Name string
	// Engine runs the questions. It is "duckdb", or "trino" where the source is a Trino cluster.
	Engine string
	// Source is the database file, the folder or the single file that holds the tables, joined with
	// the policy's folder. It is empty where every table names a file of its own.
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
	// text; whether they can be asked is for package planner to say.
	Views map[string]string
	// MaxFanout is how many rows of public tables one private row may meet in a question; 0 stands
	// for the default. See Fanout.
	MaxFanout int64
	// Existence is the number above which a noisy count of rows answers that there are some, to
	// questions that only ask whether; 0 stands for refusing them.
	Existence int64
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

func (in datasetReader) read(at element, dir string) {
	f, ok := in.r.fields(at, at.node, "a dataset", datasetKeys)
	if !ok {
		return
	}
	sourceOK := sourceReader(in).readSource(f, dir)
	in.readEngine(f)
	sourceReader(in).readVersion(f, sourceOK)
	sourceReader(in).readRefresh(f, sourceOK)
	if v, ok := f.get("neighbours"); ok {
		if text, ok := in.r.text(v, "neighbours", "add-remove or substitute"); ok {
			n, err := dp.ParseNeighbours(text)
			if err != nil {
				in.r.at(v, "%v%s", err, didYouMean(text, "add-remove", "substitute"))
			}
			in.d.Neighbours = n
		}
	}
	in.readRelease(f)
	in.readFailures(f)
	in.readFanout(f)
	in.readExistence(f)
	budget := budgetReader(in).readBudget(f)
	before := len(in.r.problems)
	in.readTables(f, dir, sourceOK)
	if len(in.r.problems) == before { // what is missing there is told when the tables are mended
		in.readSizes(f)
	}
	in.readViews(f)
	// The rest of the budget depends on the tables, and shares on the budget.
	budgetReader(in).finishBudget(budget)
	budgetReader(in).readAnalysts(f)
	budgetReader(in).readGroups(f)
	budgetReader(in).finishNoise()
	in.readStreams(f)
	in.readHoldouts(f, dir)
}

func (in datasetReader) readEngine(f fields) {
	if _, given := f.get("engine"); in.d.Engine != "" && !given {
		return
	}
	v, ok := f.need(in.r, "engine", "write engine: duckdb")
	if !ok {
		return
	}
	text, ok := in.r.text(v, "engine", "duckdb")
	if !ok {
		return
	}
	switch remote := in.d.Engine == "trino"; text {
	case "duckdb", "trino":
		if remote != (text == "trino") {
			in.r.at(v, "the engine trino asks a Trino cluster, and duckdb reads everything else; write the one that the source is for, or "+
				"leave out the engine of an address")
			return
		}
		in.d.Engine = text
	case "postgres", "postgresql":
		in.r.at(v,
			"tables of a PostgreSQL database are copied into DuckDB, which runs the questions; write engine: duckdb, and the address "+
				"under 'source'")
	default:
		in.r.at(v, "there is no engine %s; write duckdb, which reads CSV, Parquet and its own files, or leave it out where "+
			"the source is an address", quote(text))
	}
}

// readTables reads the unit and the tables together, because each gives the other its meaning.
func (in datasetReader) readTables(f fields, dir string, sourceOK bool) {
	unit, unitText, unitOK := unitReader(in).readUnit(f)
	v, ok := f.need(in.r, "tables", "list the tables that analysts may ask about")
	if !ok {
		return
	}
	entries, ok := in.r.entries(v, "tables", "table", checkName)
	if !ok {
		return
	}
	in.d.Tables = map[string]*Table{}
	if len(entries) == 0 {
		in.r.at(v, "there are no tables; list at least one, because a table that is not listed does not exist for analysts")
		return
	}
	var texts []tableText
	private := false
	for _, e := range entries {
		t := &Table{Name: e.name, MaxRows: 1, MaxGroups: 1}
		in.d.Tables[e.name] = t
		in.d.order = append(in.d.order, e.name)
		f, ok := in.r.fields(e.element, e.node, "a table", tableKeys)
		if ok {
			t.readPublic(in.r, f)
			texts = append(texts, tableText{e.name, e.element, f})
		}
		private = private || !t.Public
	}
	if !private {
		in.r.at(v,
			"all tables are public, so there is nobody to protect and nothing that needs a budget; list the table whose people the "+
				"budget protects")
		unitOK = false
	}
	if unitOK {
		unitOK = unitReader(in).resolveUnit(unit, unitText)
	}
	var p paths
	if unitOK && !in.d.Unit.Row() {
		p = unitReader(in).readPaths(texts)
	}
	for _, t := range texts {
		in.d.Tables[t.name].read(in.r, t, in.d, dir, p, unitOK, sourceOK)
	}
}

type datasetReader struct {
	r *reader
	d *Dataset
}

// What is hard to read of a dataset has readers of its own.
type (
	sourceReader datasetReader // where the data is, and which version of it
	unitReader   datasetReader // whose the rows are, and the ways from tables to people
	budgetReader datasetReader // the budget, and the shares of it
)

// maxView is the longest text of a view, in bytes.
const maxView = 64 << 10

// ViewNames returns the names of the views in the order of the file; sorted, where
// the dataset does not come from a file.
func (d *Dataset) ViewNames() []string { return inOrder(d.viewOrder, d.Views) }

// readViews reads names and texts. What a text means is not for this package to
// say, which knows no SQL.
func (in datasetReader) readViews(f fields) {
	v, ok := f.get("views")
	if !ok {
		return
	}
	entries, ok := in.r.entries(v, "views", "view", checkName)
	if !ok {
		return
	}
	tables := map[string]string{}
	for _, name := range in.d.order {
		tables[fold(name)] = name
	}
	in.d.Views = map[string]string{}
	for _, e := range entries {
		if table, ok := tables[fold(e.name)]; ok {
			in.r.at(element{node: e.key, where: v.where}, "the view %s has the name of the table %s; rename the view",
				quote(e.name), quote(table))
		}
		text, ok := in.r.text(e.element, "view", "the SQL of the view, such as \"SELECT age FROM patients WHERE age >= 65\"")
		switch {
		case !ok:
			continue
		case strings.TrimSpace(text) == "":
			in.r.at(e.element, "the view has no text; write its SQL, such as \"SELECT age FROM patients WHERE age >= 65\"")
			continue
		case len(text) > maxView || strings.ContainsRune(text, 0):
			in.r.at(e.element, "the SQL of a view is at most 64 KiB long and has no zero byte; split it into views that build on each "+
				"other")
			continue
		}
		in.d.Views[e.name] = text
		in.d.viewOrder = append(in.d.viewOrder, e.name)
	}
	in.d.viewOrder = slices.Clip(in.d.viewOrder)
}

// CountsEverybody returns the table that tells how many people there are, where that is public; nil
// where it is not, or where no table tells it.
//
// Under substitution one person is replaced by another, so how many there are is the same in all
// neighbours: the relation itself makes it public. A table tells that number, and no more, where
// everybody has a row in it and nothing but being somebody decides that:
//
//   - it is the only private table. With a second one somebody who is in both could be replaced by
//     somebody who is in the other alone, and the first would have a row less.
//   - it names the unit itself, or its rows are the people. Rows that lead to nobody are no person's.
//   - no row is left out for what is written in it, as lines of a CSV file are that are no rows:
//     whether somebody's line is one would be told exactly.
func (d *Dataset) CountsEverybody() *Table {
	if d.Neighbours != dp.Substitute {
		return nil
	}
	var only *Table
	for _, t := range d.Tables {
		switch {
		case t.Public:
		case only != nil:
			return nil
		default:
			only = t
		}
	}
	if only == nil || len(only.Path) > 0 || only.mayBeCSV(d) && !only.CSV.RefuseBadLines {
		return nil
	}
	return only
}

// PathKeys are the columns of a table by which longer paths of other tables come in, and that must
// therefore be different in every row; but for what the table's own 'unique' is about.
func (d *Dataset) PathKeys(t *Table) []string {
	var out []string
	for _, name := range d.TableNames() {
		p := d.Tables[name].Path
		if len(p) < 2 || p[0].Table != t.Name || slices.Contains(out, p[0].Key) || t.UnitKind == Unique && p[0].Key == t.UnitColumn {
			continue
		}
		out = append(out, p[0].Key)
	}
	return out
}

// What bounds the work of a question, so that how long it takes does not tell whether somebody is
// there. Both are about time and not about noise: none of them makes an answer less exact, but for
// people with more rows than are joined.
const (
	// DefaultFanout is how many rows of public tables one private row may meet.
	DefaultFanout = 1000
	// DefaultJoined is how many rows of one person are joined with others of the same person.
	DefaultJoined = 200
	// MostJoined is the largest that an owner can set.
	MostJoined = 100_000
	mostFanout = 1_000_000
	// mostExistence is the largest threshold of existence.
	mostExistence = 1_000_000_000
)

const (
	fanoutMeans    = "how many rows of public tables one row of a person may meet in a question"
	existenceMeans = "above how many rows, by a noisy count, a question whether there are any is answered with yes"
	joinedMeans    = "how many rows of one person are joined with other rows of the same person"
)

// Fanout is how many rows of public tables one private row may meet in a question. More are
// refused.
func (d *Dataset) Fanout() int64 {
	if d.MaxFanout == 0 {
		return DefaultFanout
	}
	return d.MaxFanout
}

// Joined is how many rows of one person are joined at most with others of the same person. With
// public ones that many times five hundred pairs are made at most. The others are left out.
func (t *Table) Joined() int64 {
	if t.MaxJoined == 0 {
		return DefaultJoined
	}
	return t.MaxJoined
}

func (in datasetReader) readFanout(f fields) {
	if v, ok := f.get("max_fanout"); ok {
		in.d.MaxFanout, _ = in.r.whole(v, "max_fanout", mostFanout, fanoutMeans)
	}
}

func (in datasetReader) readExistence(f fields) {
	if v, ok := f.get("existence"); ok {
		in.d.Existence, _ = in.r.whole(v, "existence", mostExistence, existenceMeans)
	}
}

func (t *Table) readJoined(r *reader, f fields, d *Dataset, unitOK bool) {
	v, ok := f.get("max_joined")
	if !ok {
		return
	}
	_, unique := f.get("unique")
	switch {
	case t.Public:
		r.at(v, "the table is public, so nobody has rows in it; remove 'max_joined', or see max_fanout of the dataset")
	case unitOK && d.Unit.Row() || unique:
		r.at(v, "a person has one row here, which is not joined with others of the same person; remove 'max_joined'")
	default:
		t.MaxJoined, _ = r.whole(v, "max_joined", MostJoined, joinedMeans)
	}
}

// Failures are how many questions may fail after they were charged before the dataset gives no new
// answers: of one analyst, and of all of them. A failure can tell something about the data that
// nobody paid for. The last of those that are borne closes the dataset, until the owner releases
// it.
type Failures struct{ Analyst, Dataset uint64 }

const (
	defaultFailures = 1
	// datasetFailures is how many times as many are borne of all analysts together, where the
	// policy says only one number.
	datasetFailures = 3
	maxFailures     = 1000
)

// FailureLimits returns the failures that are borne, with what nothing stands for.
func (d *Dataset) FailureLimits() Failures {
	f := d.Failures
	if f.Analyst == 0 {
		f.Analyst = defaultFailures
	}
	if f.Dataset == 0 {
		f.Dataset = datasetFailures * f.Analyst
	}
	return f
}

// readFailures reads a number, or a mapping with both.
func (in datasetReader) readFailures(f fields) {
	v, ok := f.get("failures")
	if !ok {
		return
	}
	if v.node.Kind != yaml.MappingNode {
		in.d.Failures.Analyst = in.r.failures(v, "failures", "after how many failures an analyst gets no new answers")
		return
	}
	both, ok := in.r.fields(v, v.node, "failures", failuresKeys)
	if !ok {
		return
	}
	if v, ok := both.get("analyst"); ok {
		in.d.Failures.Analyst = in.r.failures(v, "analyst", "after how many failures an analyst gets no new answers")
	}
	if v, ok := both.get("dataset"); ok {
		in.d.Failures.Dataset = in.r.failures(v, "dataset", "after how many failures nobody gets new answers")
	}
}

func (r *reader) failures(v element, key, means string) uint64 {
	n, _ := r.whole(v, key, maxFailures, means)
	return uint64(n)
}

// EngineLimits is what the engine of a dataset cannot be asked, beside what none can. The zero
// value is an engine without limits of its own.
type EngineLimits struct {
	// Name is what messages call the engine.
	Name string
	// MaxDepth is how deep a printed expression is at most, where a bracket counts as 1, CASE as 2
	// and a function as 3; 0 where that is not limited.
	MaxDepth int
	// MaxOperations is how many operations an expression has at most, each as often as it is
	// written; 0 where that is not limited.
	MaxOperations int
	// MaxStatement is how many characters a statement has at most, of which all of a question have
	// no more than four times as many; 0 where that is not limited.
	MaxStatement int64
	// NoOuterExists says that an EXISTS inside of an EXISTS names no row outside of both.
	NoOuterExists bool
	// NoDistinctWindows says that there is no COUNT(DISTINCT ...) OVER.
	NoDistinctWindows bool
	// AutomatonPatterns says that a pattern has to be one that an automaton can match.
	AutomatonPatterns bool
}

// trinoLimits are those of a Trino cluster. Its parser has no more room on its stack from a depth
// of about 750 on (from 820 brackets, 380 CASEs and 320 functions, in a thread of 1 MB), and says
// so after the charge. It makes one method of an expression, and a method has an end. A statement
// has a million characters, unless the cluster is told otherwise (query.max-length).
var trinoLimits = EngineLimits{Name: "Trino", MaxDepth: 400, MaxOperations: 1000, MaxStatement: 1_000_000,
	NoOuterExists: true, NoDistinctWindows: true, AutomatonPatterns: true}

// EngineLimits is what the dataset's engine cannot be asked.
func (d *Dataset) EngineLimits() EngineLimits {
	if d.Engine == "trino" {
		return trinoLimits
	}
	return EngineLimits{}
}
