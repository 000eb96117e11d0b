package planner

import (
	"math/big"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// holdoutMean is the function. It is no aggregate of other questions: its price is not theirs.
const holdoutMean = "holdout_mean"

const holdoutInstead = "write SELECT holdout_mean(expression) FROM table, or SELECT holdout_mean(expression, 0.81) FROM table with the " +
	"mean on your training data"

// AsksHoldout reports whether a text asks a holdout. A text that cannot be parsed does not.
func AsksHoldout(text *syntax.Text) bool {
	if !strings.Contains(strings.ToLower(text.SQL()), holdoutMean) {
		return false
	}
	s, err := text.Select()
	if err != nil {
		return false
	}
	found := false
	syntax.EachNode(syntax.SelectNode(s), func(n *pg.Node) bool {
		found = found || isHoldoutMean(n)
		return !found
	})
	return found
}

func isHoldoutMean(n *pg.Node) bool {
	f := n.GetFuncCall()
	return f != nil && strings.EqualFold(functionName(f), holdoutMean)
}

// PrepareHoldout checks a question to a holdout against the policy, and reads nothing else, but
// public tables for their sizes. The holdout is the one with a name, or where there is none the
// only one of the table. Its refusals tell nothing about the data.
func PrepareHoldout(ds *policy.Dataset, text *syntax.Text, name string, o Options) (h *tree.Holdout, err error) {
	o = o.metered()
	err = meter.Run(func() (err error) {
		if h, err = prepareHoldout(ds, text, name, o); err == nil {
			countChecks(o.Meter, &h.Query)
		}
		return err
	})
	return h, withOwnKey(ds, text, err)
}

func prepareHoldout(ds *policy.Dataset, text *syntax.Text, name string, o Options) (*tree.Holdout, error) {
	s, err := text.SelectOf(ds.Name)
	if err != nil {
		return nil, err
	}
	call, err := holdoutCall(s)
	if err != nil {
		return nil, err
	}
	table := s.FromClause[0].GetRangeVar()
	of, err := holdoutOf(ds, table, name)
	if err != nil {
		return nil, err
	}
	h := &tree.Holdout{Of: of, Name: s.TargetList[0].GetResTarget().GetName()}
	if h.Name == "" {
		h.Name = holdoutMean
	}
	if err := askHoldout(h, ds, table, call, o); err != nil {
		return nil, err
	}
	if h.Training == nil && of.Train != "" {
		if err := askTraining(h, ds, table, call, o.Meter); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// holdoutCall returns the only thing that is selected, and refuses everything around it.
func holdoutCall(s *pg.SelectStmt) (*pg.FuncCall, error) {
	at := int32(-1)
	syntax.EachNode(syntax.SelectNode(s), func(n *pg.Node) bool {
		// The first of the text: nodes are visited in no particular order.
		if l := n.GetFuncCall().GetLocation(); isHoldoutMean(n) && (at < 0 || l < at) {
			at = l
		}
		return true
	})
	alone := func(pos int32) error {
		if pos < 0 {
			pos = at
		}
		return syntax.Refuse(syntax.Unsupported, pos, holdoutInstead, "use one holdout_mean, with nothing next to it or around it")
	}
	const everybody = "put the condition into the expression, as in holdout_mean(CASE WHEN age >= 40 AND predicted = outcome THEN 1 ELSE " +
		"0 END); rows without it count as 0"
	switch {
	case isSet(s) || s.WithClause != nil || len(s.ValuesLists) > 0 || s.IntoClause != nil || len(s.WindowClause) > 0 ||
		len(s.LockingClause) > 0 || len(s.DistinctClause) > 0:
		return nil, alone(-1)
	case s.WhereClause != nil:
		return nil, syntax.Refuse(syntax.Unsupported, syntax.Location(s.WhereClause), everybody,
			"a holdout's mean covers all its people, whose number is public; the number that a WHERE leaves is not")
	case len(s.GroupClause) > 0:
		return nil, syntax.Refuse(syntax.Unsupported, firstLocation(s.GroupClause), "ask about one group at a time, and "+everybody,
			"holdout_mean has no groups: every group would be a separate question")
	case s.HavingClause != nil || len(s.SortClause) > 0 || s.LimitCount != nil || s.LimitOffset != nil:
		return nil, syntax.Refuse(syntax.Unsupported, at, holdoutInstead, "holdout_mean has one row, and no HAVING, ORDER BY or LIMIT")
	case len(s.TargetList) != 1 || !isHoldoutMean(s.TargetList[0].GetResTarget().GetVal()):
		return nil, alone(-1)
	case len(s.FromClause) != 1 || s.FromClause[0].GetRangeVar() == nil:
		return nil, syntax.Refuse(syntax.Unsupported, firstLocation(s.FromClause), "name only the holdout's table",
			"holdout_mean reads the table of a holdout, not a join or a subquery")
	}
	f := s.TargetList[0].GetResTarget().GetVal().GetFuncCall()
	switch {
	case f.AggFilter != nil:
		return nil, syntax.Refuse(syntax.Unsupported, syntax.Location(f.AggFilter), everybody,
			"a holdout's mean covers all its people, whose number is public; the number that a FILTER leaves is not")
	case f.AggDistinct || f.Over != nil || len(f.AggOrder) > 0 || f.AggWithinGroup || f.FuncVariadic || f.AggStar || len(f.Args) < 1 ||
		len(f.Args) > 2:
		return nil, syntax.Refuse(syntax.Unsupported, f.Location, holdoutInstead,
			"holdout_mean takes an expression and, if you like, the training value")
	}
	return f, nil
}

func holdoutOf(ds *policy.Dataset, v *pg.RangeVar, name string) (*policy.Holdout, error) {
	table, err := newEnv(ds, Options{}).find(v)
	if err != nil {
		return nil, err
	}
	var names, tables []string
	var found []*policy.Holdout
	for _, n := range ds.HoldoutNames() {
		h := ds.Holdouts[n]
		if h.Table == "" {
			continue
		}
		if !slices.Contains(tables, h.Table) {
			tables = append(tables, h.Table)
		}
		if table.table != nil && h.Table == table.table.Name && (name == "" || n == name) {
			found, names = append(found, h), append(names, n)
		}
	}
	switch {
	case len(tables) == 0:
		return nil, syntax.Refuse(syntax.Unsupported, v.Location,
			"submit predictions to a holdout of labels, or ask the owner for a holdout in the policy",
			"no table of this dataset is held out")
	case len(found) == 0 && name != "":
		return nil, syntax.Refuse(syntax.Unsupported, v.Location, "ask about its own table", "%q is not the table of the holdout %q",
			v.Relname, name)
	case len(found) == 0:
		return nil, syntax.Refuse(syntax.Unsupported, v.Location, "the held-out tables are "+strings.Join(tables, ", "),
			"the table %q is not held out", v.Relname)
	case len(found) > 1:
		return nil, syntax.Refuse(syntax.Unsupported, v.Location, "name one of them, with 'discreet holdout score' or over HTTP: "+
			strings.Join(names, ", "), "the table %q has several holdouts", v.Relname)
	}
	return found[0], nil
}

type holdoutReader struct{ in *rowScope }

// trainingValue reads the second argument: a constant, also as a text or with a cast, as the value
// of a parameter comes.
func (hr holdoutReader) trainingValue(n *pg.Node) (*big.Rat, error) {
	bad := syntax.Refuse(syntax.BadValue, syntax.Location(n), "write the mean on your training data as a number from 0 to 1, such as 0.81",
		"the training value is not a number from 0 to 1")
	e, err := hr.in.read(n)
	if err != nil {
		return nil, bad
	}
	l, ok := expr.Adopt(e, expr.NewNumber(tree.One)).(*tree.Literal)
	switch {
	case !ok:
		return nil, bad
	case l.IsNullLiteral():
		return nil, nil
	case l.Number == nil:
		return nil, bad
	}
	x := new(big.Rat).Mul(new(big.Rat).SetInt(l.Number), l.Typ.Step)
	if x.Sign() < 0 || x.Cmp(tree.One) > 0 {
		return nil, bad
	}
	return x, nil
}

// holdoutRows is the question that an expression is checked in.
func holdoutRows(ds *policy.Dataset, table *policy.Table, v *pg.RangeVar, m *meter.Meter) (*rowScope, error) {
	name := v.Relname
	if v.Alias != nil {
		name = v.Alias.Aliasname
	}
	r, err := nameRows(NewScan(ds, table), name, aliasColumns(v.Alias), v.Location)
	if err != nil {
		return nil, err
	}
	return &rowScope{env: newEnv(ds, Options{Meter: m}), rows: r}, nil
}

// argument checks the expression: total, exact, and proven to lie between 0 and 1.
func (hr holdoutReader) argument(n *pg.Node) (tree.Expr, error) {
	arg, err := hr.in.read(n)
	if err != nil {
		return nil, err
	}
	pos := syntax.Location(n)
	if arg.Type().Kind == tree.Boolean {
		if arg, err = expr.NewCase([]tree.When{{If: hr.in.env.truth(arg), Then: expr.NewNumber(tree.One)}},
			expr.NewNumber(big.NewRat(0, 1)), pos); err != nil {
			return nil, err
		}
		arg = hr.in.env.normal(arg)
	}
	t := arg.Type()
	const bounded = "write a condition, or CASE WHEN ... THEN 1 ELSE 0 END, or keep it between 0 and 1, as in greatest(0, least(1, x))"
	switch {
	case t.Kind == tree.Real:
		return nil, syntax.Refuse(syntax.Unsupported, pos,
			"round it first, as in round(x, 2), and ask the owner for steps: 100 in the policy",
			"holdout_mean needs exact numbers, but this is the result of a division or a decimal without granularity")
	case t.Kind != tree.Number:
		return nil,
			syntax.Refuse(syntax.NoFunction, pos, bounded, "holdout_mean needs a number from 0 to 1 or a condition, but this is %s",
				expr.Article(t.Kind))
	case t.Lo.Sign() < 0 || new(big.Rat).Mul(new(big.Rat).SetInt(t.Hi), t.Step).Cmp(tree.One) > 0:
		return nil, syntax.Refuse(syntax.Private, pos, bounded,
			"the policy does not say that this is between 0 and 1, and the noise is for values "+
				"between them")
	case t.Hi.Sign() == 0:
		return nil, syntax.Refuse(syntax.Unsupported, pos, "write a condition that some rows can meet", "this is 0 for every row")
	case expr.MaxAbs(t).Cmp(maxRowSteps) > 0:
		return nil, syntax.Refuse(syntax.OutOfRange, pos, "round it, as in round(x, 2)", "the values of this could exceed 2^53 steps")
	}
	return arg, nil
}

func askHoldout(h *tree.Holdout, ds *policy.Dataset, v *pg.RangeVar, call *pg.FuncCall, o Options) error {
	q, err := holdoutRows(ds, ds.Tables[h.Of.Table], v, o.Meter)
	if err != nil {
		return err
	}
	if !tree.Private(q.rows) || !q.rows.Single() {
		return syntax.Refuse(syntax.BadObject, v.Location, "ask the owner to correct the policy",
			"a holdout must be a private table with one row for each person")
	}
	read := holdoutReader{q}
	if len(call.Args) == 2 {
		if h.Training, err = read.trainingValue(call.Args[1]); err != nil {
			return err
		}
	}
	arg, err := read.argument(call.Args[0])
	if err != nil {
		return err
	}
	m, err := read.measure(arg, syntax.Location(call.Args[0]))
	if err != nil {
		return err
	}
	factor := new(big.Rat).Mul(m.Step(), big.NewRat(h.Of.Steps, 1))
	if !factor.IsInt() || !factor.Num().IsInt64() {
		return syntax.Refuse(syntax.Unsupported, syntax.Location(call.Args[0]),
			"round it, or ask the owner for different steps in the policy",
			"values of this are multiples of %s, but those of the holdout are multiples of 1/%d", m.Step().RatString(), h.Of.Steps)
	}
	h.Averaged, h.Factor = arg, factor.Num().Int64()
	h.Query = tree.Query{Dataset: ds.Name, Neighbours: ds.Neighbours, From: q.rows.Relation, Measures: []tree.Measure{m},
		RowLimit: 1, GroupLimit: 1}
	if err := proveTotal(&h.Query); err != nil {
		return err
	}
	return boundQuery(newEnv(ds, o), &h.Query, syntax.Location(call.Args[0]))
}

// measure is the sum, in the spelling that sums of other questions have.
func (hr holdoutReader) measure(arg tree.Expr, pos int32) (tree.Measure, error) {
	arg, err := (&aggregator{in: hr.in}).sparse(arg, pos)
	if err != nil {
		return tree.Measure{}, err
	}
	if isOneOrNull(arg) {
		return (&aggregator{in: hr.in}).countValues(arg), nil
	}
	return tree.Measure{Kind: tree.Sum, Arg: arg}, nil
}

func askTraining(h *tree.Holdout, ds *policy.Dataset, v *pg.RangeVar, call *pg.FuncCall, m *meter.Meter) error {
	t := ds.Tables[h.Of.Train]
	if t == nil || !t.Public {
		return syntax.Refuse(syntax.BadObject, v.Location, "ask the owner to correct the policy",
			"the training table of a holdout must be a public table")
	}
	const instead = "give the training value as the second argument"
	elsewhere := func(err error) error {
		return syntax.Refuse(syntax.KindOf(err), syntax.Location(call.Args[0]), instead, "over the training table %q: %s", t.Name,
			refusalReason(err))
	}
	q, err := holdoutRows(ds, t, v, m)
	if err != nil {
		return err
	}
	arg, err := holdoutReader{q}.argument(call.Args[0])
	if err != nil {
		return elsewhere(err)
	}
	sum := tree.Measure{Kind: tree.Sum, Arg: arg}
	h.TrainStep = sum.Step()
	h.Train = &tree.Query{Dataset: ds.Name, Neighbours: ds.Neighbours, From: q.rows.Relation,
		Measures: []tree.Measure{sum, {Kind: tree.CountRows}}, RowLimit: 1, GroupLimit: 1}
	if !h.Train.Public() {
		return syntax.Refuse(syntax.Unsupported, syntax.Location(call.Args[0]), instead,
			"a training value is shown exactly, so it is computed without subqueries, which could be about private rows")
	}
	if err := proveTotal(h.Train); err != nil {
		return elsewhere(err)
	}
	return nil
}
