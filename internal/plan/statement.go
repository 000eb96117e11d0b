package plan

import (
	"fmt"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/internal/plan/meter"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Prepare checks a text against a dataset's policy. It reads nothing else, but public tables for
// their keys: not the data, not the ledger. A question that cannot be asked gets a *Refusal.
func Prepare(ds *policy.Dataset, text string, o Options) (*Statement, error) {
	return PrepareText(ds, syntax.Open(text, nil), o)
}

// PrepareText is Prepare for a text that was read.
func PrepareText(ds *policy.Dataset, text *syntax.Text, o Options) (*Statement, error) {
	var st *Statement
	o = o.metered()
	err := meter.Run(func() (err error) {
		if st, err = prepare(ds, text, o); err == nil {
			st.Cubes = cubes(st.Plans)
			st.countChecks(o.Meter)
		}
		return err
	})
	if err != nil {
		return nil, text.HintQuotes(err)
	}
	return st, nil
}

func prepare(ds *policy.Dataset, text *syntax.Text, o Options) (*Statement, error) {
	s, err := text.SelectOf(ds.Name)
	if err != nil {
		return nil, err
	}
	if err := ownNames(s); err != nil {
		return nil, err
	}
	e := newEnv(ds, o)
	over, err := classifier{e}.ofFrom(s)
	if err != nil {
		return nil, err
	}
	probe := prober{e}
	if over == ofRows {
		if rows, err := probe.readRows(s); rows != nil || err != nil {
			return &Statement{Rows: rows, Empty: true}, err
		}
		plans, around, err := planner{e}.plan(s, 0)
		if err != nil {
			return nil, err
		}
		return &Statement{Plans: plans, Outer: around, Empty: probe.noGroups(s)}, nil
	}
	s = proto.Clone(s).(*pg.SelectStmt) // answers are put into it
	st := &Statement{Outer: s, Empty: probe.showsNothing(s)}
	if err := st.lift(e, s); err != nil {
		return nil, err
	}
	if len(st.Plans) == 0 && AsksHoldout(text) {
		return nil, syntax.Refuse(-1, holdoutInstead, "public tables are not held out")
	}
	if len(st.Plans)+len(st.Tables) == 0 {
		return nil, syntax.Refuse(-1, "write SELECT ... FROM a table; "+e.knownTables(), "the question asks about no private table")
	}
	return st, nil
}

// planned plans a SELECT over rows, and returns the SELECT over the answer of a number that it has
// around it, where it has windows.
func (pn planner) plan(s *pg.SelectStmt, number int) ([]*tree.Plan, *pg.SelectStmt, error) {
	if hasWindows(s) {
		return pn.planWindows(s, number)
	}
	plans, err := pn.planSets(s)
	return plans, nil, err
}

// AnswerName names the table of the answer of a statement's i-th plan, as Outer calls it. No
// analyst can: see ownNames.
func AnswerName(i int) string { return fmt.Sprintf("%s%d", AnswerPrefix, i) }

// AnswerPrefix begins all names that a plan makes up, of tables and of columns.
const AnswerPrefix = "released_"

// PublicName names the i-th public table of a statement, as Outer calls it.
func PublicName(i int) string { return fmt.Sprintf("%spublic_%d", AnswerPrefix, i) }

// name lets a SELECT over answers name a public table, which is about nobody.
func (st *Statement) name(v *pg.RangeVar, t *policy.Table) {
	i := slices.Index(st.Tables, t)
	if i < 0 {
		i = len(st.Tables)
		st.Tables = append(st.Tables, t)
	}
	if v.Alias == nil {
		v.Alias = &pg.Alias{Aliasname: v.Relname}
	}
	v.Relname = PublicName(i)
}

// ownNames refuses names that are for answers.
func ownNames(s *pg.SelectStmt) error {
	var err error
	syntax.EachNode(syntax.SelectNode(s), func(n *pg.Node) bool {
		name, at := n.GetRangeVar().GetRelname(), n.GetRangeVar().GetLocation()
		if q := n.GetCommonTableExpr(); q != nil {
			name, at = q.Ctename, q.Location
		}
		if err == nil && strings.HasPrefix(strings.ToLower(name), AnswerPrefix) {
			err = syntax.Refuse(at, "choose another name", "names that start with %s are for answers", AnswerPrefix)
		}
		return true
	})
	return err
}

// lift takes the questions out of a SELECT over answers, and puts the names of their answers in
// their places.
func (st *Statement) lift(e *env, s *pg.SelectStmt) error {
	for _, l := range s.LockingClause {
		return syntax.Refuse(syntax.Location(l), "leave it out", "FOR UPDATE or FOR SHARE cannot be used")
	}
	if s.IntoClause != nil {
		return syntax.Refuse(-1, "leave it out", "INTO cannot be used")
	}
	inner, err := e.addNames(s.WithClause)
	if err != nil {
		return err
	}
	if s.WithClause != nil {
		if err := st.liftWith(inner, s); err != nil {
			return err
		}
	}
	if isSet(s) {
		for _, side := range []**pg.SelectStmt{&s.Larg, &s.Rarg} {
			if err := st.liftSelect(inner, side); err != nil {
				return err
			}
		}
	}
	for _, n := range everywhere(s) {
		switch x := n.GetNode().(type) {
		case *pg.Node_RangeSubselect:
			if sub := x.RangeSubselect.Subquery.GetSelectStmt(); sub != nil {
				if err := st.liftSelect(inner, &sub); err != nil {
					return err
				}
				x.RangeSubselect.Subquery = syntax.SelectNode(sub)
			}
		case *pg.Node_SubLink:
			if sub := x.SubLink.Subselect.GetSelectStmt(); sub != nil {
				if err := st.liftSelect(inner, &sub); err != nil {
					return err
				}
				x.SubLink.Subselect = syntax.SelectNode(sub)
			}
		case *pg.Node_RangeVar:
			src, err := inner.find(x.RangeVar)
			if err != nil {
				return err
			}
			if src.isView {
				sub := proto.Clone(src.query).(*pg.SelectStmt)
				if err := st.liftSelect(src.env, &sub); err != nil {
					return syntax.Refuse(x.RangeVar.Location, "ask the owner to correct it", "the view %q cannot be used here: %s",
						x.RangeVar.Relname, reason(err))
				}
				alias := x.RangeVar.Alias
				if alias == nil {
					alias = &pg.Alias{Aliasname: x.RangeVar.Relname}
				}
				n.Node = &pg.Node_RangeSubselect{RangeSubselect: &pg.RangeSubselect{Subquery: syntax.SelectNode(sub), Alias: alias}}
				continue
			}
			if src.table != nil && src.table.Public {
				st.name(x.RangeVar, src.table)
				continue
			}
			if src.table != nil {
				return syntax.Refuse(x.RangeVar.Location, "ask about it with an aggregate, in a subquery of its own",
					"rows of %q cannot be used here", x.RangeVar.Relname)
			}
		}
	}
	return nil
}

// everywhere returns the tables and subqueries of a SELECT's own clauses, and not those inside of
// its subqueries or of WITH.
func everywhere(s *pg.SelectStmt) []*pg.Node {
	var out []*pg.Node
	look := func(n *pg.Node) {
		syntax.EachNode(n, func(n *pg.Node) bool {
			switch n.GetNode().(type) {
			case *pg.Node_RangeSubselect, *pg.Node_RangeVar:
				out = append(out, n)
				return false
			case *pg.Node_SubLink:
				out = append(out, n)
				syntax.EachNode(n.GetSubLink().Testexpr, func(n *pg.Node) bool {
					if n.GetSubLink() != nil {
						out = append(out, n)
						return false
					}
					return true
				})
				return false
			}
			return true
		})
	}
	for _, list := range [][]*pg.Node{s.DistinctClause, s.TargetList, s.FromClause, {s.WhereClause}, s.GroupClause, {s.HavingClause},
		s.WindowClause, s.ValuesLists, s.SortClause, {s.LimitCount}, {s.LimitOffset}} {
		for _, n := range list {
			look(n)
		}
	}
	return out
}

// liftSelect replaces a question by SELECT * FROM its answer, and looks into everything else.
func (st *Statement) liftSelect(e *env, s **pg.SelectStmt) error {
	e, err := e.descend(-1)
	if err != nil {
		return err
	}
	l, err := classifier{e}.ofResult(*s)
	if err != nil {
		return err
	}
	over, err := classifier{e}.ofFrom(*s)
	if err != nil {
		return err
	}
	if l == ofRows && !isSet(*s) || over == ofRows {
		plans, around, err := planner{e}.plan(*s, len(st.Plans))
		if err != nil {
			return err
		}
		if len(st.Plans)+len(plans) > maxQuestions {
			return syntax.Refuse(-1, "ask fewer at a time", "the text has more than %d questions", maxQuestions)
		}
		if around == nil {
			around = selectAnswer(len(st.Plans))
		}
		*s = around
		st.Plans = append(st.Plans, movedBack(plans, len(st.Plans))...)
		return nil
	}
	return st.lift(e, *s)
}

// maxQuestions bounds the questions of one text.
const maxQuestions = 32

// selectAnswer is SELECT * FROM released_i.
func selectAnswer(i int) *pg.SelectStmt {
	star :=
		&pg.Node{Node: &pg.Node_ColumnRef{ColumnRef: &pg.ColumnRef{Fields: []*pg.Node{{Node: &pg.Node_AStar{AStar: &pg.A_Star{}}}},
			Location: -1}}}
	return &pg.SelectStmt{
		TargetList: []*pg.Node{{Node: &pg.Node_ResTarget{ResTarget: &pg.ResTarget{Val: star, Location: -1}}}},
		FromClause: []*pg.Node{{Node: &pg.Node_RangeVar{RangeVar: &pg.RangeVar{Relname: AnswerName(i), Inh: true,
			Relpersistence: "p", Location: -1}}}},
		Op:          pg.SetOperation_SETOP_NONE,
		LimitOption: pg.LimitOption_LIMIT_OPTION_DEFAULT,
	}
}

// liftWith takes the questions out of WITH. A query of rows is for the questions that name it, and
// is left out.
func (st *Statement) liftWith(e *env, s *pg.SelectStmt) error {
	var kept []*pg.Node
	for _, n := range s.WithClause.Ctes {
		q := n.GetCommonTableExpr()
		sub := q.Ctequery.GetSelectStmt()
		inner := e.ctes[strings.ToLower(q.Ctename)].env
		l, err := classifier{inner}.ofResult(sub)
		if err != nil {
			return err
		}
		if l == ofRows {
			continue
		}
		if l == publicRows { // it stays as it is for the questions that name it
			n = proto.Clone(n).(*pg.Node)
			q = n.GetCommonTableExpr()
			sub = q.Ctequery.GetSelectStmt()
		}
		if err := st.liftSelect(inner, &sub); err != nil {
			return err
		}
		q.Ctequery = syntax.SelectNode(sub)
		kept = append(kept, n)
	}
	s.WithClause.Ctes = kept
	if len(kept) == 0 {
		s.WithClause = nil
	}
	return nil
}
