package plan

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

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
			return nil, syntax.Refuse(def.Location, "write the window out after OVER",
				"a window that is made of another cannot be used here")
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
	return nil, syntax.Refuse(def.Location, "define it with WINDOW name AS (PARTITION BY ...)", "there is no window %q", name)
}

// partition reads PARTITION BY: the person, and what else keeps rows apart.
func (wr *windowReader) readPartition(nodes []*pg.Node, pos int32) ([]tree.Expr, error) {
	if !tree.Private(wr.in.rows) {
		return nil, syntax.Refuse(pos, "join the public table with rows of people first", "a window over public rows cannot be used here")
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
		return nil, syntax.Refuse(pos,
			"add the column that says who a row is about, as in OVER (PARTITION BY pid ORDER BY day); or put the window around a "+
				"question, as in SELECT n, sum(n) OVER () FROM (SELECT COUNT(*) AS n ...) AS t",
			"a window among private rows must be partitioned by the person, or it would see rows of others")
	}
	if !wr.in.rows.isAlways(who, wr.in.filter) {
		return nil, syntax.Refuse(pos, "partition by the column of the table on the left of LEFT JOIN, by that of FULL JOIN ... USING "+
			"(pid), or by COALESCE(a.pid, b.pid); or leave rows without a partner out, as in WHERE b.pid IS NOT NULL",
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

// windowOrder reads ORDER BY of a window. Of what stands there twice, and of the person, nothing
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
			return nil, syntax.Refuse(syntax.Location(n), "order by another column",
				"a column that says what a row is a part of has no order")
		}
		if spelled := tree.Format(o.By); !seen[spelled] {
			seen[spelled] = true
			out = append(out, o)
		}
	}
	if len(out) > maxKeys {
		return nil, syntax.Refuse(first(nodes), "order by fewer columns", "there are more than %d columns in ORDER BY", maxKeys)
	}
	return out, nil
}
