package plan

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/policy"
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
	if err := c.provenTotal(); err != nil {
		return nil, err
	}
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

func (c *checker) addMeasure(m Measure) {
	if name := m.Format(); c.aggregates[name] == nil {
		c.aggregates[name] = &m
	}
}
