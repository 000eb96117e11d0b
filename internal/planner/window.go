package planner

import (
	"math/big"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// windowReader reads the windows of a subquery of rows.
type windowReader struct{ in *rowScope }

// read reads the windows of a SELECT of rows, and puts a relation around the rows that has them
// as fields. Each is partitioned by the person, so that it sees the rows of one.
func (wr *windowReader) read(s *pg.SelectStmt) (w *tree.Window, chosen tree.Expr, err error) {
	calls := windowCalls(s.TargetList)
	if len(calls) == 0 && len(s.DistinctClause) == 0 {
		return nil, nil, nil
	}
	if len(calls) > maxWindows {
		return nil, nil, syntax.Refuse(syntax.TooComplex, calls[0].Location, "ask for fewer at a time",
			"the subquery has more than %d windows", maxWindows)
	}
	// What a window is computed from may be a subquery, which gives rows more fields: the windows'
	// own come after all of these.
	drafts := make([]*windowDraft, len(calls))
	for i, f := range calls {
		if drafts[i], err = wr.readWindow(f, s.WindowClause); err != nil {
			return nil, nil, err
		}
	}
	if len(s.DistinctClause) > 0 {
		d, err := wr.distinctOn(s)
		if err != nil {
			return nil, nil, err
		}
		drafts = append(drafts, d)
	}
	w = &tree.Window{From: wr.in.rows.Relation, Where: wr.in.filter, Whose: wr.in.rows.Unit(), Row: slices.Clone(wr.in.rows.Fields())}
	wr.in.over = map[*pg.FuncCall]tree.Expr{}
	for i, d := range drafts {
		e, err := d.addTo(wr.in.env, w)
		if err != nil {
			return nil, nil, err
		}
		if i < len(calls) {
			wr.in.over[calls[i]] = e
			continue
		}
		// Of DISTINCT ON the first row is left.
		if chosen, err = expr.NewCompare(tree.Eq, e, expr.NewNumber(tree.One), firstLocation(s.DistinctClause)); err != nil {
			return nil, nil, err
		}
	}
	wr.in.rows.Relation, wr.in.filter = w, nil
	return w, chosen, nil
}

// distinctOn reads DISTINCT ON: the number that a row has, in the order of ORDER BY, among those of
// the same person that are equal in it.
func (wr *windowReader) distinctOn(s *pg.SelectStmt) (*windowDraft, error) {
	pos := firstLocation(s.DistinctClause)
	nodes := make([]*pg.Node, len(s.DistinctClause))
	for i, n := range s.DistinctClause {
		nodes[i] = selected(n, s.TargetList)
	}
	by, err := wr.readPartition(nodes, pos)
	if err != nil {
		return nil, syntax.Refuse(syntax.Private, pos,
			"write DISTINCT ON with the column that identifies the person, or count with COUNT(DISTINCT ...)",
			"DISTINCT on private rows must be within the rows of one person")
	}
	order, err := wr.readOrder(s.SortClause, s.TargetList)
	if err != nil {
		return nil, err
	}
	d := &windowDraft{}
	return d, wr.addNumbering(nil, tree.Over{Part: tree.Part{Kind: tree.PartNumber}, By: by, Order: order}, d, "row_number")
}

const maxWindows = 50

// setTies says by what rows that are equal in an order are told apart: by all fields that are named
// above, so that which one comes first makes no difference that anybody sees.
func setTies(w *tree.Window, above *tree.Select) {
	n := len(w.From.Fields())
	used := make([]bool, n)
	visit := func(e tree.Expr) {
		if e == nil {
			return
		}
		use := func(x tree.Expr, upto int) {
			if c, ok := x.(*tree.Column); ok && c.Index < upto {
				used[c.Index] = true
			}
		}
		tree.WalkRow(e, func(x tree.Expr) {
			use(x, n)
			if inner, ok := x.(*tree.Exists); ok && inner.On != nil { // its own fields come after those of the row that asks
				tree.Walk(inner.On, func(x tree.Expr) { use(x, min(n, inner.Outer)) })
			}
		})
	}
	visit(above.Where)
	for _, e := range above.Columns {
		visit(e)
	}
	for _, o := range w.Calls {
		for _, e := range o.Expressions() {
			visit(e)
		}
	}
	w.Ties = nil
	for i, u := range used {
		if u && i != w.Whose {
			w.Ties = append(w.Ties, i)
		}
	}
}

// windowDraft is a window that was read, and has no place yet: the parts that it needs, and what is
// made of them.
type windowDraft struct {
	calls   []tree.Over
	fields  []tree.Field
	combine func([]tree.Expr) (tree.Expr, error) // nil where the one part is all
}

// add adds a part to what is read. Its name is for readers; nobody can write it.
func (d *windowDraft) add(o tree.Over, t tree.Type, name string) {
	f := tree.Field{Name: name, Type: t, Nullable: !o.Kind.Counts()}
	if o.Arg != nil && !o.Kind.Counts() {
		f.Derived = tree.Derived(o.Arg) != nil
	}
	if c, ok := o.Arg.(*tree.Column); ok && o.Kind >= tree.PartFirst && o.Otherwise == nil {
		f.Source, f.Public = c.Field.Source, c.Field.Public
	}
	f.Serial = o.Kind == tree.PartNumber && len(o.By) == 0
	d.calls, d.fields = append(d.calls, o), append(d.fields, f)
}

// addTo puts the parts into a relation, each once, and makes of them what was asked for.
func (d *windowDraft) addTo(e *env, w *tree.Window) (tree.Expr, error) {
	n := len(w.From.Fields())
	out := make([]tree.Expr, len(d.calls))
	for i, o := range d.calls {
		spelled := e.spellOver(o)
		at := slices.IndexFunc(w.Calls, func(have tree.Over) bool { return e.spellOver(have) == spelled })
		if at < 0 {
			at = len(w.Calls)
			w.Calls, w.Row = append(w.Calls, o), append(w.Row, d.fields[i])
		}
		out[i] = tree.NewColumn(w, n+at)
	}
	if d.combine == nil {
		return out[0], nil
	}
	return d.combine(out)
}

func (wr *windowReader) readWindow(f *pg.FuncCall, named []*pg.Node) (*windowDraft, error) {
	def, err := windowDefinition(f.Over, named)
	if err != nil {
		return nil, err
	}
	by, err := wr.readPartition(def.PartitionClause, f.Location)
	if err != nil {
		return nil, err
	}
	order, err := wr.readOrder(def.OrderClause, nil)
	if err != nil {
		return nil, err
	}
	frame, err := readFrame(def)
	if err != nil {
		return nil, err
	}
	if len(order) == 0 && frame.Peers {
		frame = tree.Everything // all rows are equal to each other
	}
	base := tree.Over{By: by, Order: order, Frame: frame}
	name := functionName(f)
	if isPersonal(name) {
		return wr.readAggregate(f, name, base)
	}
	return wr.readFunction(f, name, base)
}

// windowDefinition is what OVER says, or the window of the WINDOW clause that it names.
func windowDefinition(def *pg.WindowDef, named []*pg.Node) (*pg.WindowDef, error) {
	name := def.Refname
	if name == "" {
		name = def.Name
	}
	if name == "" {
		return def, nil
	}
	for _, n := range named {
		w := n.GetWindowDef()
		if w == nil || !strings.EqualFold(w.Name, name) {
			continue
		}
		again := w.FrameOptions&syntax.FrameGiven != 0 || len(w.OrderClause) > 0 && len(def.OrderClause) > 0
		if w.Refname != "" || def.Refname != "" && again {
			return nil, syntax.Refuse(syntax.Unsupported, def.Location, "write out the window after OVER",
				"a window based on another window cannot be used here")
		}
		if def.Refname == "" {
			return w, nil
		}
		out := &pg.WindowDef{PartitionClause: w.PartitionClause, OrderClause: w.OrderClause, FrameOptions: def.FrameOptions,
			StartOffset: def.StartOffset, EndOffset: def.EndOffset, Location: def.Location}
		if len(def.OrderClause) > 0 {
			out.OrderClause = def.OrderClause
		}
		return out, nil
	}
	return nil, syntax.Refuse(syntax.NoWindow, def.Location, "define it with WINDOW name AS (PARTITION BY ...)", "there is no window %q",
		name)
}

// readPartition reads PARTITION BY: the person, and what else keeps rows apart.
func (wr *windowReader) readPartition(nodes []*pg.Node, pos int32) ([]tree.Expr, error) {
	if !tree.Private(wr.in.rows) {
		return nil, syntax.Refuse(syntax.Unsupported, pos, "join the public table with rows of people first",
			"a window over public rows cannot be used here")
	}
	var who *tree.Column
	var by []tree.Expr
	for _, n := range nodes {
		e, err := wr.in.read(n)
		if err != nil {
			return nil, err
		}
		if c, ok := e.(*tree.Column); ok && wr.in.rows.isUnit(c) && wr.in.rows.isName(n) {
			if who == nil || wr.in.rows.isAlways(c, wr.in.filter) {
				who = c
			}
			if !wr.in.rows.isAlways(c, wr.in.filter) { // beside another it tells rows with a partner from those without
				by = addKey(by, &tree.IsNull{X: c.Stored()})
			}
			continue
		}
		if err := groupable(e, syntax.Location(n)); err != nil {
			return nil, err
		}
		by = addKey(by, e)
	}
	if who == nil {
		return nil, syntax.Refuse(syntax.Private, pos,
			"add the column that identifies the person, as in OVER (PARTITION BY pid ORDER BY day); or put the window around a "+
				"question, as in SELECT n, sum(n) OVER () FROM (SELECT COUNT(*) AS n ...) AS t",
			"a window over private rows must be partitioned by the person, or it would see rows of others")
	}
	if !wr.in.rows.isAlways(who, wr.in.filter) {
		return nil, syntax.Refuse(syntax.Unsupported, pos,
			"partition by the column of the table on the left of LEFT JOIN, by that of FULL JOIN ... "+
				"USING (pid), or by COALESCE(a.pid, b.pid); or leave out rows without a partner, as in WHERE b.pid IS NOT NULL",
			"in rows without a partner this column is NULL, and a window would see all of them as one person's")
	}
	return by, nil
}

// addKey adds an expression to a sorted list, once. A constant keeps nothing apart.
func addKey(by []tree.Expr, e tree.Expr) []tree.Expr {
	if _, constant := e.(*tree.Literal); constant {
		return by
	}
	spelled := tree.Format(e)
	at, found := slices.BinarySearchFunc(by, spelled, func(x tree.Expr, s string) int { return strings.Compare(tree.Format(x), s) })
	if found {
		return by
	}
	return slices.Insert(slices.Clone(by), at, e)
}

// readOrder reads ORDER BY of a window. Of what stands there twice, and of the person, nothing
// follows.
func (wr *windowReader) readOrder(nodes, targets []*pg.Node) ([]tree.Order, error) {
	var out []tree.Order
	seen := map[string]bool{}
	for _, n := range nodes {
		o, err := sortOrder(n)
		if err != nil {
			return nil, err
		}
		by := n.GetSortBy().Node
		if targets != nil {
			by = selected(by, targets)
		}
		if o.By, err = wr.in.read(by); err != nil {
			return nil, err
		}
		c, column := o.By.(*tree.Column)
		_, constant := o.By.(*tree.Literal)
		if constant || column && wr.in.rows.isUnit(c) && isAlwaysUnit(wr.in.rows.Relation, c.Stored().Index) {
			continue
		}
		if o.By.Type().Kind == tree.Identity {
			return nil, syntax.Refuse(syntax.Private, syntax.Location(n), "order by another column",
				"a column that says what a row is part of has no order")
		}
		if spelled := tree.Format(o.By); !seen[spelled] {
			seen[spelled] = true
			out = append(out, o)
		}
	}
	if len(out) > maxKeys {
		return nil, syntax.Refuse(syntax.TooComplex, firstLocation(nodes), "order by fewer columns",
			"there are more than %d columns in ORDER BY", maxKeys)
	}
	return out, nil
}

// maxOffset is how many rows away an end of a frame may be.
const maxOffset int64 = tree.MostRows

// readFrame reads which rows of a partition a window is over. Without one it is, as in PostgreSQL,
// all rows up to the last that is equal to this one in the order.
func readFrame(def *pg.WindowDef) (tree.Frame, error) {
	o := def.FrameOptions
	if o&syntax.FrameGiven == 0 {
		return tree.Frame{Peers: true, Start: tree.Edge{Open: true}}, nil
	}
	refuse := func(instead, what string) (tree.Frame, error) {
		return tree.Frame{}, syntax.Refuse(syntax.Unsupported, def.Location, instead, "%s", what)
	}
	switch {
	case o&syntax.FrameExclusion != 0:
		return refuse("leave out EXCLUDE", "EXCLUDE cannot be used in a window")
	case o&(syntax.StartNever|syntax.EndNever) != 0:
		return refuse("write BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", "the frame begins after its end")
	case o&syntax.FrameRows == 0 && o&syntax.FrameOffsets != 0:
		return refuse("count in ROWS, as in ROWS BETWEEN 3 PRECEDING AND CURRENT ROW",
			"RANGE and GROUPS take only UNBOUNDED and CURRENT ROW")
	}
	start, err := edge(o, syntax.StartUnbounded, syntax.StartPreceding, syntax.StartFollowing, def.StartOffset)
	if err != nil {
		return tree.Frame{}, err
	}
	end, err := edge(o, syntax.EndUnbounded, syntax.EndPreceding, syntax.EndFollowing, def.EndOffset)
	if err != nil {
		return tree.Frame{}, err
	}
	if o&syntax.EndPreceding != 0 && o&(syntax.StartCurrent|syntax.StartFollowing) != 0 ||
		o&syntax.EndCurrent != 0 && o&syntax.StartFollowing != 0 {
		return refuse("write the earlier end first", "the frame begins after its end")
	}
	f := tree.Frame{Peers: o&syntax.FrameRows == 0, Start: start, End: end}
	if start.Open && end.Open {
		return tree.Everything, nil
	}
	return f, nil
}

func edge(options int32, open, preceding, following int32, offset *pg.Node) (tree.Edge, error) {
	if options&open != 0 {
		return tree.Edge{Open: true}, nil
	}
	if options&(preceding|following) == 0 {
		return tree.Edge{}, nil
	}
	v, ok := offset.GetAConst().GetVal().(*pg.A_Const_Ival)
	if !ok || v.Ival.GetIval() < 0 || int64(v.Ival.GetIval()) > maxOffset {
		return tree.Edge{}, syntax.Refuse(syntax.BadValue, syntax.Location(offset), "write a number here, as in 3 PRECEDING",
			"an end of a frame must be a constant whole number from 0 to %d", maxOffset)
	}
	n := int64(v.Ival.GetIval())
	if options&preceding != 0 {
		n = -n
	}
	return tree.Edge{At: n}, nil
}

func (wr *windowReader) readAggregate(f *pg.FuncCall, name string, base tree.Over) (*windowDraft, error) {
	d := &windowDraft{}
	if base.Frame == tree.Everything {
		base.Order = nil // in which order all rows are makes no difference
	}
	add := func(p tree.Part, t tree.Type) tree.Expr {
		o := base
		o.Part = p
		d.add(o, t, name)
		return nil
	}
	if name != "avg" {
		_, err := partReader{wr.in}.aggregate(f, name, add)
		return d, err
	}
	sum, total, err := partReader{wr.in}.read(f, "sum", true)
	if err != nil {
		return nil, err
	}
	count, n, err := partReader{wr.in}.read(f, "count", true)
	if err != nil {
		return nil, err
	}
	add(sum, total)
	add(count, n)
	d.combine = func(all []tree.Expr) (tree.Expr, error) { return average(all[0], all[1], sum.Arg.Type(), f.Location) }
	return d, nil
}

// readFunction reads a function that is about the order of rows.
func (wr *windowReader) readFunction(f *pg.FuncCall, name string, base tree.Over) (*windowDraft, error) {
	kind, ok := windowFunctions[name]
	if !ok {
		return nil, syntax.Refuse(syntax.NoFunction, f.Location,
			"use COUNT, SUM, AVG, MIN, MAX, bool_or, bool_and, first_value, last_value, nth_value, "+
				"lag, lead, row_number, rank, dense_rank or ntile", "%s cannot be used as a window", name)
	}
	if f.AggDistinct || f.AggFilter != nil || f.AggStar || len(f.AggOrder) > 0 || f.AggWithinGroup || f.FuncVariadic {
		return nil, syntax.Refuse(syntax.NotAggregate, f.Location, "write only the function and OVER (PARTITION BY ... ORDER BY ...)",
			"%s is not an aggregate", name)
	}
	least, most := 0, 0
	switch kind {
	case tree.PartTile:
		least, most = 1, 1
	case tree.PartFirst, tree.PartLast:
		least, most = 1, 1
	case tree.PartNth:
		least, most = 2, 2
	case tree.PartLag, tree.PartLead:
		least, most = 1, 3
	}
	if len(f.Args) < least || len(f.Args) > most {
		return nil, syntax.Refuse(syntax.NoFunction, f.Location, "write it as PostgreSQL does", "%s has the wrong number of arguments",
			name)
	}
	base.Kind = kind
	d := &windowDraft{}
	if !base.Framed() {
		base.Frame = tree.Frame{}
	}
	if kind >= tree.PartNumber {
		return d, wr.addNumbering(f.Args, base, d, name)
	}
	return d, wr.addShifted(f, name, base, d)
}

var windowFunctions = map[string]tree.PartKind{
	"first_value": tree.PartFirst, "last_value": tree.PartLast, "nth_value": tree.PartNth, "lag": tree.PartLag, "lead": tree.PartLead,
	"row_number": tree.PartNumber, "rank": tree.PartRank, "dense_rank": tree.PartDense, "ntile": tree.PartTile,
}

// addNumbering reads what numbers rows. A number is at most the limit of rows, but row_number tells
// the first from the others in any case.
func (wr *windowReader) addNumbering(args []*pg.Node, base tree.Over, d *windowDraft, name string) error {
	most := wr.in.rows.PersonRows()
	switch base.Kind {
	case tree.PartNumber:
		most = max(2, most)
	case tree.PartTile:
		n, err := wr.wholeNumber(args[0], 1)
		if err != nil {
			return err
		}
		base.N, most = n, n
	}
	d.add(base, tree.NumberType(tree.One, big.NewInt(1), big.NewInt(most), true), name)
	return nil
}

// addShifted reads what is the value of another row.
func (wr *windowReader) addShifted(f *pg.FuncCall, name string, base tree.Over, d *windowDraft) error {
	arg, err := wr.in.read(f.Args[0])
	if err != nil {
		return err
	}
	base.Arg = adoptText(arg)
	if base.Arg.Type().Kind == tree.Identity {
		return syntax.Refuse(syntax.Private, f.Location, "select the column itself",
			"%s cannot be computed from a column that identifies people or their records", name)
	}
	if base.Kind == tree.PartLag || base.Kind == tree.PartLead {
		base.N = 1
	}
	if len(f.Args) > 1 {
		least := int64(1)
		if base.Kind != tree.PartNth {
			least = 0
		}
		if base.N, err = wr.wholeNumber(f.Args[1], least); err != nil {
			return err
		}
	}
	t := base.Arg.Type()
	if len(f.Args) > 2 {
		other, err := wr.in.read(f.Args[2])
		if err != nil {
			return err
		}
		both, err := expr.Unify([]tree.Expr{base.Arg, other}, name, f.Location)
		if err != nil {
			return err
		}
		base.Arg, base.Otherwise = wr.in.env.normal(both[0]), wr.in.env.normal(both[1])
		t = expr.Hull(both)
	}
	if base.Framed() && base.Frame.Peers {
		if base, err = withoutPeers(base, name, f.Location); err != nil {
			return err
		}
	}
	d.add(base, t, name)
	return nil
}

// withoutPeers says the same of the first or the last row of a frame that goes by peers with one
// that goes by rows: which of the peers comes first is decided by what else is in them.
func withoutPeers(o tree.Over, name string, pos int32) (tree.Over, error) {
	from, upto := o.Frame.Start.Open, o.Frame.End.Open
	inexact := slices.ContainsFunc(o.Order, func(by tree.Order) bool { return by.By.Type().Kind == tree.Real })
	switch {
	case from && upto, o.Kind == tree.PartFirst && from, o.Kind == tree.PartLast && upto:
	case inexact: // no rows are grouped by a real number
		return o, syntax.Refuse(syntax.Unsupported, pos,
			"round it, as in ORDER BY round(x, 2), or write ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW after it",
			"%s needs a frame in rows if ordered by the result of a division or a decimal without granularity", name)
	case o.Kind == tree.PartFirst && !from, o.Kind == tree.PartLast && !upto, !from && !upto:
		// It is among the peers of the row, which are those that are equal to it in the order.
		for _, by := range o.Order {
			o.By = addKey(o.By, by.By)
		}
		o.Order = nil
	default:
		return o, syntax.Refuse(syntax.Unsupported, pos,
			"write ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING, or AND CURRENT ROW, after ORDER BY",
			"%s needs a frame in rows here", name)
	}
	o.Frame = tree.Everything
	return o, nil
}

func (wr *windowReader) wholeNumber(n *pg.Node, least int64) (int64, error) {
	e, err := wr.in.read(n)
	if err == nil {
		if l, ok := expr.Constant(expr.AdoptNumber(e)); ok && l.Number != nil && l.Typ.Integer() && l.Number.IsInt64() {
			if v := l.Number.Int64(); v >= least && v <= tree.MostRows {
				return v, nil
			}
		}
	}
	return 0, syntax.Refuse(syntax.BadValue, syntax.Location(n), "write a number here",
		"this must be a constant whole number from %d to %d", least,
		int64(tree.MostRows))
}
