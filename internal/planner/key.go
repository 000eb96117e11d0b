package planner

import (
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// grouping is one set of GROUP BY: what is grouped by, and what other sets of the same GROUP BY
// are grouped by beside that, which is NULL here.
type grouping struct {
	by, without []*pg.Node
	otherSets   bool // there are other sets
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
		if all, err = combineSets(all, sets, syntax.Location(n)); err != nil {
			return nil, err
		}
	}
	every := slices.Concat(all...)
	out := make([]grouping, len(all))
	for i, set := range all {
		out[i].by, out[i].otherSets = set, len(all) > 1
		for _, n := range every {
			if !slices.Contains(set, n) {
				out[i].without = append(out[i].without, n)
			}
		}
	}
	return out, nil
}

// combineSets are the sets of two parts of a GROUP BY, each with each.
func combineSets(a, b [][]*pg.Node, pos int32) ([][]*pg.Node, error) {
	if len(a)*len(b) > maxQuestions {
		return nil, syntax.Refuse(syntax.TooComplex, pos, "name the groupings you need, as in GROUPING SETS ((a), (b), ())",
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
		return [][]*pg.Node{listItems(n)}, nil
	}
	switch g.Kind {
	case pg.GroupingSetKind_GROUPING_SET_EMPTY:
		return [][]*pg.Node{nil}, nil
	case pg.GroupingSetKind_GROUPING_SET_ROLLUP:
		var out [][]*pg.Node
		for i := len(g.Content); i >= 0; i-- {
			out = append(out, nil)
			for _, c := range g.Content[:i] {
				out[len(out)-1] = append(out[len(out)-1], listItems(c)...)
			}
		}
		return out, nil
	case pg.GroupingSetKind_GROUPING_SET_CUBE:
		out := [][]*pg.Node{nil}
		for _, c := range g.Content {
			var err error
			if out, err = combineSets(out, [][]*pg.Node{listItems(c), nil}, g.Location); err != nil {
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
				_, err := combineSets(out, [][]*pg.Node{nil}, g.Location)
				return nil, err
			}
		}
		return out, nil
	}
	return nil, syntax.Refuse(syntax.Unsupported, g.Location, "use ROLLUP, CUBE or GROUPING SETS", "this grouping is not supported")
}

// groups is what a question is grouped by: the keys of its set of GROUP BY, in canonical order.
type groups struct {
	calculator
	keys []tree.Key
	// without are keys of other sets of the same GROUP BY, where it has several.
	without   []tree.Expr
	otherSets bool
	maxRows   int64 // how many rows of a person are to count in a group; 0 where nobody says
}

// keyFinder makes the groups of a question from its rows: for each key it finds the public values,
// or makes sure that a mechanism may decide about them.
type keyFinder struct {
	in         *rowScope
	domains    *domainFinder
	groups     *groups
	restricted bool // whether there is a HAVING
}

func newKeyFinder(in *rowScope) *keyFinder {
	groups := &groups{calculator: in.env.calculator, maxRows: in.env.options.MaxRows}
	return &keyFinder{in: in, domains: &domainFinder{env: in.env}, groups: groups}
}

func (kf *keyFinder) readGroups(s *pg.SelectStmt, g grouping) (*groups, error) {
	nodes := g.by
	kf.groups.otherSets = g.otherSets
	kf.restricted = s.HavingClause != nil
	if len(s.GroupClause) == 0 && len(s.DistinctClause) > 0 && !isAggregated(s) {
		for _, n := range s.TargetList { // SELECT DISTINCT a, b shows the groups of a, b
			nodes = append(nodes, n.GetResTarget().GetVal())
		}
	}
	groups := 1
	for _, n := range nodes {
		e, err := kf.in.readKey(n, s.TargetList)
		if err != nil {
			return nil, err
		}
		if kf.groups.keyIndex(e) >= 0 {
			continue
		}
		key, err := kf.find(e, syntax.Location(n))
		if err != nil {
			return nil, err
		}
		if err := kf.refuseCut(key, n, s.TargetList); err != nil {
			return nil, err
		}
		if groups *= max(1, len(key.Values)); groups > maxGroups {
			return nil, syntax.Refuse(syntax.TooComplex, syntax.Location(n),
				"group by fewer columns, or list the keys with IN (...) in WHERE",
				"the keys have more than %d combinations", maxGroups)
		}
		kf.groups.keys = append(kf.groups.keys, key)
	}
	if len(kf.groups.keys) > maxKeys {
		return nil, syntax.Refuse(syntax.TooComplex, firstLocation(nodes), "group by fewer columns", "there are more than %d keys", maxKeys)
	}
	for _, n := range g.without {
		e, err := kf.in.readKey(n, s.TargetList)
		if err != nil {
			return nil, err
		}
		kf.groups.without = append(kf.groups.without, e)
	}
	// The canonical order, so that GROUP BY a, b and b, a are one question; private keys last.
	slices.SortFunc(kf.groups.keys, func(a, b tree.Key) int {
		if a.Private != b.Private {
			if a.Private {
				return 1
			}
			return -1
		}
		return strings.Compare(kf.in.env.spell(a.Expr), kf.in.env.spell(b.Expr))
	})
	return kf.groups, nil
}

// maxGroups bounds the rows of an answer: the product of the public keys.
const maxGroups = policy.MaxPublicValues

func (g *groups) keyIndex(e tree.Expr) int {
	name := g.spell(e)
	return slices.IndexFunc(g.keys, func(k tree.Key) bool { return g.spell(k.Expr) == name })
}

// find finds the values of something to group by.
func (kf *keyFinder) find(e tree.Expr, pos int32) (tree.Key, error) {
	if c := tree.Derived(e); c != nil {
		other := "group by another column"
		if kf.restricted { // without it, a subquery would be read as one row for each person
			other += "; a subquery grouped by the person cannot have HAVING: name the aggregate with AS, and compare it in the outer WHERE"
		}
		return tree.Key{}, syntax.Refuse(syntax.Private, pos, other,
			"%s identifies people or their records, and a group per person would reveal people",
			c.Field.Describe())
	}
	switch e.Type().Kind {
	case tree.Real:
		return tree.Key{},
			syntax.Refuse(syntax.Private, pos,
				"group by a comparison, as in "+named(e)+" >= 10, or ask the owner for a granularity in the policy",
				"you cannot group by floating-point numbers")
	case tree.Identity:
		return tree.Key{}, syntax.Refuse(syntax.Unsupported, pos, "group by another column", "you cannot group by this")
	}
	if t := e.Type(); t.Kind == tree.Number && !(t.Lo.IsInt64() && t.Hi.IsInt64()) {
		return tree.Key{},
			syntax.Refuse(syntax.TooComplex, pos, "group by something smaller, as in x % 100",
				"a key can have at most 64 bits, and this can be larger")
	}
	kf.domains.costly = false
	values, ok, err := kf.values(e, pos)
	if err != nil {
		return tree.Key{}, err
	}
	if ok {
		return tree.Key{Expr: e, Values: values}, nil
	}
	if err := kf.refuseUnlessPrivate(e, pos); err != nil && kf.domains.costly {
		return tree.Key{}, syntax.Refuse(syntax.TooComplex, pos,
			"list the values you want with IN (...) in WHERE, or group by fewer or simpler keys",
			"finding the values of this key takes too much work")
	} else if err != nil {
		return tree.Key{}, err
	}
	return tree.Key{Expr: e, Private: true}, nil
}

// named is the name of the first column of an expression.
func named(e tree.Expr) string {
	name := "x"
	tree.Walk(e, func(x tree.Expr) {
		if c, ok := x.(*tree.Column); ok && name == "x" {
			name = c.Field.Describe()
		}
	})
	return name
}

// refuseUnlessPrivate refuses a key without public values unless the owner has said of each of its
// columns that its values may be released when enough people have them.
func (kf *keyFinder) refuseUnlessPrivate(e tree.Expr, pos int32) error {
	var bad *tree.Column
	private := false
	tree.Walk(e, func(x tree.Expr) {
		c, ok := x.(*tree.Column)
		if !ok || bad != nil {
			return
		}
		switch src := c.Field.Source; {
		case src == nil:
			bad = c
		case src.Keys == policy.PrivateKeys:
			private = true
		case src.CountPublicValues() == 0 && c.Field.Public == "":
			bad = c
		}
	})
	if bad == nil && private {
		if kf.in.env.dataset.Budget.Pure() {
			return syntax.Refuse(syntax.Private, pos, "list the values you want, as in WHERE "+tree.Describe(e)+
				" IN ('a', 'b'), or ask the owner for a budget with a delta",
				"the keys of %s are private, and a pure budget cannot release private keys", tree.Describe(e))
		}
		return nil
	}
	name := tree.Describe(e)
	if bad != nil {
		name = bad.Field.Describe()
	}
	if bad != nil && bad.Field.Source != nil && bad.Field.Source.Type == policy.Decimal {
		lowest, highest := "0", "100"
		if src := bad.Field.Source; src.Bounds != nil {
			lowest, highest = src.Show(src.Bounds.LoSteps), src.Show(src.Bounds.HiSteps)
		}
		instead := "group by width_bucket(" + name + ", " + lowest + ", " + highest + ", 10)"
		if t := bad.Field.Type; bad.Field.Source.Bounds != nil && t.Step != nil {
			width := new(big.Rat).SetInt(new(big.Int).Sub(t.Hi, t.Lo))
			if width.Mul(width, t.Step).Cmp(big.NewRat(maxGroups-1, 1)) < 0 {
				instead += " or floor(" + name + ")"
			}
		}
		return syntax.Refuse(syntax.Private, pos, instead+", or compare it in WHERE",
			"%s has no public keys: a value of a decimal can belong to a single person", name)
	}
	if bad != nil && bad.Field.Source != nil && bad.Field.Source.Bounds != nil {
		return syntax.Refuse(syntax.TooComplex, pos,
			"group by something coarser, or narrow "+name+" in WHERE, as in WHERE "+name+" >= ... AND "+name+" < ...",
			"%s can have more values than an answer can have groups, which is at most %d", name, expr.MaxDomain)
	}
	if bad != nil && (bad.Field.Type.Kind == tree.Date || bad.Field.Type.Kind == tree.Timestamp) {
		return syntax.Refuse(syntax.Private, pos, "narrow it, as in WHERE "+name+" >= '2024-01-01' AND "+name+
			" < '2025-01-01', or ask the owner to add bounds: [first, last] to the column in the policy",
			"%s has no public keys, because it has no bounds", name)
	}
	return syntax.Refuse(syntax.Private, pos, "list the values you want, as in WHERE "+name+
		" IN (...), group by another column, or ask the owner to add keys: [...] or keys: private to this one in the policy",
		"%s has no public keys", name)
}

// refuseCut refuses a key that was cut where texts which are cut could be one of its values.
func (kf *keyFinder) refuseCut(key tree.Key, n *pg.Node, targets []*pg.Node) error {
	long := func(v policy.Value) bool { return utf8.RuneCountInString(v.Text) >= maxCutText }
	if !key.Private && !slices.ContainsFunc(key.Values, long) {
		return nil
	}
	if i, ok := ordinal(n, len(targets)); ok {
		n = targets[i].GetResTarget().GetVal()
	}
	if ref := n.GetColumnRef(); ref != nil {
		name, err := columnName(ref)
		if aliased := aliasTarget(targets, name); err == nil && aliased != nil {
			n = aliased
		}
	}
	if joinedTexts(n) == nil {
		return nil
	}
	_, _, err := kf.in.readExact(n)
	return err
}

// readKey reads what is grouped by: an expression, a position, or a name of the SELECT list.
func (in *rowScope) readKey(n *pg.Node, targets []*pg.Node) (tree.Expr, error) {
	if k := n.GetAConst(); k != nil { // GROUP BY 1
		i, ok := ordinal(n, len(targets))
		if !ok {
			return nil, syntax.Refuse(syntax.BadReference, k.Location, "write the column's name", "this is not a column of the SELECT list")
		}
		n = targets[i].GetResTarget().GetVal()
	}
	e, _, err := readJoined(in, n)
	if ref := n.GetColumnRef(); err != nil && ref != nil {
		// As in PostgreSQL, a name that is no column may be one of the SELECT list's.
		if name, bad := columnName(ref); bad == nil {
			if aliased := aliasTarget(targets, name); aliased != nil && aliased.GetColumnRef() != ref {
				e, _, err = readJoined(in, aliased)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return in.env.normal(adoptText(e)), nil
}
