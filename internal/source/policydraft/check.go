package policydraft

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/planner/grammar"
	"github.com/discreet-dp/discreet/internal/source/catalogue"
	"github.com/discreet-dp/discreet/policy"
)

// allowed is what conditions leave of a column: everything between two ends, or a list.
type allowed struct {
	lowest, highest string
	// above and below say that the end itself is not in it, and rounded that it is about the
	// nearest whole number.
	above, below, rounded bool
	keys                  []string
}

// The text of a condition is the database's own spelling of it.
var limits = grammar.Limits{Bytes: 256 << 10, Words: 20_000, Depth: 60}

// conditions reads what CHECK constraints say about single columns. What it does not understand it
// leaves out: then the owner says it.
func conditions(checks []string) map[string]*allowed {
	out := map[string]*allowed{}
	for _, text := range checks {
		parsed, err := grammar.Parse("SELECT "+text, limits)
		if err != nil || len(parsed.Statements) != 1 {
			continue
		}
		targets := parsed.Statements[0].Stmt.GetSelectStmt().GetTargetList()
		if len(targets) == 1 {
			readCondition(out, targets[0].GetResTarget().GetVal())
		}
	}
	return out
}

// readCondition reads one condition. Those of an AND all hold.
func readCondition(out map[string]*allowed, n *pg.Node) {
	if b := n.GetBoolExpr(); b != nil {
		switch b.Boolop {
		case pg.BoolExprType_AND_EXPR:
			for _, arg := range b.Args {
				readCondition(out, arg)
			}
		case pg.BoolExprType_OR_EXPR:
			readChoice(out, b.Args)
		}
		return
	}
	a := n.GetAExpr()
	if column, keys, rounded := equal(n); column != "" {
		at(out, column).restrict(keys, rounded)
		return
	}
	if a == nil || a.Kind != pg.A_Expr_Kind_AEXPR_OP {
		return
	}
	op := operator(a)
	column, rounded := columnOf(a.Lexpr)
	value, ok := "", false
	if column != "" {
		value, ok = constant(a.Rexpr)
	} else if column, rounded = columnOf(a.Rexpr); column != "" {
		value, ok = constant(a.Lexpr)
		op = map[string]string{">": "<", ">=": "<=", "<": ">", "<=": ">="}[op]
	}
	if !ok {
		return
	}
	// Of two conditions for one end the last counts: both are true, and people write one.
	r := at(out, column)
	r.rounded = r.rounded || rounded
	switch op {
	case ">", ">=":
		r.lowest, r.above = value, op == ">"
	case "<", "<=":
		r.highest, r.below = value, op == "<"
	}
}

// readChoice reads an OR: of NULL, or of values of one column.
func readChoice(out map[string]*allowed, args []*pg.Node) {
	var rest []*pg.Node
	for _, arg := range args {
		if test := arg.GetNullTest(); test != nil && test.Nulltesttype == pg.NullTestType_IS_NULL {
			continue // a CHECK lets NULL through anyway
		}
		rest = append(rest, arg)
	}
	if len(rest) == 1 && len(args) == 2 && sameColumn(args) {
		readCondition(out, rest[0])
		return
	}
	var column string
	var all []string
	var rounded bool
	for _, arg := range rest {
		name, keys, r := equal(arg)
		if name == "" || column != "" && name != column {
			return
		}
		column, all, rounded = name, append(all, keys...), rounded || r
	}
	if column != "" && sameColumn(args) {
		at(out, column).restrict(all, rounded)
	}
}

// sameColumn reports whether the NULL tests of an OR are about the column of its other conditions.
func sameColumn(args []*pg.Node) bool {
	names := map[string]bool{}
	for _, arg := range args {
		if test := arg.GetNullTest(); test != nil {
			name, _ := columnOf(test.Arg)
			names[name] = true
			continue
		}
		inside := map[string]*allowed{}
		readCondition(inside, arg)
		for name := range inside {
			names[name] = true
		}
	}
	return len(names) == 1 && !names[""]
}

// equal reads x = value, x = ANY (ARRAY[...]) and x IN (...).
func equal(n *pg.Node) (column string, keys []string, rounded bool) {
	a := n.GetAExpr()
	if a == nil || operator(a) != "=" {
		return "", nil, false
	}
	values := []*pg.Node{a.Rexpr}
	switch a.Kind {
	case pg.A_Expr_Kind_AEXPR_OP:
	case pg.A_Expr_Kind_AEXPR_OP_ANY:
		array := a.Rexpr
		for array.GetTypeCast() != nil {
			array = array.GetTypeCast().Arg
		}
		values = array.GetAArrayExpr().GetElements()
	case pg.A_Expr_Kind_AEXPR_IN:
		values = a.Rexpr.GetList().GetItems()
	default:
		return "", nil, false
	}
	for _, v := range values {
		text, ok := constant(v)
		if !ok {
			return "", nil, false
		}
		keys = append(keys, text)
	}
	if len(keys) == 0 {
		return "", nil, false
	}
	column, rounded = columnOf(a.Lexpr)
	return column, keys, rounded
}

func at(out map[string]*allowed, column string) *allowed {
	if out[column] == nil {
		out[column] = &allowed{}
	}
	return out[column]
}

// restrict leaves the values that are in this list as well.
func (a *allowed) restrict(keys []string, rounded bool) {
	a.rounded = a.rounded || rounded
	if a.keys == nil {
		a.keys = keys
		return
	}
	a.keys = slices.DeleteFunc(slices.Clone(a.keys), func(k string) bool { return !slices.Contains(keys, k) })
}

// and is what two sets of conditions allow together.
func (a *allowed) and(b *allowed) *allowed {
	out := allowed{}
	for _, one := range []*allowed{a, b} {
		if one == nil {
			continue
		}
		if one.lowest != "" {
			out.lowest, out.above = one.lowest, one.above
		}
		if one.highest != "" {
			out.highest, out.below = one.highest, one.below
		}
		if one.keys != nil {
			out.restrict(one.keys, false)
		}
		out.rounded = out.rounded || one.rounded
	}
	return &out
}

func operator(a *pg.A_Expr) string {
	if len(a.Name) == 0 {
		return ""
	}
	return a.Name[len(a.Name)-1].GetString_().GetSval()
}

// Casts that the database writes around a column, which mean nothing for its values; and those that
// mean nothing for whole numbers.
var (
	harmless = map[string]bool{"text": true, "varchar": true, "bpchar": true, "numeric": true, "float8": true}
	rounding = map[string]bool{"int2": true, "int4": true, "int8": true}
)

// columnOf is the name of a column, or nothing where a condition is about something else.
func columnOf(n *pg.Node) (name string, rounded bool) {
	for n.GetTypeCast() != nil {
		names := n.GetTypeCast().TypeName.GetNames()
		if len(names) == 0 {
			return "", false
		}
		to := names[len(names)-1].GetString_().GetSval()
		if !harmless[to] && !rounding[to] {
			return "", false
		}
		rounded, n = rounded || rounding[to], n.GetTypeCast().Arg
	}
	fields := n.GetColumnRef().GetFields()
	if len(fields) != 1 {
		return "", false
	}
	return fields[0].GetString_().GetSval(), rounded
}

// constant is the text of a constant, whatever it is cast to.
func constant(n *pg.Node) (string, bool) {
	minus := ""
	for {
		if c := n.GetTypeCast(); c != nil {
			n = c.Arg
			continue
		}
		if a := n.GetAExpr(); a != nil && a.Lexpr == nil && operator(a) == "-" && minus == "" {
			minus, n = "-", a.Rexpr
			continue
		}
		break
	}
	switch c := n.GetAConst(); {
	case c == nil || c.Isnull:
		return "", false
	case c.GetSval() != nil:
		return minus + c.GetSval().Sval, true
	case c.GetFval() != nil:
		return minus + c.GetFval().Fval, true
	case c.GetIval() != nil:
		return minus + strconv.Itoa(int(c.GetIval().Ival)), true
	}
	return "", false
}

// apply puts what is allowed into a column of a draft.
func (a *allowed) apply(to *policy.SchemaColumn, c catalogue.Column) {
	const from = "by a CHECK of the database"
	if a.rounded && to.Type != policy.Integer {
		return
	}
	switch to.Type {
	case policy.Text:
		long := slices.ContainsFunc(a.keys, func(k string) bool { return len(k) > longestKey })
		if len(a.keys) > 0 && len(a.keys) <= mostKeys && !long {
			to.Keys, to.From = trimmed(a.keys, c), from
		}
		return
	case policy.Integer:
		a.whole(to)
	case policy.Decimal, policy.Date:
		to.Lowest, to.Highest = a.lowest, a.highest
	case policy.Timestamp:
		to.Lowest, to.Highest = strings.TrimSuffix(a.lowest, "+00"), strings.TrimSuffix(a.highest, "+00")
	default:
		return
	}
	if to.Lowest != "" || to.Highest != "" || len(to.Keys) > 0 {
		to.From = from
	}
}

// mostKeys is how many values a list has that is taken over: an answer shows all of them.
// longestKey and farthestKey are how long and how large one is.
const (
	mostKeys    = 1000
	longestKey  = 500
	farthestKey = 1_000_000_000_000
)

// trimmed removes what is listed twice, and the blanks at the end of a char(n), which are no part
// of its values.
func trimmed(keys []string, c catalogue.Column) []string {
	var out []string
	for _, k := range keys {
		if c.Kind == catalogue.Padded {
			k = strings.TrimRight(k, " ")
		}
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

// whole is what is allowed of whole numbers: their ends are in it.
func (a *allowed) whole(to *policy.SchemaColumn) {
	ends := []struct {
		text   string
		strict bool
		up     int64
		into   *string
	}{{a.lowest, a.above, 1, &to.Lowest}, {a.highest, a.below, -1, &to.Highest}}
	for _, e := range ends {
		n, ok := new(big.Rat).SetString(e.text)
		if e.text == "" || !ok {
			continue
		}
		whole := new(big.Int).Div(n.Num(), n.Denom()) // downwards
		if !n.IsInt() && e.up > 0 {
			whole.Add(whole, big.NewInt(1))
		}
		if n.IsInt() && e.strict {
			whole.Add(whole, big.NewInt(e.up))
		}
		*e.into = whole.String()
	}
	var numbers []int64
	for _, k := range a.keys {
		n, err := strconv.ParseInt(k, 10, 64)
		if err != nil || n < -farthestKey || n > farthestKey {
			return
		}
		numbers = append(numbers, n)
	}
	if len(numbers) == 0 || len(numbers) > mostKeys {
		return
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	for _, n := range numbers {
		to.Keys = append(to.Keys, strconv.FormatInt(n, 10))
	}
	to.Lowest, to.Highest = to.Keys[0], to.Keys[len(to.Keys)-1]
}
