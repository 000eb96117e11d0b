package planner

import (
	"fmt"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// rowReader reads FROM, and the subqueries in it, as rows of which it is known whose they are.
type rowReader struct{ env *env }

// readFrom reads a FROM clause: tables, subqueries and joins of rows. What stands between commas,
// or in a CROSS JOIN, is joined by what WHERE says of it: where two are private, by the conditions
// that both rows are about one person. These are then part of the join and not of WHERE.
func (rr rowReader) readFrom(s *pg.SelectStmt) (rows, error) {
	nodes := splitCrossJoins(s.FromClause)
	if len(nodes) == 0 {
		return rows{}, syntax.Refuse(syntax.Unsupported, -1, "write SELECT ... FROM a table; "+listNames("tables", rr.env.dataset.Tables),
			"there is no FROM")
	}
	all := make([]rows, len(nodes))
	for i, n := range nodes {
		var err error
		if all[i], err = rr.readItem(n); err != nil {
			return rows{}, err
		}
	}
	out, saying := all[0], conditions(s.WhereClause)
	var said []*pg.Node
	for left := sequence(1, len(all)); len(left) > 0; {
		at, on, used := rr.chooseNext(out, all, left, saying)
		var err error
		if out, err = rr.join(out, all[left[at]], on, false, syntax.Location(nodes[left[at]]), true); err != nil {
			return rows{}, err
		}
		said = append(said, used...)
		left = slices.Delete(left, at, at+1)
	}
	slices.SortStableFunc(out.names, func(a, b binding) int { return itemIndex(all, a.name) - itemIndex(all, b.name) })
	out.taken = said
	return out, nil
}

func (rr rowReader) readTables(s *pg.SelectStmt) (rows, error) {
	from, err := rr.readFrom(s)
	if err != nil {
		return rows{}, err
	}
	tables := 0
	if from.EachTable(func(*policy.Table) { tables++ }); tables > maxTables {
		return rows{}, tooManyTables(firstLocation(s.FromClause))
	}
	return from, nil
}

// chooseNext chooses what is joined next: the first that belongs to nobody, or that WHERE says to
// be about the same person as what there is. Where there is none it is the first, to be refused.
func (rr rowReader) chooseNext(out rows, all []rows, left []int, saying []*pg.Node) (at int, on tree.Expr, used []*pg.Node) {
	for at, i := range left {
		if !tree.Private(out) || !tree.Private(all[i]) {
			return at, nil, nil
		}
		if on, used := rr.linksIn(out, all[i], saying); on != nil {
			return at, on, used
		}
	}
	return 0, nil, nil
}

// linksIn returns the conditions of WHERE that say that a row of the one and a row of the other
// are about one person.
func (rr rowReader) linksIn(l, r rows, saying []*pg.Node) (on tree.Expr, used []*pg.Node) {
	both, err := l.joined(r, newJoin(l.Relation, r.Relation, nil, false))
	if err != nil {
		return nil, nil // which the join will say
	}
	var links []tree.Expr
	for _, n := range saying {
		x := n.GetAExpr()
		if x.GetLexpr().GetColumnRef() == nil || x.GetRexpr().GetColumnRef() == nil {
			continue
		}
		c, err := checkCondition(&rowScope{env: rr.env, rows: both}, n)
		if err == nil && expr.Linked(c, len(l.Fields())) {
			links, used = append(links, c), append(used, n)
		}
	}
	if len(links) == 0 {
		return nil, nil
	}
	return expr.Normal(&tree.Logic{Op: tree.And, Args: links}), used
}

// splitCrossJoins are the items of FROM: a CROSS JOIN is two of them.
func splitCrossJoins(nodes []*pg.Node) []*pg.Node {
	var out []*pg.Node
	for _, n := range nodes {
		j := n.GetJoinExpr()
		if j == nil || j.Jointype != pg.JoinType_JOIN_INNER || j.Quals != nil || j.IsNatural || len(j.UsingClause) > 0 || j.Alias != nil {
			out = append(out, n)
			continue
		}
		out = append(out, splitCrossJoins([]*pg.Node{j.Larg, j.Rarg})...)
	}
	return out
}

// withoutTaken is a WHERE without the conditions that FROM has taken.
func (r rows) withoutTaken(where *pg.Node) *pg.Node {
	if len(r.taken) == 0 {
		return where
	}
	return andOf(slices.DeleteFunc(conditions(where), func(n *pg.Node) bool { return slices.Contains(r.taken, n) }))
}

// itemIndex is which item of FROM a name comes from.
func itemIndex(all []rows, name string) int {
	return slices.IndexFunc(all, func(r rows) bool {
		return slices.ContainsFunc(r.names, func(b binding) bool { return strings.EqualFold(b.name, name) })
	})
}

func (rr rowReader) readItem(n *pg.Node) (rows, error) {
	switch x := n.GetNode().(type) {
	case *pg.Node_RangeVar:
		return rr.readTable(x.RangeVar)
	case *pg.Node_RangeSubselect:
		s := x.RangeSubselect
		r, err := rr.readSubquery(s.Subquery.GetSelectStmt(), syntax.Location(n))
		if err != nil && s.Lateral {
			return rows{}, syntax.Refuse(syntax.KindOf(err), syntax.Location(n),
				"write a subquery that refers to nothing next to it, and join it",
				"LATERAL cannot be used here: %s", refusalReason(err))
		}
		if err != nil {
			return rows{}, err
		}
		return nameRows(r, s.GetAlias().GetAliasname(), aliasColumns(s.GetAlias()), syntax.Location(n))
	case *pg.Node_JoinExpr:
		return rr.readJoin(x.JoinExpr)
	}
	return rows{}, syntax.Refuse(syntax.Unsupported, syntax.Location(n), "name a table, a subquery or a join; "+listNames("tables",
		rr.env.dataset.Tables),
		"functions and samples cannot be used in FROM")
}

func (rr rowReader) readTable(v *pg.RangeVar) (rows, error) {
	if err := rr.env.visit(v.Location); err != nil {
		return rows{}, err
	}
	s, err := rr.env.find(v)
	if err != nil {
		return rows{}, err
	}
	name := v.Relname
	if v.Alias != nil {
		name = v.Alias.Aliasname
	}
	var r tree.Relation
	if s.answer {
		return rows{}, syntax.Refuse(syntax.Unsupported, v.Location, "ask two separate questions",
			"the answer to a question cannot be used among rows")
	}
	if s.table != nil {
		r = NewScan(rr.env.dataset, s.table)
	} else if r, err = (rowReader{s.env}).readSubquery(s.query, v.Location); err != nil {
		if s.isView {
			err = syntax.Refuse(syntax.KindOf(err), v.Location, "ask the owner to correct it", "the view %q cannot be used here: %s",
				v.Relname, refusalReason(err))
		}
		return rows{}, err
	}
	if len(s.names) > 0 {
		if r, err = renameColumns(r, s.names, v.Location); err != nil {
			return rows{}, err
		}
	}
	return nameRows(r, name, aliasColumns(v.Alias), v.Location)
}

func (rr rowReader) readJoin(j *pg.JoinExpr) (rows, error) {
	at := syntax.Location(j.Rarg)
	if j.Alias != nil {
		return rows{}, syntax.Refuse(syntax.Unsupported, at, "leave out the alias", "a join cannot have its own alias")
	}
	l, err := rr.readItem(j.Larg)
	if err != nil {
		return rows{}, err
	}
	r, err := rr.readItem(j.Rarg)
	if err != nil {
		return rows{}, err
	}
	left, full := false, false
	switch j.Jointype {
	case pg.JoinType_JOIN_INNER:
	case pg.JoinType_JOIN_LEFT:
		left = true
	case pg.JoinType_JOIN_RIGHT:
		l, r, left = r, l, true
	default:
		left, full = true, true
	}
	using := usingNames(j)
	if j.IsNatural {
		using = commonNames(l, r)
	}
	if len(using) > 0 {
		return rr.joinUsing(l, r, using, left, full, at)
	}
	both := rows{Relation: newJoin(l.Relation, r.Relation, nil, left)}
	if both, err = l.joined(r, both.Relation.(*tree.Join)); err != nil {
		return rows{}, err
	}
	var on tree.Expr
	if j.Quals != nil {
		if on, err = checkCondition(&rowScope{env: rr.env, rows: both}, j.Quals); err != nil {
			return rows{}, err
		}
		if err := expr.CheckLevels(on, at); err != nil {
			return rows{}, err
		}
		on = rr.env.normal(on)
	}
	if full {
		return rr.fullJoin(l, r, on, at)
	}
	return rr.join(l, r, on, left, at, false)
}

// fullJoin checks that rows without a partner are somebody's on both sides.
func (rr rowReader) fullJoin(l, r rows, on tree.Expr, at int32) (rows, error) {
	on = samePerson(l.Relation, r.Relation, on)
	if on == nil && rr.env.dataset.Unit.Row() {
		return rows{}, rr.refuseStrangers(at)
	}
	if on == nil {
		return rows{}, syntax.Refuse(syntax.Unsupported, at, "join ON "+rr.link(l,
			r)+" only, with conditions on each side in subqueries, or use LEFT JOIN",
			"FULL JOIN needs two private tables, joined only on the person: rows without a partner must belong to somebody")
	}
	return rr.checkJoin(l, r, newFull(l.Relation, r.Relation, on), at)
}

// commonNames are the columns that a NATURAL JOIN compares: those whose names both sides have.
func commonNames(l, r rows) []string {
	var out []string
	there := r.visible()
	for _, name := range l.visible() {
		same := func(other string) bool { return strings.EqualFold(other, name) }
		if slices.ContainsFunc(there, same) && !slices.ContainsFunc(out, same) {
			out = append(out, name)
		}
	}
	return out
}

// joinUsing joins where columns of the same name are equal. The name then means the left one, and
// in a FULL JOIN the person.
func (rr rowReader) joinUsing(l, r rows, using []string, left, full bool, at int32) (rows, error) {
	var all []tree.Expr
	n := len(l.Fields())
	hidden := []int{}
	for _, name := range using {
		a, err := l.resolve(name, at)
		if err != nil {
			return rows{}, err
		}
		b, err := r.resolve(name, at)
		if err != nil {
			return rows{}, err
		}
		// A listed column that is an identity stands there as it is stored too, under the same
		// name.
		hidden = append(hidden, b.Index)
		if b.Field.Identity != "" {
			hidden = append(hidden, b.Stored().Index)
		}
		eq, err := expr.NewCompare(tree.Eq, a, &tree.Column{Index: b.Index + n, Field: b.Field}, at)
		if err != nil {
			return rows{}, err
		}
		all = append(all, eq)
	}
	var on tree.Expr = &tree.Logic{Op: tree.And, Args: all}
	r.hide(hidden)
	if !full {
		return rr.join(l, r, rr.env.normal(on), left, at, false)
	}
	out, err := rr.fullJoin(l, r, rr.env.normal(on), at)
	if err != nil {
		return rows{}, err
	}
	unit := l.Unit() // the only column that is compared, and perhaps listed, too
	for i, f := range l.Fields() {
		if strings.EqualFold(f.Name, using[0]) {
			out.hide([]int{i})
		}
	}
	out.hide([]int{unit})
	return out.withPerson(using[0]), nil
}

// join checks that two relations may be joined. Where both are private every pair of rows must be
// one person's; a comma leaves that to WHERE.
func (rr rowReader) join(l, r rows, on tree.Expr, left bool, at int32, comma bool) (rows, error) {
	switch {
	case left && !tree.Private(l) && tree.Private(r):
		return rows{}, syntax.Refuse(syntax.Unsupported, at, "put the private table on the left",
			"rows of a public table that belong to nobody cannot be kept")
	case tree.Private(l) && tree.Private(r) && rr.env.dataset.Unit.Row():
		return rows{}, rr.refuseStrangers(at)
	case tree.Private(l) && tree.Private(r) && !expr.Linked(on, len(l.Fields())):
		if comma {
			return rows{}, syntax.Refuse(syntax.Private, at, "write WHERE "+rr.link(l, r)+" AND ..., or JOIN ... ON "+rr.link(l, r),
				"two private tables can only be joined where both rows are about the same person")
		}
		return rows{}, syntax.Refuse(syntax.Private, at, "join ON "+rr.link(l, r)+", and add other conditions with AND",
			"two private tables can only be joined where both rows are about the same person")
	}
	return rr.checkJoin(l, r, newJoin(l.Relation, r.Relation, on, left), at)
}

// refuseStrangers refuses to put rows together that are never about the same person.
func (rr rowReader) refuseStrangers(at int32) error {
	return syntax.Refuse(syntax.Private, at,
		"ask about one table at a time, or ask the owner to name the column of the person as the dataset's unit",
		"every row is a separate person here, so private tables cannot be joined")
}

// checkJoin checks that nobody's rows are multiplied too often, and puts the names together.
func (rr rowReader) checkJoin(l, r rows, j *tree.Join, at int32) (rows, error) {
	if tree.Private(l) && tree.Private(r) && j.Many == tree.MostRows && l.PersonRows() < tree.MostRows && r.PersonRows() < tree.MostRows ||
		j.Fans > maxFans {
		// How long such a join takes is decided by the one person with the most rows.
		return rows{},
			syntax.Refuse(syntax.Unsupported, at,
				"join fewer tables, or first reduce one to one row per person, as in (SELECT pid, COUNT(*) FROM visits "+
					"GROUP BY pid)", "one person could have far too many rows in this join")
	}
	out, err := l.joined(r, j)
	if err != nil {
		err.(*api.Refusal).Position = int(at)
	}
	return out, err
}

// maxFans is how often the rows of a person may be multiplied by rows of the same person.
const maxFans = 1

// link writes a condition that would join two relations.
func (rr rowReader) link(l, r rows) string {
	for i, f := range l.Fields() {
		for k, g := range r.Fields() {
			if f.Identity != "" && f.Identity == g.Identity && f.Name != "" && g.Name != "" {
				return l.owner(i) + "." + f.Name + " = " + r.owner(k) + "." + g.Name
			}
		}
	}
	return "the columns that lead to " + rr.env.dataset.Unit.String()
}

// linkInside writes the same for a subquery, in which a table hides one of the same name outside.
func (rr rowReader) linkInside(outside, inside rows) string {
	text := rr.link(outside, inside)
	l, r, _ := strings.Cut(text, " = ")
	if l != r {
		return text
	}
	table, column, _ := strings.Cut(l, ".")
	return fmt.Sprintf("a.%s = b.%s, with %s AS a outside and %s AS b inside", column, column, table, table)
}

// renameColumns gives the first fields of a subquery other names.
func renameColumns(r tree.Relation, names []string, pos int32) (tree.Relation, error) {
	visible := 0
	for _, f := range r.Fields() {
		if f.Name != "" {
			visible++
		}
	}
	if len(names) > visible {
		return nil, syntax.Refuse(syntax.BadReference, pos, "give as many names as there are columns",
			"this list has more names than there are columns")
	}
	all := make([]string, 0, visible)
	columns := make([]tree.Expr, 0, visible)
	for i, f := range r.Fields() {
		if f.Name == "" {
			continue
		}
		name := f.Name
		if len(all) < len(names) {
			name = names[len(all)]
		}
		all, columns = append(all, name), append(columns, tree.NewColumn(r, i))
	}
	if name := repeatedName(all); name != "" {
		return nil, syntax.Refuse(syntax.Duplicate, pos, "give every column its own name", "two columns are called %q", name)
	}
	if s, ok := r.(*tree.Select); ok { // the same, with other names
		named := *s
		named.Row = slices.Clone(s.Row)
		for i, at := range columns {
			named.Row[at.(*tree.Column).Index].Name = all[i]
		}
		return &named, nil
	}
	return newSelect(r, nil, all, columns), nil
}

func repeatedName(names []string) string {
	seen := map[string]bool{}
	for _, n := range names {
		if seen[strings.ToLower(n)] {
			return n
		}
		seen[strings.ToLower(n)] = true
	}
	return ""
}
