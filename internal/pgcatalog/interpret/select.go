package interpret

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

// selection is a SELECT that is no set operation.
type selection struct {
	scope    *scope
	query    *query
	parts    []*node // of FROM
	where    []*conjunct
	groups   []*expr
	having   []*conjunct
	grouped  bool
	distinct bool
	on       int // how many of the keys, the last ones, are of DISTINCT ON
	sorts    []sortKey
	keys     []*expr
	limit    func(*env, []datum.Tuple) ([]datum.Tuple, error)
}

// selectBinder binds the clauses of a SELECT, or of what stands in its place.
type selectBinder struct {
	scope *scope
	exprs exprBinder
}

// plain binds a SELECT that is no set operation.
func (b selectBinder) plain(st *pg.SelectStmt) (*query, error) {
	sel := &selection{scope: b.scope, query: &query{scope: b.scope}}
	var err error
	from := fromBinder(b)
	if sel.parts, err = from.fromClause(st.FromClause); err != nil {
		return nil, err
	}
	if st.WhereClause != nil {
		if sel.where, err = b.exprs.conjuncts(st.WhereClause, "WHERE"); err != nil {
			return nil, err
		}
	}
	b.scope.allowed = allowance{aggregates: true, windows: true, sets: true, clause: "SELECT"}
	b.scope.group = &grouping{}
	b.scope.group.prepare(st.GroupClause, st.TargetList)
	if err := b.targets(st.TargetList, sel.query); err != nil {
		return nil, err
	}
	b.scope.allowed = allowance{clause: b.scope.allowed.clause}
	b.scope.group.off++
	if sel.groups, err = b.groupBy(st.GroupClause, sel.query); err != nil {
		return nil, err
	}
	b.scope.group.off--
	b.scope.allowed.aggregates = true
	if st.HavingClause != nil {
		if sel.having, err = b.exprs.conjuncts(st.HavingClause, "HAVING"); err != nil {
			return nil, err
		}
	}
	b.scope.allowed.windows, b.scope.allowed.sets = true, true
	if sel.sorts, sel.keys, err = b.orderBy(st.SortClause, sel.query); err != nil {
		return nil, err
	}
	if err := b.distinctBy(sel, st.DistinctClause); err != nil {
		return nil, err
	}
	b.scope.allowed = allowance{clause: b.scope.allowed.clause}
	if sel.limit, err = b.limit(st); err != nil {
		return nil, err
	}
	if sel.grouped = len(st.GroupClause) > 0 || len(b.scope.aggs) > 0 || st.HavingClause != nil; sel.grouped {
		if err := b.scope.group.check(sel.groups, b.scope); err != nil {
			return nil, err
		}
	}
	b.scope.group = nil
	sel.query.exec = sel.run
	return sel.query, nil
}

func (sel *selection) run(e *env) ([]datum.Tuple, error) {
	s := sel.scope
	base := make([]datum.Tuple, s.rtes)
	rows, err := cross(e, sel.parts, base, sel.where)
	if err != nil {
		return nil, err
	}
	list := make([]state, len(rows))
	for i, row := range rows {
		list[i].row = row
	}
	if sel.grouped {
		if list, err = sel.groupRows(e, list, base); err != nil {
			return nil, err
		}
	}
	if err := sel.numberRows(e, list); err != nil {
		return nil, err
	}
	out, keys, err := sel.project(e, list, sel.query.outs, sel.keys)
	if err != nil {
		return nil, err
	}
	if sel.distinct {
		if out, keys, err = unique(e.run, out, keys); err != nil {
			return nil, err
		}
	}
	if len(sel.sorts) > 0 {
		if out, keys, err = sortRows(e.run, out, keys, sel.sorts); err != nil {
			return nil, err
		}
	}
	if sel.on > 0 {
		if out, err = sel.firsts(e.run, out, keys); err != nil {
			return nil, err
		}
	}
	return sel.limit(e, out)
}

func (b selectBinder) distinctBy(sel *selection, list []*pg.Node) error {
	sel.distinct = len(list) == 1 && list[0].GetNode() == nil
	if sel.distinct {
		return nil
	}
	for _, n := range list {
		x, err := b.outputOrExpr(n, sel.query)
		if err != nil {
			return err
		}
		sel.keys = append(sel.keys, x)
	}
	sel.on = len(list)
	return nil
}

// firsts keeps the first row of those that are alike in what DISTINCT ON says.
func (sel *selection) firsts(r *run, rows, keys []datum.Tuple) ([]datum.Tuple, error) {
	by := make([]datum.Tuple, len(keys))
	for i, k := range keys {
		by[i] = k[len(k)-sel.on:]
	}
	_, at, err := uniqueAt(r, by)
	out := make([]datum.Tuple, len(at))
	for i, j := range at {
		out[i] = rows[j]
	}
	return out, err
}

// unique keeps the first of equal rows, with what it is sorted by.
func unique(r *run, rows, keys []datum.Tuple) (out, outKeys []datum.Tuple, err error) {
	out, at, err := uniqueAt(r, rows)
	for _, i := range at {
		outKeys = append(outKeys, keys[i])
	}
	return out, outKeys, err
}

// uniqueAt keeps the first of equal rows, with where it was.
func uniqueAt(r *run, rows []datum.Tuple) (out []datum.Tuple, at []int, err error) {
	seen := map[string]bool{}
	for i, t := range rows {
		k, err := r.rowKey(t)
		if err != nil {
			return nil, nil, err
		}
		if !seen[k] {
			seen[k] = true
			out, at = append(out, t), append(at, i)
		}
	}
	return out, at, nil
}

func (b selectBinder) targets(list []*pg.Node, q *query) error {
	for _, n := range list {
		t := n.GetResTarget()
		if t == nil {
			return unsupported("this output column")
		}
		if fields, ok, err := b.star(t.Val); err != nil {
			return err
		} else if ok {
			for _, f := range fields {
				q.names = append(q.names, f.name)
				q.outs = append(q.outs, f.expr())
			}
			continue
		}
		x, err := b.exprs.expr(t.Val)
		if err != nil {
			return err
		}
		name := t.Name
		if name == "" {
			name, _ = outputName(t.Val)
		}
		q.names = append(q.names, datum.Truncate(name, 63))
		q.outs = append(q.outs, x)
	}
	if len(q.outs) > 1664 {
		return Fail("54011", "target lists can have at most 1664 entries")
	}
	return nil
}

// star returns what * or t.* stands for.
func (b selectBinder) star(n *pg.Node) ([]field, bool, error) {
	ref := n.GetColumnRef()
	if ref == nil || len(ref.Fields) == 0 || ref.Fields[len(ref.Fields)-1].GetAStar() == nil {
		return nil, false, nil
	}
	if len(ref.Fields) == 1 {
		if b.scope.rtes == 0 {
			return nil, false, locate(Fail("42601", "SELECT * with no tables specified is not valid"), ref.Location)
		}
		return b.scope.stars, true, nil
	}
	parts := nameParts(ref.Fields[:len(ref.Fields)-1])
	for f, hidden := b.scope, false; f != nil; f = f.outer {
		if !hidden {
			if sp := f.space(parts); sp != nil {
				depth := f.depth(b.scope)
				var out []field
				for _, fd := range sp.fields {
					out = append(out, field{fd.name, func() *expr { return fd.expr().raise(depth) }})
				}
				return out, true, nil
			}
		}
		hidden = f.hidden
	}
	return nil, false, locate(Fail("42P01", "missing FROM-clause entry for table %q", clip(parts[len(parts)-1])), ref.Location)
}

// outputName is the name of an output column that was given none, and whether it is more than a
// guess.
func outputName(n *pg.Node) (string, bool) {
	last := func(list []*pg.Node) (string, bool) {
		for i := len(list) - 1; i >= 0; i-- {
			if s := list[i].GetString_(); s != nil {
				return s.Sval, true
			}
		}
		return "", false
	}
	switch v := n.GetNode().(type) {
	case *pg.Node_ColumnRef:
		if s, ok := last(v.ColumnRef.Fields); ok {
			return s, true
		}
	case *pg.Node_AIndirection:
		if s, ok := last(v.AIndirection.Indirection); ok {
			return s, true
		}
		return outputName(v.AIndirection.Arg)
	case *pg.Node_FuncCall:
		if s, ok := last(v.FuncCall.Funcname); ok {
			return s, true
		}
	case *pg.Node_AExpr:
		if v.AExpr.Kind == pg.A_Expr_Kind_AEXPR_NULLIF {
			return "nullif", true
		}
	case *pg.Node_TypeCast:
		if s, strong := outputName(v.TypeCast.Arg); strong {
			return s, true
		}
		if s, ok := last(v.TypeCast.GetTypeName().GetNames()); ok {
			return s, false
		}
	case *pg.Node_CollateClause:
		return outputName(v.CollateClause.Arg)
	case *pg.Node_CaseExpr:
		if s, strong := outputName(v.CaseExpr.Defresult); strong {
			return s, true
		}
		return "case", false
	case *pg.Node_AArrayExpr:
		return "array", true
	case *pg.Node_RowExpr:
		return "row", true
	case *pg.Node_CoalesceExpr:
		return "coalesce", true
	case *pg.Node_MinMaxExpr:
		if v.MinMaxExpr.Op == pg.MinMaxOp_IS_GREATEST {
			return "greatest", true
		}
		return "least", true
	case *pg.Node_SqlvalueFunction:
		name := strings.ToLower(strings.TrimPrefix(v.SqlvalueFunction.Op.String(), "SVFOP_"))
		return strings.TrimSuffix(name, "_n"), true
	case *pg.Node_SubLink:
		switch v.SubLink.SubLinkType {
		case pg.SubLinkType_EXISTS_SUBLINK:
			return "exists", true
		case pg.SubLinkType_ARRAY_SUBLINK:
			return "array", true
		case pg.SubLinkType_EXPR_SUBLINK:
			st := v.SubLink.Subselect.GetSelectStmt()
			for st != nil && st.Larg != nil {
				st = st.Larg
			}
			if st != nil && len(st.TargetList) > 0 {
				if t := st.TargetList[0].GetResTarget(); t != nil {
					if t.Name != "" {
						return t.Name, true
					}
					return outputName(t.Val)
				}
			}
		}
	}
	return "?column?", false
}

// state is a row on its way through a SELECT.
type state struct {
	row  []datum.Tuple
	aggs []datum.Value
	wins []datum.Value
}

func (t *state) enter(e *env) { e.row, e.aggs, e.wins = t.row, t.aggs, t.wins }

// project evaluates the output, and what it is sorted by, of each row. A function that returns a
// set makes several rows of one.
func (sel *selection) project(e *env, list []state, outs, keys []*expr) (out, sorts []datum.Tuple, err error) {
	one := func() error {
		t, err := evalAll(e, outs)
		if err != nil {
			return err
		}
		out = append(out, t)
		if len(keys) > 0 {
			k, err := evalAll(&env{run: e.run, outer: e.outer, row: e.row, aggs: e.aggs, wins: e.wins, srfs: e.srfs, out: t}, keys)
			if err != nil {
				return err
			}
			sorts = append(sorts, k)
		} else {
			sorts = append(sorts, nil)
		}
		return nil
	}
	for i := range list {
		list[i].enter(e)
		if err := e.run.step(1); err != nil {
			return nil, nil, err
		}
		if len(sel.scope.srfs) == 0 {
			if err := one(); err != nil {
				return nil, nil, err
			}
			continue
		}
		sets := make([][]datum.Value, len(sel.scope.srfs))
		longest := 0
		e.srfs = make([]datum.Value, len(sel.scope.srfs))
		for j, f := range sel.scope.srfs {
			if sets[j], err = f.evalSet(e); err != nil {
				return nil, nil, err
			}
			longest = max(longest, len(sets[j]))
		}
		for k := range longest {
			e.srfs = make([]datum.Value, len(sel.scope.srfs))
			for j := range sets {
				if k < len(sets[j]) {
					e.srfs[j] = sets[j][k]
				}
			}
			if err := e.run.step(len(sets)); err != nil {
				return nil, nil, err
			}
			if err := one(); err != nil {
				return nil, nil, err
			}
		}
		e.srfs = nil
	}
	return out, sorts, nil
}

func (b selectBinder) limit(st *pg.SelectStmt) (func(*env, []datum.Tuple) ([]datum.Tuple, error), error) {
	if st.LimitOption == pg.LimitOption_LIMIT_OPTION_WITH_TIES {
		return nil, unsupported("WITH TIES")
	}
	offset, err := b.rowCount(st.LimitOffset, "OFFSET")
	if err != nil {
		return nil, err
	}
	count, err := b.rowCount(st.LimitCount, "LIMIT")
	if err != nil {
		return nil, err
	}
	return func(e *env, rows []datum.Tuple) ([]datum.Tuple, error) {
		inner := &env{run: e.run, outer: e}
		v, err := offset.eval(inner)
		if err != nil {
			return nil, err
		}
		n, _ := v.(datum.Int)
		if n < 0 {
			return nil, Fail("2201X", "OFFSET must not be negative")
		}
		rows = rows[min(n, datum.Int(len(rows))):]
		if v, err = count.eval(inner); v == nil || err != nil {
			return rows, err
		}
		if n = v.(datum.Int); n < 0 {
			return nil, Fail("2201W", "LIMIT must not be negative")
		}
		return rows[:min(n, datum.Int(len(rows)))], nil
	}, nil
}

// rowCount binds a number of rows, which is NULL where none is given.
func (b selectBinder) rowCount(n *pg.Node, what string) (*expr, error) {
	if n == nil {
		return constant(oid.Int8, nil), nil
	}
	x, err := b.scope.child(true).exprs().expr(n)
	if err != nil {
		return nil, err
	}
	if x, err = b.exprs.types.coerce(x, oid.Int8); err != nil {
		return nil, Fail("42804", "argument of %s must be type bigint", what)
	}
	return x, nil
}
