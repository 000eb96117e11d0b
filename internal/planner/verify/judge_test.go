package verify_test

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sealed"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/neighbours"
	"github.com/discreet-dp/discreet/internal/test/reference"
	"github.com/discreet-dp/discreet/internal/test/storekinds"
	"github.com/discreet-dp/discreet/policy"
)

// judge says whether a tree is dangerous by what comes of it: it runs it on neighbours. Of what the
// tree says about itself it believes nothing, and compares with it what its noise rests on.
type judge struct {
	t     *testing.T
	pairs map[*policy.Dataset][]*pair
}

func newJudge(t *testing.T) *judge { return &judge{t, map[*policy.Dataset][]*pair{}} }

// pair is a database with a person of many rows whom questions single out; the same with its rows
// in another order; and its neighbour.
type pair struct {
	with, shuffled, without engine.Engine
	stored                  [3]*generate.Database // as they are, for DuckDB
	ducks                   *pair                 // in DuckDB, once they are asked for
	rows                    map[string]int        // of each table
}

// verdict is what comes of a tree. One that was tried and has nothing wrong is harmless.
type verdict struct {
	wrong string
	tried bool
}

// subject is what is judged: a query, or rows to train on.
type subject struct {
	q *tree.Query
	t *tree.Table
}

func (s subject) root() reflect.Value {
	if s.t != nil {
		return reflect.ValueOf(s.t)
	}
	return reflect.ValueOf(s.q)
}

func (s subject) from() tree.Relation {
	if s.t != nil {
		return s.t.From
	}
	return s.q.From
}

// format spells it, if it can be.
func (s subject) format() (text string) {
	defer func() {
		if recover() != nil {
			text = "(which cannot be spelled)"
		}
	}()
	if s.t != nil {
		return s.t.Format()
	}
	return s.q.Format()
}

// triedPairs are how many pairs each tree is run on.
const triedPairs = 12

// of makes the pairs of a dataset. Most people have few rows here, and the one whom questions
// single out has many.
func (j *judge) of(ds *policy.Dataset) []*pair {
	if j.pairs[ds] != nil {
		return j.pairs[ds]
	}
	var all []*pair
	for n := 0; len(all) < triedPairs; n++ {
		d := generate.NewDice(fmt.Sprint("pair ", n), 1)
		with, without := generate.Pair(d, ds)
		many := ds.Unit.Row() || len(all) == 0 || n > 1000 || with.Rows()-without.Rows() >= 10
		if private(with) > 45 && n < 2000 || !many {
			continue
		}
		switch len(all) % 3 {
		case 1:
			thicken(d, with, without)
		case 2:
			crowd(d, with, without)
		}
		other := &generate.Database{Dataset: ds, Tables: map[string]reference.Table{}}
		p := &pair{rows: map[string]int{}, stored: [3]*generate.Database{with, other, without}}
		for _, name := range slices.Sorted(maps.Keys(with.Tables)) {
			t := with.Tables[name]
			t.Rows = slices.Clone(t.Rows)
			for i := len(t.Rows) - 1; i > 0; i-- {
				k := d.Below(i + 1)
				t.Rows[i], t.Rows[k] = t.Rows[k], t.Rows[i]
			}
			other.Tables[name], p.rows[name] = t, len(t.Rows)
		}
		p.with, p.shuffled, p.without = reference.New(ds, with.Tables), reference.New(ds, other.Tables), reference.New(ds, without.Tables)
		all = append(all, p)
	}
	j.pairs[ds] = all
	return all
}

// private is how many rows people have, all together.
func private(db *generate.Database) (n int) {
	for name, t := range db.Tables {
		if !db.Dataset.Tables[name].Public {
			n += len(t.Rows)
		}
	}
	return n
}

// thicken gives people more rows in tables where they can have many: copies of theirs that differ
// in some columns, and are equal in what rows may be ordered or grouped by.
func thicken(d generate.Dice, with, without *generate.Database) {
	ds := with.Dataset
	for _, name := range ds.TableNames() {
		t, all, rest := ds.Tables[name], with.Tables[name], without.Tables[name]
		if t.UnitKind != policy.Many {
			continue
		}
		listed, columns := []int{}, t.ColumnNames()
		for i, column := range all.Columns {
			if !slices.Contains(columns, column) || column == t.UnitColumn || len(t.Path) > 0 && t.Path[0].Column == column {
				continue
			}
			listed = append(listed, i)
		}
		for _, row := range slices.Clone(all.Rows) {
			others := slices.ContainsFunc(rest.Rows, func(r []any) bool { return &r[0] == &row[0] })
			for range 1 + d.Below(3) {
				more := slices.Clone(row)
				for i, column := range all.Columns {
					if isKey(ds, name, column) {
						more[i] = nil // of which there is one
					}
				}
				for _, i := range listed {
					if d.One(2) {
						more[i] = all.Rows[d.Below(len(all.Rows))][i]
					}
				}
				if all.Rows = append(all.Rows, more); others {
					rest.Rows = append(rest.Rows, more)
				}
			}
		}
		with.Tables[name], without.Tables[name] = all, rest
	}
}

// crowd adds people, each with some rows in each table that names them, whose numbers are as low as
// they can be; those of the person whom questions single out are as high.
func crowd(d generate.Dice, with, without *generate.Database) {
	ds := with.Dataset
	for _, name := range ds.TableNames() {
		t, all, rest := ds.Tables[name], with.Tables[name], without.Tables[name]
		if t.UnitColumn == "" || len(rest.Rows) == 0 {
			continue
		}
		for _, row := range all.Rows {
			if !slices.ContainsFunc(rest.Rows, func(r []any) bool { return &r[0] == &row[0] }) {
				level(t, all.Columns, row, func(b *policy.Bounds) int64 { return b.HiSteps - int64(d.Below(2)) })
			}
		}
		unit := slices.Index(all.Columns, t.UnitColumn)
		for person := range int64(5) {
			times := 1
			if t.UnitKind == policy.Many {
				times = 2 + d.Below(2)
			}
			for range times {
				row := slices.Clone(rest.Rows[d.Below(len(rest.Rows))])
				level(t, all.Columns, row, func(b *policy.Bounds) int64 { return b.LoSteps + int64(d.Below(2)) })
				for i, column := range all.Columns {
					if isKey(ds, name, column) {
						row[i] = nil
					}
				}
				row[unit] = 5000 + person
				all.Rows, rest.Rows = append(all.Rows, row), append(rest.Rows, row)
			}
		}
		with.Tables[name], without.Tables[name] = all, rest
	}
}

// level gives the numbers of a row that have bounds other values.
func level(t *policy.Table, columns []string, row []any, steps func(*policy.Bounds) int64) {
	for i, name := range columns {
		c := t.Columns[name]
		if c == nil || c.Bounds == nil || name == t.UnitColumn || len(t.Path) > 0 && t.Path[0].Column == name {
			continue
		}
		g, _ := c.Granularity.Float64()
		switch n := steps(c.Bounds); c.Type {
		case policy.Decimal:
			row[i] = float64(n) * g
		case policy.Integer:
			row[i] = int64(float64(n) * g)
		default:
			row[i] = n
		}
	}
}

// isKey reports whether paths lead to a row of a table by a column.
func isKey(ds *policy.Dataset, table, column string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(ds.Tables)), func(t *policy.Table) bool {
		return slices.ContainsFunc(t.Path, func(s policy.Step) bool { return s.Table == table && s.Key == column })
	})
}

func (j *judge) sentence(ds *policy.Dataset, s subject) verdict {
	tried, failed := 0, 0
	for i, p := range j.of(ds) {
		if p.largest(s) > mostRows {
			continue // nobody waits for that
		}
		undo := func() {}
		if i%3 == 2 { // people have so few rows that nobody would be cut
			undo = cutTo(s, int64(1+i%2))
		}
		wrong := p.compare(s)
		undo()
		tried++
		if wrong == fails {
			failed++
		} else if wrong != "" {
			return verdict{wrong, true}
		}
	}
	if failed > 0 && failed < tried {
		return verdict{"it fails on some data and not on other", true}
	}
	return verdict{tried: tried > 0}
}

// inDuckDB says what is wrong with a tree that the reference finds nothing wrong with: it may fail
// where a number is too large or a text is no date, with one person and not without.
func (j *judge) inDuckDB(ds *policy.Dataset, s subject) string {
	for _, p := range j.of(ds)[1:3] {
		if p.ducks == nil {
			p.ducks = &pair{}
			for i, at := range []*engine.Engine{&p.ducks.with, &p.ducks.shuffled, &p.ducks.without} {
				*at = j.open(p.stored[i])
			}
		}
		if wrong := p.ducks.compare(s); wrong != "" && wrong != fails {
			return "in DuckDB: " + wrong
		}
	}
	return ""
}

func (j *judge) open(db *generate.Database) engine.Engine {
	ds := *db.Dataset
	ds.Source = filepath.Join(j.t.TempDir(), "made.duckdb")
	if err := storekinds.Write(j.t.Context(), ds.Source, db.SQL()); err != nil {
		j.t.Fatal(err)
	}
	e, err := duckdb.OpenWith(j.t.Context(), &ds, duckdb.Limits{Threads: 1, Memory: 1 << 28})
	if err != nil {
		j.t.Fatal(err)
	}
	j.t.Cleanup(func() { e.Close() })
	return e
}

// fails is said of a tree that fails on all of a pair. If it does so on all data, nothing is told.
const fails = "it fails"

// compare says how far one person moves a tree's result, if it is too far; that the result depends
// on how rows are stored; that it fails with one of two neighbours; or that a claim is not so.
func (p *pair) compare(s subject) string {
	if s.t != nil {
		return p.compareTables(s.t)
	}
	q := s.q
	with, err1 := run(p.with, q)
	other, err2 := run(p.shuffled, q)
	without, err3 := run(p.without, q)
	switch {
	case err1 != nil && err2 != nil && err3 != nil:
		return fails
	case err1 != nil || err2 != nil || err3 != nil:
		return fmt.Sprint("it fails on one of two neighbours: ", err1, err2, err3)
	}
	if _, err := distance(q, with, without); err != nil {
		return err.Error()
	}
	if far, err := distance(q, with, other); err != nil || far > 0 {
		return fmt.Sprintf("it depends on the order of rows: %v of what one person may, %v", far, err)
	}
	if e, ok := p.with.(*reference.Engine); ok {
		if err := checkClaims(e, q); err != nil {
			return "it claims what is not so: " + err.Error()
		}
	}
	return ""
}

// compareTables does the same for rows to train on.
func (p *pair) compareTables(t *tree.Table) string {
	var rows [3]map[string]int64
	failed := 0
	for i, e := range []engine.Engine{p.with, p.shuffled, p.without} {
		var err error
		if rows[i], err = fetch(e, t); err != nil {
			failed++
		}
	}
	switch {
	case failed == 3:
		return fails
	case failed > 0:
		return "it fails on one of two neighbours"
	}
	most := t.RowLimit
	if n := differing(rows[0], rows[2]); n > most || differing(rows[2], rows[0]) > most {
		return fmt.Sprintf("%d rows of a person are there, and at most %d may be", n, most)
	}
	if t.Neighbours == dp.AddRemove && differing(rows[2], rows[0]) > 0 {
		return "one person changes rows of others"
	}
	if differing(rows[0], rows[1])+differing(rows[1], rows[0]) > 0 {
		return "it depends on the order of rows"
	}
	return ""
}

func fetch(e engine.Engine, t *tree.Table) (out map[string]int64, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	out = map[string]int64{}
	_, err = e.Fetch(context.Background(), t, sealed.NewCollector(func(codes []int64) { out[fmt.Sprint(codes)]++ }))
	return out, err
}

// differing is how many rows are in the one and not in the other.
func differing(a, b map[string]int64) (n int64) {
	for row, times := range a {
		n += max(0, times-b[row])
	}
	return n
}

// run, distance and checkClaims are what they call, of a tree on which these may break.
func run(e engine.Engine, q *tree.Query) (r *engine.Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return e.Run(context.Background(), q)
}

func distance(q *tree.Query, a, b *engine.Result) (far float64, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it cannot be compared: %v", r)
		}
	}()
	return neighbours.Judge(q, a, b)
}

func checkClaims(e *reference.Engine, q *tree.Query) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = nil // it fails, which is another thing
		}
	}()
	return e.Check(q)
}

// cutTo lets every cut of a tree leave so few rows.
func cutTo(s subject, rows int64) (undo func()) {
	before := map[*tree.Cut]int64{}
	walk(s.root(), map[uintptr]bool{}, func(v reflect.Value) {
		if c, ok := v.Interface().(*tree.Cut); ok && c.Rows > 0 {
			before[c], c.Rows = c.Rows, rows
		}
	})
	return func() {
		for c, n := range before {
			c.Rows = n
		}
	}
}

// mostRows is how many rows the joins of a tree may have where it is tried: the reference keeps all
// of them.
const mostRows = 20_000

// largest is how many rows the joins of a tree have at most, or its subqueries look at.
func (p *pair) largest(s subject) int {
	times := func(a, b int) int { return min(mostRows+1, max(1, a)*max(1, b)) }
	most := 0
	var size func(r tree.Relation) int
	size = func(r tree.Relation) (n int) {
		switch r := r.(type) {
		case *tree.Scan:
			n = p.rows[r.Table.Name]
		case *tree.Join:
			n = times(size(r.L), size(r.R))
		case *tree.Select:
			n = size(r.From)
		case *tree.Persons:
			n = size(r.From)
		case *tree.Window:
			n = size(r.From)
		case *tree.Cut:
			n = size(r.From)
		case *tree.Union:
			for _, part := range r.Parts {
				n += size(part)
			}
		}
		most = max(most, n)
		return n
	}
	looks := size(s.from())
	walk(s.root(), map[uintptr]bool{}, func(v reflect.Value) {
		if e, ok := v.Interface().(*tree.Exists); ok {
			looks = times(looks, size(e.From))
		}
	})
	return max(most, looks/4)
}

// TestJudge: trees that are known to be dangerous are found to be, and the ones that they were made
// from are not.
func TestJudge(t *testing.T) {
	j, ds := newJudge(t), tight(parsed(t, shopPolicy))
	const numbered = " FROM (SELECT cust, amount, row_number() OVER (PARTITION BY cust ORDER BY code) AS n FROM orders) t "
	for _, c := range []struct{ text, class string }{
		{"SELECT SUM(o.amount * i.qty) FROM orders o JOIN items i ON o.oid = i.order_id", "link"},
		{"SELECT COUNT(*) FROM orders o WHERE EXISTS (SELECT 1 FROM orders e WHERE e.cust = o.cust AND e.amount > o.amount)", "link"},
		{"SELECT SUM(o.amount) FROM orders o", "unit"},
		{"SELECT COUNT(*) FROM customers c CROSS JOIN tags t", "one row a person"},
		{"SELECT SUM(amount)" + numbered + "WHERE n = 1", "Window.Ties without one"},
		{"SELECT SUM(amount)" + numbered + "WHERE n < 3", "Window.Whose more or less"},
		{"SELECT SUM(n)" + numbered + "WHERE n < 3", "cut above Window"},
	} {
		st, err := planner.Prepare(ds, c.text, planner.Options{Public: columns{}})
		if err != nil {
			t.Fatal(c.text, err)
		}
		q := &st.Plans[0].Query
		if v := j.sentence(ds, subject{q: q}); v.wrong != "" || !v.tried {
			t.Errorf("%s: %+v", c.text, v)
		}
		found := ""
		for _, m := range mutants(q) {
			if m.class == c.class && found == "" {
				undo := m.plant()
				found = j.sentence(ds, subject{q: q}).wrong
				undo()
			}
		}
		if t.Logf("%s: %s", c.class, found); found == "" {
			t.Errorf("%s is not found in %s", c.class, c.text)
		}
	}
}
