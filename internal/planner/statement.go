package planner

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/planner/announce"
	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Statement is a checked text: the private questions in it, and what is done with their answers.
type Statement struct {
	// Plans are the questions that are paid for. Several of them, in a row, may be one answer
	// ([tree.Plan].Continues).
	Plans []*tree.Plan
	// Cubes are those of them that can be released together.
	Cubes []*tree.Cube
	// Outer is a SELECT over the answers, free and for another engine, in which the answer that
	// begins with Plans[i] is the table AnswerName(i); nil where the first answer is the result.
	Outer *pg.SelectStmt
	// Tables are the public tables that Outer names beside answers, or alone, by PublicName. They
	// are about nobody, so they are free and exact.
	Tables []*policy.Table
	// Empty says that the answer has no rows, whatever the data is: then nothing is bought, and its
	// columns are all of it. Rows are these columns where rows of tables were asked for, and there
	// are no plans.
	Empty bool
	Rows  []tree.Output
	// Announced are the columns of the result as PostgreSQL has them, which decide how values are
	// sent and nothing else; nil where they are not known.
	Announced []announce.Column
	// notes are about constants that are beyond the bounds of what they are compared with, and
	// about existence.
	notes []string
}

// Free reports whether the answer follows from the policy, the text and public tables: it has no
// rows, or is made of lists of public keys. Then there is no noise in it, and no price.
func (s *Statement) Free() bool {
	for _, p := range s.Plans {
		if !s.Empty && !p.Query.ListsKeys() {
			return false
		}
	}
	return true
}

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
			st.Cubes = findCubes(st.Plans)
			st.countChecks(o.Meter)
			st.announce(ds, text, o.Meter)
		}
		return err
	})
	if err != nil {
		return nil, withOwnKey(ds, text, text.HintQuotes(err))
	}
	return st, nil
}

// announce finds out which columns PostgreSQL would have. It reads the text as it was sent, so that
// no type depends on the value of a parameter.
func (s *Statement) announce(ds *policy.Dataset, text *syntax.Text, m *meter.Meter) {
	sent, kinds := text.Sent()
	if q, err := sent.SelectOf(ds.Name); err == nil {
		var work int
		s.Announced, work = announce.Columns(ds, q, kinds)
		m.Work(work, meter.Node)
	}
}

func prepare(ds *policy.Dataset, text *syntax.Text, o Options) (st *Statement, err error) {
	s, err := text.SelectOf(ds.Name)
	if err != nil {
		return nil, err
	}
	if err := refuseOwnNames(s); err != nil {
		return nil, err
	}
	e := newEnv(ds, o)
	if s, err = e.countExistence(s); err != nil {
		return nil, err
	}
	defer func() {
		if st != nil {
			st.notes = append(e.existence, e.beyonds.notes...)
		}
	}()
	over, err := classifier{e}.ofFrom(s)
	if err != nil {
		return nil, err
	}
	probe := prober{e}
	if over == overRows {
		if rows, err := probe.readRows(s); rows != nil || err != nil {
			return &Statement{Rows: rows, Empty: true}, refuseAsRows(s, err)
		}
		plans, around, err := planner{e}.plan(s, 0)
		if err != nil {
			return nil, refuseAsRows(s, err)
		}
		return &Statement{Plans: plans, Outer: around, Empty: probe.noGroups(s) || e.showsNone(plans)}, nil
	}
	s = proto.Clone(s).(*pg.SelectStmt) // answers are put into it
	st = &Statement{Outer: s, Empty: probe.showsNothing(s)}
	if err := st.lift(e, s); err != nil {
		return nil, err
	}
	if len(st.Plans) == 0 && AsksHoldout(text) {
		return nil, syntax.Refuse(syntax.Unsupported, -1, holdoutInstead, "public tables are not held out")
	}
	if len(st.Plans)+len(st.Tables) == 0 {
		return nil, syntax.Refuse(syntax.Unsupported, -1, "write SELECT ... FROM a table; "+e.knownTables(),
			"the question asks about no private table")
	}
	return st, nil
}

// refuseAsRows gives a SELECT that asks for rows the kind of one, where it is refused for what
// PostgreSQL would do: whoever may not read the table would hear of that there.
func refuseAsRows(s *pg.SelectStmt, err error) error {
	if k := syntax.KindOf(err); err != nil && (k == syntax.Unsupported || k == syntax.TooComplex) && !isAggregated(s) {
		if r := (*api.Refusal)(nil); errors.As(err, &r) {
			return r.WithCode(string(syntax.Private))
		}
	}
	return err
}

// plan plans a SELECT over rows, and returns the SELECT over the answer of a number that it has
// around it, where it has windows.
func (pn planner) plan(s *pg.SelectStmt, number int) ([]*tree.Plan, *pg.SelectStmt, error) {
	if hasWindows(s) {
		return pn.planWindows(s, number)
	}
	plans, err := pn.planSets(s)
	return plans, nil, err
}

// DescribeRows returns the columns of a SELECT that asks for rows, which is refused; nil where it
// is none. They are the policy's, so tools may prepare what they never run.
func DescribeRows(ds *policy.Dataset, text *syntax.Text, o Options) (st *Statement) {
	s, err := text.SelectOf(ds.Name)
	if err != nil || isSet(s) || isAggregated(s) || refuseClauses(s) != nil || refuseDistinctOn(s) != nil {
		return nil
	}
	o = o.metered()
	_ = meter.Run(func() error {
		in, err := newEnv(ds, o).scopeOf(s)
		if err != nil || !tree.Private(in.rows) {
			return err
		}
		if rows, err := shapeOf(in, s); err == nil {
			st = &Statement{Rows: rows, Empty: true}
		}
		return nil
	})
	return st
}

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

func refuseOwnNames(s *pg.SelectStmt) error {
	var err error
	syntax.EachNode(syntax.SelectNode(s), func(n *pg.Node) bool {
		name, at := n.GetRangeVar().GetRelname(), n.GetRangeVar().GetLocation()
		if q := n.GetCommonTableExpr(); q != nil {
			name, at = q.Ctename, q.Location
		}
		if err == nil && strings.HasPrefix(strings.ToLower(name), AnswerPrefix) {
			err = syntax.Refuse(syntax.Reserved, at, "choose another name", "names that start with %s are reserved for answers",
				AnswerPrefix)
		}
		return true
	})
	return err
}

// lift takes the questions out of a SELECT over answers, and puts the names of their answers in
// their places.
func (st *Statement) lift(e *env, s *pg.SelectStmt) error {
	for _, l := range s.LockingClause {
		return syntax.Refuse(syntax.Unsupported, syntax.Location(l), "leave it out", "FOR UPDATE or FOR SHARE cannot be used")
	}
	if s.IntoClause != nil {
		return syntax.Refuse(syntax.Unsupported, -1, "leave it out", "INTO cannot be used")
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
	for _, n := range tablesAndSubqueries(s) {
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
					return syntax.Refuse(syntax.KindOf(err), x.RangeVar.Location, "ask the owner to correct it",
						"the view %q cannot be used here: %s",
						x.RangeVar.Relname, refusalReason(err))
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
				return syntax.Refuse(syntax.Private, x.RangeVar.Location, "ask about it with an aggregate, in a separate subquery",
					"rows of %q cannot be used here", x.RangeVar.Relname)
			}
		}
	}
	return nil
}

// tablesAndSubqueries returns the tables and subqueries of a SELECT's own clauses, and not those
// inside of its subqueries or of WITH.
func tablesAndSubqueries(s *pg.SelectStmt) []*pg.Node {
	var out []*pg.Node
	visit := func(n *pg.Node) {
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
			visit(n)
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
	if l == overRows && !isSet(*s) || over == overRows {
		plans, around, err := planner{e}.plan(*s, len(st.Plans))
		if err != nil {
			return err
		}
		if len(st.Plans)+len(plans) > maxQuestions {
			return syntax.Refuse(syntax.TooComplex, -1, "ask fewer at a time", "the text has more than %d questions", maxQuestions)
		}
		if around == nil {
			around = selectAnswer(len(st.Plans))
		}
		*s = around
		st.Plans = append(st.Plans, shiftAnswers(plans, len(st.Plans))...)
		return nil
	}
	return st.lift(e, *s)
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
		if l == overRows {
			continue
		}
		if l == overPublic { // it stays as it is for the questions that name it
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

// countChecks counts the work of those who look at all of a finished statement after it was
// planned: it is checked once more, priced, looked for in memory, and written down for that.
func (s *Statement) countChecks(m *meter.Meter) {
	for _, p := range s.Plans {
		countChecks(m, &p.Query)
	}
	for _, c := range s.Cubes {
		countChecks(m, &c.Query)
	}
}

// CheckViews checks every view of a dataset, for the owner. Its errors are for the owner to mend,
// and not refusals.
func CheckViews(ds *policy.Dataset) error {
	var all []error
	for _, name := range ds.ViewNames() {
		text := "SELECT COUNT(*) FROM " + `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		if s, err := syntax.Open(text, nil).SelectOf(ds.Name); err == nil {
			var rows rows
			err := meter.Run(func() (err error) {
				rows, err = rowReader{newEnv(ds, Options{})}.readFrom(s)
				return err
			})
			if err == nil && !tree.Private(rows) {
				continue // of public tables: it is asked about alone, or joined
			}
		}
		if _, err := Prepare(ds, text, Options{}); err != nil {
			all = append(all, fmt.Errorf("%s; correct it under 'views' in the policy", refusalReason(err)))
		}
	}
	return errors.Join(all...)
}
