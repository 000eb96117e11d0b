package plan

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
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
		return nil, nil, syntax.Refuse(calls[0].Location, "ask for fewer at a time", "the subquery has more than %d windows", maxWindows)
	}
	// What a window is computed from may be a subquery, which gives rows more fields: the windows'
	// own come after all of these.
	drafts := make([]*over, len(calls))
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
		e, err := d.place(wr.in.env, w)
		if err != nil {
			return nil, nil, err
		}
		if i < len(calls) {
			wr.in.over[calls[i]] = e
			continue
		}
		// Of DISTINCT ON the first row is left.
		if chosen, err = expr.NewCompare(tree.Eq, e, expr.NewNumber(tree.One), first(s.DistinctClause)); err != nil {
			return nil, nil, err
		}
	}
	wr.in.rows.Relation, wr.in.filter = w, nil
	return w, chosen, nil
}

// distinctOn reads DISTINCT ON: the number that a row has, in the order of ORDER BY, among those of
// the same person that are equal in it.
func (wr *windowReader) distinctOn(s *pg.SelectStmt) (*over, error) {
	pos := first(s.DistinctClause)
	nodes := make([]*pg.Node, len(s.DistinctClause))
	for i, n := range s.DistinctClause {
		nodes[i] = selected(n, s.TargetList)
	}
	by, err := wr.readPartition(nodes, pos)
	if err != nil {
		return nil, syntax.Refuse(pos, "write DISTINCT ON with the column that says who a row is about, or count with COUNT(DISTINCT ...)",
			"DISTINCT among private rows must be about the rows of one person")
	}
	order, err := wr.readOrder(s.SortClause, s.TargetList)
	if err != nil {
		return nil, err
	}
	d := &over{}
	return d, wr.addNumbering(nil, tree.Over{Part: tree.Part{Kind: tree.PartNumber}, By: by, Order: order}, d, "row_number")
}

// selected is what a position or a name of the SELECT list stands for, or else the node itself.
func selected(n *pg.Node, targets []*pg.Node) *pg.Node {
	if i, ok := ordinal(n, len(targets)); ok {
		return targets[i].GetResTarget().GetVal()
	}
	if ref := n.GetColumnRef(); ref != nil && len(ref.Fields) == 1 {
		if name, err := columnName(ref); err == nil {
			if aliased := target(targets, name); aliased != nil {
				return aliased
			}
		}
	}
	return n
}

// maxWindows bounds the windows of one SELECT.
const maxWindows = 50

// windowCalls are the calls with OVER in a SELECT list, and not those inside of its subqueries.
func windowCalls(targets []*pg.Node) (out []*pg.FuncCall) {
	for _, n := range targets {
		syntax.EachNode(n, func(n *pg.Node) bool {
			f := n.GetFuncCall()
			if f != nil && f.Over != nil {
				out = append(out, f)
			}
			return n.GetSubLink() == nil && (f == nil || f.Over == nil)
		})
	}
	return out
}

// setTies says by what rows that are equal in an order are told apart: by all fields that are named
// above, so that which one comes first makes no difference that anybody sees.
func setTies(w *tree.Window, above *tree.Select) {
	n := len(w.From.Fields())
	used := make([]bool, n)
	look := func(e tree.Expr) {
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
	look(above.Where)
	for _, e := range above.Columns {
		look(e)
	}
	for _, o := range w.Calls {
		for _, e := range o.Expressions() {
			look(e)
		}
	}
	w.Ties = nil
	for i, u := range used {
		if u && i != w.Whose {
			w.Ties = append(w.Ties, i)
		}
	}
}

// over is a window that was read, and has no place yet: the parts that it needs, and what is made
// of them.
type over struct {
	calls  []tree.Over
	fields []tree.Field
	made   func([]tree.Expr) (tree.Expr, error) // nil where the one part is all
}

// add adds a part to what is read. Its name is for readers; nobody can write it.
func (d *over) add(o tree.Over, t tree.Type, name string) {
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

// place puts the parts into a relation, each once, and makes of them what was asked for.
func (d *over) place(e *env, w *tree.Window) (tree.Expr, error) {
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
	if d.made == nil {
		return out[0], nil
	}
	return d.made(out)
}

// window reads one window.
func (wr *windowReader) readWindow(f *pg.FuncCall, named []*pg.Node) (*over, error) {
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
