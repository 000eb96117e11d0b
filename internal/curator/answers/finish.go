package answers

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Finish makes the answer from what was released, and from public tables. It is post-processing: it
// sees nothing else.
func Finish(ctx context.Context, p *pricing.Priced, around *OuterQuery, released []*Released) (*api.Answer, error) {
	tables := map[int]*api.Answer{} // by the first plan of each
	known := map[int]*members{}
	plans := p.Statement.Plans
	all := make([]*finisher, len(plans))
	for i, by := range p.AnsweredBy {
		all[i] = &finisher{plan: plans[i], buy: p.Purchases[by], released: released[by], beta: p.Beta(), among: known,
			halves: map[half]int64{}, nonnegative: p.Settings.Counts != ""}
	}
	if err := computeLaws(ctx, all); err != nil {
		return nil, err
	}
	for end, i := len(plans), len(plans)-1; i >= 0; i-- { // an answer that chooses comes after the one it chooses from
		if plans[i].Continues {
			continue
		}
		parts := all[i:end]
		rows, err := shown(ctx, parts)
		if err != nil {
			return nil, err
		}
		if tables[i], err = table(ctx, p, parts, rows); err != nil {
			return nil, err
		}
		known[i], end = &members{rows: rows}, i
	}
	if around == nil {
		tables[0].Columns = announced(p.Statement, tables[0].Columns)
		return tables[0], nil
	}
	return around.run(ctx, &api.Answer{Confidence: p.Settings.Level()}, tables)
}

// table makes an answer of its parts: one, or the sets of a GROUP BY. What is above the noise is
// the same in all parts, and is read from the first.
func table(ctx context.Context, p *pricing.Priced, parts []*finisher, rows []*row) (*api.Answer, error) {
	q := parts[0].plan
	a := &api.Answer{Confidence: p.Settings.Level(), Columns: parts[0].columns()}
	for _, row := range rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		values, errs := make([]any, len(q.Columns)), make([]*float64, len(q.Columns))
		for i, o := range row.f.plan.Columns {
			v := expr.Eval(o.Expr, row.leaf)
			values[i] = show(v, o)
			if values[i] != nil {
				errs[i] = row.f.bars()[i].halfWidth(row, v)
			}
		}
		a.Rows, a.Errors = append(a.Rows, values), append(a.Errors, errs)
	}
	for _, f := range parts {
		q := &f.plan.Query
		if !q.ListsKeys() { // where nobody counts
			a.MaxRows, a.MaxGroups = max(a.MaxRows, q.MaxRows()), max(a.MaxGroups, q.MaxGroups())
			a.Cut = a.Cut || leavesOut(q)
		}
		for _, n := range f.notes() {
			if !slices.Contains(a.Notes, n) {
				a.Notes = append(a.Notes, n)
			}
		}
	}
	return a, nil
}

// leavesOut reports whether a limit on what one person counts can change a number. It cannot where
// all people of one group are counted once: one row of each is enough.
func leavesOut(q *tree.Query) bool {
	once := len(q.Keys) == 0 && q.Choice == nil && q.Joined() == 0
	for _, m := range q.Measures {
		once = once && m.Kind == tree.CountPersons && m.Arg == nil
	}
	return q.Bounded() && !once
}

// shown are the rows of an answer: those that others choose, HAVING, ORDER BY, DISTINCT, OFFSET and
// LIMIT.
func shown(ctx context.Context, parts []*finisher) ([]*row, error) {
	var rows []*row
	for _, f := range parts {
		for i := range f.groups() {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			row := f.row(i)
			if row.isChosen() && (f.plan.Having == nil || expr.Eval(f.plan.Having, row.leaf) == true) {
				rows = append(rows, row)
			}
		}
	}
	q := parts[0].plan
	if len(q.Order) > 0 {
		for _, r := range rows {
			for _, o := range r.f.plan.Order {
				r.order = append(r.order, expr.Eval(o.By, r.leaf))
			}
		}
		slices.SortStableFunc(rows, func(a, b *row) int { return expr.CompareOrdered(q.Order, a.order, b.order) })
	}
	if q.Distinct {
		rows = distinct(rows)
	}
	rows = rows[min(q.Offset, int64(len(rows))):]
	if q.Limit != nil && *q.Limit < int64(len(rows)) {
		n := int(*q.Limit)
		for q.Ties && n > 0 && n < len(rows) && expr.CompareOrdered(q.Order, rows[*q.Limit-1].order, rows[n].order) == 0 {
			n++
		}
		rows = rows[:n]
	}
	return rows, nil
}

// distinct leaves out rows that look like one before them.
func distinct(rows []*row) []*row {
	seen := map[string]bool{}
	return slices.DeleteFunc(rows, func(r *row) bool {
		text := ""
		for _, o := range r.f.plan.Columns {
			text += fmt.Sprintf("%q ", fmt.Sprint(show(expr.Eval(o.Expr, r.leaf), o)))
		}
		defer func() { seen[text] = true }()
		return seen[text]
	})
}

// notes are the sentences about an answer that follow from what it is made of.
func (f *finisher) notes() []string {
	var out []string
	add := func(format string, args ...any) {
		if s := fmt.Sprintf(format, args...); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	for _, s := range f.plan.Stats {
		if s.Kind == tree.PeopleStat {
			add("%s", pricing.SayPeople(*s.People))
		}
	}
	if f.plan.Query.ListsKeys() && len(f.plan.Query.Keys) == 0 {
		return out // it is about nobody
	}
	if f.plan.Query.ListsKeys() && len(f.plan.Within) > 0 {
		add("these are some of the keys that the policy and the question allow; another noisy answer chose which")
		return out
	}
	if f.plan.Query.ListsKeys() {
		add("these are the keys that the policy and the question allow, whether or not the data has them: free and exact")
		return out
	}
	for i, k := range f.plan.Query.Keys {
		if expr.LeavesOutNull(&f.plan.Query, k) {
			add("rows where %s is NULL are in no group; group by coalesce(...) to include them", f.keyName(i))
		}
	}
	for _, s := range f.plan.Stats {
		if s.Note != "" {
			add("%s", s.Note)
		}
	}
	for i, n := range f.buy.Noise {
		if n.Quantiles != nil {
			m := f.plan.Query.Measures[i]
			add("%s: in each group a value's rank is within %.0f of the one asked for, with probability %v; how far off that is in "+
				"values depends on the data",
				m.Describe(), n.Quantiles.RankError(f.beta), SixDecimals(1-f.beta))
		}
	}
	for i, n := range f.buy.Noise {
		if n.Running != nil {
			m := f.plan.Query.Measures[i]
			add("%s: a running total is within %.6g, with probability %v", m.Describe(),
				pricing.Scaled(big.NewInt(n.Running.TotalNoise().HalfWidth(f.beta)), m.Step()), SixDecimals(1-f.beta))
		}
	}
	for _, m := range f.plan.Query.Measures {
		if m.Most != nil {
			add("%s: one person adds at most %v to a group (max_sum); error bars leave out the bias of this limit", m.Describe(),
				pricing.Scaled(m.Most, m.Step()))
		}
	}
	if len(f.plan.Within) > 0 {
		add("all groups were paid for; another noisy answer chose which are shown")
	}
	f.personCuts(f.plan.Query.From, add)
	if text := pricing.SayJoined(&f.plan.Query); text != "" {
		add("%s; error bars leave out the bias of this limit", text)
	}
	if u := f.released.Through; u != nil {
		add("%s", sayThrough(u))
	}
	if d := f.released.Derived; d != 0 {
		add("computed from answers that were paid for before (record %d)", d)
	}
	if k := f.buy.Keys; k != nil {
		add("a combination of private keys is shown when enough people have it: with probability %v when %d people have it",
			pricing.KeptProbability, k.KeptFrom())
		if slices.ContainsFunc(f.buy.Noise, func(n pricing.Noise) bool { return n.Decides }) {
			add("a count decides whether its key is shown, so a count near %d is more often too large than too small: error bars "+
				"hold for all keys together, including those that are not shown", k.Threshold.Threshold())
		}
		if f.released.Dropped > 0 {
			add("%d combinations of keys with fewer people are left out, because no more can be kept", f.released.Dropped)
		}
	}
	return out
}

// keyName is how the answer calls what is grouped by. How the tree spells it is nothing that the
// analyst has written.
func (f *finisher) keyName(key int) string {
	for i, o := range f.plan.Columns {
		r, ok := o.Expr.(*tree.Released)
		if !ok || f.plan.Stats[r.Stat].Kind != tree.KeyStat || f.plan.Stats[r.Stat].Key != key {
			continue
		}
		if strings.HasPrefix(o.Name, planner.AnswerPrefix) { // below a SELECT around it, which has its own
			continue
		}
		return f.columnName(i)
	}
	if c, ok := f.plan.Query.Keys[key].Expr.(*tree.Column); ok {
		return c.Field.Name
	}
	return "the expression in GROUP BY"
}

// columnName is what an answer calls a column, or which one it is.
func (f *finisher) columnName(i int) string {
	if name := f.plan.Columns[i].Name; name != "" && name != "?column?" {
		return name
	}
	return fmt.Sprintf("column %d", i+1)
}

// personCuts says where a subquery with one row for each person cuts what the person has: the row
// is single, so the sentence about rows and groups is not said, and the limit of the policy holds
// all the same.
func (f *finisher) personCuts(r tree.Relation, add func(string, ...any)) {
	switch r := r.(type) {
	case *tree.Join:
		f.personCuts(r.L, add)
		f.personCuts(r.R, add)
	case *tree.Union:
		for _, p := range r.Parts {
			f.personCuts(p, add)
		}
	case *tree.Cut:
		f.personCuts(r.From, add)
	case *tree.Select:
		f.personCuts(r.From, add)
	case *tree.Persons:
		f.personCuts(r.From, add)
		for i, p := range r.Parts {
			sayPart(p, r.Fields()[r.First()+i].Type, r.From.Single(), add)
		}
	case *tree.Window:
		f.personCuts(r.From, add)
		for i, o := range r.Calls {
			sayPart(o.Part, r.Fields()[len(r.From.Fields())+i].Type, r.From.Single(), add)
		}
	}
}

// sayPart says where one number about a person's rows is cut.
func sayPart(p tree.Part, t tree.Type, single bool, add func(string, ...any)) {
	switch {
	case single || p.Uncut:
	case p.Kind == tree.PartRows || p.Kind == tree.PartValues || p.Kind == tree.PartDistinct:
		add("in the subquery, the policy's max_rows limits a person's count to %v; error bars leave out the bias of this limit", t.Hi)
	case p.Kind == tree.PartNumber || p.Kind == tree.PartRank || p.Kind == tree.PartDense:
		add("in the subquery, the policy's max_rows limits the number of a person's row to %v: later rows have that number too", t.Hi)
	case p.Kind == tree.PartSum:
		add("in the subquery, the policy's bounds and max_rows keep a person's sum from %v to %v; error bars leave out the bias of "+
			"this limit", pricing.Scaled(t.Lo, t.Step), pricing.Scaled(t.Hi, t.Step))
	}
}

// SixDecimals rounds a probability to what is worth showing of it.
func SixDecimals(f float64) float64 { return float64(int(f*1e6+0.5)) / 1e6 }

// sayThrough says in words how an answer went through a stream.
func sayThrough(u *api.Through) string {
	text := fmt.Sprintf("answered through the stream %s, ", u.Stream)
	switch {
	case u.Paid == 0:
		text += "free"
	case u.Cost == (dp.Cost{}):
		text += "paid for by an earlier round"
	case u.Free == 0:
		text += "paid"
	default:
		text += fmt.Sprintf("of %d counts %d free and %d paid", u.Asked, u.Free, u.Paid)
	}
	return text + fmt.Sprintf("; each of its counts is within %d, all of them together with probability "+
		"%v", u.Error, SixDecimals(u.Confidence))
}

// members are the rows of an answer that chooses among those of another.
type members struct {
	rows []*row
	in   map[string]map[string]bool // their values, by the columns that they are of
}

// isChosen reports whether the keys of a row are in all answers that choose. NULL is in none.
func (r *row) isChosen() bool {
	for _, a := range r.f.plan.Within {
		if text, ok := r.spelled(a.By); !ok || !r.f.among[a.Answer].values(a.Columns)[text] {
			return false
		}
	}
	return true
}

func (m *members) values(columns []int) map[string]bool {
	name := fmt.Sprint(columns)
	if known, ok := m.in[name]; ok {
		return known
	}
	out := map[string]bool{}
	for _, r := range m.rows {
		of := make([]tree.Expr, len(columns))
		for i, c := range columns {
			of[i] = r.f.plan.Columns[c].Expr
		}
		if text, ok := r.spelled(of); ok {
			out[text] = true
		}
	}
	if m.in == nil {
		m.in = map[string]map[string]bool{}
	}
	m.in[name] = out
	return out
}

// spelled writes values so that equal ones are written alike; not where one of them is NULL.
func (r *row) spelled(of []tree.Expr) (string, bool) {
	text := ""
	for _, e := range of {
		switch v := expr.Eval(e, r.leaf).(type) {
		case nil:
			return "", false
		case *big.Int:
			text += new(big.Rat).Mul(new(big.Rat).SetInt(v), e.Type().Step).RatString() + " "
		default:
			text += fmt.Sprintf("%q ", fmt.Sprint(v))
		}
	}
	return text, true
}

// Released is what came of a purchase: noisy integers, and keys and groups that a mechanism has
// chosen. It is public.
type Released struct {
	// Measures are the noisy vectors; nil for quantiles. Quantiles are, for each measure that is
	// one, those of each group.
	Measures  [][]int64
	Quantiles [][][]int64
	// Off is, for each measure of what was released together with others, by how many steps more
	// than its noise says a number may be off, because all are rounded to agree with each other.
	// It is nil elsewhere.
	Off []int64
	// Keys are the combinations of private keys that are shown, sorted.
	Keys [][]policy.Value
	// Dropped is how many more were released than the ledger can keep.
	Dropped int
	// Chosen are the groups of a choice, best first.
	Chosen []int

	// Sequence is the charge that paid for it, where that was before. The rest is for what was made
	// of another purchase's values: which charge paid for these, the noise in them, and how many of
	// them are in each group.
	Sequence uint64
	Derived  uint64
	Noise    []pricing.Noise
	Cells    []int
	// What came through a stream has no noise of its own: it says how, what it charged, and how far
	// each number may be off.
	Through *api.Through
	Receipt api.Receipt
	Halves  [][]int64
}

// OffBy is Off of a measure, and 0 where there is none.
func (r *Released) OffBy(measure int) int64 {
	if r.Off == nil {
		return 0
	}
	return r.Off[measure]
}
