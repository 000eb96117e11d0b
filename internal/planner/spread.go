package planner

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Spread is a question about another question: how many people have how many rows in it. It is SQL
// like any other, which is planned, checked, priced and paid like any other.
type Spread struct {
	SQL string
	// Groups says that it also tells in how many groups people are: its columns are the cell of
	// groups, the cell of rows in the fullest group, and the count of people. Otherwise they are
	// the cell of rows and the count.
	Groups bool
	// Rows and Persons are the smallest numbers of rows and of groups of the cells, from the first
	// one on, to beyond the largest limits. What is below is cell 0.
	Rows, Persons []int64
	// InGroups is in how many groups anybody can be, which is as many as there are, or 0 where that
	// is not public.
	InGroups int64
	// Most is the largest limit on rows that there can be, in what Rows are in.
	Most int64
	// Unit is what Rows are multiples of, where the question asks for sums of one thing alone; nil
	// where rows are counted.
	Unit *big.Rat
}

const insteadOfAuto = "set dp.max_rows and dp.max_groups to numbers"

// SpreadOf makes the question about people's rows for a text that was planned. A text that it
// cannot be made for gets a *Refusal.
func SpreadOf(ds *policy.Dataset, text *syntax.Text, st *Statement, o Options) (*Spread, error) {
	if len(st.Plans) != 1 || st.Outer != nil || st.Plans[0].Query.Choice != nil {
		return nil, syntax.Refuse(syntax.Unsupported, -1, insteadOfAuto,
			"limits can only be chosen for a SELECT by itself, without others inside of it or around it")
	}
	for _, sums := range []bool{true, false} { // rows can be counted where sums of them cannot
		var out *Spread
		err := meter.Run(func() (err error) {
			out, err = spreadOf(ds, text, st, o, sums)
			return err
		})
		if err == nil {
			if _, err = PrepareText(ds, syntax.Open(out.SQL, nil), o); err == nil {
				return out, nil
			}
		}
		var r *api.Refusal
		if !errors.As(err, &r) || meter.Spent(err) || r.Instead == insteadOfAuto { // or it was stopped
			return nil, err
		}
	}
	return nil, syntax.Refuse(syntax.Unsupported, -1, insteadOfAuto,
		"limits cannot be chosen here, because people cannot be counted by their rows in this question")
}

func spreadOf(ds *policy.Dataset, text *syntax.Text, st *Statement, o Options, sums bool) (*Spread, error) {
	q := &st.Plans[0].Query
	o.MaxRows, o.MaxGroups = 0, 0
	s, err := text.SelectOf(ds.Name)
	if err != nil {
		return nil, err
	}
	s = proto.Clone(s).(*pg.SelectStmt)
	e, err := newEnv(ds, o.metered()).addNames(s.WithClause)
	if err != nil {
		return nil, err
	}
	if s, _, err = (planner{e}).withoutKept(s); err != nil {
		return nil, err
	}
	from, err := rowReader{e}.readTables(s)
	if err != nil {
		return nil, err
	}
	in := &rowScope{env: e, rows: from, extend: true}
	if err := in.readWhere(s); err != nil {
		return nil, err
	}
	person := in.personName(s.FromClause)
	if person == nil {
		return nil, syntax.Refuse(syntax.Unsupported, -1, insteadOfAuto,
			"limits can only be chosen where a column of FROM names the person")
	}
	out := &Spread{Groups: q.MaxGroups() > 1}
	inner := &pg.SelectStmt{TargetList: []*pg.Node{target(person, "person")}, FromClause: s.FromClause, WhereClause: s.WhereClause,
		GroupClause: []*pg.Node{ordinalNode(1)}}
	if out.Groups {
		for i, n := range s.GroupClause {
			n, _, err := in.readGroupItem(n, s.TargetList)
			if err != nil {
				return nil, err
			}
			inner.TargetList = append(inner.TargetList, target(n, "key"+strconv.Itoa(i+1)))
			inner.GroupClause = append(inner.GroupClause, ordinalNode(2+i))
		}
		most := beyond * q.MaxGroups()
		if len(q.PrivateKeys()) == 0 {
			out.InGroups = int64(q.Groups())
			most = min(most, out.InGroups+1)
		}
		out.Persons = Edges(most, 1)
	}
	out.Most = q.MaxRows()
	n, most := "n", out.Most
	if sum := onlySum(q, s.TargetList); sums && sum != nil && q.Measures[0].Most == nil && oneLimit(q.Measures[0].Arg.Type()) {
		out.Unit = sumUnit(q.Measures[0].Arg.Type())
		out.Most *= sumParts
		most = beyond * out.Most
		all := proto.Clone(sum).(*pg.Node)
		all.GetFuncCall().Funcname = []*pg.Node{pg.MakeStrNode(allSum)}
		inner.TargetList = append(inner.TargetList, target(all, "n"))
		n = "abs(n)"
	} else {
		inner.TargetList = append(inner.TargetList, target(pg.MakeFuncCallNode([]*pg.Node{pg.MakeStrNode("dp_rows")}, nil, -1), "n"))
		if most *= beyond; !out.Groups {
			most = mostRowsOfProfile // so that it is the profile of the table, where there is no condition
		}
	}
	out.Rows = Edges(most, 2)
	place := "dp_inner"
	for strings.Contains(strings.ToLower(text.SQL()), place) {
		place += "_"
	}
	out.SQL, err = out.write(inner, s.WithClause, n, place)
	return out, err
}

// write puts the SELECTs around the inner one, which has a row for each person, or for each person
// and group. Place is a name that nothing else has.
func (sp *Spread) write(inner *pg.SelectStmt, with *pg.WithClause, n, place string) (string, error) {
	rows := sp.list(sp.Rows, sp.Unit)
	text := fmt.Sprintf("SELECT width_bucket(%s, ARRAY[%s]) AS cell, COUNT(*) FROM %s AS person GROUP BY 1 ORDER BY 1", n, rows, place)
	if sp.Groups {
		text = fmt.Sprintf("SELECT width_bucket(g, ARRAY[%s]) AS groups, width_bucket(n, ARRAY[%s]) AS cell, COUNT(*) FROM "+
			"(SELECT person, dp_rows() AS g, MAX(%s) AS n FROM %s AS one GROUP BY 1) AS person GROUP BY 1, 2 ORDER BY 1, 2",
			sp.list(sp.Persons, nil), rows, n, place)
	}
	parsed, err := pg.Parse(text)
	if err != nil {
		return "", err
	}
	outer := parsed.Stmts[0].Stmt.GetSelectStmt()
	outer.WithClause = with
	syntax.EachNode(syntax.SelectNode(outer), func(x *pg.Node) bool {
		if v := x.GetRangeVar(); v != nil && v.Relname == place {
			x.Node = &pg.Node_RangeSubselect{RangeSubselect: &pg.RangeSubselect{Subquery: syntax.SelectNode(inner), Alias: v.Alias}}
			return false
		}
		return true
	})
	return pg.Deparse(parsed)
}

func (sp *Spread) list(edges []int64, unit *big.Rat) string {
	out := make([]string, len(edges))
	for i, n := range edges {
		out[i] = show(new(big.Rat).SetInt64(n), unit)
	}
	return strings.Join(out, ", ")
}

// Show is a number of rows, or, where sums are counted, the sum of so many units.
func (sp *Spread) Show(rows float64) string { return show(new(big.Rat).SetFloat64(rows), sp.Unit) }

func show(n, unit *big.Rat) string {
	if unit == nil {
		return n.FloatString(0)
	}
	text := new(big.Rat).Mul(unit, n).FloatString(9)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}

// beyond is how much farther than the largest limit people are told apart, to know what that cuts.
const beyond = 64

// sumParts is into how many parts a row's largest value is divided, for the limits of sums: most
// values are smaller, and so are most people's sums.
const sumParts = 64

// mostRowsOfProfile is how many rows people are told apart by, in the profile of a table.
const mostRowsOfProfile = 1<<20 + 1<<19 + 1

// ProfileEdges are the smallest numbers of rows of the cells of a table's profile: two cells for
// each doubling, so that what is not known of the people in one is at most half of what they have.
func ProfileEdges() []int64 { return Edges(mostRowsOfProfile, 2) }

// Edges are the smallest numbers of cells, so many for each doubling, up to a limit, which is the
// last of them.
func Edges(most int64, each int64) []int64 {
	out := []int64{1}
	for n := int64(1); n < most; n *= 2 {
		for part := range each {
			out = append(out, n+1+part*n/each)
		}
	}
	out = slices.DeleteFunc(slices.Compact(out), func(n int64) bool { return n >= most })
	return append(out, most)
}

// sumUnit is a part of a row's largest value.
func sumUnit(t tree.Type) *big.Rat {
	unit := new(big.Rat).SetInt(expr.MaxAbs(t))
	return unit.Mul(unit, t.Step).Quo(unit, big.NewRat(sumParts, 1))
}

// oneLimit reports whether people's sums can be told apart by how large they are: whether they are
// cut at the same limit on both sides of 0, or lie on one, and whether cells can be written exactly
// enough.
func oneLimit(t tree.Type) bool {
	sides := t.Lo.Sign() >= 0 || t.Hi.Sign() <= 0 || t.Lo.CmpAbs(t.Hi) == 0
	return sides && sumUnit(t).Cmp(big.NewRat(1, 1_000_000)) >= 0
}

// onlySum is the SUM that all aggregates of a question are, or nil.
func onlySum(q *tree.Query, targets []*pg.Node) (sum *pg.Node) {
	if len(q.Measures) != 1 || q.Measures[0].Kind != tree.Sum {
		return nil
	}
	for _, n := range targets {
		syntax.EachNode(n, func(x *pg.Node) bool {
			if x.GetSubLink() != nil { // its SUM is of other rows
				return false
			}
			if f := x.GetFuncCall(); f != nil && functionName(f) == "sum" {
				sum = x
			} else if f != nil && isPersonal(functionName(f)) {
				sum = nil
			}
			return true
		})
	}
	return sum
}

// personName is a column that says of every row whose it is, as it can be written.
func (in *rowScope) personName(from []*pg.Node) *pg.Node {
	var aliases []string
	for _, n := range from {
		syntax.EachNode(n, func(x *pg.Node) bool {
			alias, name := x.GetRangeVar().GetAlias(), x.GetRangeVar().GetRelname()
			if s := x.GetRangeSubselect(); s != nil {
				alias = s.Alias
			}
			if alias != nil {
				name = alias.Aliasname
			}
			if name != "" {
				aliases = append(aliases, name)
			}
			return x.GetRangeSubselect() == nil
		})
	}
	for _, f := range in.rows.Fields() {
		if f.Identity == "" || f.Name == "" {
			continue
		}
		for _, alias := range aliases {
			n := pg.MakeColumnRefNode([]*pg.Node{pg.MakeStrNode(alias), pg.MakeStrNode(f.Name)}, -1)
			e, err := in.read(n)
			if c, ok := e.(*tree.Column); err == nil && ok && in.rows.isUnit(c) && in.rows.isAlways(c, in.filter) {
				return n
			}
		}
	}
	return nil
}

func target(n *pg.Node, name string) *pg.Node { return pg.MakeResTargetNodeWithNameAndVal(name, n, -1) }

func ordinalNode(n int) *pg.Node { return pg.MakeAConstIntNode(int64(n), -1) }
