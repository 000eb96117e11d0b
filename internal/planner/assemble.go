package planner

import (
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// assemble makes the plan of what was read: the limits on what one person contributes, the measures
// in their canonical order, and the stats that are made of them.
func assemble(read *answerReader, distinct bool) (*tree.Plan, error) {
	in, groups, out, answer := read.in, read.groups, read.out, read.answer
	limit, err := groups.limit(in)
	if err != nil {
		return nil, err
	}
	if err := groups.refuseMaxRows(in.rows); err != nil {
		return nil, err
	}
	p := &tree.Plan{Columns: answer.columns, Having: answer.having, Order: answer.order, Limit: answer.limit, Ties: answer.ties,
		Offset: answer.offset, Distinct: distinct, Within: answer.within}
	p.Query = tree.Query{
		Dataset: in.env.dataset.Name, Neighbours: in.env.dataset.Neighbours, From: in.rows.Relation, Where: in.filter, Keys: groups.keys,
		RowLimit: groups.rowLimit(in.rows), GroupLimit: limit,
	}
	choice, err := (&chooser{in.env.calculator, groups, out, answer}).choose(p)
	if err != nil || choice {
		return p, err
	}
	people, err := (&placer{in: in, groups: groups, aggregates: read.aggregates, out: out}).place()
	if err != nil {
		return nil, err
	}
	if len(out.measures) == 0 && len(groups.keys) == 0 && people == nil && !out.known {
		instead := "add an aggregate, as in COUNT(*)"
		if isConstant(read.targets) {
			instead += "; only if the owner writes existence into the policy can you ask with LIMIT 1 whether there are rows"
		}
		return nil, syntax.Refuse(syntax.Private, firstLocation(read.targets), instead, "the question selects no aggregate")
	}
	if len(out.measures) > maxMeasures {
		return nil, syntax.Refuse(syntax.TooComplex, firstLocation(read.targets), "ask for fewer at a time",
			"the question has more than %d aggregates", maxMeasures)
	}
	p.Query.Measures, p.Stats = out.connect()
	flattener{in.env.calculator}.flatten(p)
	if err := showable(p, read.targets); err != nil {
		return nil, err
	}
	return p, proveTotal(&p.Query)
}

// connect puts measures into their canonical order, and says which of them each stat is made of.
func (rel *releases) connect() (measures []tree.Measure, stats []tree.Stat) {
	names := slices.Sorted(maps.Keys(rel.measures))
	for _, name := range names {
		measures = append(measures, rel.measures[name])
	}
	for _, d := range rel.stats {
		for _, place := range []struct {
			of   string
			into *int
		}{{d.measure, &d.Stat.Measure}, {d.count, &d.Stat.Count}, {d.square, &d.Stat.Square}} {
			if i, ok := slices.BinarySearch(names, place.of); ok {
				*place.into = i
			}
		}
		stats = append(stats, d.Stat)
	}
	return measures, stats
}

// maxMeasures bounds the aggregates of a question. They share its price, so far fewer make sense.
const maxMeasures = 200

// flattener takes subqueries away that change nothing, so that questions that mean the same are
// one.
type flattener struct{ calculator }

// flatten takes a subquery away that only names and filters: (SELECT age AS a FROM t WHERE c) is t
// where c. Its rows are t's rows where c is true, and it passes on whose they are and how many
// count, so the same rows come to the same groups. Where a column of it is computed, or a condition
// asks about other rows, it stays.
func (fl flattener) flatten(p *tree.Plan) {
	for {
		s, ok := p.Query.From.(*tree.Select)
		if !ok || p.Query.Choice != nil || !fl.moveBelow(&p.Query, s) {
			return
		}
		fl.sortParts(p)
	}
}

// moveBelow moves a query from a subquery to what the subquery is made from.
func (fl flattener) moveBelow(q *tree.Query, s *tree.Select) bool {
	out := *q
	ok := true
	move := func(x tree.Expr) tree.Expr {
		if x == nil {
			return nil
		}
		moved, fits := fl.rewrite(x, s)
		ok = ok && fits
		return moved
	}
	out.From, out.Where = s.From, s.Where
	if q.Where != nil {
		out.Where = move(q.Where)
		if s.Where != nil && ok {
			out.Where = fl.truth(&tree.Logic{Op: tree.And, Args: []tree.Expr{out.Where, s.Where}})
		}
	}
	out.Keys, out.Measures = slices.Clone(q.Keys), slices.Clone(q.Measures)
	for i, k := range q.Keys {
		out.Keys[i].Expr = move(k.Expr)
	}
	for i, m := range q.Measures {
		out.Measures[i].Arg = move(m.Arg)
	}
	if !ok || s.From.PersonRows() != s.PersonRows() || s.From.PersonGroups() != s.PersonGroups() || s.From.Single() != s.Single() {
		return false
	}
	*q = out
	return true
}

// sortParts puts keys and measures into their canonical order again.
func (fl flattener) sortParts(p *tree.Plan) {
	keys := sortIndexes(len(p.Query.Keys), func(a, b int) int {
		x, y := p.Query.Keys[a], p.Query.Keys[b]
		if x.Private != y.Private {
			if x.Private {
				return 1
			}
			return -1
		}
		return strings.Compare(fl.spell(x.Expr), fl.spell(y.Expr))
	})
	names := make([]string, len(p.Query.Measures))
	for i, m := range p.Query.Measures {
		names[i] = fl.spellMeasure(m)
	}
	measures := sortIndexes(len(names), func(a, b int) int { return strings.Compare(names[a], names[b]) })
	p.Query.Keys, p.Query.Measures = pick(p.Query.Keys, keys), pick(p.Query.Measures, measures)
	for i := range p.Stats {
		s := &p.Stats[i]
		if s.Kind == tree.KeyStat {
			s.Key = slices.Index(keys, s.Key)
			continue
		}
		for _, at := range []*int{&s.Measure, &s.Count, &s.Square} {
			*at = max(0, slices.Index(measures, *at))
		}
	}
}

// sortIndexes returns the numbers below n as a comparison sorts them.
func sortIndexes(n int, compare func(a, b int) int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, compare)
	return out
}

func pick[T any](all []T, at []int) []T {
	out := make([]T, len(at))
	for i, k := range at {
		out[i] = all[k]
	}
	return out
}

// rewrite writes an expression over a subquery's fields as one over the fields below it, where each
// is one of them.
func (fl flattener) rewrite(x tree.Expr, s *tree.Select) (tree.Expr, bool) {
	ok := true
	tree.WalkRow(x, func(x tree.Expr) { // what is inside of EXISTS counts its fields in another way
		switch x := x.(type) {
		case *tree.Column:
			_, plain := s.Columns[x.Index].(*tree.Column)
			ok = ok && plain
		case *tree.Exists:
			ok = false
		}
	})
	if !ok {
		return x, false
	}
	return fl.normal(expr.Replaced(x, func(x tree.Expr) tree.Expr {
		if c, ok := x.(*tree.Column); ok {
			return s.Columns[c.Index]
		}
		return nil
	})), true
}

func (fl flattener) flattenTable(t *tree.Table) {
	q := t.AsQuery()
	for {
		s, ok := q.From.(*tree.Select)
		if !ok || !fl.moveBelow(q, s) {
			break
		}
	}
	t.From, t.Where = q.From, q.Where
	for i, k := range q.Keys {
		t.Columns[i].Expr = k.Expr
	}
}

// proveTotal looks once more at everything that will run below the noise: no number in it is wider
// than an engine computes with. Every operation has made sure of that already; this is the one
// place that does not depend on them. It looks at whose rows are too.
func proveTotal(q *tree.Query) error {
	var err error
	copied := 0
	var each func(tree.Expr)
	var relation func(tree.Relation)
	each = func(e tree.Expr) {
		if e == nil {
			return
		}
		tree.Walk(e, func(x tree.Expr) {
			if _, wide := expr.Checked(x, -1); wide != nil {
				err = wide
			}
			if expr.Long(x) {
				copied++
			}
			if tree.Computes(x) && tree.CountAsked(x) > maxAsked {
				err = syntax.Refuse(syntax.TooComplex, -1, "compute with fewer of them at once, or put them into WHERE",
					"one computation contains more than %d subqueries", maxAsked)
			}
			switch x := x.(type) {
			case *tree.In:
				for _, l := range x.List {
					if _, wide := expr.Checked(l, -1); wide != nil {
						err = wide
					}
				}
			case *tree.Exists:
				relation(x.From)
				if tree.Private(x.From) && !expr.Linked(x.On, x.Outer) {
					err = syntax.Refuse(syntax.Private, -1, "write another condition",
						"a subquery over a private table must be about the same person as the outer row")
				}
			}
		})
	}
	relation = func(r tree.Relation) {
		if lost := checkOwner(r); lost != nil {
			err = lost
		}
		switch r := r.(type) {
		case *tree.Join:
			relation(r.L)
			relation(r.R)
			each(r.On)
		case *tree.Cut:
			relation(r.From)
		case *tree.Select:
			relation(r.From)
			each(r.Where)
			for _, c := range r.Columns {
				each(c)
			}
		case *tree.Union:
			for _, p := range r.Parts {
				relation(p)
			}
		case *tree.Persons:
			relation(r.From)
			each(r.Where)
			for _, p := range r.Parts {
				each(p.Arg)
			}
			for _, k := range r.Keys {
				each(k)
			}
		case *tree.Window:
			relation(r.From)
			each(r.Where)
			for _, o := range r.Calls {
				for _, e := range o.Expressions() {
					each(e)
				}
			}
		}
	}
	relation(q.From)
	each(q.Where)
	for _, k := range q.Keys {
		each(k.Expr)
	}
	for _, m := range q.Measures {
		each(m.Arg)
	}
	if err == nil && copied > expr.MaxLong {
		err = syntax.Refuse(syntax.TooComplex, -1, "take the beginning of the texts first, as in lower(left(name, 100))",
			"more than %d functions of this question work on texts of any length", expr.MaxLong)
	}
	return err
}

// maxAsked is how many subqueries may stand inside of one computation, which an engine then prints
// for each of their outcomes.
const maxAsked = 3

// checkOwner looks once more at whose rows are, as proveTotal does at numbers: a private relation
// has a unit that is an identity as it is stored, the parts of a union have it at one place, and
// private rows meet only where both are one person's.
func checkOwner(r tree.Relation) error {
	lost := func() error {
		return syntax.Refuse(syntax.Unsupported, -1, "ask in another way, and report this to the maintainers of Discreet",
			"the planner lost track of which person the rows belong to")
	}
	if u := r.Unit(); u >= 0 && !r.Fields()[u].Raw() {
		return lost()
	}
	switch r := r.(type) {
	case *tree.Join:
		if tree.Private(r.R) && (r.Left && !tree.Private(r.L) || tree.Private(r.L) && !expr.Linked(r.On, len(r.L.Fields()))) {
			return lost()
		}
		if r.Full && (!r.Left || r.Unit() != len(r.L.Fields())+len(r.R.Fields()) || !isFull(r.L, r.R, r.On)) {
			return lost()
		}
	case *tree.Persons:
		if !tree.Private(r.From) || r.Row[0].Identity != r.From.Fields()[r.From.Unit()].Identity {
			return lost()
		}
	case *tree.Window:
		if !tree.Private(r.From) || r.Whose != r.From.Unit() {
			return lost()
		}
	case *tree.Union:
		for _, p := range r.Parts {
			if p.Unit() != r.Unit() || len(p.Fields()) != len(r.Fields()) {
				return lost()
			}
		}
	}
	return nil
}

// chooser finds out whether an answer is a choice.
type chooser struct {
	calculator
	groups *groups
	out    *releases
	answer *answer
}

// choose recognises a selection: SELECT keys ... GROUP BY keys ORDER BY an aggregate LIMIT k, where
// the aggregate is not selected. Then no count is released but which groups are the best, at the
// price of k selections. The aggregate may be multiplied by a public number: a constant, or a key.
func (ch *chooser) choose(p *tree.Plan) (bool, error) {
	if ch.groups.otherSets || len(ch.answer.within) > 0 { // the best of all rows, or of those that are left
		return false, nil
	}
	a := ch.answer
	if len(ch.groups.keys) == 0 || len(a.order) != 1 || a.limit == nil || *a.limit < 1 || a.ties || a.having != nil || a.offset != 0 ||
		p.Distinct {
		return false, nil
	}
	for _, k := range ch.groups.keys {
		if k.Private {
			return false, nil
		}
	}
	for _, o := range ch.answer.columns {
		if ch.noisy(o.Expr) {
			return false, nil
		}
	}
	score, weight := ch.score(ch.answer.order[0].By)
	if score == nil {
		return false, nil
	}
	groups := p.Query.Groups()
	weights, ok := ch.weights(&p.Query, weight, ch.answer.order[0].Descending)
	if !ok {
		return false, nil
	}
	p.Query.Measures = []tree.Measure{ch.out.measures[ch.out.stats[score.Stat].measure]}
	p.Query.Choice = &tree.Choice{K: int(min(*ch.answer.limit, int64(groups))), Weights: weights}
	p.Order = nil
	for _, d := range ch.out.stats {
		p.Stats = append(p.Stats, d.Stat)
	}
	return true, proveTotal(&p.Query)
}

// noisy reports whether an expression names an aggregate.
func (ch *chooser) noisy(e tree.Expr) bool {
	found := false
	tree.Walk(e, func(x tree.Expr) {
		if r, ok := x.(*tree.Released); ok {
			found = found || !ch.out.stats[r.Stat].Kind.Exact()
		}
	})
	return found
}

// score splits an expression into a count or a sum and what it is multiplied by.
func (ch *chooser) score(e tree.Expr) (*tree.Released, tree.Expr) {
	switch x := e.(type) {
	case *tree.Rescale:
		return ch.score(x.X)
	case *tree.ToReal:
		return ch.score(x.X)
	case *tree.Released:
		d := ch.out.stats[x.Stat]
		if d.Kind == tree.MeasureStat && x.Part == tree.PartValue && ch.out.measures[d.measure].Kind != tree.Quantile {
			return x, nil
		}
	case *tree.Arith:
		if x.Op != tree.Mul {
			return nil, nil
		}
		for _, side := range [][2]tree.Expr{{x.L, x.R}, {x.R, x.L}} {
			if r, w := ch.score(side[0]); r != nil && w == nil && !ch.noisy(side[1]) {
				return r, side[1]
			}
		}
	}
	return nil, nil
}

// weights computes the public numbers that scores are multiplied by.
func (ch *chooser) weights(query *tree.Query, weight tree.Expr, descending bool) ([]int64, bool) {
	if weight == nil && descending {
		return nil, true
	}
	out := make([]int64, query.Groups())
	for g := range out {
		w := big.NewInt(1)
		if weight != nil {
			keys := query.Group(g)
			v := ch.compute(weight, func(x tree.Expr) tree.Value {
				i := ch.out.stats[x.(*tree.Released).Stat].Key
				return expr.FromKey(keys[i], query.Keys[i].Expr.Type())
			})
			switch v := v.(type) {
			case nil:
				w = new(big.Int) // a score of NULL is none
			case *big.Int:
				w = v
			}
			if _, real := v.(float64); real || w.CmpAbs(maxRowSteps) > 0 {
				return nil, false
			}
		}
		out[g] = w.Int64()
		if !descending {
			out[g] = -out[g]
		}
	}
	return out, true
}
