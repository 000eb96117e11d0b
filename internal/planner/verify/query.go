package verify

import (
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

func (c *queryChecker) checkQuery(q *tree.Query, why purpose) {
	c.must(q.Dataset == c.ds.Name && q.Neighbours == c.ds.Neighbours, "it is about another dataset, or another kind of neighbours")
	from := c.relations.relation(q.From)
	in := from.scope(q.From)
	c.locate("WHERE", func() { c.exprs.checkCondition(in, q.Where) })
	if why == told {
		c.checkAboutNobody(q, from)
	} else {
		c.must(from.unit >= 0, "rows of nobody")
		c.must(why != cells || from.single && len(q.Measures) == 1 && q.Measures[0].Kind == tree.CountRows,
			"cells that are not counts of people")
	}
	for _, k := range q.Keys {
		c.locate("a key", func() { c.checkKey(in, q, k, why) })
	}
	c.must(slices.IsSortedFunc(q.Keys, func(a, b tree.Key) int { return order(a.Private) - order(b.Private) }),
		"private keys do not come last")
	args := make([]fact, len(q.Measures))
	for i, m := range q.Measures {
		c.locate("a measure", func() { args[i] = c.measure(in, m) })
	}
	c.checkLimits(q, from)
	for i, m := range q.Measures {
		c.locate("a measure", func() { c.checkSensitivity(q, m, args[i]) })
	}
	c.checkTwins(q, from)
	c.checkChoice(q)
	c.checkDecider(q)
}

// checkDecider checks that a count which decides about private keys is a number of people: each
// adds 0 or 1 to one number for each combination, and all who are in it count.
func (c *queryChecker) checkDecider(q *tree.Query) {
	i := q.Decider()
	if i < 0 {
		return
	}
	private := 0
	for _, k := range q.Keys {
		c.must(k.Private || len(k.Values) == 1, "a combination of private keys has several numbers that decide")
		if k.Private {
			private++
		}
	}
	m := q.Measures[i]
	c.must(private > 0 && q.Choice == nil, "a count decides about private keys, and there are none")
	c.must(m.Arg == nil && (m.Kind == tree.CountPersons || m.Kind == tree.CountRows && q.MaxRows() == 1),
		"what decides about private keys is not a number of people")
}

func order(private bool) int {
	if private {
		return 1
	}
	return 0
}

// checkAboutNobody makes sure that a result which is told exactly is of one public table and
// nothing else.
func (c *queryChecker) checkAboutNobody(q *tree.Query, from rows) {
	s, ok := q.From.(*tree.Scan)
	c.must(ok && s.Table.Public && from.unit < 0 && len(from.private) == 0, "what is told exactly is not about a public table alone")
	c.must(q.Choice == nil && len(q.Keys) == 0, "what is told exactly is more than numbers")
	for _, e := range append([]tree.Expr{q.Where}, arguments(q.Measures)...) {
		c.must(e == nil || !asks(e), "what is told exactly has a subquery")
	}
}

func arguments(all []tree.Measure) (out []tree.Expr) {
	for _, m := range all {
		out = append(out, m.Arg)
	}
	return out
}

// asks reports whether there is a subquery in an expression.
func asks(e tree.Expr) bool {
	if _, ok := e.(*tree.Exists); ok {
		return true
	}
	return slices.ContainsFunc(parts(e), asks)
}

func (c *queryChecker) measure(in *scope, m tree.Measure) fact {
	if m.Arg == nil {
		c.must(m.Kind == tree.CountRows || m.Kind == tree.CountPersons, "a measure of nothing")
		return fact{}
	}
	arg := c.exprs.expr(in, m.Arg)
	switch m.Kind {
	case tree.CountValues, tree.CountPersons:
	case tree.CountDistinct:
		c.must(arg.kind != tree.Real && arg.kind != tree.Identity, "different values of %v are counted", arg.kind)
	case tree.Sum:
		c.sum(arg, 1)
		c.must(m.Arg.Type().Lo.CmpAbs(summed) <= 0 && m.Arg.Type().Hi.CmpAbs(summed) <= 0, "a sum of numbers beyond 2^53 steps")
	case tree.Quantile:
		c.must(arg.kind == tree.Number || arg.kind == tree.Date || arg.kind == tree.Timestamp, "quantiles of %v", arg.kind)
		lo, hi := span(m.Arg.Type())
		c.must(lo.IsInt64() && hi.IsInt64(), "quantiles of numbers beyond 64 bits")
		c.must(len(m.At) > 0 && slices.IsSortedFunc(m.At, (*big.Rat).Cmp), "quantiles out of order")
		for _, at := range m.At {
			c.must(at.Sign() >= 0 && at.Cmp(whole) <= 0, "a quantile that is not from 0 to 1")
		}
	default:
		c.fail("no measure that is known here")
	}
	return arg
}

// sum derives the sum of some rows, of which none need be there.
func (c *trail) sum(arg fact, rows int64) fact {
	c.must(arg.kind == tree.Number, "a sum of %v", arg.kind)
	if arg.never {
		return number(arg.step, zero, zero)
	}
	c.must(arg.lo.CmpAbs(summed) <= 0 && arg.hi.CmpAbs(summed) <= 0, "a sum of numbers beyond 2^53 steps")
	n := big.NewInt(rows)
	return number(arg.step, lower(zero, new(big.Int).Mul(n, arg.lo)), upper(zero, new(big.Int).Mul(n, arg.hi)))
}

// checkLimits compares how much of one person counts with what the policy allows. Where somebody
// may have several rows they are cut to it; where nobody may, nothing is cut, and it has to be so.
func (c *queryChecker) checkLimits(q *tree.Query, from rows) {
	private := from.unit >= 0
	c.must(q.Bounded() || !private || from.single, "rows of people with several are not cut")
	c.must(q.MaxRows() >= 1 && q.MaxRows() <= limited(from.limit), "of one person %d rows count, and at most %d may", q.MaxRows(),
		limited(from.limit))
	most := limited(from.groups)
	if from.single {
		most = 1
	}
	groups := int64(1)
	for _, k := range q.Keys {
		if !k.Private {
			groups *= int64(len(k.Values))
			c.must(groups >= 1 && groups <= policy.MaxPublicValues, "%d groups", groups)
		}
	}
	c.must(int64(q.Groups()) == groups, "there are %d groups, and %d are claimed", groups, q.Groups())
	if q.Choice != nil && !from.single {
		c.must(q.MaxGroups() == groups, "a person can be in all groups of a choice, and in %d is claimed", q.MaxGroups())
		return
	}
	c.must(q.MaxGroups() >= 1 && q.MaxGroups() <= most, "one person counts in %d groups, and may in %d", q.MaxGroups(), most)
}

// checkSensitivity compares what a person's part is clamped to, and how far it moves a measure,
// with what follows.
func (c *queryChecker) checkSensitivity(q *tree.Query, m tree.Measure, arg fact) {
	own := integers(0, q.MaxRows())
	switch m.Kind {
	case tree.CountPersons:
		own = integers(0, 1)
	case tree.Sum:
		own = c.sum(arg, q.MaxRows())
	}
	if m.Most != nil { // what an engine clamps the sum of a person's rows to, whatever they are
		c.must(m.Kind == tree.Sum && m.Most.Sign() > 0, "a bound on the sum of a person that is none")
		own.lo, own.hi = upper(own.lo, new(big.Int).Neg(m.Most)), lower(own.hi, m.Most)
	}
	// A sum is scaled before it is clamped, and by rows of the same person.
	c.must(m.Scaled == tree.Unscaled || (m.Scaled == tree.ByRows || m.Scaled == tree.ByValues) && m.Kind == tree.Sum && m.Most == nil &&
		q.Bounded(), "something is scaled that is no sum of a person's rows")
	lo, hi := q.Interval(m)
	c.must(lo.Sign() <= 0 && hi.Sign() >= 0, "a person without a row adds nothing, and that is not in the interval")
	c.must(lo.Cmp(own.lo) <= 0 && own.hi.Cmp(hi) <= 0, "one person adds between %v and %v to a group, and between %v and %v is claimed",
		own.lo, own.hi, lo, hi)
	for _, norm := range []dp.Norm{dp.L1, dp.L2} {
		claimed := q.Sensitivity(m, norm)
		have := claimed.L1
		if norm == dp.L2 {
			have = claimed.L2Squared
		}
		if need := distance(q, lo, hi, norm); have().Cmp(need) < 0 {
			c.fail("one person moves it by %v in the norm %v, and %v is claimed", need, norm, have())
		}
		if norm == dp.L1 {
			one := largestMove(c.ds.Neighbours, lo, hi)
			c.must(claimed.Each().Cmp(one) >= 0, "one person moves one group by %v, and %v is claimed", one, claimed.Each())
		}
	}
}

// largestMove is how far one person moves a single group: what a person adds there is from lo to
// hi, which hold 0, and is there or not, or becomes what another adds.
func largestMove(n dp.Neighbours, lo, hi *big.Int) *big.Int {
	if n == dp.AddRemove {
		return upper(new(big.Int).Abs(lo), hi)
	}
	return new(big.Int).Add(new(big.Int).Abs(lo), hi)
}

// distance is how far one person moves a measure, in the norm or its square: the largest distance
// of two vectors, over all places at which they can differ. A person's vector has at most C
// entries, each from lo to hi, which hold 0. Where one person is added, one such vector is; where
// one is replaced, an entry of the first and one of the second stand at the same place, and differ
// by at most hi - lo, or at two, and differ from 0 by at most the farther end. As many as possible
// at two places and the others at one, or all at one: between these the distance is linear.
func distance(q *tree.Query, lo, hi *big.Int, norm dp.Norm) *big.Int {
	far, apart := upper(new(big.Int).Neg(lo), hi), new(big.Int).Sub(hi, lo)
	if norm == dp.L2 {
		far, apart = new(big.Int).Mul(far, far), new(big.Int).Mul(apart, apart)
	}
	count := q.MaxGroups()
	if q.Neighbours == dp.AddRemove {
		return new(big.Int).Mul(big.NewInt(count), far)
	}
	places := 2 * count
	if !slices.ContainsFunc(q.Keys, func(k tree.Key) bool { return k.Private }) {
		places = min(places, int64(q.Groups()))
	}
	alone := places - count // of each of the two vectors
	spread := new(big.Int).Mul(big.NewInt(2*alone), far)
	spread.Add(spread, new(big.Int).Mul(big.NewInt(count-alone), apart))
	return upper(spread, new(big.Int).Mul(big.NewInt(count), apart))
}

func (c *queryChecker) checkChoice(q *tree.Query) {
	if q.Choice == nil {
		return
	}
	c.must(len(q.Measures) == 1 && q.Measures[0].Kind != tree.Quantile, "a choice by something else than one count or sum")
	c.must(!slices.ContainsFunc(q.Keys, func(k tree.Key) bool { return k.Private }), "a choice among private keys")
	c.must(q.Choice.K >= 1 && q.Choice.K <= q.Groups(), "a choice of %d among %d groups", q.Choice.K, q.Groups())
	c.must(q.Choice.Weights == nil || len(q.Choice.Weights) == q.Groups(), "%d weights for %d groups", len(q.Choice.Weights), q.Groups())
}

// checkHoldout checks that a person adds from 0 to Steps parts to a score.
func (c *queryChecker) checkHoldout(h *tree.Holdout) {
	q := &h.Query
	c.must(h.Of != nil && c.ds.Holdouts[h.Of.Name] == h.Of, "it is no holdout of the policy")
	c.must(len(q.Measures) == 1 && len(q.Keys) == 0 && q.Where == nil && q.Choice == nil && !q.Bounded(),
		"a score is one number, over everybody who is held out")
	scan, ok := q.From.(*tree.Scan)
	c.must(ok && scan.Table.Name == h.Of.Table, "it is about another table than is held out")
	lo, hi := q.Interval(q.Measures[0])
	step := new(big.Rat).SetInt64(1)
	if m := q.Measures[0]; m.Kind == tree.Sum {
		step = m.Arg.Type().Step
	}
	parts := new(big.Rat).Mul(step, new(big.Rat).SetInt64(h.Of.Steps))
	c.must(parts.IsInt() && parts.Num().IsInt64() && parts.Num().Int64() == h.Factor, "one step of it is claimed to be %d parts", h.Factor)
	c.must(lo.Sign() == 0 && new(big.Int).Mul(hi, parts.Num()).Cmp(big.NewInt(h.Of.Steps)) <= 0,
		"one person can add more than 1 to a score")
}

func (c *queryChecker) checkTable(t *tree.Table) {
	c.must(t.Dataset == c.ds.Name && t.Neighbours == c.ds.Neighbours, "it is about another dataset, or another kind of neighbours")
	from := c.relations.relation(t.From)
	in := from.scope(t.From)
	c.must(from.unit >= 0, "rows of nobody")
	c.locate("WHERE", func() { c.exprs.checkCondition(in, t.Where) })
	c.must(t.Bounded() || from.single, "rows of people with several are not cut")
	c.must(t.MaxRows() >= 1 && t.MaxRows() <= limited(from.limit), "of one person %d rows count, and at most %d may", t.MaxRows(),
		limited(from.limit))
	c.must(len(t.Columns) > 1, "a table without a feature or a target")
	for _, col := range t.Columns {
		c.locate("a column", func() { c.checkTrainedColumn(in, col) })
	}
}

// checkTrainedColumn checks a column of rows to train on: its codes are between its bounds, or
// places of public values.
func (c *queryChecker) checkTrainedColumn(in *scope, col tree.TableColumn) {
	f := c.exprs.expr(in, col.Expr)
	c.must(!f.derived && f.kind != tree.Identity && f.kind != tree.Real, "it is a real number, or says who or what a row is about")
	lo, hi, step := col.Bounds()
	if col.Values != nil {
		c.checkValues(f, col.Values)
		return
	}
	t := col.Expr.Type()
	c.must(f.kind == tree.Number || f.kind == tree.Date || f.kind == tree.Timestamp, "it has neither bounds nor public values")
	c.must(t.Lo != nil && t.Declared, "it has no public bounds")
	c.must(f.never || f.lo.CmpAbs(summed) <= 0 && f.hi.CmpAbs(summed) <= 0 && big.NewInt(lo).Cmp(f.lo) <= 0 &&
		f.hi.Cmp(big.NewInt(hi)) <= 0, "it leaves its bounds")
	c.must(f.kind != tree.Number && sameStep(step, whole) || sameStep(step, f.step), "its steps are not those that are claimed")
}

// checkTwins checks sums that are said to share what one person moves. For every value of x,
// whatever an engine takes it for, what is added to both after their clamps has to be within the
// claim: they add x less a constant and a constant less x, in steps of x, and are clamped to
// intervals that begin at 0 and are as long as the claim, and as the constants are apart. So one
// rises as the other falls, and where one is cut the other is at its end.
func (c *queryChecker) checkTwins(q *tree.Query, from rows) {
	pairs := q.Twins()
	if len(pairs) == 0 {
		return
	}
	c.must(c.ds.Neighbours == dp.AddRemove && from.single && from.unit >= 0 && q.Choice == nil,
		"sums share what a person moves who may have several rows, or is replaced")
	seen := map[int]bool{}
	for _, p := range pairs {
		up, down := q.Measures[p[0]], q.Measures[p[1]]
		c.must(!seen[p[0]] && !seen[p[1]] && p[0] != p[1], "a sum is in two pairs")
		seen[p[0]], seen[p[1]] = true, true
		c.must(up.Kind == tree.Sum && down.Kind == tree.Sum, "a pair that is not of sums")
		x, least := up.Arg, zero
		if a, ok := x.(*tree.Arith); ok && (a.Op == tree.Sub || a.Op == tree.Add) {
			if l, constant := a.R.(*tree.Literal); constant {
				x, least = a.L, l.Number
				c.must(sameStep(l.Typ.Step, x.Type().Step), "a constant in other steps")
				if a.Op == tree.Add {
					least = new(big.Int).Neg(l.Number)
				}
			}
		}
		b, ok := down.Arg.(*tree.Arith)
		c.must(ok && b.Op == tree.Sub && same(b.R, x), "two sums that are of different values")
		most, constant := b.L.(*tree.Literal)
		c.must(constant && sameStep(most.Typ.Step, x.Type().Step), "two sums that do not add up to a constant")
		width := new(big.Int).Sub(most.Number, least)
		for _, m := range []tree.Measure{up, down} {
			lo, hi := q.Interval(m)
			c.must(sameStep(m.Arg.Type().Step, x.Type().Step), "two sums in different steps")
			c.must(lo.Sign() == 0 && hi.Cmp(width) == 0, "a sum that is not clamped to what both come to")
		}
		c.must(q.TwinSensitivity(p).L1().Cmp(width) >= 0, "one person moves both sums further than is claimed")
	}
}

// People checks the query whose result is told exactly, because it is how many people there are and
// people are replaced and not added: one count, over the one table that has rows of people, each of
// whom has some, and of which none is left out by what it says.
func People(ds *policy.Dataset, q *tree.Query) error {
	return guarded(func() {
		c := newQueryChecker(ds)
		c.checkQuery(q, asked)
		c.must(ds.Neighbours == dp.Substitute && q.Neighbours == dp.Substitute, "how many people there are is private")
		scan, ok := q.From.(*tree.Scan)
		c.must(ok && q.Where == nil && len(q.Keys) == 0 && q.Choice == nil, "it is about some of the people")
		for _, t := range ds.Tables {
			c.must(t.Public || t.Name == scan.Table.Name, "somebody may be in another table alone")
		}
		t := ds.Tables[scan.Table.Name]
		c.must(t != nil && !t.Public && t.UnitKind != policy.NoUnit && len(t.Path) == 0, "its rows lead to people, or are about nobody")
		c.must(len(q.Measures) == 1 && q.Measures[0].Arg == nil, "it is more than one count")
		switch q.Measures[0].Kind {
		case tree.CountPersons:
		case tree.CountRows:
			c.must(t.UnitKind == policy.Row || t.UnitKind == policy.Unique, "somebody may have several rows")
		default:
			c.fail("it is no count of people")
		}
		c.must(t.CSV.RefuseBadLines || everyLine(ds, t), "a row may be left out for what is written in it")
	})
}

// everyLine reports whether a table is nowhere read from text, of which a line may be no row.
func everyLine(ds *policy.Dataset, t *policy.Table) bool {
	if t.Source != "" {
		return policy.IsParquet(t.Source)
	}
	return policy.IsDatabase(ds.Source) || policy.IsParquet(ds.Source)
}

// Cube checks the table that the sets of a GROUP BY are marginals of: that it is a query like
// others, that one person adds to one of its groups, and that each set has keys of it.
func Cube(ds *policy.Dataset, t *tree.Cube, sets []*tree.Plan) error {
	return guarded(func() {
		c := newQueryChecker(ds)
		c.checkQuery(&t.Query, asked)
		c.must(c.relations.relation(t.Query.From).single, "a table of people with several rows")
		c.must(t.Query.MaxGroups() == 1, "one person adds to %d groups of the table", t.Query.MaxGroups())
		c.must(t.Query.Choice == nil && len(t.Query.Measures) > 0, "a table of which nothing is released")
		for _, m := range t.Query.Measures {
			c.must(m.Kind == tree.CountRows || m.Kind == tree.CountValues || m.Kind == tree.Sum || m.Kind == tree.CountPersons,
				"a measure that does not add up")
		}
		c.must(len(t.Hidden) == len(t.Query.Keys), "keys that nobody knows whether to hide")
		for i, k := range t.Query.Keys {
			c.must(!k.Private && (!t.Hidden[i] || len(k.Values) > 1), "no value for all others")
		}
		c.must(len(t.Sets) == len(sets), "%d sets of %d", len(t.Sets), len(sets))
		for i, set := range t.Sets {
			c.locate("a set", func() { c.checkMarginal(t, set, &sets[i].Query) })
		}
	})
}

// checkMarginal checks that a set asks for the same about the same rows, by some keys of the table.
func (c *queryChecker) checkMarginal(t *tree.Cube, set []int, q *tree.Query) {
	c.must(len(set) == len(q.Keys) && len(q.Measures) == len(t.Query.Measures), "keys or measures are missing")
	for i, m := range q.Measures {
		other := t.Query.Measures[i]
		c.must(m.Kind == other.Kind && (m.Arg == nil) == (other.Arg == nil) && (m.Arg == nil || same(m.Arg, other.Arg)),
			"it measures something else")
	}
	for i, at := range set {
		c.must(at >= 0 && at < len(t.Query.Keys) && !slices.Contains(set[:i], at), "a key that there is not, or twice")
		k := t.Query.Keys[at]
		listed := k.Values
		if t.Hidden[at] {
			listed = listed[:len(listed)-1]
		}
		c.must(slices.EqualFunc(listed, q.Keys[i].Values, func(a, b policy.Value) bool { return a == b }), "a key with other values")
		own := k.Expr
		if e, ok := own.(*tree.Case); ok && t.Hidden[at] && len(e.Whens) == 1 && !same(own, q.Keys[i].Expr) {
			own = e.Whens[0].Then
		}
		c.must(same(own, q.Keys[i].Expr), "another key")
	}
}
