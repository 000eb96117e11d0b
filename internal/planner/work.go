package planner

import (
	"math"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// How long a question takes, and whether it ends in time, can be seen by whoever asks it. So what
// one person can add to its work is bounded by numbers that are public:
//
//  1. One private row meets at most so many rows of public tables, in all joins and subqueries
//     together: max_fanout of the policy. A question in which it could meet more is refused, before
//     it costs anything.
//  2. Public relations are joined with each other first, once, whatever private rows there are, and
//     have at most maxPublic rows.
//  3. Where rows of a person are multiplied, by rows of the same person or by public ones, they are
//     cut before ([tree.Cut]).
//
// It is found out at the end, from the finished tree, so that every way in which a question can be
// written comes to the same place. What is above a cut computes with fewer rows of some people, and
// nothing else about it changes.
type workLimiter struct {
	*verdict
	sizes  publicSizes
	counts *workCounts
	levels int // of the subqueries that are being looked at; see rowShare
}

// workCounts counts the work of all subqueries of a question together.
type workCounts struct {
	*verdict
	limit  int64 // of public rows for one private one
	read   int   // how many subqueries read rows of people who have many, and parts of unions once more
	looked int64 // at each of these rows, in the subqueries together, beside reading it
}

const (
	// maxPublicRows is how many rows come of joining public relations with each other, at most.
	maxPublicRows = 10_000_000
	// maxRowMultiple is by how much the rows of one person are multiplied at most, where they are
	// as many as a join may have.
	maxRowMultiple = 500
	// maxRowsPerJoinable is how many times as many there may be where they are hardly multiplied.
	maxRowsPerJoinable = 32
	// operationsPerLook is how many operations for a row count as looking at it once more.
	operationsPerLook = 8
	// looksToCut is how many looks it counts as to cut rows: to find each person's and choose among
	// them. Whoever has a million is done sooner with fewer operations than that if nothing is cut,
	// and so is everybody else.
	looksToCut = 5
	// looksToSort is what it counts as to choose among the values of a person.
	looksToSort = 16
	// maxOperationsMet is how many operations may be made for one private row with all public rows
	// that it meets: a millisecond.
	maxOperationsMet = 200_000
	// maxReads is how many subqueries of a question may read tables in which people have many rows:
	// each of them reads those of the person who has most.
	maxReads = 10
	// readsPerRepeat is how many of them it counts as where a union reads a table once more: all
	// its rows are there then, and not what was made of them for each person.
	readsPerRepeat = 2
	// maxLooks is how many times they look at such a row, all together.
	maxLooks = 20
	// repeated parts of a union are not cut up to this number: to read rows is not to multiply
	// them.
	maxUncutParts = 3
)

// load is what is known about the rows of a relation.
type load struct {
	rows int64 // of one person; of all, in a public relation
	met  int64 // how many public rows a private one has met
	size int64 // how many operations were made for a row since the rows of a person were cut
}

// newWorkLimiter also returns the check of what an engine can be asked, with the same verdict.
func newWorkLimiter(e *env, pos int32) (*workLimiter, *engineCheck) {
	v := &verdict{pos: pos}
	return &workLimiter{verdict: v, sizes: publicSizes{v, e.options.Public}, counts: &workCounts{verdict: v, limit: e.dataset.Fanout()}},
		&engineCheck{v, e.dataset.EngineLimits()}
}

// boundQuery bounds the work of a query, or refuses it.
func boundQuery(e *env, q *tree.Query, pos int32) error {
	w, engine := newWorkLimiter(e, pos)
	out := *q
	out.From, out.Where = sinkConditions(q.From, q.Where)
	from, l := w.relation(out.From)
	out.Keys, out.Measures = slices.Clone(q.Keys), slices.Clone(q.Measures)
	var c cost
	out.Where = w.expr(out.Where, &c, l.rows)
	for i := range out.Keys {
		out.Keys[i].Expr = w.expr(out.Keys[i].Expr, &c, l.rows)
	}
	chosen := int64(0) // statements of their own, which put a person's values into an order
	for i, m := range out.Measures {
		out.Measures[i].Arg = w.expr(m.Arg, &c, l.rows)
		if m.Kind == tree.Quantile || m.Kind == tree.CountDistinct {
			chosen++
		}
	}
	if chosen == 0 && len(q.PrivateKeys()) > 0 {
		chosen = 1
	}
	engine.check(q.From, expressions(q))
	if out.From = from; tree.Private(from) {
		out.From = w.cutToSort(from, l, c, chosen*looksToSort)
	}
	engine.limitLength(func() (int64, int64) { return StatementLength(&out) })
	if w.err == nil {
		*q = out
	}
	return w.err
}

// boundTable is boundQuery for rows to train on. Choosing a person's rows is a sort.
func boundTable(e *env, t *tree.Table, pos int32) error {
	w, engine := newWorkLimiter(e, pos)
	out := *t
	out.From, out.Where = sinkConditions(t.From, t.Where)
	from, l := w.relation(out.From)
	out.Columns = slices.Clone(t.Columns)
	var c cost
	out.Where = w.expr(out.Where, &c, l.rows)
	for i := range out.Columns {
		out.Columns[i].Expr = w.expr(out.Columns[i].Expr, &c, l.rows)
	}
	engine.check(t.From, tableExpressions(t))
	out.From = w.cutToSort(from, l, c, looksToSort)
	engine.limitLength(func() (int64, int64) { return tableLength(&out) })
	if w.err == nil {
		*t = out
	}
	return w.err
}

// relation bounds what is below, and says how many rows there are.
func (w *workLimiter) relation(r tree.Relation) (tree.Relation, load) {
	if !tree.Private(r) {
		return r, w.publicLoad(r)
	}
	switch r := r.(type) {
	case *tree.Scan:
		if r.Single() {
			return r, load{rows: 1, met: 1}
		}
		return r, load{rows: unlimited, met: 1}
	case *tree.Join:
		return w.join(r)
	case *tree.Select:
		return w.selection(r)
	case *tree.Union:
		return w.union(r)
	case *tree.Persons:
		w.counts.countRead(r.From)
		out := *r
		out.From, out.Where = sinkConditions(r.From, r.Where)
		from, l := w.relation(out.From)
		out.Parts, out.Keys = slices.Clone(r.Parts), slices.Clone(r.Keys)
		var c cost
		out.Where = w.expr(out.Where, &c, l.rows)
		distinct := int64(0)
		for i, p := range out.Parts {
			out.Parts[i].Arg = w.expr(p.Arg, &c, l.rows)
			if p.Kind == tree.PartDistinct {
				distinct++
			}
		}
		for i := range out.Keys {
			out.Keys[i] = w.expr(out.Keys[i], &c, l.rows)
		}
		c.rows = max(c.rows, distinct*looksToSort)
		w.counts.countLooks(l, c)
		out.From, l = w.cutBefore(from, l, c)
		if len(r.Keys) > 0 {
			return &out, l
		}
		return &out, load{rows: 1, met: 1}
	case *tree.Window:
		return w.window(r)
	}
	return r, load{rows: unlimited, met: 1}
}

// window bounds windows, for each of which a person's rows are put into an order.
func (w *workLimiter) window(r *tree.Window) (tree.Relation, load) {
	w.counts.countRead(r.From)
	out := *r
	out.From, out.Where = sinkConditions(r.From, r.Where)
	from, l := w.relation(out.From)
	var c cost
	out.Where = w.expr(out.Where, &c, l.rows)
	out.Calls = slices.Clone(r.Calls)
	for i := range out.Calls {
		o := &out.Calls[i]
		o.Arg, o.Otherwise = w.expr(o.Arg, &c, l.rows), w.expr(o.Otherwise, &c, l.rows)
		o.By, o.Order = slices.Clone(o.By), slices.Clone(o.Order)
		for k := range o.By {
			o.By[k] = w.expr(o.By[k], &c, l.rows)
		}
		for k := range o.Order {
			o.Order[k].By = w.expr(o.Order[k].By, &c, l.rows)
		}
	}
	sorts := int64(len(r.Calls))
	if r.Numbered(func(int) bool { return true }) {
		sorts++
	}
	c.rows = max(c.rows, sorts*looksToSort)
	w.counts.countLooks(l, c)
	out.From, l = w.cutBefore(from, l, c)
	return &out, l
}

func (w *workLimiter) selection(r *tree.Select) (*tree.Select, load) {
	out := *r
	out.From, out.Where = sinkConditions(r.From, r.Where)
	from, l := w.relation(out.From)
	out.Columns = slices.Clone(r.Columns)
	var c cost
	out.Where = w.expr(out.Where, &c, l.rows)
	for i := range out.Columns {
		out.Columns[i] = w.expr(out.Columns[i], &c, l.rows)
	}
	out.From, l = w.cutBefore(from, l, c)
	return &out, l
}

// union adds up. Rows that are read many times are multiplied too.
func (w *workLimiter) union(r *tree.Union) (tree.Relation, load) {
	out := *r
	out.Parts = nil
	sum, seen := load{}, map[*policy.Table]bool{}
	for _, p := range r.Parts {
		w.counts.countRepeats(p, seen)
		part, l := w.selection(p)
		if n := int64(len(r.Parts)); n > maxUncutParts {
			part.From, l = w.cutBefore(part.From, l, cost{rows: n})
		}
		out.Parts = append(out.Parts, part)
		sum = load{addCapped(sum.rows, l.rows), addCapped(sum.met, l.met), max(sum.size, l.size)}
	}
	w.counts.limitMeetings(sum.met)
	return &out, sum
}

func (w *workLimiter) join(j *tree.Join) (tree.Relation, load) {
	out := *j
	var l, r load
	out.L, l = w.relation(j.L)
	out.R, r = w.relation(j.R)
	var c cost
	n := len(j.L.Fields())
	switch {
	case !tree.Private(j.R):
		f := w.sizes.fanout(j.R, j.On, n)
		out.On = w.expr(j.On, &c, mulCapped(l.rows, f))
		w.counts.limitComputed(mulCapped(l.met, f), c)
		out.L, l = w.cutBefore(out.L, l, c.times(f))
		return &out, load{mulCapped(l.rows, f), mulCapped(l.met, f), addCapped(l.size, c.size)}
	case !tree.Private(j.L):
		f := w.sizes.fanout(j.L, j.On, 0)
		out.On = w.expr(j.On, &c, mulCapped(r.rows, f))
		w.counts.limitComputed(mulCapped(r.met, f), c)
		out.R, r = w.cutBefore(out.R, r, c.times(f))
		return &out, load{mulCapped(r.rows, f), mulCapped(r.met, f), addCapped(r.size, c.size)}
	}
	out.On = w.expr(j.On, &c, mulCapped(l.rows, r.rows))
	met := mulCapped(l.met, r.met)
	w.counts.limitMeetings(mulCapped(met, addCapped(1, c.public)))
	if j.Fans == countFans(j.L)+countFans(j.R) { // at most one row of a side fits, so nothing is multiplied but by On itself
		out.L, l = w.cutBefore(out.L, load{l.rows, 1, l.size}, cost{rows: c.looks()})
		out.R, r = w.cutBefore(out.R, load{r.rows, 1, r.size}, cost{rows: c.looks()})
		return &out, load{withoutPartner(j, max(l.rows, r.rows), l, r), met, addCapped(addCapped(l.size, r.size), c.size)}
	}
	out.L, l.rows, out.R, r.rows = w.cutPair(out.L, l.rows, out.R, r.rows, max(1, c.looks()))
	return &out, load{withoutPartner(j, mulCapped(l.rows, r.rows), l, r), met, addCapped(addCapped(l.size, r.size), c.size)}
}

// withoutPartner is how many rows of a person a join has where so many have a partner: in a FULL
// JOIN there may be those of both sides instead.
func withoutPartner(j *tree.Join, pairs int64, l, r load) int64 {
	if j.Full {
		return max(pairs, addCapped(l.rows, r.rows))
	}
	return pairs
}

// cutPair cuts the rows of a person on two sides of a join, each pair of which is looked at so many
// times.
func (w *workLimiter) cutPair(l tree.Relation, m int64, r tree.Relation, n, looks int64) (tree.Relation, int64, tree.Relation, int64) {
	most := mulCapped(min(tree.Joinable(l), tree.Joinable(r)), maxRowMultiple)
	switch {
	case m <= 1 || n <= 1 || mulCapped(mulCapped(m, n), looks) <= most:
		return l, m, r, n
	case mulCapped(n, looks) <= maxRowMultiple: // there are few on one side
		l, m = cutTo(l, m, rowsWithinLooks(l, mulCapped(n, looks)))
		return l, m, r, n
	case mulCapped(m, looks) <= maxRowMultiple:
		r, n = cutTo(r, n, rowsWithinLooks(r, mulCapped(m, looks)))
		return l, m, r, n
	}
	share := int64(math.Sqrt(float64(looks)))
	l, m = cutTo(l, m, max(1, tree.Joinable(l)/share))
	r, n = cutTo(r, n, max(1, tree.Joinable(r)/share))
	return l, m, r, n
}

// cutBefore cuts the rows of a person before each is looked at so many times, and refuses where a
// row meets too many public ones.
func (w *workLimiter) cutBefore(r tree.Relation, l load, c cost) (tree.Relation, load) {
	w.counts.limitMeetings(mulCapped(l.met, max(1, c.public)))
	w.counts.limitComputed(l.met, c)
	below := l.size
	l.size = addCapped(l.size, c.size)
	looks := max(c.rows, l.size/operationsPerLook)
	if c.rows <= 1 && looks < looksToCut || mulCapped(l.rows, looks) <= mulCapped(tree.Joinable(r), maxRowMultiple) {
		return r, l
	}
	if _, ok := r.(*tree.Window); !ok { // what it computes is not below the cut
		l.size -= below
	}
	r, l.rows = cutTo(r, l.rows, rowsWithinLooks(r, looks))
	return r, l
}

// cutToSort is cutBefore for rows that are also put into an order, which counts as so many looks.
func (w *workLimiter) cutToSort(r tree.Relation, l load, c cost, looks int64) tree.Relation {
	without, _ := w.cutBefore(r, l, c)
	c.rows = max(c.rows, looks)
	out, _ := w.cutBefore(r, l, c)
	if cut, ok := out.(*tree.Cut); ok && out != r && without == r {
		cut.Sorted = true
	}
	return out
}

// rowsWithinLooks is how many rows of a person may be looked at so many times each.
func rowsWithinLooks(r tree.Relation, looks int64) int64 {
	n := tree.Joinable(r)
	return max(1, min(mulCapped(n, maxRowMultiple)/looks, mulCapped(n, maxRowsPerJoinable)))
}

// cutTo cuts the rows of a person, of which there are so many. Those of windows are cut below the
// windows: above, not every field is one that a cut may choose by ([tree.Window]), and the row that
// has a number which WHERE asks for would be gone.
func cutTo(r tree.Relation, rows, most int64) (tree.Relation, int64) {
	if rows <= most {
		return r, rows
	}
	if w, ok := r.(*tree.Window); ok {
		out := *w
		if c, ok := w.From.(*tree.Cut); ok {
			out.From = c.From
		}
		out.From, rows = cutTo(out.From, rows, most)
		return &out, rows
	}
	return &tree.Cut{From: r, Rows: most}, most
}

// limitMeetings refuses where a private row can meet too many public ones.
func (wc *workCounts) limitMeetings(n int64) {
	if n > wc.limit {
		wc.fail(syntax.Refuse(syntax.TooComplex, wc.pos,
			"compare more columns of the public table, or its unique column, with = in JOIN ... ON or in the "+
				"subquery's WHERE; join fewer public tables; or ask the owner for a larger max_fanout",
			"one row of a person could meet %s of public tables here (at most %d are allowed: the time it takes would reveal "+
				"whether there is such a row)", formatRowsOrMore(n), wc.limit))
	}
}

// limitComputed refuses where so much is computed with each of the public rows that a private row
// meets that it can be timed.
func (wc *workCounts) limitComputed(met int64, c cost) {
	if n := mulCapped(met, c.size); met > 1 && n > maxOperationsMet {
		wc.fail(syntax.Refuse(syntax.TooComplex, wc.pos,
			"compute less with columns of both tables, or compute it before the join; shorten lists and patterns; or join fewer "+
				"public rows",
			"one row of a person could meet %s rows of public tables here, and the time it takes to compute with each of them would "+
				"reveal whether there is such a row", formatRows(met)))
	}
}

// countRead counts a subquery that reads rows of people who have many.
func (wc *workCounts) countRead(r tree.Relation) {
	if !r.Single() {
		wc.countReads(1)
	}
}

func (wc *workCounts) countReads(n int) {
	if wc.read += n; wc.read > maxReads {
		wc.fail(syntax.Refuse(syntax.TooComplex, wc.pos,
			"ask for less at once, or join one subquery grouped by the person, with several columns",
			"more than %d subqueries of this question read tables in which a person can have many rows, or its unions read one "+
				"repeatedly", maxReads))
	}
}

// countRepeats counts the tables of a part of a union that parts before it have read. In unions
// inside of each other all of them are multiplied, however few parts each has.
func (wc *workCounts) countRepeats(part tree.Relation, seen map[*policy.Table]bool) {
	found := tablesRead(part, nil)
	for _, t := range found {
		if seen[t] {
			wc.countReads(readsPerRepeat)
		}
	}
	for _, t := range found {
		seen[t] = true
	}
}

// tablesRead appends the tables that a relation reads in which a person can have many rows, each as
// often as it reads it. Those of subqueries in conditions are not among them.
func tablesRead(r tree.Relation, to []*policy.Table) []*policy.Table {
	switch r := r.(type) {
	case *tree.Scan:
		if tree.Private(r) && !r.Single() {
			to = append(to, r.Table)
		}
	case *tree.Join:
		to = tablesRead(r.R, tablesRead(r.L, to))
	case *tree.Select:
		to = tablesRead(r.From, to)
	case *tree.Persons:
		to = tablesRead(r.From, to)
	case *tree.Window:
		to = tablesRead(r.From, to)
	case *tree.Cut:
		to = tablesRead(r.From, to)
	case *tree.Union:
		for _, p := range r.Parts {
			to = tablesRead(p, to)
		}
	}
	return to
}

// countLooks counts what a subquery computes with rows of people who have many. Where they are cut
// it is the cutting.
func (wc *workCounts) countLooks(l load, c cost) {
	if l.rows < unlimited {
		return
	}
	if wc.looked += min(addCapped(l.size, c.size)/operationsPerLook, looksToCut); wc.looked > maxLooks {
		wc.fail(syntax.Refuse(syntax.TooComplex, wc.pos,
			"compute less in subqueries, or several columns in one subquery; or ask for less at once",
			"the subqueries of this question compute a lot with tables in which a person can have many rows, and the time it takes "+
				"would reveal whether somebody has very many"))
	}
}

// publicLoad says how many rows a public relation has. They are joined with each other once, and
// not for each private row.
func (w *workLimiter) publicLoad(r tree.Relation) load {
	rows := w.sizes.most(r, nil)
	var c cost
	read := int64(0) // by the largest table alone, which nobody can help
	switch r := r.(type) {
	case *tree.Join:
		read = max(w.publicLoad(r.L).rows, w.publicLoad(r.R).rows)
		w.expr(r.On, &c, 1)
	case *tree.Select:
		read = w.publicLoad(r.From).rows
		w.expr(r.Where, &c, 1)
		for _, e := range r.Columns {
			w.expr(e, &c, 1)
		}
	case *tree.Union:
		for _, p := range r.Parts {
			read = addCapped(read, w.publicLoad(p).rows)
		}
	default:
		return load{rows: rows}
	}
	if n := mulCapped(rows, max(1, c.public)); n > max(maxPublicRows, read) {
		w.fail(syntax.Refuse(syntax.TooComplex, w.pos, "compare columns of public tables with = in JOIN ... ON, or join fewer of them",
			"public tables are joined with each other first, and the result could have %s rows, which is more than %d", formatRows(n),
			int64(maxPublicRows)))
	}
	return load{rows: rows}
}

// formatRowsOrMore says how many rows there are, where counting has stopped: what else is joined
// comes on top.
func formatRowsOrMore(n int64) string {
	if n >= unlimited {
		return "any number of rows"
	}
	return strconv.FormatInt(n, 10) + " rows or more"
}

func formatRows(n int64) string {
	if n >= unlimited {
		return "any number of"
	}
	return strconv.FormatInt(n, 10)
}
