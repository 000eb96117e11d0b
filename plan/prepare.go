package plan

import (
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/policy"
	pg "github.com/pganalyze/pg_query_go/v6"
)

// Prepare checks a question against a dataset's policy. It reads nothing else:
// not the data, not the ledger. A question that cannot be asked gets a *Refusal.
func Prepare(ds *policy.Dataset, text string) (*Plan, error) {
	s, err := parse(text)
	if err != nil {
		return nil, err
	}
	if err := refuseClauses(s); err != nil {
		return nil, err
	}
	c := &checker{dataset: ds, aggregates: map[string]*Measure{}}
	if err := c.from(s.FromClause); err != nil {
		return nil, err
	}
	for _, step := range []func(*pg.SelectStmt) error{c.groupBy, c.selectList, c.where, c.having, c.orderBy, c.limit} {
		if err := step(s); err != nil {
			return nil, err
		}
	}
	return c.finish()
}

// refuseClauses refuses every clause that has no place in a question. What is not
// refused here is read by a step of Prepare.
func refuseClauses(s *pg.SelectStmt) error {
	for _, c := range []struct {
		present       bool
		at            int32
		what, instead string
	}{
		{s.WithClause != nil, s.WithClause.GetLocation(), "WITH", "ask the inner question on its own"},
		{s.Op != pg.SetOperation_SETOP_NONE && s.Op != pg.SetOperation_SET_OPERATION_UNDEFINED, -1, "UNION, INTERSECT and EXCEPT", "ask two questions"},
		{len(s.ValuesLists) > 0, first(s.ValuesLists), "VALUES", "write SELECT ... FROM a table"},
		{len(s.DistinctClause) > 0, first(s.DistinctClause), "SELECT DISTINCT", "use GROUP BY on a column with public keys"},
		{s.IntoClause != nil, -1, "INTO", "leave it out"},
		{s.GroupDistinct, first(s.GroupClause), "GROUP BY DISTINCT", "write GROUP BY"},
		{len(s.WindowClause) > 0, first(s.WindowClause), "WINDOW", "use GROUP BY"},
		{len(s.LockingClause) > 0, -1, "FOR UPDATE or FOR SHARE", "leave it out"},
		{s.LimitOption == pg.LimitOption_LIMIT_OPTION_WITH_TIES, location(s.LimitCount), "WITH TIES", "write LIMIT n"},
	} {
		if c.present {
			return refuse(c.at, c.instead, "%s cannot be used", c.what)
		}
	}
	return nil
}

// first returns the place of the first of some nodes.
func first(nodes []*pg.Node) int32 {
	if len(nodes) == 0 {
		return -1
	}
	return location(nodes[0])
}

// checker collects a plan. Outputs and measures are added as they are named; finish
// puts them into their canonical order.
type checker struct {
	dataset *policy.Dataset
	table   *policy.Table
	alias   string

	keys       []Key
	outputs    []draft
	visible    int
	aggregates map[string]*Measure // by canonical spelling

	filter   Expr
	restrict Expr // HAVING
	order    []Order
	count    *int64
	skip     int64
}

// draft is an Output whose measures are still named by their spelling.
type draft struct {
	Output
	measure string
	average Expr // the argument of an average
}

func (c *checker) from(nodes []*pg.Node) error {
	if len(nodes) == 0 {
		return refuse(-1, "write SELECT ... FROM a table; "+known("tables", c.dataset.Tables), "there is no FROM")
	}
	if len(nodes) > 1 {
		return refuse(location(nodes[1]), "ask about one table at a time", "joins cannot be used yet")
	}
	if j := nodes[0].GetJoinExpr(); j != nil {
		return refuse(location(j.Rarg), "ask about one table at a time", "joins cannot be used yet")
	}
	v := nodes[0].GetRangeVar()
	if v == nil {
		return refuse(location(nodes[0]), "name one table; "+known("tables", c.dataset.Tables), "subqueries, functions and samples cannot be used in FROM")
	}
	if v.Catalogname != "" || v.Schemaname != "" || !v.Inh || len(v.GetAlias().GetColnames()) > 0 {
		return refuse(v.Location, "write the table's name alone; "+known("tables", c.dataset.Tables), "a table is named without schema, ONLY or column aliases")
	}
	t, ok := lookup(c.dataset.Tables, v.Relname)
	if !ok {
		return refuse(v.Location, known("tables", c.dataset.Tables), "there is no table %q", v.Relname)
	}
	c.table, c.alias = t, v.Relname
	if v.Alias != nil {
		c.alias = v.Alias.Aliasname
	}
	return nil
}

// resolve finds a column of the table.
func (c *checker) resolve(name string, pos int32) (*policy.Column, error) {
	if qualifier, rest, ok := strings.Cut(name, "\x00"); ok {
		if !strings.EqualFold(qualifier, c.alias) {
			return nil, refuse(pos, "the table here is "+c.alias, "there is no table %q in this question", qualifier)
		}
		name = rest
	}
	col, ok := lookup(c.table.Columns, name)
	if !ok {
		return nil, refuse(pos, known("columns of "+c.table.Name, c.table.Columns), "there is no column %q", name)
	}
	return col, nil
}

// below is the scope below the noise: private rows.
type below struct{ *checker }

func (s below) column(name string, pos int32) (Expr, error) {
	col, err := s.resolve(name, pos)
	if err != nil {
		return nil, err
	}
	return columnExpr(col), nil
}

func (s below) call(f *pg.FuncCall) (Expr, error) {
	name := functionName(f)
	if isAggregate(name) {
		return nil, refuse(f.Location, "put it into SELECT, HAVING or ORDER BY", "an aggregate cannot be used inside a condition on rows or inside another aggregate")
	}
	return nil, refuse(f.Location, "use columns, constants, comparisons and + - * / %", "the function %s cannot be used", name)
}

// above is the scope above the noise: released keys and aggregates.
type above struct{ *checker }

func (s above) column(name string, pos int32) (Expr, error) {
	col, err := s.resolve(name, pos)
	if err != nil {
		return nil, err
	}
	i, err := s.keyOutput(col, pos)
	if err != nil {
		return nil, err
	}
	return s.released(i), nil
}

func (s above) call(f *pg.FuncCall) (Expr, error) {
	i, err := s.aggregateOutput(f)
	if err != nil {
		return nil, err
	}
	return s.released(i), nil
}

func (c *checker) released(i int) Expr { return &Released{Output: i, typ: c.outputs[i].typ} }

// groupBy reads the keys.
func (c *checker) groupBy(s *pg.SelectStmt) error {
	groups := 1
	for _, n := range s.GroupClause {
		if k := n.GetAConst(); k != nil { // GROUP BY 1
			i, ok := ordinal(n, len(s.TargetList))
			if !ok {
				return refuse(k.Location, "write the column's name", "this is not a column of the SELECT list")
			}
			n = s.TargetList[i].GetResTarget().GetVal()
		}
		ref := n.GetColumnRef()
		if ref == nil {
			return refuse(location(n), "group by columns of the table, as in GROUP BY sex, age", "only columns can be grouped by, without ROLLUP, CUBE or expressions")
		}
		name, err := columnName(ref)
		if err != nil {
			return err
		}
		col, err := c.resolve(name, ref.Location)
		if err != nil {
			// As in PostgreSQL, a name that is no column may be one of the SELECT list's.
			if n := aliased(s.TargetList, name); n != nil {
				if name, err = columnName(n); err == nil {
					col, err = c.resolve(name, ref.Location)
				}
			}
			if err != nil {
				return err
			}
		}
		if c.table.UnitColumn != "" && strings.EqualFold(col.Name, c.table.UnitColumn) {
			return refuse(ref.Location, "group by another column", "%s says who a row is about, and groups of one person cannot be released", col.Name)
		}
		if c.keyIndex(col) >= 0 {
			continue
		}
		values, err := publicKeys(col, ref.Location)
		if err != nil {
			return err
		}
		if groups *= len(values); groups > maxGroups {
			return refuse(ref.Location, "group by fewer columns", "the keys have more than %d combinations", maxGroups)
		}
		c.keys = append(c.keys, Key{columnExpr(col), values})
	}
	// The canonical order, so that GROUP BY a, b and b, a are one question.
	slices.SortFunc(c.keys, func(a, b Key) int { return strings.Compare(a.Column.Name, b.Column.Name) })
	return nil
}

// aliased returns the column that a name of the SELECT list stands for.
func aliased(targets []*pg.Node, name string) *pg.ColumnRef {
	for _, n := range targets {
		if t := n.GetResTarget(); t != nil && t.Name != "" && strings.EqualFold(t.Name, name) {
			return t.Val.GetColumnRef()
		}
	}
	return nil
}

// ordinal reads a constant as a position, counted from 1, in a list of n.
func ordinal(n *pg.Node, length int) (int, bool) {
	v, ok := n.GetAConst().GetVal().(*pg.A_Const_Ival)
	if !ok || v.Ival.GetIval() < 1 || int(v.Ival.GetIval()) > length {
		return 0, false
	}
	return int(v.Ival.GetIval()) - 1, true
}

func (c *checker) keyIndex(col *policy.Column) int {
	return slices.IndexFunc(c.keys, func(k Key) bool { return k.Column.Column == col })
}

func (c *checker) selectList(s *pg.SelectStmt) error {
	for _, n := range s.TargetList {
		t := n.GetResTarget()
		var d draft
		switch v := t.GetVal().GetNode().(type) {
		case *pg.Node_ColumnRef:
			name, err := columnName(v.ColumnRef)
			if err != nil {
				return err
			}
			col, err := c.resolve(name, v.ColumnRef.Location)
			if err != nil {
				return err
			}
			if d, err = c.key(col, v.ColumnRef.Location); err != nil {
				return err
			}
		case *pg.Node_FuncCall:
			var err error
			if d, err = c.aggregate(v.FuncCall); err != nil {
				return err
			}
		default:
			return refuse(location(t.GetVal()), "select COUNT, SUM or AVG of something, and columns of GROUP BY, and compute with the answer yourself",
				"only aggregates and keys can be selected")
		}
		if t.GetName() != "" {
			d.Name = t.GetName()
		}
		c.outputs = append(c.outputs, d)
	}
	c.visible = len(c.outputs)
	if !slices.ContainsFunc(c.outputs, func(d draft) bool { return d.Kind != KeyOutput }) {
		return refuse(first(s.TargetList), "add an aggregate, as in COUNT(*)", "the question selects no aggregate")
	}
	return nil
}

func (c *checker) where(s *pg.SelectStmt) (err error) {
	if s.WhereClause == nil {
		return nil
	}
	e, err := checkCondition(below{c}, s.WhereClause)
	if err != nil {
		return err
	}
	if err := checkLevels(e, location(s.WhereClause)); err != nil {
		return err
	}
	e = normal(e)
	if l, ok := e.(*Literal); ok && l.Bool != nil && *l.Bool {
		return nil // WHERE true
	}
	c.filter = e
	return nil
}

func (c *checker) having(s *pg.SelectStmt) (err error) {
	if s.HavingClause != nil {
		if c.restrict, err = checkCondition(above{c}, s.HavingClause); err == nil {
			err = checkLevels(c.restrict, location(s.HavingClause))
		}
	}
	return err
}

func (c *checker) orderBy(s *pg.SelectStmt) error {
	for _, n := range s.SortClause {
		by := n.GetSortBy()
		if by == nil || len(by.UseOp) > 0 {
			return refuse(location(n), "write ORDER BY column ASC or DESC", "ORDER BY ... USING cannot be used")
		}
		e, err := c.orderItem(by.Node)
		if err != nil {
			return err
		}
		o := Order{By: e, Descending: by.SortbyDir == pg.SortByDir_SORTBY_DESC}
		// As in PostgreSQL, NULL counts as larger than everything.
		o.NullsFirst = o.Descending
		switch by.SortbyNulls {
		case pg.SortByNulls_SORTBY_NULLS_FIRST:
			o.NullsFirst = true
		case pg.SortByNulls_SORTBY_NULLS_LAST:
			o.NullsFirst = false
		}
		c.order = append(c.order, o)
	}
	return nil
}

// orderItem reads a position, a name of the SELECT list, or an expression on
// released values.
func (c *checker) orderItem(n *pg.Node) (Expr, error) {
	if k := n.GetAConst(); k != nil {
		i, ok := ordinal(n, c.visible)
		if !ok {
			return nil, refuse(k.Location, "write the column's name or position", "this is not a column of the SELECT list")
		}
		return c.released(i), nil
	}
	if ref := n.GetColumnRef(); ref != nil {
		if name, err := columnName(ref); err == nil {
			i := slices.IndexFunc(c.outputs[:c.visible], func(d draft) bool { return strings.EqualFold(d.Name, name) })
			if i >= 0 {
				return c.released(i), nil
			}
		}
	}
	e, err := checkExpr(above{c}, n)
	if err == nil {
		err = checkLevels(e, location(n))
	}
	return e, err
}

func (c *checker) limit(s *pg.SelectStmt) error {
	for _, l := range []struct {
		node *pg.Node
		set  func(int64)
		what string
	}{
		{s.LimitCount, func(n int64) { c.count = &n }, "LIMIT"},
		{s.LimitOffset, func(n int64) { c.skip = n }, "OFFSET"},
	} {
		if l.node == nil || l.node.GetAConst().GetIsnull() { // LIMIT ALL
			continue
		}
		v, ok := l.node.GetAConst().GetVal().(*pg.A_Const_Ival)
		if !ok || v.Ival.GetIval() < 0 {
			return refuse(location(l.node), "write a whole number from 0 to 2147483647", "%s takes a constant number of rows", l.what)
		}
		l.set(int64(v.Ival.GetIval()))
	}
	return nil
}

// finish puts measures into their canonical order and connects outputs to them.
func (c *checker) finish() (*Plan, error) {
	for i := range c.outputs {
		if d := &c.outputs[i]; d.Kind == AverageOutput {
			if err := c.placeAverage(d); err != nil {
				return nil, err
			}
		}
	}
	p := &Plan{Visible: c.visible, Having: c.restrict, Order: c.order, Limit: c.count, Offset: c.skip}
	p.Query = Query{Dataset: c.dataset.Name, Table: c.table, Neighbours: c.dataset.Neighbours, Where: c.filter, Keys: c.keys}
	names := make([]string, 0, len(c.aggregates))
	for name := range c.aggregates {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		p.Query.Measures = append(p.Query.Measures, *c.aggregates[name])
	}
	for _, d := range c.outputs {
		if d.Kind != KeyOutput {
			d.Measure, _ = slices.BinarySearch(names, d.measure)
		}
		if d.Kind == AverageOutput {
			d.Count, _ = slices.BinarySearch(names, countOf(d.average).Format())
		}
		p.Outputs = append(p.Outputs, d.Output)
	}
	return p, nil
}

// placeAverage decides which sum an average is made of. Where the question has the
// plain sum anyway it is used, and nothing more is paid for. Otherwise values
// are summed around the middle of their bounds, which halves the noise.
func (c *checker) placeAverage(d *draft) error {
	plain := Measure{Sum, d.average}
	d.measure, d.Center = plain.Format(), new(big.Int)
	c.addMeasure(countOf(d.average))
	if _, ok := c.aggregates[d.measure]; ok {
		return nil
	}
	t := d.average.Type()
	middle := new(big.Int).Add(t.Lo, t.Hi)
	middle.Rsh(middle, 1)
	if middle.Sign() == 0 {
		c.addMeasure(plain)
		return nil
	}
	centered, err := newArith(Sub, d.average, fromValue(middle, t), -1)
	if err != nil {
		return err
	}
	m := Measure{Sum, centered}
	d.measure, d.Center = m.Format(), middle
	c.addMeasure(m)
	return nil
}

func (c *checker) addMeasure(m Measure) {
	if name := m.Format(); c.aggregates[name] == nil {
		c.aggregates[name] = &m
	}
}
