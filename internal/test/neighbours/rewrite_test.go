package neighbours_test

import (
	"fmt"
	"strings"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/reference"
)

// TestRewritten: a question that is written in another way, which everybody would call the same,
// has the same hash.
func TestRewritten(t *testing.T) {
	ds := generate.Worlds()[0]
	e := reference.New(ds, generate.Make(generate.NewDice("rewritten", 1), ds).Tables)
	o := planner.Options{Public: e.Public()}
	m := generate.NewMaker(ds, o)
	n, same, wrapped, refused, first := daily.Rounds(250, 1200), 0, 0, 0, 0
	if !daily.Full() {
		first = daily.Choices(t).Below(1_000_000)
	}
	for i := range n {
		d := generate.NewDice("rewritten", uint64(first+i))
		text := m.Question(d)
		s, err := generate.Prepare(ds, text, o)
		if err != nil || s.Free() {
			continue
		}
		tree, err := pg.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		w := rewriter{d: d}
		w.message(tree.ProtoReflect())
		// What asks about other rows stays in a subquery, and so does a choice.
		if strings.Count(text, "SELECT") == 1 && s.Plans[0].Query.Choice == nil {
			w.wrap(tree.Stmts[0].Stmt.GetSelectStmt())
		}
		other, err := pg.Deparse(tree)
		if err != nil {
			t.Fatal(err)
		}
		r, err := generate.Prepare(ds, other, o)
		if err != nil || len(r.Plans) != len(s.Plans) {
			refused++ // a link to a row outside has to be written plainly
			continue
		}
		for k := range s.Plans {
			if s.Plans[k].Query.Hash() != r.Plans[k].Query.Hash() {
				t.Errorf("%s\nhas another hash, written as\n%s\n%s%s", text, other, s.Plans[k].Query.Format(), r.Plans[k].Query.Format())
			}
		}
		if other != text && w.n > 0 {
			same++
		}
		wrapped += w.wrapped
	}
	if same < n/4 || wrapped < n/100 || refused > n/10 {
		t.Errorf("only %d of %d questions were rewritten, %d wrapped, and %d refused", same, n, wrapped, refused)
	}
}

// rewriter changes a question and not its meaning.
type rewriter struct {
	d          generate.Dice
	n, wrapped int
}

func (w *rewriter) message(m protoreflect.Message) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Message() == nil || f.IsMap():
		case f.IsList():
			for i := range v.List().Len() {
				w.message(v.List().Get(i).Message())
			}
		default:
			w.message(v.Message())
		}
		return true
	})
	switch x := m.Interface().(type) {
	case *pg.A_Expr:
		w.flip(x)
		if (x.Kind == pg.A_Expr_Kind_AEXPR_LIKE || x.Kind == pg.A_Expr_Kind_AEXPR_ILIKE) && w.d.One(2) {
			x.Kind = pg.A_Expr_Kind_AEXPR_OP
			w.n++
		}
	case *pg.SubLink:
		w.subquery(x)
	case *pg.FuncCall:
		w.counted(x)
	case *pg.BoolExpr:
		if x.Boolop != pg.BoolExprType_NOT_EXPR {
			w.shuffle(x.Args)
		}
	case *pg.SelectStmt:
		w.selected(x)
	}
}

func (w *rewriter) flip(x *pg.A_Expr) {
	flips := map[string]string{"=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
	if x.Kind != pg.A_Expr_Kind_AEXPR_OP || x.Lexpr == nil || len(x.Name) != 1 || w.d.One(2) {
		return
	}
	if to, ok := flips[x.Name[0].GetString_().GetSval()]; ok {
		x.Lexpr, x.Rexpr = x.Rexpr, x.Lexpr
		x.Name[0].GetString_().Sval = to
		w.n++
	}
}

// subquery writes IN as = ANY, and EXISTS with a LIMIT.
func (w *rewriter) subquery(x *pg.SubLink) {
	if w.d.One(2) {
		return
	}
	switch sub := x.Subselect.GetSelectStmt(); {
	case x.SubLinkType == pg.SubLinkType_ANY_SUBLINK && len(x.OperName) == 0:
		x.OperName = []*pg.Node{pg.MakeStrNode("=")}
	case x.SubLinkType == pg.SubLinkType_EXISTS_SUBLINK && sub.LimitCount == nil:
		sub.LimitCount, sub.LimitOption = pg.MakeAConstIntNode(1, -1), pg.LimitOption_LIMIT_OPTION_COUNT
	default:
		return
	}
	w.n++
}

// counted writes COUNT(x) FILTER (WHERE c) with CASE.
func (w *rewriter) counted(f *pg.FuncCall) {
	if f.AggFilter == nil || len(f.Args) != 1 || f.Funcname[0].GetString_().GetSval() != "count" || w.d.One(2) {
		return
	}
	when := &pg.Node{Node: &pg.Node_CaseWhen{CaseWhen: &pg.CaseWhen{Expr: f.AggFilter, Result: f.Args[0]}}}
	f.Args[0] = &pg.Node{Node: &pg.Node_CaseExpr{CaseExpr: &pg.CaseExpr{Args: []*pg.Node{when}}}}
	f.AggFilter = nil
	w.n++
}

func (w *rewriter) shuffle(list []*pg.Node) {
	for i := len(list) - 1; i > 0; i-- {
		k := w.d.Below(i + 1)
		list[i], list[k] = list[k], list[i]
		w.n++
	}
}

func (w *rewriter) selected(s *pg.SelectStmt) {
	if s.WhereClause != nil {
		switch w.d.Below(4) {
		case 0: // a condition that is always true
			s.WhereClause = both(pg.BoolExprType_AND_EXPR, condition("1 = 1"), s.WhereClause)
			w.n++
		case 1: // one that never is
			s.WhereClause = both(pg.BoolExprType_OR_EXPR, condition("2 < 1"), s.WhereClause)
			w.n++
		case 2: // twice
			s.WhereClause = both(pg.BoolExprType_AND_EXPR, s.WhereClause, s.WhereClause)
			w.n++
		case 3: // NOT NOT
			s.WhereClause = not(not(s.WhereClause))
			w.n++
		}
	}
	if len(s.SortClause) == 0 && s.Op == pg.SetOperation_SETOP_NONE {
		w.shuffle(s.GroupClause) // the generator names keys by what they are
	}
}

// wrap puts a table into a subquery, where the question is about it and about nothing else.
func (w *rewriter) wrap(s *pg.SelectStmt) {
	if s == nil || len(s.FromClause) != 1 || s.FromClause[0].GetRangeVar() == nil {
		return
	}
	v := s.FromClause[0].GetRangeVar()
	name := v.Relname
	if v.Alias != nil {
		name = v.Alias.Aliasname
	}
	tree, err := pg.Parse(fmt.Sprintf(`WITH qy AS (SELECT * FROM %q WHERE true) SELECT 1 FROM (SELECT * FROM qy) AS %q`, v.Relname, name))
	if err != nil {
		panic(err)
	}
	around := tree.Stmts[0].Stmt.GetSelectStmt()
	s.FromClause, s.WithClause = around.FromClause, around.WithClause
	w.n++
	w.wrapped++
}

func both(op pg.BoolExprType, a, b *pg.Node) *pg.Node {
	return &pg.Node{Node: &pg.Node_BoolExpr{BoolExpr: &pg.BoolExpr{Boolop: op, Args: []*pg.Node{a, b}}}}
}

func not(a *pg.Node) *pg.Node {
	return &pg.Node{Node: &pg.Node_BoolExpr{BoolExpr: &pg.BoolExpr{Boolop: pg.BoolExprType_NOT_EXPR, Args: []*pg.Node{a}}}}
}

func condition(text string) *pg.Node {
	tree, err := pg.Parse("SELECT 1 WHERE " + text)
	if err != nil {
		panic(err)
	}
	return tree.Stmts[0].Stmt.GetSelectStmt().WhereClause
}

// tries is how many smaller questions are asked to shrink one.
const tries = 3000

// shrink drops parts of a question as long as something holds of what is left: items of lists,
// clauses, and everything around a part of an expression.
func shrink(text string, holds func(string) bool) string {
	features, target, table := strings.Cut(text, arrow)
	if !table {
		return shrunk(text, holds)
	}
	return shrunk(features, func(s string) bool { return holds(s + arrow + target) }) + arrow + target
}

func shrunk(text string, holds func(string) bool) string {
	left := tries
	for again := true; again; {
		again = false
		for k := 0; left > 0; k++ {
			tree, err := pg.Parse(text)
			if err != nil {
				return text
			}
			cut := cutter{at: k}
			cut.message(tree.ProtoReflect())
			if !cut.done {
				break // there is nothing more to cut
			}
			smaller, err := pg.Deparse(tree)
			left--
			if err != nil || len(smaller) >= len(text) {
				continue
			}
			if _, err := pg.Parse(smaller); err == nil && holds(smaller) {
				text, again = smaller, true
				k--
			}
		}
	}
	return text
}

// cutter makes the at-th of all cuts of a tree.
type cutter struct {
	at   int
	done bool
}

// now reports whether it is a cut's turn.
func (c *cutter) now() bool {
	if c.done {
		return false
	}
	c.done = c.at == 0
	c.at--
	return c.done
}

func (c *cutter) message(m protoreflect.Message) {
	fields := m.Descriptor().Fields()
	for i := 0; i < fields.Len() && !c.done; i++ {
		f := fields.Get(i)
		if f.Message() == nil || !m.Has(f) {
			continue
		}
		if !f.IsList() {
			c.single(m, f)
			continue
		}
		list := m.Mutable(f).List()
		for k := 0; k < list.Len() && !c.done; k++ {
			if c.now() {
				for n := k; n+1 < list.Len(); n++ {
					list.Set(n, list.Get(n+1))
				}
				list.Truncate(list.Len() - 1)
				return
			}
			c.node(list.Get(k).Message())
			if !c.done {
				c.message(list.Get(k).Message())
			}
		}
	}
}

// single cuts what a field holds: all of it, or what is around a part of it.
func (c *cutter) single(m protoreflect.Message, f protoreflect.FieldDescriptor) {
	if _, node := m.Interface().(*pg.Node); !node && c.now() {
		m.Clear(f)
		return
	}
	inner := m.Mutable(f).Message()
	c.node(inner)
	if !c.done {
		c.message(inner)
	}
}

// node puts one of the nodes below a node in its place.
func (c *cutter) node(m protoreflect.Message) {
	n, ok := m.Interface().(*pg.Node)
	if !ok {
		return
	}
	for _, b := range below(n) {
		if c.now() {
			n.Node = proto.Clone(b).(*pg.Node).Node
			return
		}
	}
}

// below are the nodes that stand in a node without another between them.
func below(n *pg.Node) []*pg.Node {
	var out []*pg.Node
	var look func(m protoreflect.Message)
	each := func(m protoreflect.Message) {
		if b, ok := m.Interface().(*pg.Node); ok {
			out = append(out, b)
			return
		}
		look(m)
	}
	look = func(m protoreflect.Message) {
		fields := m.Descriptor().Fields()
		for i := range fields.Len() {
			f := fields.Get(i)
			switch {
			case f.Message() == nil || !m.Has(f):
			case f.IsList():
				for k := range m.Get(f).List().Len() {
					each(m.Get(f).List().Get(k).Message())
				}
			default:
				each(m.Get(f).Message())
			}
		}
	}
	look(n.ProtoReflect())
	return out
}
