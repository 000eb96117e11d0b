package planner

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// planner plans the questions of a text: each SELECT over rows, and what is made of its answer.
type planner struct{ env *env }

// planSet takes one set of GROUP BY through the passes: names and rows, WHERE, keys, aggregates and
// what is made of them, the tree, and its work.
func (pn planner) planSet(s *pg.SelectStmt, g grouping, chosen []*choosingAnswer) (*tree.Plan, error) {
	e, err := pn.env.addNames(s.WithClause)
	if err != nil {
		return nil, err
	}
	if err := refuseClauses(s); err != nil {
		return nil, err
	}
	if err := refuseWindows(s); err != nil {
		return nil, err
	}
	s, keeps, err := planner{e}.withoutKept(s)
	if err != nil {
		return nil, err
	}
	from, err := rowReader{e}.readTables(s)
	if err != nil {
		return nil, err
	}
	if !tree.Private(from) {
		return nil, syntax.Refuse(syntax.Unsupported, firstLocation(s.FromClause), "join it with a private table",
			"a public table has nothing to protect, so it cannot be asked about by itself")
	}
	in := &rowScope{env: e, rows: from, extend: true}
	if err := in.readWhere(s); err != nil {
		return nil, err
	}
	finder := newKeyFinder(in)
	var stay *kept
	if keeps {
		if stay, err = newKept(from, firstLocation(s.FromClause)); err != nil {
			return nil, err
		}
		finder.domains.whole = stay.stays
	}
	groups, err := finder.readGroups(s, g)
	if err != nil {
		return nil, err
	}
	reader := newAnswerReader(in, groups, s.TargetList)
	reader.aggregates.kept = stay
	if err := reader.read(s, chosen); err != nil {
		return nil, err
	}
	p, err := assemble(reader, len(s.DistinctClause) > 0)
	if err != nil || p.Query.ListsKeys() {
		return p, err // of which no engine hears
	}
	return p, boundQuery(e, &p.Query, firstLocation(s.FromClause))
}

// withoutKept is a SELECT in which the rows of a public table stay that nobody has a row for,
// without them; see kept.
func (pn planner) withoutKept(s *pg.SelectStmt) (*pg.SelectStmt, bool, error) {
	if len(s.FromClause) != 1 || s.FromClause[0].GetJoinExpr() == nil {
		return s, false, nil
	}
	j := s.FromClause[0].GetJoinExpr()
	left, err := classifier(pn).ofItem(j.Larg)
	if err != nil {
		return nil, false, err
	}
	right, err := classifier(pn).ofItem(j.Rarg)
	if err != nil {
		return nil, false, err
	}
	inner := innerJoin(j, left, right)
	if inner == nil {
		return s, false, nil
	}
	s = proto.Clone(s).(*pg.SelectStmt)
	s.FromClause = []*pg.Node{{Node: &pg.Node_JoinExpr{JoinExpr: inner}}}
	return s, true, nil
}

// planSets are the plans of a SELECT over rows: one for each set of its GROUP BY, in one answer.
func (pn planner) planSets(s *pg.SelectStmt) ([]*tree.Plan, error) {
	s, chosen, err := pn.takeAnswers(s)
	if err != nil {
		return nil, err
	}
	sets, err := groupings(s)
	if err != nil {
		return nil, err
	}
	var out []*tree.Plan
	for _, g := range sets {
		p, err := pn.planSet(s, g, chosen)
		if err != nil {
			return nil, err
		}
		same := func(other *tree.Plan) bool { return other.Query.Hash() == p.Query.Hash() }
		if s.GroupDistinct && slices.ContainsFunc(out, same) {
			continue
		}
		p.Continues = len(out) > 0
		out = append(out, p)
	}
	own := out // and not what chooses among their groups, which comes after them
	for i, c := range chosen {
		for _, p := range own {
			p.Within[i].Answer = len(out)
		}
		out = append(out, shiftAnswers(c.plans, len(out))...)
	}
	return out, nil
}

// takeAnswers takes the answers out of FROM and WHERE of a question.
func (pn planner) takeAnswers(s *pg.SelectStmt) (*pg.SelectStmt, []*choosingAnswer, error) {
	e, err := pn.env.addNames(s.WithClause)
	if err != nil {
		return nil, nil, err
	}
	pn = planner{e}
	s = proto.Clone(s).(*pg.SelectStmt)
	var all []*choosingAnswer
	var saying, from []*pg.Node
	for _, n := range s.FromClause {
		kept, err := pn.takeFrom(n, &all, &saying)
		if err != nil {
			return nil, nil, err
		}
		if kept != nil {
			from = append(from, kept)
		}
	}
	if len(from) == 0 {
		return s, nil, nil // which is refused for having no rows
	}
	s.FromClause = from
	var left []*pg.Node
	for _, n := range append(conditions(s.WhereClause), saying...) {
		c, err := pn.readIn(n)
		if err != nil {
			return nil, nil, err
		}
		if c != nil {
			all = append(all, c)
			continue
		}
		left = append(left, n)
	}
	if len(all) == 0 {
		return s, nil, nil
	}
	rows, err := rowReader(pn).readFrom(s)
	if err != nil {
		return nil, nil, err
	}
	left = slices.DeleteFunc(left, func(n *pg.Node) bool { return joinsAnswer(n, rows, all) })
	s.WhereClause = andOf(left)
	for _, c := range all {
		if err := c.check(); err != nil {
			return nil, nil, err
		}
	}
	// In whatever order they are written it is one question.
	slices.SortStableFunc(all, func(a, b *choosingAnswer) int {
		return strings.Compare(a.plans[0].Query.Hash(), b.plans[0].Query.Hash())
	})
	return s, all, nil
}

// takeFrom takes answers out of an item of FROM. What the joins with them say is said by WHERE as
// well as by ON, because they are inner ones.
func (pn planner) takeFrom(n *pg.Node, all *[]*choosingAnswer, saying *[]*pg.Node) (*pg.Node, error) {
	l, err := classifier(pn).ofItem(n)
	if err != nil {
		return nil, err
	}
	j := n.GetJoinExpr()
	switch {
	case l == overAnswers:
		c, err := pn.readItemAnswer(n)
		if err != nil {
			return nil, err
		}
		*all = append(*all, c)
		return nil, nil
	case l != overBoth || j == nil:
		return n, nil
	}
	before := len(*all)
	left, err := pn.takeFrom(j.Larg, all, saying)
	if err != nil {
		return nil, err
	}
	right, err := pn.takeFrom(j.Rarg, all, saying)
	if err != nil {
		return nil, err
	}
	if left != nil && right != nil {
		j.Larg, j.Rarg = left, right
		return n, nil
	}
	if j.IsNatural || len(j.UsingClause) > 0 && len(*all) != before+1 {
		return nil, syntax.Refuse(syntax.Unsupported, syntax.Location(j.Rarg), "write JOIN ... ON a = b",
			"answers can only be joined with ON or USING")
	}
	for _, name := range usingNames(j) {
		*saying = append(*saying, equation(reference(name), reference((*all)[before].name, name)))
	}
	*saying = append(*saying, conditions(j.Quals)...)
	if left == nil {
		left = right
	}
	return left, nil
}

func (pn planner) readItemAnswer(n *pg.Node) (*choosingAnswer, error) {
	c := &choosingAnswer{pos: syntax.Location(n)}
	switch x := n.GetNode().(type) {
	case *pg.Node_RangeSubselect:
		c.name = x.RangeSubselect.GetAlias().GetAliasname()
		return c, pn.readAnswer(c, x.RangeSubselect.Subquery.GetSelectStmt(), aliasColumns(x.RangeSubselect.GetAlias()))
	case *pg.Node_RangeVar:
		src, err := pn.env.find(x.RangeVar)
		if err != nil {
			return nil, err
		}
		if src.query != nil {
			if c.name = x.RangeVar.Relname; x.RangeVar.Alias != nil {
				c.name = x.RangeVar.Alias.Aliasname
			}
			return c, planner{src.env}.readAnswer(c, src.query, src.names)
		}
	}
	return nil, refuseMixed(c.pos)
}

// readAnswer reads the question of an answer that chooses.
func (pn planner) readAnswer(c *choosingAnswer, s *pg.SelectStmt, names []string) error {
	e, err := pn.env.descend(c.pos)
	if err != nil {
		return err
	}
	over, err := classifier{e}.ofFrom(s)
	if err != nil {
		return err
	}
	if isSet(s) || over != overRows {
		return syntax.Refuse(syntax.Unsupported, c.pos, "join a question with GROUP BY itself",
			"results computed from answers cannot be joined with rows")
	}
	if c.plans, err = (planner{e}).planSets(s); err != nil {
		return err
	}
	for i, o := range c.plans[0].Columns {
		name := o.Name
		if i < len(names) {
			name = names[i]
		}
		c.names = append(c.names, name)
	}
	return nil
}

// readIn reads x IN (SELECT ...) where the subquery is a question; nil where it is none.
func (pn planner) readIn(n *pg.Node) (*choosingAnswer, error) {
	l := n.GetSubLink()
	sub := l.GetSubselect().GetSelectStmt()
	if sub == nil || l.SubLinkType != pg.SubLinkType_ANY_SUBLINK || len(l.OperName) > 0 {
		return nil, nil
	}
	levels := classifier(pn)
	if level, err := levels.ofResult(sub); err != nil || level != overAnswers {
		return nil, nil // it is read, or refused, with the other conditions
	}
	if over, err := levels.ofFrom(sub); err != nil || over == overPublic {
		return nil, nil
	}
	c := &choosingAnswer{pos: l.Location, by: listItems(l.Testexpr)}
	if err := pn.readAnswer(c, sub, nil); err != nil {
		return nil, err
	}
	if len(c.by) != len(c.names) {
		return nil, syntax.Refuse(syntax.Malformed, l.Location, "select as many columns as there are before IN",
			"the subquery of IN has %d columns",
			len(c.names))
	}
	c.columns = sequence(0, len(c.by))
	return c, nil
}

// joinsAnswer reads a condition that compares something of a question with a column of an answer.
func joinsAnswer(n *pg.Node, rows rows, all []*choosingAnswer) bool {
	x := n.GetAExpr()
	if x == nil || x.Kind != pg.A_Expr_Kind_AEXPR_OP || len(x.Name) != 1 || x.Name[0].GetString_().GetSval() != "=" {
		return false
	}
	for _, pair := range [][2]*pg.Node{{x.Lexpr, x.Rexpr}, {x.Rexpr, x.Lexpr}} {
		if c, i := columnOf(pair[0].GetColumnRef(), rows, all); c != nil {
			c.by, c.columns = append(c.by, pair[1]), append(c.columns, i)
			return true
		}
	}
	return false
}

// columnOf finds the column of an answer that a name means. One without a table is a column of the
// rows where there is such.
func columnOf(ref *pg.ColumnRef, rows rows, all []*choosingAnswer) (*choosingAnswer, int) {
	if ref == nil {
		return nil, 0
	}
	name, err := columnName(ref)
	if err != nil {
		return nil, 0
	}
	table, column, qualified := strings.Cut(name, "\x00")
	if !qualified {
		column = table
		if _, err := rows.resolve(name, -1); err == nil {
			return nil, 0
		}
	}
	for _, c := range all {
		if c.name == "" || qualified && !strings.EqualFold(c.name, table) {
			continue
		}
		if i := slices.IndexFunc(c.names, func(n string) bool { return strings.EqualFold(n, column) }); i >= 0 {
			return c, i
		}
	}
	return nil, 0
}

// check makes sure that what is compared are keys of the answer; in a join all of them, so that a
// row of the question meets at most one of the answer.
func (c *choosingAnswer) check() error {
	const instead = "compare everything the subquery is grouped by with what the question is grouped by"
	p := c.plans[0]
	if len(c.plans) > 1 && c.plans[1].Continues {
		return syntax.Refuse(syntax.Unsupported, c.pos, "group it by one list of columns",
			"an answer with ROLLUP, CUBE or GROUPING SETS cannot be joined with rows")
	}
	var keys []int
	for _, i := range c.columns {
		r, ok := p.Columns[i].Expr.(*tree.Released)
		if !ok || p.Stats[r.Stat].Kind != tree.KeyStat {
			return syntax.Refuse(syntax.Unsupported, c.pos, instead,
				"rows can only be joined with an answer on columns it is grouped by, and %q is not "+
					"one of them",
				c.names[i])
		}
		keys = append(keys, p.Stats[r.Stat].Key)
	}
	slices.Sort(keys)
	if c.name != "" && len(slices.Compact(keys)) != len(p.Query.Keys) || len(keys) == 0 {
		return syntax.Refuse(syntax.Unsupported, c.pos, instead,
			"rows of a table and the answer to a question can only be joined on all of its keys")
	}
	return nil
}

// shiftAnswers says that plans stand so many places further back.
func shiftAnswers(plans []*tree.Plan, by int) []*tree.Plan {
	for _, p := range plans {
		for i := range p.Within {
			p.Within[i].Answer += by
		}
	}
	return plans
}
