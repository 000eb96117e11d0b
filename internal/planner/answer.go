package planner

import (
	"math/big"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// answer is what is made of released values: the columns that are shown, and of which groups.
type answer struct {
	columns []tree.Output
	having  tree.Expr
	order   []tree.Order
	limit   *int64
	ties    bool
	offset  int64
	within  []tree.Among
}

// answerReader reads what is above the noise, and adds the aggregates that it names to what is
// released.
type answerReader struct {
	in         *rowScope
	groups     *groups
	aggregates *aggregator
	out        *releases
	answer     *answer
	targets    []*pg.Node
	ungrouped  syntax.Kind // of what is wrong with a column that is no key
}

func newAnswerReader(in *rowScope, groups *groups, targets []*pg.Node) *answerReader {
	out := newReleases(in.env)
	return &answerReader{in: in, groups: groups, aggregates: &aggregator{in: in, groups: groups, out: out}, out: out, answer: &answer{},
		targets: targets}
}

func (ar *answerReader) meter() *meter.Meter   { return ar.in.env.meter() }
func (ar *answerReader) beyond() *beyondBounds { return ar.in.env.beyond() }

// read reads the clauses in the order in which names of the one may stand in the other.
func (ar *answerReader) read(s *pg.SelectStmt, chosen []*choosingAnswer) error {
	ar.ungrouped = syntax.Grouping
	if !isAggregated(s) {
		ar.ungrouped = syntax.Private // rows are asked for
	}
	for _, clause := range []func(*pg.SelectStmt) error{ar.readColumns, refuseDistinctOn, ar.readHaving, ar.readOrder, ar.readLimit} {
		if err := clause(s); err != nil {
			return err
		}
	}
	return ar.readWithin(chosen)
}

// longestListed is how long the texts of a released key are, or 0.
func (ar *answerReader) longestListed(_ *pg.Node, e tree.Expr) (longest int) {
	r, ok := e.(*tree.Released)
	if !ok || ar.out.stats[r.Stat].Kind != tree.KeyStat {
		return 0
	}
	for _, v := range ar.groups.keys[ar.out.stats[r.Stat].Key].Values {
		longest = max(longest, utf8.RuneCountInString(v.Text))
	}
	return longest
}

func (ar *answerReader) readOrder(s *pg.SelectStmt) error {
	for _, n := range s.SortClause {
		o, err := sortOrder(n)
		if err != nil {
			return err
		}
		if o.By, err = ar.readOrderItem(n.GetSortBy().Node); err != nil {
			return err
		}
		ar.answer.order = append(ar.answer.order, o)
	}
	return nil
}

// readOrderItem reads a position, a name of the SELECT list, or an expression on released values.
func (ar *answerReader) readOrderItem(n *pg.Node) (tree.Expr, error) {
	if k := n.GetAConst(); k != nil {
		i, ok := ordinal(n, len(ar.answer.columns))
		if !ok {
			return nil, syntax.Refuse(syntax.BadReference, k.Location, "write the column's name or position",
				"this is not a column of the SELECT list")
		}
		return ar.answer.columns[i].Expr, nil
	}
	if ref := n.GetColumnRef(); ref != nil {
		if name, err := columnName(ref); err == nil {
			if i := ar.outputIndex(name); i >= 0 {
				return ar.answer.columns[i].Expr, nil
			}
		}
	}
	e, err := checkExpr(answerScope{answerReader: ar, named: true}, n)
	if err == nil {
		err = expr.CheckLevels(e, syntax.Location(n))
	}
	return e, err
}

// outputIndex finds a column of the SELECT list by its name.
func (ar *answerReader) outputIndex(name string) int {
	return slices.IndexFunc(ar.answer.columns, func(o tree.Output) bool { return strings.EqualFold(o.Name, name) })
}

func (ar *answerReader) readLimit(s *pg.SelectStmt) error {
	for _, l := range []struct {
		node *pg.Node
		set  func(int64)
		what string
	}{
		{s.LimitCount, func(n int64) { ar.answer.limit = &n }, "LIMIT"},
		{s.LimitOffset, func(n int64) { ar.answer.offset = n }, "OFFSET"},
	} {
		if l.node == nil || l.node.GetAConst().GetIsnull() { // LIMIT ALL
			continue
		}
		v, ok := l.node.GetAConst().GetVal().(*pg.A_Const_Ival)
		if !ok || v.Ival.GetIval() < 0 {
			return syntax.Refuse(syntax.BadValue, syntax.Location(l.node), "write a whole number from 0 to 2147483647",
				"%s takes a constant number of rows", l.what)
		}
		l.set(int64(v.Ival.GetIval()))
	}
	ar.answer.ties = withTies(s)
	return nil
}

func (ar *answerReader) readColumns(s *pg.SelectStmt) error {
	for _, n := range s.TargetList {
		t := n.GetResTarget()
		e, err := checkExpr(answerScope{answerReader: ar}, t.GetVal())
		if err != nil {
			return err
		}
		if err := expr.CheckLevels(e, syntax.Location(t.GetVal())); err != nil {
			return err
		}
		name := t.GetName()
		if name == "" {
			name = targetName(t.GetVal())
		}
		if r, ok := e.(*tree.Released); ok && t.GetName() == "" {
			if c, ok := ar.groups.keyOf(ar.out.stats[r.Stat]).(*tree.Column); ok && c.Field.Name != "" {
				name = c.Field.Name
			}
		}
		e = adoptText(e)
		ar.answer.columns = append(ar.answer.columns, tree.Output{Name: name, Expr: expr.Plain(e), Cast: castTo(t.GetVal(), e)})
	}
	if len(s.TargetList) == 0 {
		return syntax.Refuse(syntax.Unsupported, -1, "add an aggregate, as in COUNT(*)", "the question selects nothing")
	}
	return nil
}

func (ar *answerReader) readHaving(s *pg.SelectStmt) (err error) {
	if s.HavingClause != nil {
		if ar.answer.having, err = checkCondition(answerScope{answerReader: ar, named: true}, s.HavingClause); err == nil {
			err = expr.CheckLevels(ar.answer.having, syntax.Location(s.HavingClause))
		}
	}
	return err
}

// refuseDistinctOn reads SELECT DISTINCT, which is about released rows; over rows it would show
// keys, so it groups.
func refuseDistinctOn(s *pg.SelectStmt) error {
	if len(s.DistinctClause) > 0 && s.DistinctClause[0].GetNode() != nil {
		return syntax.Refuse(syntax.Unsupported, firstLocation(s.DistinctClause), "use GROUP BY", "DISTINCT ON cannot be used")
	}
	return nil
}

// answerScope is the scope above the noise: released keys and aggregates.
type answerScope struct {
	*answerReader
	// named says that a name which is no key may be one of the SELECT list's: in HAVING and ORDER
	// BY.
	named bool
}

// whole recognises what is grouped by.
func (s answerScope) whole(n *pg.Node) (tree.Expr, bool) {
	if len(s.groups.keys)+len(s.groups.without) == 0 || n.GetAConst() != nil {
		return nil, false
	}
	e, inexact, err := readJoined(s.in, n)
	if err != nil {
		return nil, false
	}
	e = s.in.env.normal(adoptText(e))
	if i := s.groups.keyIndex(e); i >= 0 {
		return restoreReal(s.released(s.addKey(i)), inexact), true
	}
	if i, ok := s.addAbsent(e); ok {
		return restoreReal(s.released(i), inexact), true
	}
	return nil, false
}

func (s answerScope) column(name string, pos int32) (tree.Expr, error) {
	if i := s.outputIndex(name); s.named && i >= 0 {
		return s.answer.columns[i].Expr, nil
	}
	c, err := s.in.rows.resolve(name, pos)
	if err != nil {
		return nil, err
	}
	return nil, syntax.Refuse(s.ungrouped, pos, "put it into GROUP BY or inside an aggregate such as COUNT, SUM or AVG",
		"%s is not in GROUP BY, and values of single rows cannot be shown", c.Field.Describe())
}

func (s answerScope) call(f *pg.FuncCall) (tree.Expr, error) {
	if part, ok := intervals[functionName(f)]; ok {
		return s.readInterval(f, part)
	}
	if expr.Lookup(functionName(f)) != nil {
		return checkCall(s, f)
	}
	e, err := s.aggregates.value(f, tree.PartValue)
	if err != nil {
		return nil, err
	}
	return restoreReal(e, s.aggregates.inexact(f)), nil
}

func (s answerScope) sublink(l *pg.SubLink) (tree.Expr, error) {
	return nil, syntax.Refuse(syntax.Unsupported, l.Location, "ask it in FROM, as in SELECT ... FROM (SELECT ...) AS a, (SELECT ...) AS b",
		"a subquery cannot be used in SELECT, HAVING or ORDER BY of a question about private rows")
}

// groupingOf reads GROUPING(a, b, ...): a bit for each, the first the highest, that is set where
// the row is not grouped by it.
func (s answerScope) groupingOf(f *pg.GroupingFunc) (tree.Expr, error) {
	if len(f.Args) > 31 {
		return nil, syntax.Refuse(syntax.TooComplex, f.Location, "give it fewer", "GROUPING takes at most 31 arguments")
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
			return nil, syntax.Refuse(syntax.Grouping, syntax.Location(n), "name something from GROUP BY",
				"GROUPING takes columns or expressions of "+
					"GROUP BY")
		}
		bits++
	}
	most := new(big.Int).Lsh(big.NewInt(1), uint(len(f.Args)))
	typ := tree.NumberType(tree.One, new(big.Int), most.Sub(most, big.NewInt(1)), true)
	return s.released(s.out.add(statDraft{Stat: tree.Stat{Kind: tree.GroupingStat, Bits: bits, Key: len(f.Args), Typ: typ}})), nil
}

func (ar *answerReader) released(i int) tree.Expr {
	return &tree.Released{Stat: i, Typ: ar.out.stats[i].Typ}
}

// addKey returns the index of the released key.
func (ar *answerReader) addKey(i int) int {
	return ar.out.add(statDraft{Stat: tree.Stat{Kind: tree.KeyStat, Key: i, Typ: ar.groups.keys[i].Expr.Type()}})
}

func (ar *answerReader) addAbsent(e tree.Expr) (int, bool) {
	name := ar.in.env.spell(e)
	i := slices.IndexFunc(ar.groups.without, func(x tree.Expr) bool { return ar.in.env.spell(x) == name })
	if i < 0 {
		return 0, false
	}
	key := ar.groups.without[i]
	return ar.out.add(statDraft{Stat: tree.Stat{Kind: tree.AbsentStat, Key: i, Of: key, Typ: key.Type()}}), true
}

// readInterval reads dp_low(x), dp_high(x) and dp_error(x) of an aggregate.
func (ar *answerReader) readInterval(f *pg.FuncCall, part tree.ReleasedPart) (tree.Expr, error) {
	if len(f.Args) != 1 || f.Args[0].GetFuncCall() == nil || f.AggStar {
		return nil, syntax.Refuse(syntax.NoFunction, f.Location, "write for example dp_error(COUNT(*))", "%s takes one aggregate",
			functionName(f))
	}
	return ar.aggregates.value(f.Args[0].GetFuncCall(), part)
}

var intervals = map[string]tree.ReleasedPart{"dp_low": tree.PartLow, "dp_high": tree.PartHigh, "dp_error": tree.PartError}

// readWithin says which rows are shown: those whose keys are in the answers.
func (ar *answerReader) readWithin(all []*choosingAnswer) error {
	for _, c := range all {
		w := tree.Among{Columns: c.columns}
		for i, n := range c.by {
			e, err := checkExpr(answerScope{answerReader: ar}, n)
			if err != nil {
				return err
			}
			r, ok := e.(*tree.Released)
			if !ok || ar.out.stats[r.Stat].Kind != tree.KeyStat || r.Part != tree.PartValue {
				return syntax.Refuse(syntax.Unsupported, syntax.Location(n), "add it to GROUP BY, in every grouping",
					"rows can only be joined with an answer on columns they are grouped by")
			}
			if other := c.plans[0].Columns[c.columns[i]].Expr.Type(); other.Kind != e.Type().Kind {
				return syntax.Refuse(syntax.NoFunction, syntax.Location(n), "compare columns of the same type",
					"the two sides of this comparison with "+
						"an answer have different types")
			}
			w.By = append(w.By, e)
		}
		ar.answer.within = append(ar.answer.within, w)
	}
	return nil
}

// maxShowTime is how long it may take to compute what is shown of all groups once they are
// released. That is paid for by then, so it is bounded before.
const maxShowTime = meter.MostTime

// assumedPrivateGroups is for how many groups that is where nobody knows how many there are.
const assumedPrivateGroups = 10_000

// showable refuses a plan whose columns, HAVING and ORDER BY take too long to compute.
func showable(p *tree.Plan, targets []*pg.Node) error {
	groups, longest := p.Query.Groups(), maxShownBytes
	for _, k := range p.Query.Keys {
		if k.Private {
			groups = max(groups, assumedPrivateGroups)
		}
		for _, v := range k.Values {
			longest = max(longest, len(v.Text))
		}
	}
	each := shownTime(p.Having, longest)
	for _, c := range p.Columns {
		each += shownTime(c.Expr, longest)
	}
	for _, o := range p.Order {
		each += shownTime(o.By, longest)
	}
	if each > maxShowTime/time.Duration(max(1, groups)) { // a product could be too large for a number
		return syntax.Refuse(syntax.TooComplex, firstLocation(targets), "ask for fewer groups, or for the keys unchanged",
			"computing the columns of this many groups takes too long")
	}
	return nil
}

// maxShownBytes is how many bytes a text has that is computed of others.
const maxShownBytes = 4000

// shownTime is how long it takes at most to compute an expression over texts of at most so many
// bytes.
func shownTime(e tree.Expr, longest int) (d time.Duration) {
	if e == nil {
		return 0
	}
	tree.Walk(e, func(x tree.Expr) {
		d += meter.Computed
		switch x := x.(type) {
		case *tree.In:
			d += time.Duration(len(x.List)) * meter.Computed
		case *tree.Like:
			d += time.Duration(textBytes(x.X, longest)*len(x.Pattern)) * meter.Liked
		case *tree.Call:
			d += 3 * meter.Computed
			for _, a := range x.Args {
				d += time.Duration(textBytes(a, longest)/16) * meter.Computed
			}
			if l, ok := x.Args[len(x.Args)-1].(*tree.Literal); ok && x.Fn == "matches" {
				d += time.Duration(textBytes(x.Args[0], longest)*len(*l.Text)) * meter.Matched
			}
		}
	})
	return d
}

// textBytes is how many bytes a text has at most, where it is one.
func textBytes(e tree.Expr, longest int) int {
	t := e.Type()
	switch {
	case t.Kind != tree.Text:
		return 0
	case t.MaxLength > 0:
		return min(4*t.MaxLength, longest)
	}
	return longest
}

// choosingAnswer is an answer that chooses among the groups of a question, as in
//
//	SELECT day, ward, COUNT(*) FROM visits
//	JOIN (SELECT ward AS w, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC LIMIT 5) AS top ON ward = w
//	GROUP BY day, ward
//
// which dashboards ask to show the largest series. What is compared is what both are grouped by, so
// a row of the join is there exactly where its group's keys are in the answer. All groups are
// bought, whatever the answer is, and those of them are shown whose keys are in it: nothing below
// the noise depends on another answer, and both are bought at once.
type choosingAnswer struct {
	name    string // what FROM calls the answer; empty for IN
	pos     int32
	names   []string // of its columns
	plans   []*tree.Plan
	by      []*pg.Node // what is compared, and with which of its columns
	columns []int
}

// keyOf is the expression of a released key; nil where it is none.
func (g *groups) keyOf(d statDraft) tree.Expr {
	switch d.Kind {
	case tree.KeyStat:
		return g.keys[d.Key].Expr
	case tree.AbsentStat:
		return g.without[d.Key]
	}
	return nil
}
