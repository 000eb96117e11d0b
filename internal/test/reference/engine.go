// Package reference is an engine that is as simple as it can be: it walks the tree of a question
// over rows in memory. It is the specification that every other engine is held against, and audits
// run it on made-up databases by the ten thousand. Nobody's data belongs here: it is slow, and it
// keeps everything in memory.
//
// # What every engine computes
//
//  1. A stored value is read as the policy declares it ([Declared]): cast, rounded to the lattice,
//     clamped to the bounds. What cannot be cast is NULL. An identity is read as it is stored.
//  2. Whose a row is, its unit, is the value of the table's unit column; where the policy's path
//     has several steps, that of the row at the end of the path; where every row is a person, the
//     row itself. A path that ends nowhere leads to nobody.
//  3. A row of nobody, whose unit is NULL, counts nowhere.
//  4. Where [tree.Query.Bounded] says that somebody may have several rows, a person's rows are
//     first reduced to one partial for each group: a count, a sum, at most MaxRows different
//     values, at most MaxRows values. Of the partials at most MaxGroups are kept, and each is
//     clamped to [tree.Query.Interval].
//  5. Which groups and which values of a person are kept is the engine's choice, and depends on the
//     question, on the person's name and on the person's own rows, and on nothing else: not on
//     other people, and not on the order of rows. A row's number in its table depends on the rows
//     before it. So where every row is a person, a number is no name that a choice may be made by.
//  6. Where it says that nobody has, rows are added up as they are. Then everything rests on
//     [tree.Relation.Single].
//  7. A group is a combination of public values and, where there are private keys, of what is
//     found. MaxGroups bounds both together. A combination of private keys is found where
//     somebody's partial was kept in it, and its Persons are those people.
//  8. Totals are clamped to 62 bits.
//
// A [tree.Cut] that is Sorted is there for engines that put a person's rows into an order, and may
// be left out: what is above it bounds the person anyway.
//
// The choice of 5 is a parameter here, [Engine.Order]. Two engines agree exactly where nobody
// exceeds a limit; where somebody does, both must stand the comparison of neighbours in package
// neighbours.
package reference

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"math/big"
	"slices"
	"sync/atomic"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/store"
)

// Table is the rows of a table as they are stored. A value is nil, an int64, a float64, a string, a
// bool, or for a date or a timestamp a [time.Time] or the days or microseconds since 1970-01-01 as
// an int64.
type Table struct {
	Columns []string
	Rows    [][]any
}

// stored returns a stored value. A column that is not there is empty.
func (t Table) stored(row int, column string) any {
	if i := slices.Index(t.Columns, column); i >= 0 {
		return t.Rows[row][i]
	}
	return nil
}

// Engine computes over tables in memory. It is safe for concurrent use while nobody changes the
// tables.
type Engine struct {
	// Order decides what is kept of a person who exceeds a limit: groups and values with the
	// smallest numbers. It is given the question's hash, the person, and the group or value.
	Order func(hash, person, what string) uint64
	// Choose decides it in the place of Order, where it is not nil: so an engine that chooses by a
	// hash of what is in a row can be held against this one where people are cut, too.
	Choose func(Choice) uint64

	dataset *policy.Dataset
	tables  map[string]Table
	cuts    atomic.Int64
}

var _ engine.Engine = (*Engine)(nil)

// New returns an engine over the tables of a dataset.
func New(ds *policy.Dataset, tables map[string]Table) *Engine {
	return &Engine{Order: order, dataset: ds, tables: tables}
}

// Choice is something of a person that may be kept: a group, by its keys; a value in it; or a row,
// by what is in it beside whose it is.
type Choice struct {
	Hash, Person string // the question's or the cut's hash, and the person
	Keys         []policy.Value
	Public       int // how many of the keys are public
	Place        int // and the place of their combination
	Value        tree.Value
	Row          []tree.Value
}

// numberOf is the number of a choice, which is spelled as what.
func (e *Engine) numberOf(c Choice, what string) uint64 {
	if e.Choose != nil {
		return e.Choose(c)
	}
	return e.Order(c.Hash, c.Person, what)
}

func order(hash, person, what string) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s\x00%s", hash, person, what)
	return h.Sum64()
}

// Version names the state of the data, which does not change.
func (e *Engine) Version(context.Context) (store.Version, error) {
	return store.Version{State: "in memory", Whole: true}, nil
}

// Values returns the different values of a column of a public table.
func (e *Engine) Values(_ context.Context, table, column string, limit int) ([]policy.Value, error) {
	t := e.dataset.Tables[table]
	if t == nil || !t.Public || t.Columns[column] == nil {
		return nil, fmt.Errorf("%s.%s is no column of a public table", table, column)
	}
	var out []policy.Value
	for i := range e.tables[table].Rows {
		c := t.Columns[column]
		v := keyValue(Declared(c, e.tables[table].stored(i, column)))
		v.Type = c.Type
		if !v.Null && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	if len(out) > limit {
		return nil, fmt.Errorf("%s.%s has more than %d values", table, column, limit)
	}
	slices.SortFunc(out, func(a, b policy.Value) int { return cmp.Or(cmp.Compare(a.Text, b.Text), cmp.Compare(a.Int, b.Int)) })
	return out, nil
}

// Most returns how many rows of a public table have the same values in some columns at most.
func (e *Engine) Most(_ context.Context, table string, columns []string) (int64, error) {
	t := e.dataset.Tables[table]
	if t == nil || !t.Public {
		return 0, fmt.Errorf("%s is no public table", table)
	}
	most, seen := int64(0), map[string]int64{}
	for i := range e.tables[table].Rows {
		name, null := "", false
		for _, column := range columns {
			if t.Columns[column] == nil {
				return 0, fmt.Errorf("%s.%s is no column of a public table", table, column)
			}
			v := Declared(t.Columns[column], e.tables[table].stored(i, column))
			null = null || v == nil
			name += fmt.Sprintf("%q ", fmt.Sprint(v))
		}
		if !null {
			seen[name]++
			most = max(most, seen[name])
		}
	}
	return most, nil
}

func (e *Engine) Rows(_ context.Context, table string, limit int) ([][]tree.Value, error) {
	t := e.dataset.Tables[table]
	if t == nil || !t.Public {
		return nil, fmt.Errorf("%s is no public table", table)
	}
	out := [][]tree.Value{}
	for i := range e.tables[table].Rows {
		var row []tree.Value
		for _, name := range t.ColumnNames() {
			row = append(row, Declared(t.Columns[name], e.tables[table].stored(i, name)))
		}
		out = append(out, row)
	}
	if len(out) > limit {
		return nil, fmt.Errorf("%s has more than %d rows", table, limit)
	}
	return out, nil
}

// Public lets a planner look at the public tables.
func (e *Engine) Public() tree.Public { return engine.PublicTables(context.Background(), e) }

// Check computes a query's relations and says what the planner has claimed about them and is not
// so: that nobody has more than one row (Single), that a number lies in its interval, that a public
// key is not there twice. Its error depends on the data, so it is for audits of made-up data only.
func (e *Engine) Check(q *tree.Query) error {
	r := run{e, map[tree.Relation][]row{}}
	c := checker{run: r}
	c.relation(q.From)
	for _, values := range r.rows(q.From) {
		if values[q.From.Unit()] == nil || !r.holds(q.Where, values) {
			continue
		}
		for _, m := range q.Measures {
			if m.Arg != nil {
				c.checkInside(m.Arg.Type(), expr.Eval(m.Arg, r.leaf(values)), m.Describe())
			}
		}
	}
	return c.err
}

type checker struct {
	run
	err error
}

func (c *checker) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

func (c *checker) checkInside(t tree.Type, v tree.Value, what string) {
	if n, ok := v.(*big.Int); ok && (n.Cmp(t.Lo) < 0 || n.Cmp(t.Hi) > 0) {
		c.fail("%s is %v, outside of %v", what, n, t)
	}
}

func (c *checker) relation(rel tree.Relation) {
	switch rel := rel.(type) {
	case *tree.Join:
		c.relation(rel.L)
		c.relation(rel.R)
	case *tree.Select:
		c.relation(rel.From)
	case *tree.Union:
		for _, p := range rel.Parts {
			c.relation(p)
		}
	case *tree.Persons:
		c.relation(rel.From)
	case *tree.Window:
		c.relation(rel.From)
	case *tree.Cut:
		c.relation(rel.From)
	}
	people := map[tree.Value]bool{}
	keys := make([]map[string]bool, len(rel.Fields()))
	for _, values := range c.rows(rel) {
		for i, f := range rel.Fields() {
			c.checkInside(f.Type, values[i], "field "+f.Name)
			if f.Key && values[i] != nil && (rel.Unit() < 0 || f.Type.Kind == tree.Identity) {
				if keys[i] == nil {
					keys[i] = map[string]bool{}
				}
				if name := fmt.Sprint(values[i]); keys[i][name] {
					c.fail("the key %q of %T is there twice", f.Name, rel)
				} else {
					keys[i][name] = true
				}
			}
		}
		if u := rel.Unit(); u >= 0 && rel.Single() && values[u] != nil {
			if people[values[u]] {
				c.fail("somebody has two rows in a %T that claims one", rel)
			}
			people[values[u]] = true
		}
	}
}

// Fetch hands the rows of a table over. It does not fail.
func (e *Engine) Fetch(_ context.Context, t *tree.Table, into engine.Collector) (engine.ReadFrom, error) {
	r := run{e, map[tree.Relation][]row{}}
	people := map[string][][]int64{}
	for i, values := range r.rows(t.From) {
		unit := values[t.From.Unit()]
		// Rows of nobody are left out, but where nobody has two a row without a name is one of its
		// own.
		if unit == nil && t.Bounded() || !r.holds(t.Where, values) {
			continue
		}
		person := fmt.Sprint(unit)
		if !t.Bounded() {
			person = fmt.Sprint("#", i)
		}
		codes := make([]int64, len(t.Columns))
		for k, c := range t.Columns {
			codes[k] = code(c, expr.Eval(c.Expr, r.leaf(values)))
		}
		people[person] = append(people[person], codes)
	}
	hash := t.Hash()
	for _, person := range slices.Sorted(maps.Keys(people)) {
		for _, codes := range e.cut(t, hash, person, people[person]) {
			into.Add(codes)
		}
	}
	return engine.ReadFrom{}, nil
}

// cut keeps MaxRows rows of a person. Rows that are equal are as good as each other.
func (e *Engine) cut(t *tree.Table, hash, person string, rows [][]int64) [][]int64 {
	if !t.Bounded() || int64(len(rows)) <= t.MaxRows() {
		return rows
	}
	if e.dataset.Unit.Row() {
		person = "" // which row somebody is depends on how many come before
	}
	slices.SortFunc(rows, func(a, b []int64) int {
		return cmp.Or(cmp.Compare(e.rankRow(hash, person, a), e.rankRow(hash, person, b)), slices.Compare(a, b))
	})
	return rows[:t.MaxRows()]
}

// rankRow is the number of a row of codes.
func (e *Engine) rankRow(hash, person string, codes []int64) uint64 {
	row := make([]tree.Value, len(codes))
	for i, c := range codes {
		if c != engine.Null {
			row[i] = big.NewInt(c)
		}
	}
	return e.numberOf(Choice{Hash: hash, Person: person, Row: row}, fmt.Sprint(codes))
}

func code(c tree.TableColumn, v tree.Value) int64 {
	if v == nil {
		return engine.Null
	}
	if c.Values != nil {
		return int64(slices.IndexFunc(c.Values, func(key policy.Value) bool { return isKey(v, key) }))
	}
	switch v := v.(type) {
	case *big.Int:
		return v.Int64()
	case tree.Moment:
		return int64(v)
	case tree.Day:
		return int64(v)
	}
	panic(fmt.Sprintf("reference: no code of %T", v))
}
