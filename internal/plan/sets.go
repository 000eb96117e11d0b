package plan

import (
	"math/big"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// grouping is one set of GROUP BY: what is grouped by, and what other sets of the same GROUP BY
// are grouped by beside that, which is NULL here.
type grouping struct {
	by, without []*pg.Node
	several     bool // there are other sets
}

// groupings are the sets of a GROUP BY. ROLLUP, CUBE and GROUPING SETS make several, and several of
// them in one GROUP BY are combined, each with each. Each set is a question of its own, with its
// own keys, its own limit on the groups of a person and its own noise; all are one answer.
func groupings(s *pg.SelectStmt) ([]grouping, error) {
	all := [][]*pg.Node{nil}
	for _, n := range s.GroupClause {
		sets, err := expandSets(n)
		if err != nil {
			return nil, err
		}
		if all, err = combined(all, sets, syntax.Location(n)); err != nil {
			return nil, err
		}
	}
	every := slices.Concat(all...)
	out := make([]grouping, len(all))
	for i, set := range all {
		out[i].by, out[i].several = set, len(all) > 1
		for _, n := range every {
			if !slices.Contains(set, n) {
				out[i].without = append(out[i].without, n)
			}
		}
	}
	return out, nil
}

// hasSets reports whether a GROUP BY names sets.
func hasSets(s *pg.SelectStmt) bool {
	return slices.ContainsFunc(s.GroupClause, func(n *pg.Node) bool { return n.GetGroupingSet() != nil })
}

// combined are the sets of two parts of a GROUP BY, each with each.
func combined(a, b [][]*pg.Node, pos int32) ([][]*pg.Node, error) {
	if len(a)*len(b) > maxQuestions {
		return nil, syntax.Refuse(pos, "name the groupings that you need, as in GROUPING SETS ((a), (b), ())",
			"GROUP BY has more than %d groupings", maxQuestions)
	}
	var out [][]*pg.Node
	for _, x := range a {
		for _, y := range b {
			out = append(out, slices.Concat(x, y))
		}
	}
	return out, nil
}

// expandSets are the sets that one item of GROUP BY stands for.
func expandSets(n *pg.Node) ([][]*pg.Node, error) {
	g := n.GetGroupingSet()
	if g == nil {
		return [][]*pg.Node{together(n)}, nil
	}
	switch g.Kind {
	case pg.GroupingSetKind_GROUPING_SET_EMPTY:
		return [][]*pg.Node{nil}, nil
	case pg.GroupingSetKind_GROUPING_SET_ROLLUP:
		var out [][]*pg.Node
		for i := len(g.Content); i >= 0; i-- {
			out = append(out, nil)
			for _, c := range g.Content[:i] {
				out[len(out)-1] = append(out[len(out)-1], together(c)...)
			}
		}
		return out, nil
	case pg.GroupingSetKind_GROUPING_SET_CUBE:
		out := [][]*pg.Node{nil}
		for _, c := range g.Content {
			var err error
			if out, err = combined(out, [][]*pg.Node{together(c), nil}, g.Location); err != nil {
				return nil, err
			}
		}
		return out, nil
	case pg.GroupingSetKind_GROUPING_SET_SETS:
		var out [][]*pg.Node
		for _, c := range g.Content {
			sets, err := expandSets(c)
			if err != nil {
				return nil, err
			}
			if out = append(out, sets...); len(out) > maxQuestions {
				_, err := combined(out, [][]*pg.Node{nil}, g.Location)
				return nil, err
			}
		}
		return out, nil
	}
	return nil, syntax.Refuse(g.Location, "use ROLLUP, CUBE or GROUPING SETS", "this grouping is not known")
}

// together are the expressions of a list in parentheses, as in ROLLUP ((a, b), c).
func together(n *pg.Node) []*pg.Node {
	if r := n.GetRowExpr(); r != nil {
		return r.Args
	}
	return []*pg.Node{n}
}

// questions are the plans of a SELECT over rows: one for each set of its GROUP BY, in one answer.
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
		out = append(out, movedBack(c.plans, len(out))...)
	}
	return out, nil
}

// absent finds a key of other sets.
func (ar *answerReader) addAbsent(e tree.Expr) (int, bool) {
	name := ar.in.env.spell(e)
	i := slices.IndexFunc(ar.groups.without, func(x tree.Expr) bool { return ar.in.env.spell(x) == name })
	if i < 0 {
		return 0, false
	}
	key := ar.groups.without[i]
	return ar.out.add(draft{Stat: tree.Stat{Kind: tree.AbsentStat, Key: i, Of: key, Typ: key.Type()}}), true
}

// groupingOf reads GROUPING(a, b, ...): a bit for each, the first the highest, that is set where
// the row is not grouped by it.
func (s answerScope) groupingOf(f *pg.GroupingFunc) (tree.Expr, error) {
	if len(f.Args) > 31 {
		return nil, syntax.Refuse(f.Location, "give it fewer", "GROUPING takes at most 31 arguments")
	}
	bits := int64(0)
	for _, n := range f.Args {
		e, err := s.in.readKey(n, s.targets)
		if err != nil {
			return nil, err
		}
		bits <<= 1
		if s.groups.keyIndex(e) >= 0 {
			continue
		}
		if _, ok := s.addAbsent(e); !ok {
			return nil, syntax.Refuse(syntax.Location(n), "name what GROUP BY names", "GROUPING takes what is grouped by")
		}
		bits++
	}
	most := new(big.Int).Lsh(big.NewInt(1), uint(len(f.Args)))
	typ := tree.NumberType(tree.One, new(big.Int), most.Sub(most, big.NewInt(1)), true)
	return s.released(s.out.add(draft{Stat: tree.Stat{Kind: tree.GroupingStat, Bits: bits, Key: len(f.Args), Typ: typ}})), nil
}

// groupExpr reads what is grouped by: an expression, a position, or a name of the SELECT list.
func (in *rowScope) readKey(n *pg.Node, targets []*pg.Node) (tree.Expr, error) {
	if k := n.GetAConst(); k != nil { // GROUP BY 1
		i, ok := ordinal(n, len(targets))
		if !ok {
			return nil, syntax.Refuse(k.Location, "write the column's name", "this is not a column of the SELECT list")
		}
		n = targets[i].GetResTarget().GetVal()
	}
	e, _, err := in.readExact(n)
	if ref := n.GetColumnRef(); err != nil && ref != nil {
		// As in PostgreSQL, a name that is no column may be one of the SELECT list's.
		if name, bad := columnName(ref); bad == nil {
			if aliased := target(targets, name); aliased != nil && aliased.GetColumnRef() != ref {
				e, _, err = in.readExact(aliased)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return in.env.normal(adoptText(e)), nil
}
