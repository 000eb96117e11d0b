package interpret

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/inventory"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

// ungrouped is a column that was named outside of an aggregate.
type ungrouped struct {
	name      string
	rte, attr int
	heading   *Heading
}

// grouping is what a SELECT with GROUP BY or aggregates may name outside of aggregates.
type grouping struct {
	nodes     map[string]bool // the expressions of GROUP BY, as texts without places
	ungrouped []ungrouped
	spent     int // bytes of texts that were compared
	off       int // inside of an aggregate or of a grouped expression nothing is ungrouped
}

// canonical writes an expression without the places where it stood.
func canonical(n *pg.Node) string {
	var b strings.Builder
	var message func(m protoreflect.Message)
	message = func(m protoreflect.Message) {
		b.WriteString(string(m.Descriptor().Name()))
		b.WriteByte('(')
		fields := m.Descriptor().Fields()
		for i := range fields.Len() {
			f := fields.Get(i)
			if !m.Has(f) || f.Name() == "location" {
				continue
			}
			b.WriteString(string(f.Name()))
			b.WriteByte(':')
			v := m.Get(f)
			switch {
			case f.IsList():
				for j := range v.List().Len() {
					if f.Message() != nil {
						message(v.List().Get(j).Message())
					}
					b.WriteByte(',')
				}
			case f.Message() != nil:
				message(v.Message())
			default:
				b.WriteString(quoteLiteral(v.String()))
			}
		}
		b.WriteByte(')')
	}
	if n != nil {
		message(n.ProtoReflect())
	}
	return b.String()
}

// prepare notes the expressions of GROUP BY before the output is read: they can be numbers and
// names of it.
func (g *grouping) prepare(groups, targets []*pg.Node) {
	g.nodes = map[string]bool{}
	for _, n := range groups {
		g.nodes[canonical(n)] = true
		if k, ok := n.GetAConst().GetVal().(*pg.A_Const_Ival); ok {
			if i := int(k.Ival.GetIval()); i >= 1 && i <= len(targets) {
				g.nodes[canonical(targets[i-1].GetResTarget().GetVal())] = true
			}
		}
		if ref := n.GetColumnRef(); ref != nil && len(ref.Fields) == 1 {
			name := ref.Fields[0].GetString_().GetSval()
			for _, t := range targets {
				if r := t.GetResTarget(); r != nil && r.Name == name && name != "" {
					g.nodes[canonical(r.Val)] = true
				}
			}
		}
	}
}

// has reports whether an expression is one of GROUP BY's.
func (g *grouping) has(n *pg.Node) bool {
	// A long chain has every end of it compared. What is not compared any more counts as not
	// grouped.
	if len(g.nodes) == 0 || n.GetAConst() != nil || g.spent > 4<<20 {
		return false
	}
	text := canonical(n)
	g.spent += len(text)
	return g.nodes[text]
}

// check refuses a column that is neither grouped nor determined by the oid of its relation, which
// is.
func (g *grouping) check(by []*expr, s *scope) error {
	grouped := map[[2]int]bool{}
	for _, x := range by {
		if x.scope == s {
			grouped[[2]int{x.rte, x.attr}] = true
		}
	}
	for _, l := range g.ungrouped {
		if grouped[[2]int{l.rte, l.attr}] {
			continue
		}
		if l.heading != nil && l.heading.Key >= 0 && grouped[[2]int{l.rte, l.heading.Key}] {
			continue
		}
		return Fail("42803", "column %q must appear in the GROUP BY clause or be used in an aggregate function", clip(l.name))
	}
	return nil
}

// groupBy binds GROUP BY: numbers and names of output columns, or expressions.
func (b selectBinder) groupBy(list []*pg.Node, q *query) ([]*expr, error) {
	var out []*expr
	for _, n := range list {
		if n.GetGroupingSet() != nil {
			if len(n.GetGroupingSet().Content) == 0 {
				continue
			}
			return nil, unsupported("GROUPING SETS")
		}
		b.scope.allowed.clause = "GROUP BY"
		if ref := n.GetColumnRef(); ref != nil && len(ref.Fields) == 1 && ref.Fields[0].GetString_() != nil {
			// A column of FROM comes before one of the output.
			x, err := b.scope.local([]string{ref.Fields[0].GetString_().GetSval()})
			if err != nil {
				return nil, locate(err, ref.Location)
			}
			if x != nil {
				out = append(out, x)
				continue
			}
		}
		i, ok, err := b.outputColumn(n, q)
		if err != nil {
			return nil, err
		}
		if ok {
			if q.outs[i].untyped() {
				if err := q.coerce(i, oid.Text); err != nil {
					return nil, err
				}
			}
			out = append(out, q.outs[i])
			continue
		}
		x, err := b.exprs.expr(n)
		if err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// groupRows makes a row of each group that HAVING keeps: the first of its rows, and the values of
// the aggregates.
func (sel *selection) groupRows(e *env, list []state, base []datum.Tuple) ([]state, error) {
	order, groups, err := sel.divide(e, list)
	if err != nil {
		return nil, err
	}
	var out []state
	for _, k := range order {
		members := groups[k]
		g := state{row: base}
		if len(members) > 0 {
			g.row = members[0].row
		}
		for _, a := range sel.scope.aggs {
			v, err := a.compute(e, members)
			if err != nil {
				return nil, err
			}
			g.aggs = append(g.aggs, v)
		}
		if err := e.run.take(48 + 16*len(g.aggs)); err != nil {
			return nil, err
		}
		g.enter(e)
		ok, err := holds(e, sel.having)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, g)
		}
	}
	return out, nil
}

// divide divides rows into groups, and says in which order. Without GROUP BY there is one, even of
// no rows.
func (sel *selection) divide(e *env, list []state) (order []string, groups map[string][]state, err error) {
	if len(sel.groups) == 0 {
		return []string{""}, map[string][]state{"": list}, nil
	}
	groups = map[string][]state{}
	for _, st := range list {
		st.enter(e)
		t, err := evalAll(e, sel.groups)
		if err != nil {
			return nil, nil, err
		}
		k, err := e.run.rowKey(t)
		if err != nil {
			return nil, nil, err
		}
		if _, ok := groups[k]; !ok {
			order = append(order, k)
		}
		groups[k] = append(groups[k], st)
	}
	return order, groups, nil
}

// aggregate is a call of an aggregate function in a SELECT.
type aggregate struct {
	*aggregateFunction
	star     bool
	distinct bool
	args     []*expr
	filter   *expr
	order    []*expr
	keys     []sortKey
	typ      uint32
}

// aggregateCall binds an aggregate of this SELECT. Where it is evaluated later, its value is that
// of the group.
func (b callBinder) aggregateCall(name string, f *pg.FuncCall) (*expr, error) {
	if !b.scope.allowed.aggregates {
		return nil, locate(Fail("42803", "aggregate functions are not allowed in %s", b.scope.allowed.clause), f.Location)
	}
	if f.AggWithinGroup {
		return nil, unsupported("WITHIN GROUP")
	}
	a := &aggregate{aggregateFunction: aggregates[name], star: f.AggStar, distinct: f.AggDistinct}
	if err := b.aggregateParts(a, f); err != nil {
		return nil, err
	}
	fits := a.star && name == "count" || !a.star && len(a.args) == len(a.untyped)
	if fits {
		a.typ = a.result(a.args)
	}
	if a.typ == 0 {
		if err := refusedAggregate(name, a.args); err != nil {
			return nil, locate(err, f.Location)
		}
		return nil, locate(b.exprs.functions.noFunction(name, a.args), f.Location)
	}
	var cols []datum.Column
	if name == "array_agg" {
		cols = a.args[0].cols
	}
	i := len(b.scope.aggs)
	b.scope.aggs = append(b.scope.aggs, a)
	return &expr{typ: a.typ, cols: cols, eval: func(e *env) (datum.Value, error) {
		if i < len(e.aggs) {
			return e.aggs[i], nil
		}
		return nil, nil
	}}, nil
}

// aggregateParts binds what is inside of an aggregate, where no other and no set may be.
func (b callBinder) aggregateParts(a *aggregate, f *pg.FuncCall) error {
	around := b.scope.allowed
	b.scope.allowed = allowance{clause: "an aggregate function"}
	defer func() { b.scope.allowed = around }()
	if b.scope.group != nil {
		b.scope.group.off++
		defer func() { b.scope.group.off-- }()
	}
	for _, n := range f.Args {
		x, err := b.exprs.expr(n)
		if err == nil && x.untyped() {
			x, err = b.exprs.types.coerce(x, a.untyped[min(len(a.args), len(a.untyped)-1)])
		}
		if err != nil {
			return err
		}
		a.args = append(a.args, x)
	}
	if f.AggFilter != nil {
		x, err := b.exprs.expr(f.AggFilter)
		if err != nil {
			return err
		}
		if a.filter, err = b.exprs.types.truth(x, "FILTER"); err != nil {
			return err
		}
	}
	var err error
	a.keys, a.order, err = b.sortedBy(f.AggOrder)
	return err
}

func (a *aggregate) compute(e *env, members []state) (datum.Value, error) {
	var rows, keys []datum.Tuple
	seen := map[string]bool{}
	for i := range members {
		members[i].enter(e)
		if a.filter != nil {
			v, err := a.filter.eval(e)
			if err != nil {
				return nil, err
			}
			if v != datum.True {
				continue
			}
		}
		t, err := evalAll(e, a.args)
		if err != nil {
			return nil, err
		}
		if a.distinct {
			k, err := e.run.rowKey(t)
			if err != nil {
				return nil, err
			}
			if seen[k] {
				continue
			}
			seen[k] = true
		}
		k, err := evalAll(e, a.order)
		if err != nil {
			return nil, err
		}
		rows, keys = append(rows, t), append(keys, k)
	}
	var err error
	switch {
	case len(a.keys) > 0:
		rows, _, err = sortRows(e.run, rows, keys, a.keys)
	case a.distinct && len(a.args) > 0:
		rows, _, err = sortRows(e.run, rows, rows, make([]sortKey, 1))
	}
	if err != nil {
		return nil, err
	}
	return a.total(e.run, a, rows)
}

// windowNames are the window functions that clients call.
var windowNames = []string{"row_number", "rank", "dense_rank"}

func isWindow(name string) bool { return slices.Contains(windowNames, name) }

type window struct {
	name      string
	partition []*expr
	order     []*expr
	keys      []sortKey
}

func (b callBinder) windowCall(name string, f *pg.FuncCall) (*expr, error) {
	switch over := f.Over; {
	case !isWindow(strings.TrimPrefix(name, "pg_catalog.")) || len(f.Args) > 0 || f.AggStar:
		if known := inventory.Named(strings.TrimPrefix(name, "pg_catalog.")); known != nil {
			return nil, refused("function "+known[0].Signature()+" OVER", inventory.Computes)
		}
		return nil, hint(Fail("42883", "window function %s does not exist", clip(name)), "Use row_number, rank or dense_rank.")
	case !b.scope.allowed.windows:
		return nil, Fail("42P20", "window functions are not allowed in %s", b.scope.allowed.clause)
	case over.Name != "" || over.Refname != "":
		return nil, unsupported("a named window")
	}
	around := b.scope.allowed
	b.scope.allowed = allowance{aggregates: around.aggregates, clause: "a window"}
	defer func() { b.scope.allowed = around }()
	w := &window{name: strings.TrimPrefix(name, "pg_catalog.")}
	var err error
	if w.partition, err = b.exprs.exprs(f.Over.PartitionClause); err != nil {
		return nil, err
	}
	if w.keys, w.order, err = b.sortedBy(f.Over.OrderClause); err != nil {
		return nil, err
	}
	i := len(b.scope.wins)
	b.scope.wins = append(b.scope.wins, w)
	return &expr{typ: oid.Int8, eval: func(e *env) (datum.Value, error) {
		if i < len(e.wins) {
			return e.wins[i], nil
		}
		return nil, nil
	}}, nil
}

// numberRows computes all calls with OVER.
func (sel *selection) numberRows(e *env, list []state) error {
	for i := range list {
		if len(sel.scope.wins) > 0 {
			if err := e.run.take(24 + 16*len(sel.scope.wins)); err != nil {
				return err
			}
			list[i].wins = make([]datum.Value, len(sel.scope.wins))
		}
	}
	for k, w := range sel.scope.wins {
		var rows, keys []datum.Tuple
		for i := range list {
			list[i].enter(e)
			p, err := evalAll(e, w.partition)
			if err != nil {
				return err
			}
			id, err := e.run.rowKey(p)
			if err != nil {
				return err
			}
			sorts, err := evalAll(e, w.order)
			if err != nil {
				return err
			}
			rows, keys = append(rows, datum.Tuple{datum.Int(i), datum.Text(id)}), append(keys, sorts)
		}
		rows, _, err := sortRows(e.run, rows, keys, w.keys)
		if err != nil {
			return err
		}
		ranks := map[datum.Value]*rowRank{}
		for _, t := range rows {
			i := t[0].(datum.Int)
			p := ranks[t[1]]
			if p == nil {
				p = &rowRank{}
				ranks[t[1]] = p
			}
			p.next(keys[i], w.keys)
			list[i].wins[k] = map[string]datum.Int{"row_number": p.number, "rank": p.rank, "dense_rank": p.dense}[w.name]
		}
	}
	return nil
}

// rowRank is where a row stands in its partition: its number, and its ranks with and without
// gaps.
type rowRank struct {
	number, rank, dense datum.Int
	keys                datum.Tuple
}

// next goes on to a row with these keys. Rows with the same keys have the same ranks.
func (p *rowRank) next(keys datum.Tuple, ks []sortKey) {
	p.number++
	if p.number == 1 || compareKeys(ks, p.keys, keys) != 0 {
		p.rank, p.dense = p.number, p.dense+1
	}
	p.keys = keys
}
