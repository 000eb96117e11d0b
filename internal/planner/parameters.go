package planner

import (
	"cmp"
	"math/big"
	"slices"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Parameters says of what kind the parameters of a text are, as the places where they stand have
// them: integer, decimal, text, boolean, date or timestamp, for $1, $2 and so on. A parameter takes
// the kind of what it is compared, computed or listed with, or cast to, where that is known, and is
// a text otherwise, which the planner reads as whatever it meets. It is a help for clients and
// decides nothing: a value of another kind is checked like a constant of that kind.
//
// The samples are values that can stand for the parameters where only the shape of the answer is
// asked for: a value of each one's kind, and one of the policy's own where it is compared with a
// column that has listed values or bounds.
func Parameters(ds *policy.Dataset, text *syntax.Text) (kinds []string, samples []api.Parameter, err error) {
	k, err := findKinds(ds, text)
	if err != nil {
		return nil, nil, withOwnKey(ds, text, err)
	}
	samples = make([]api.Parameter, len(k.kinds))
	for i, kind := range k.kinds {
		samples[i] = sampleAt(kind, i)
		if s, ok := k.samples[i]; ok {
			samples[i].Text = s
		}
	}
	return k.kinds, samples, nil
}

func Sample(kind string) api.Parameter {
	if of, ok := strings.CutSuffix(kind, "[]"); ok {
		return api.Parameter{Kind: kind, Text: arrayOf(sampleTexts[of])}
	}
	return api.Parameter{Kind: kind, Text: sampleTexts[kind]}
}

// sampleAt is the sample of one of several parameters. Later ones are larger: no row would meet
// day >= $1 AND day < $2 with two equal ones, and of such a question less is asked than of others.
func sampleAt(kind string, i int) api.Parameter {
	out := Sample(kind)
	switch {
	case i == 0:
	case kind == "integer": // and still a number of digits
		out.Text = strconv.Itoa(1 + 3*min(i, 3))
	case kind == "decimal":
		out.Text = "0." + strconv.Itoa(min(5+i, 9))
	case kind == "date":
		out.Text = policy.FormatDate(sampleDay + 100*int64(i))
	case kind == "timestamp":
		out.Text = policy.FormatTimestamp((sampleDay + 100*int64(i)) * 86400e6)
	}
	return out
}

// sampleDay is 2000-01-01, in days since 1970-01-01.
const sampleDay = 10957

// sampleTexts are values of each kind: not zero, so that they can divide, and with a fraction where
// there can be one.
var sampleTexts = map[string]string{
	"integer": "1", "decimal": "0.5", "text": "a", "boolean": "true", "date": "2000-01-01", "timestamp": "2000-01-01 00:00:00",
}

// kindFinder finds the kinds of parameters. It looks at names and not at scopes: a name that means
// two kinds of columns in one text has none.
type kindFinder struct {
	tables     []*policy.Table
	targets    []*pg.ResTarget // expressions that have names, as n in COUNT(*) AS n
	kinds      []string
	samples    map[int]string
	views      map[string]bool
	visitsLeft int // how much more may be looked at
}

func findKinds(ds *policy.Dataset, text *syntax.Text) (*kindFinder, error) {
	count, err := text.Parameters()
	if err != nil {
		return nil, err
	}
	s, err := text.SelectOf(ds.Name)
	if err != nil {
		return nil, err
	}
	k := &kindFinder{kinds: make([]string, count), samples: map[int]string{}, views: map[string]bool{}, visitsLeft: maxVisits}
	if count == 0 {
		return k, nil
	}
	k.collect(ds, syntax.SelectNode(s))
	k.visitsLeft = maxVisits
	syntax.EachNode(syntax.SelectNode(s), func(n *pg.Node) bool {
		k.infer(n)
		return true
	})
	for i := range k.kinds {
		if k.kinds[i] == "" {
			k.kinds[i] = "text"
		}
	}
	return k, nil
}

// collect finds the tables of a SELECT, of the views in it too, and the names that it gives.
func (k *kindFinder) collect(ds *policy.Dataset, n *pg.Node) {
	syntax.EachNode(n, func(n *pg.Node) bool {
		if k.visitsLeft--; k.visitsLeft < 0 {
			return false
		}
		switch x := n.GetNode().(type) {
		case *pg.Node_RangeVar:
			if t, ok := findName(ds.Tables, x.RangeVar.Relname); ok && !slices.Contains(k.tables, t) {
				k.tables = append(k.tables, t)
			} else if view, ok := findName(ds.Views, x.RangeVar.Relname); ok && !k.views[view] {
				k.views[view] = true
				if s, err := syntax.Open(view, nil).SelectOf(ds.Name); err == nil {
					k.collect(ds, syntax.SelectNode(s))
				}
			}
		case *pg.Node_ResTarget:
			if x.ResTarget.Name != "" {
				k.targets = append(k.targets, x.ResTarget)
			}
		}
		return true
	})
}

// infer looks at what stands around parameters in one node.
func (k *kindFinder) infer(n *pg.Node) {
	switch x := n.GetNode().(type) {
	case *pg.Node_SelectStmt:
		s := x.SelectStmt
		k.give("integer", s.LimitCount, s.LimitOffset)
		k.give("boolean", s.WhereClause, s.HavingClause)
	case *pg.Node_BoolExpr:
		k.give("boolean", x.BoolExpr.Args...)
	case *pg.Node_BooleanTest:
		k.give("boolean", x.BooleanTest.Arg)
	case *pg.Node_JoinExpr:
		k.give("boolean", x.JoinExpr.Quals)
	case *pg.Node_TypeCast:
		k.give(castName(x.TypeCast), x.TypeCast.Arg)
	case *pg.Node_AArrayExpr:
		k.unify(x.AArrayExpr.Elements...)
	case *pg.Node_TypeName:
		k.give("integer", x.TypeName.Typmods...)
	case *pg.Node_AExpr:
		k.operator(x.AExpr)
	case *pg.Node_CaseExpr:
		k.choices(x.CaseExpr)
	case *pg.Node_CoalesceExpr:
		k.unify(x.CoalesceExpr.Args...)
	case *pg.Node_MinMaxExpr:
		k.unify(x.MinMaxExpr.Args...)
	case *pg.Node_FuncCall:
		k.call(x.FuncCall)
	case *pg.Node_SubLink:
		if t := x.SubLink.Subselect.GetSelectStmt().GetTargetList(); x.SubLink.Testexpr != nil && len(t) == 1 {
			k.unify(x.SubLink.Testexpr, t[0].GetResTarget().GetVal())
		}
	}
}

func (k *kindFinder) operator(a *pg.A_Expr) {
	if len(a.Name) != 1 {
		return
	}
	switch a.Kind {
	case pg.A_Expr_Kind_AEXPR_LIKE, pg.A_Expr_Kind_AEXPR_ILIKE, pg.A_Expr_Kind_AEXPR_SIMILAR:
		k.give("text", a.Lexpr, a.Rexpr)
		return
	case pg.A_Expr_Kind_AEXPR_OP_ANY, pg.A_Expr_Kind_AEXPR_OP_ALL:
		k.compareArray(a)
		return
	case pg.A_Expr_Kind_AEXPR_OP:
		switch op := a.Name[0].GetString_().GetSval(); op {
		case "||":
			k.give("text", a.Lexpr, a.Rexpr)
			return
		case "+", "-", "*", "/", "%", "^":
			k.arithmetic(op, a)
			return
		}
	}
	k.unify(append([]*pg.Node{a.Lexpr}, listOrNode(a.Rexpr)...)...)
}

// compareArray gives a parameter that is an array the kind of what is compared with its elements.
func (k *kindFinder) compareArray(a *pg.A_Expr) {
	k.give(cmp.Or(k.kind(a.Lexpr, 0), "text")+"[]", a.Rexpr)
	p, c := a.Rexpr.GetParamRef(), k.column(a.Lexpr)
	if p == nil || c == nil {
		return
	}
	if sample, ok := k.sampleOf(c, p.Number); ok && k.kinds[p.Number-1] == c.Type.String()+"[]" {
		k.samples[int(p.Number-1)] = arrayOf(sample)
	}
}

// arrayOf is the text of an array of one element.
func arrayOf(text string) string {
	return `{"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"}`
}

// arithmetic gives a parameter the kind of the other side, as PostgreSQL does. A number of days is
// added to a day.
func (k *kindFinder) arithmetic(op string, a *pg.A_Expr) {
	for _, side := range [][2]*pg.Node{{a.Lexpr, a.Rexpr}, {a.Rexpr, a.Lexpr}} {
		switch other := k.kind(side[1], 0); {
		case other == "integer" || other == "decimal":
			k.give(other, side[0])
		case other == "date" && op == "-" && side[0] == a.Lexpr:
			k.give("date", side[0])
		case other == "date":
			k.give("integer", side[0])
		case other == "timestamp": // an interval, which is a text here
		case a.Lexpr == nil || k.kind(side[0], 0) == "":
			k.give("decimal", side[0])
		}
	}
}

func (k *kindFinder) choices(c *pg.CaseExpr) {
	tests, results := []*pg.Node{c.Arg}, []*pg.Node{c.Defresult}
	for _, w := range c.Args {
		tests, results = append(tests, w.GetCaseWhen().GetExpr()), append(results, w.GetCaseWhen().GetResult())
	}
	if c.Arg == nil {
		k.give("boolean", tests...)
	} else {
		k.unify(tests...)
	}
	k.unify(results...)
}

// aboveOnly are functions that are there for SELECTs over answers, or for a person's rows, and are
// no functions of one row.
var aboveOnly = map[string]expr.Signature{
	"dp_low": {Gives: "alike"}, "dp_high": {Gives: "alike"}, "dp_error": {Gives: "decimal"}, holdoutMean: {Takes: "- decimal"},
	allRows:       {Gives: "integer"},
	allSum:        {Gives: "alike"},
	"like_escape": {Takes: "text", Gives: "text"}, "reverse": {Takes: "text", Gives: "text"},
	"repeat": {Takes: "text integer", Gives: "text"}, "to_char": {Gives: "text"},
	"row_number": {Gives: "integer"}, "rank": {Gives: "integer"}, "dense_rank": {Gives: "integer"},
	"any_value": {Gives: "alike"}, "lag": {Gives: "alike"}, "lead": {Gives: "alike"},
}

// signature says what is known of a function's arguments and value; it is empty where nothing is.
func signature(f *pg.FuncCall) expr.Signature {
	name := functionName(f)
	if known := expr.Lookup(name); known != nil {
		return known.Signature
	}
	if s, ok := aggregates[name]; ok {
		return s
	}
	return aboveOnly[name]
}

// sampleWords are values of arguments for which not every text will do, as by their place from 0.
var sampleWords = map[string]struct {
	at   int
	word string
}{"date_trunc": {0, "month"}, "date_part": {0, "month"}, "date_bin": {0, "1 day"}, "to_char": {1, "YYYY-MM"}}

// suggest makes a word the sample of a parameter, also below a cast.
func (k *kindFinder) suggest(word string, n *pg.Node) {
	for n.GetTypeCast() != nil {
		n = n.GetTypeCast().Arg
	}
	if p := n.GetParamRef(); p != nil {
		k.samples[int(p.Number-1)] = word
	}
}

func (k *kindFinder) call(f *pg.FuncCall) {
	if w, ok := sampleWords[functionName(f)]; ok && w.at < len(f.Args) {
		k.suggest(w.word, f.Args[w.at])
	}
	takes := strings.Fields(signature(f).Takes)
	if len(takes) == 1 && takes[0] == "alike" {
		k.unify(f.Args...)
		takes = nil
	}
	for i, a := range f.Args {
		if len(takes) == 0 {
			break
		}
		if kind := takes[min(i, len(takes)-1)]; kind != "-" {
			k.give(kind, a)
		}
	}
	k.give("boolean", f.AggFilter)
}

// unify gives parameters the kind of those beside them, and a value that the policy has for one of
// them.
func (k *kindFinder) unify(nodes ...*pg.Node) {
	kind := ""
	var beside *policy.Column
	for _, n := range nodes {
		other := k.kind(n, 0)
		if kind == "" || kind == "integer" && other == "decimal" {
			kind = cmp.Or(other, kind)
		}
		if c := k.column(n); c != nil && beside == nil {
			beside = c
		}
	}
	k.give(kind, nodes...)
	if beside == nil {
		return
	}
	for _, n := range nodes {
		p := n.GetParamRef()
		if p == nil || k.kinds[p.Number-1] != kind {
			continue
		}
		sample, found := k.sampleOf(beside, p.Number)
		if _, ok := k.samples[int(p.Number-1)]; !ok && found {
			k.samples[int(p.Number-1)] = sample
		}
	}
}

// give gives a kind to those of some nodes that are parameters and have none yet. A cast of one is
// the client's own word for it, and comes first, because its node is what stands there.
func (k *kindFinder) give(kind string, nodes ...*pg.Node) {
	for _, n := range nodes {
		for syntax.IsMinus(n) {
			n = n.GetAExpr().Rexpr
		}
		if p := n.GetParamRef(); p != nil && kind != "" && k.kinds[p.Number-1] == "" {
			k.kinds[p.Number-1] = kind
		}
	}
}

// kind is the kind of an expression, or nothing where it is not known.
func (k *kindFinder) kind(n *pg.Node, depth int) string {
	if k.visitsLeft--; n == nil || depth > maxInside || k.visitsLeft < 0 {
		return ""
	}
	first := func(nodes ...*pg.Node) string {
		for _, n := range nodes {
			if kind := k.kind(n, depth+1); kind != "" {
				return kind
			}
		}
		return ""
	}
	switch x := n.GetNode().(type) {
	case *pg.Node_AConst:
		switch x.AConst.Val.(type) {
		case *pg.A_Const_Ival:
			return "integer"
		case *pg.A_Const_Fval:
			return "decimal"
		case *pg.A_Const_Boolval:
			return "boolean"
		}
		return "" // a quoted constant may be anything
	case *pg.Node_ColumnRef:
		if c := k.column(n); c != nil {
			return c.Type.String()
		}
		return k.target(x.ColumnRef, depth)
	case *pg.Node_TypeCast:
		return castName(x.TypeCast)
	case *pg.Node_BoolExpr, *pg.Node_NullTest, *pg.Node_BooleanTest:
		return "boolean"
	case *pg.Node_CoalesceExpr:
		return first(x.CoalesceExpr.Args...)
	case *pg.Node_MinMaxExpr:
		return first(x.MinMaxExpr.Args...)
	case *pg.Node_CaseExpr:
		results := []*pg.Node{x.CaseExpr.Defresult}
		for _, w := range x.CaseExpr.Args {
			results = append(results, w.GetCaseWhen().GetResult())
		}
		return first(results...)
	case *pg.Node_SubLink:
		if t := x.SubLink.Subselect.GetSelectStmt().GetTargetList(); x.SubLink.SubLinkType == pg.SubLinkType_EXPR_SUBLINK && len(t) == 1 {
			return first(t[0].GetResTarget().GetVal())
		}
		return "boolean"
	case *pg.Node_AExpr:
		a := x.AExpr
		switch op := a.Name[len(a.Name)-1].GetString_().GetSval(); {
		case a.Kind == pg.A_Expr_Kind_AEXPR_NULLIF:
			return first(a.Lexpr, a.Rexpr)
		case a.Kind != pg.A_Expr_Kind_AEXPR_OP:
			return "boolean"
		case op == "||":
			return "text"
		case strings.ContainsAny(op, "+-*/%^") && len(op) == 1:
			l, r := k.kind(a.Lexpr, depth+1), k.kind(a.Rexpr, depth+1)
			switch {
			case l == "date" && r == "date":
				return "integer"
			case l == "decimal" || r == "decimal":
				return "decimal"
			}
			return cmp.Or(l, r)
		}
		return "boolean"
	case *pg.Node_FuncCall:
		gives := signature(x.FuncCall).Gives
		switch order := x.FuncCall.AggOrder; {
		case gives == "alike" && x.FuncCall.AggWithinGroup && len(order) == 1:
			return first(order[0].GetSortBy().GetNode())
		case gives == "alike":
			return first(x.FuncCall.Args...)
		}
		return gives
	}
	return ""
}

// column is what a name means among the columns of the tables, or nil: where there is none, or
// several of different kinds.
func (k *kindFinder) column(n *pg.Node) *policy.Column {
	fields := n.GetColumnRef().GetFields()
	if len(fields) == 0 {
		return nil
	}
	name := fields[len(fields)-1].GetString_().GetSval()
	var found *policy.Column
	for _, t := range k.tables {
		c, ok := findName(t.Columns, name)
		switch {
		case !ok:
		case found == nil:
			found = c
		case found.Type != c.Type:
			return nil
		}
	}
	return found
}

// target is the kind of what a SELECT gave a name.
func (k *kindFinder) target(c *pg.ColumnRef, depth int) string {
	if len(c.Fields) == 0 {
		return ""
	}
	name := c.Fields[len(c.Fields)-1].GetString_().GetSval()
	for _, t := range k.targets {
		if strings.EqualFold(t.Name, name) {
			if kind := k.kind(t.Val, depth+1); kind != "" {
				return kind
			}
		}
	}
	return ""
}

// castName is the kind of a type that can be cast to.
func castName(c *pg.TypeCast) string {
	if t := c.GetTypeName(); len(t.GetArrayBounds()) == 1 {
		of := castName(&pg.TypeCast{TypeName: &pg.TypeName{Names: t.GetNames()}})
		if of == "" {
			return ""
		}
		return of + "[]"
	}
	name := syntax.TypeName(c)
	switch expr.CastKinds[name] {
	case tree.Number:
		if name == "numeric" {
			return "decimal"
		}
		return "integer"
	case tree.Real:
		return "decimal"
	case tree.Text:
		return "text"
	case tree.Boolean:
		return "boolean"
	case tree.Date:
		return "date"
	case tree.Timestamp:
		return "timestamp"
	}
	return ""
}

// listOrNode are those of a list, or the node itself.
func listOrNode(n *pg.Node) []*pg.Node {
	if l := n.GetList(); l != nil {
		return l.Items
	}
	return []*pg.Node{n}
}

// sampleOf is a value of a column that the policy names, for one of the parameters. It is between
// the bounds, and later ones are larger, so that comparisons with it stay open: what is beyond the
// bounds in all rows, or in none, is not there any more.
func (k *kindFinder) sampleOf(c *policy.Column, number int32) (string, bool) {
	var listed []policy.Value
	for _, v := range c.KeyValues {
		if !v.Null {
			listed = append(listed, v)
		}
	}
	if n := len(listed); n > 0 && (c.Type == policy.Text || c.Type == policy.Boolean) {
		return c.ShowValue(listed[0]), true
	} else if n > 0 {
		return c.ShowValue(listed[n*int(number)/(len(k.kinds)+1)]), true
	}
	if c.Bounds != nil {
		at := new(big.Int).Sub(big.NewInt(c.Bounds.HiSteps), big.NewInt(c.Bounds.LoSteps))
		at.Mul(at, big.NewInt(int64(number))).Quo(at, big.NewInt(int64(len(k.kinds)+1)))
		return c.Show(at.Add(at, big.NewInt(c.Bounds.LoSteps)).Int64()), true
	}
	return "", false
}
