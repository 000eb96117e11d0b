package planner

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// tableInstead is the form of a SELECT to train on.
const tableInstead = "write SELECT columns and expressions FROM tables WHERE condition"

// PrepareTable checks rows to train on against the policy, and reads nothing else, but public
// tables for their keys. The features are a SELECT of rows; the target is the name of one of its
// columns, which then is no feature, or an expression over the same FROM. Its refusals tell nothing
// about the data. Their position is one in the features; what is wrong with the target is said
// without one.
func PrepareTable(ds *policy.Dataset, features, target string, o Options) (table *tree.Table, err error) {
	o = o.metered()
	err = meter.Run(func() (err error) {
		if table, err = prepareTable(ds, features, target, o); err == nil {
			countChecks(o.Meter, table.AsQuery())
		}
		return err
	})
	if err != nil {
		err = withOwnKey(ds, syntax.Open(features, nil), err)
	}
	return table, err
}

func prepareTable(ds *policy.Dataset, features, target string, o Options) (*tree.Table, error) {
	s, err := syntax.Open(features, nil).SelectOf(ds.Name)
	if err != nil {
		return nil, err
	}
	if err := refuseOwnNames(s); err != nil {
		return nil, err
	}
	if err := refuseTable(s); err != nil {
		return nil, err
	}
	e, err := newEnv(ds, o).addNames(s.WithClause)
	if err != nil {
		return nil, err
	}
	from, err := rowReader{e}.readTables(s)
	if err != nil {
		return nil, err
	}
	if !tree.Private(from) {
		return nil, syntax.Refuse(syntax.Unsupported, firstLocation(s.FromClause),
			"join it with a private table, or train on it without Discreet",
			"a public table has nothing to protect, so it cannot be trained on here by itself")
	}
	in := &rowScope{env: e, rows: from, extend: true}
	b := tableBuilder{in: in, keys: newKeyFinder(in), pos: firstLocation(s.FromClause)}
	if err := in.readWhere(s); err != nil {
		return nil, err
	}
	if err := b.readFeatures(s.TargetList); err != nil {
		return nil, err
	}
	if err := b.readTarget(target); err != nil {
		return nil, err
	}
	return b.finish(firstLocation(s.TargetList))
}

// refuseTable refuses what rows to train on cannot have.
func refuseTable(s *pg.SelectStmt) error {
	if isSet(s) {
		return syntax.Refuse(syntax.Unsupported, -1, "write SELECT ... FROM (SELECT ... UNION ALL SELECT ...) AS t",
			"rows to train on must be one SELECT; UNION, INTERSECT and EXCEPT can only be inside its FROM")
	}
	if err := refuseClauses(s); err != nil {
		return err
	}
	if err := refuseWindows(s); err != nil {
		return err
	}
	const perPerson = "leave it out; numbers about a person come from a subquery, as in (SELECT pid, COUNT(*) AS n FROM visits " +
		"GROUP BY pid)"
	for _, c := range []struct {
		present       bool
		at            int32
		what, instead string
	}{
		{len(s.DistinctClause) > 0, firstLocation(s.TargetList), "DISTINCT", "leave it out: one person's row would affect another's"},
		{len(s.GroupClause) > 0, firstLocation(s.GroupClause), "GROUP BY", perPerson},
		{s.HavingClause != nil, syntax.Location(s.HavingClause), "HAVING", perPerson},
		{len(s.SortClause) > 0, sortedBy(s), "ORDER BY", "leave it out: the order of rows means nothing in training"},
		{s.LimitCount != nil, syntax.Location(s.LimitCount), "LIMIT",
			"leave it out, or choose rows with WHERE: one person's row would affect another's"},
		{s.LimitOffset != nil, syntax.Location(s.LimitOffset), "OFFSET",
			"leave it out, or choose rows with WHERE: one person's row would affect another's"},
	} {
		if c.present {
			return syntax.Refuse(syntax.Unsupported, c.at, c.instead, "%s cannot be used for rows to train on", c.what)
		}
	}
	if len(s.TargetList) == 0 {
		return syntax.Refuse(syntax.Unsupported, -1, tableInstead, "the SELECT has no columns")
	}
	return nil
}

// sortedBy is the place of the first item of ORDER BY.
func sortedBy(s *pg.SelectStmt) int32 {
	if len(s.SortClause) == 0 {
		return -1
	}
	return syntax.Location(s.SortClause[0].GetSortBy().GetNode())
}

type tableBuilder struct {
	in      *rowScope
	keys    *keyFinder
	columns []tableDraft
	label   tree.TableColumn
	pos     int32 // of FROM
}

// tableDraft is a column before it is known whether it is the target.
type tableDraft struct {
	name string
	expr tree.Expr
	pos  int32
}

const maxTableColumns = 500

func (b *tableBuilder) readFeatures(targets []*pg.Node) error {
	for _, n := range targets {
		t := n.GetResTarget()
		pos := syntax.Location(t.GetVal())
		if ref := t.GetVal().GetColumnRef(); ref != nil && ref.Fields[len(ref.Fields)-1].GetAStar() != nil {
			// Who a row is about is in every table, and nothing to learn from.
			if err := b.in.star(ref, func(c *tree.Column) {
				if tree.Derived(c) == nil && !c.Field.Raw() {
					b.columns = append(b.columns, tableDraft{c.Field.Name, c, ref.Location})
				}
			}); err != nil {
				return err
			}
			continue
		}
		e, err := checkExpr(trainingScope{b.in}, t.GetVal())
		if err != nil {
			return err
		}
		if err := expr.CheckLevels(e, pos); err != nil {
			return err
		}
		name := t.GetName()
		if name == "" {
			name = targetName(t.GetVal())
		}
		if name == "?column?" {
			return syntax.Refuse(syntax.Unsupported, pos, "name it with AS, as in age + 1 AS older",
				"a column of rows to train on needs a name, which rows to predict must use too")
		}
		b.columns = append(b.columns, tableDraft{name, b.in.env.normal(adoptText(e)), pos})
	}
	if len(b.columns) > maxTableColumns {
		return syntax.Refuse(syntax.TooComplex, firstLocation(targets), "select fewer", "there are more than %d columns", maxTableColumns)
	}
	seen := map[string]bool{}
	for _, c := range b.columns {
		if name := strings.ToLower(c.name); seen[name] {
			return syntax.Refuse(syntax.Duplicate, c.pos, "give every column its own name with AS", "two columns are called %q", c.name)
		} else {
			seen[name] = true
		}
	}
	return nil
}

// trainingScope is the scope of rows to train on: private rows, and refusals in its own words.
type trainingScope struct{ *rowScope }

// person finds none: who a row is about is nothing to learn from.
func (s trainingScope) person([]*pg.Node) tree.Expr { return nil }

func (s trainingScope) call(f *pg.FuncCall) (tree.Expr, error) {
	if name := functionName(f); isAggregate(name) || f.AggStar || f.AggWithinGroup || f.AggFilter != nil || f.Over != nil {
		return nil,
			syntax.Refuse(syntax.Unsupported, f.Location,
				"select columns and expressions over them; numbers about a person come from a subquery, as in "+
					"(SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid)",
				"rows to train on cannot have aggregates or windows")
	}
	return checkCall(s, f)
}

// readTarget reads what is to be predicted, and takes it away from the features where it is one of
// them.
func (b *tableBuilder) readTarget(text string) error {
	aside := func(err error) error { // a position would be one in another text
		if r, ok := err.(*api.Refusal); ok {
			err = &api.Refusal{Reason: "target: " + r.Reason, Instead: r.Instead, Position: -1, Code: r.Code}
		}
		return err
	}
	const instead = "name a column of the SELECT, or write an expression over its FROM, as in income > 50000"
	if strings.TrimSpace(text) == "" {
		return syntax.Refuse(syntax.BadValue, -1, instead, "the target is missing")
	}
	at := b.columnIndex(strings.TrimSpace(text))
	if at < 0 {
		s, err := syntax.Open("SELECT "+text, nil).SelectOf(b.in.env.dataset.Name)
		if err != nil {
			return aside(err)
		}
		t := s.TargetList
		if isSet(s) || len(t) != 1 || len(s.FromClause) > 0 || s.WhereClause != nil || s.WithClause != nil || len(s.GroupClause) > 0 ||
			s.HavingClause != nil || len(s.SortClause) > 0 ||
			s.LimitCount != nil || s.LimitOffset != nil || len(s.DistinctClause) > 0 || len(s.ValuesLists) > 0 || s.IntoClause != nil ||
			len(s.WindowClause) > 0 || len(s.LockingClause) > 0 {
			return syntax.Refuse(syntax.BadValue, -1, instead, "target: this is not one expression")
		}
		val := t[0].GetResTarget().GetVal()
		if fields := val.GetColumnRef().GetFields(); len(fields) > 0 && fields[len(fields)-1].GetAStar() != nil {
			return syntax.Refuse(syntax.BadValue, -1, instead, "target: this is not one expression")
		}
		if ref := val.GetColumnRef(); ref != nil {
			if column, err := columnName(ref); err == nil {
				at = b.columnIndex(column)
			}
		}
		if at < 0 {
			return b.readTargetExpression(val, t[0].GetResTarget().GetName(), aside)
		}
	}
	c := b.columns[at]
	b.columns = slices.Delete(b.columns, at, at+1)
	var err error
	if b.label, err = b.column(c); err != nil {
		return err
	}
	return b.refuseTarget()
}

// readTargetExpression reads a target that is no column of the SELECT.
func (b *tableBuilder) readTargetExpression(n *pg.Node, name string, aside func(error) error) error {
	e, err := checkExpr(trainingScope{b.in}, n)
	if err == nil {
		err = expr.CheckLevels(e, -1)
	}
	if err != nil {
		return aside(err)
	}
	e = b.in.env.normal(adoptText(e))
	if name == "" {
		name = targetOf(e)
	}
	if at := b.columnIndex(name); at >= 0 && tree.Format(b.columns[at].expr) == tree.Format(e) { // p.age is age of the SELECT
		b.columns = slices.Delete(b.columns, at, at+1)
	}
	if b.label, err = b.column(tableDraft{name, e, -1}); err != nil {
		return aside(err)
	}
	if b.columnIndex(name) >= 0 {
		return syntax.Refuse(syntax.Duplicate, -1, "give one of them another name with AS", "target: a feature also has the name %q", name)
	}
	return b.refuseTarget()
}

// targetOf names a target without a name, whatever its spelling: as a reader would write it, where
// every part can be written.
func targetOf(e tree.Expr) string {
	if c, ok := e.(*tree.Column); ok && c.Field.Name != "" {
		return c.Field.Name
	}
	name := tree.Describe(e)
	tree.Walk(e, func(x tree.Expr) {
		switch x := x.(type) {
		case *tree.Column:
			if x.Field.Name == "" {
				name = "target"
			}
		case *tree.Exists:
			name = "target"
		}
	})
	return name
}

// refuseTarget refuses a feature that is the target itself: a model would learn nothing else.
func (b *tableBuilder) refuseTarget() error {
	same := tree.Format(b.label.Expr)
	for _, c := range b.columns {
		if tree.Format(c.expr) == same {
			return syntax.Refuse(syntax.BadValue, c.pos, "leave it out of the SELECT, or name it as the target",
				"the feature %q is the target itself", c.name)
		}
	}
	return nil
}

// columnIndex returns the place of a column of the SELECT, or -1.
func (b *tableBuilder) columnIndex(name string) int {
	return slices.IndexFunc(b.columns, func(c tableDraft) bool { return strings.EqualFold(c.name, name) })
}

func (b *tableBuilder) finish(pos int32) (*tree.Table, error) {
	if len(b.columns) == 0 {
		return nil, syntax.Refuse(syntax.Unsupported, pos, "also select the columns to predict from",
			"there are no features besides the target")
	}
	t := &tree.Table{Dataset: b.in.env.dataset.Name, Neighbours: b.in.env.dataset.Neighbours, Where: b.in.filter}
	width := 0
	for _, c := range b.columns {
		column, err := b.column(c)
		if err != nil {
			return nil, err
		}
		if width += max(1, len(column.Values)); width > maxRowNumbers {
			return nil, syntax.Refuse(syntax.TooComplex, c.pos, "select fewer, or categories with fewer values",
				"the features have more than %d values and numbers together", maxRowNumbers)
		}
		t.Columns = append(t.Columns, column)
	}
	slices.SortFunc(t.Columns, func(x, y tree.TableColumn) int {
		return strings.Compare(strings.ToLower(x.Name), strings.ToLower(y.Name))
	})
	t.Columns = append(t.Columns, b.label)
	t.From, t.RowLimit = b.in.rows.Relation, tree.AtMost(b.in.rows.PersonRows()) // as rowLimit has it for questions
	if b.in.rows.Single() {
		t.RowLimit = 1
	}
	flattener{b.in.env.calculator}.flattenTable(t)
	if err := proveTotal(t.AsQuery()); err != nil {
		return nil, err
	}
	return t, boundTable(b.in.env, t, b.pos)
}

// maxRowNumbers bounds how many numbers a row is once categories are spread out. Training holds all
// rows in memory, with four bytes for each number.
const maxRowNumbers = 1_000

// column finds out what the values of a column can be, from what is public alone, or refuses it.
func (b *tableBuilder) column(c tableDraft) (tree.TableColumn, error) {
	out := tree.TableColumn{Name: c.name, Expr: c.expr}
	t := c.expr.Type()
	if l, ok := c.expr.(*tree.Literal); ok {
		return out, b.constant(c, tree.Describe(l))
	}
	if who := tree.Derived(c.expr); who != nil {
		return out, syntax.Refuse(syntax.Private, c.pos, "leave it out",
			"%s identifies people or their records, so nothing can be learned from it",
			who.Field.Describe())
	}
	switch t.Kind {
	case tree.Identity:
		return out, syntax.Refuse(syntax.Private, c.pos, "leave it out",
			"a column that identifies people or their records cannot be trained on")
	case tree.Real:
		return out, syntax.Refuse(syntax.Unsupported, c.pos,
			"round it, as in round(x, 2), or ask the owner for a granularity in the policy",
			"%q is the result of a division or a decimal without granularity, but rows to train on must be exact numbers", c.name)
	case tree.Number:
		if t.Declared {
			return out, b.number(c)
		}
	case tree.Date, tree.Timestamp:
		if t.Declared && t.Lo != nil {
			return out, b.number(c)
		}
	}
	var err error
	out.Values, err = b.category(c)
	return out, err
}

// number checks the bounds of a number or a time.
func (b *tableBuilder) number(c tableDraft) error {
	t := c.expr.Type()
	switch {
	case t.Lo.Cmp(t.Hi) == 0:
		return b.constant(c, tree.Describe(c.expr))
	case expr.MaxAbs(t).Cmp(maxRowSteps) > 0:
		return syntax.Refuse(syntax.TooComplex, c.pos, "round it, or ask the owner for a coarser granularity or narrower bounds",
			"the values of %q could exceed 2^53 steps", c.name)
	}
	return nil
}

func (b *tableBuilder) constant(c tableDraft, what string) error {
	return syntax.Refuse(syntax.Unsupported, c.pos, "use something that differs between rows; an intercept is added automatically",
		"%q is the same in all rows: %s", c.name, what)
}

func (b *tableBuilder) category(c tableDraft) ([]policy.Value, error) {
	t := c.expr.Type()
	var values []policy.Value
	found := true
	if t.Kind == tree.Boolean {
		values = b.keys.keepAllowed(c.expr, []policy.Value{expr.BoolValue(false), expr.BoolValue(true)})
	} else {
		var err error
		b.keys.domains.costly = false
		if values, found, err = b.keys.values(c.expr, c.pos); err != nil {
			return nil, err
		}
	}
	values = slices.DeleteFunc(slices.Clone(values), func(v policy.Value) bool { return v.Null }) // it has a code of its own
	switch {
	case !found && b.keys.domains.costly:
		return nil, syntax.Refuse(syntax.TooComplex, c.pos, "select the columns themselves, or compute numbers and conditions from them",
			"finding the values of this category takes too much work")
	case !found && t.Kind == tree.Text:
		return nil, syntax.Refuse(syntax.Private, c.pos, "list the values you want, as in WHERE "+tree.Describe(c.expr)+
			" IN ('a', 'b'), leave it out, or ask the owner to add keys: [...] to the column in the policy",
			"%q is a text without public keys", c.name)
	case !found && t.Kind == tree.Number:
		return nil,
			syntax.Refuse(syntax.Private, c.pos,
				"keep it between two numbers, as in greatest(0, least(100, x)), leave it out, or ask the owner to add "+
					"bounds: [lowest, highest] to the column in the policy",
				"%q is a number without public bounds", c.name)
	case !found:
		return nil, syntax.Refuse(syntax.Private, c.pos,
			"leave it out, or ask the owner to add bounds: [first, last] to the column in the policy",
			"%q is %s without public bounds", c.name, expr.Article(t.Kind))
	case len(values) == 1 && t.Kind != tree.Number: // which values[0] has in steps
		what := values[0].String()
		if t.Kind == tree.Text {
			what = "'" + strings.ReplaceAll(what, "'", "''") + "'"
		}
		return nil, b.constant(c, what)
	case len(values) < 2:
		return nil, b.constant(c, tree.Describe(c.expr))
	}
	return values, nil
}
