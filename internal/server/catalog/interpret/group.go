package interpret

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
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
func (s *scope) groupBy(list []*pg.Node, q *query) ([]*expr, error) {
	var out []*expr
	for _, n := range list {
		if n.GetGroupingSet() != nil {
			if len(n.GetGroupingSet().Content) == 0 {
				continue
			}
			return nil, unsupported("GROUPING SETS")
		}
		s.where = "GROUP BY"
		if ref := n.GetColumnRef(); ref != nil && len(ref.Fields) == 1 && ref.Fields[0].GetString_() != nil {
			// A column of FROM comes before one of the output.
			x, err := s.local([]string{ref.Fields[0].GetString_().GetSval()})
			if err != nil {
				return nil, locate(err, ref.Location)
			}
			if x != nil {
				out = append(out, x)
				continue
			}
		}
		i, ok, err := s.outputColumn(n, q)
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
		x, err := s.expr(n)
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
