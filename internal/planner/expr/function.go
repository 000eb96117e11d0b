package expr

import (
	"maps"
	"math/big"
	"slices"
	"strings"
	"sync"

	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// Function is a row of the one table of functions: what can be called in SQL, what stands in a
// tree, or both. Everything that is known of a function is in its row. Every function is total, and
// takes time in proportion to the length of its arguments at most.
type Function struct {
	names       string // in SQL, or in the tree where it has none there; several are separated by spaces
	Usage       string
	least, most int // how many arguments; most is 0 for any number
	// build checks the arguments and makes the expression, with the interval of its value: nil
	// where it has no name in SQL.
	build func(args []tree.Expr, pos int32) (tree.Expr, error)
	Signature
	// What stands in the tree under its first name, and an engine prints: nil where it is made of
	// other nodes.
	eval     func(e *tree.Call, args []tree.Value) tree.Value
	nulls    bool // eval wants NULLs; otherwise a NULL argument makes NULL
	vanishes bool // it can be NULL where no argument is
	copies   int  // how often an engine may write its arguments, where more than once
	// scratch is how many bytes eval takes on the way to its value, where it is more than
	// usualScratchBytes. A test measures it.
	scratch int
}

// usualScratchBytes is what most functions take.
const usualScratchBytes = 16

// Signature says of which kinds the arguments and the value of a function are, as far as its name
// tells: integer, decimal, text, boolean, date or timestamp. It is a help for who has to guess the
// kind of a parameter, and decides nothing.
type Signature struct {
	// Takes has a kind for each argument, separated by spaces, and - where any may stand; the last
	// is that of all that follow. "alike" says that all are of one kind.
	Takes string
	// Gives is the kind of the value, or "alike" where it is that of an argument.
	Gives string
}

// table is the table of functions by their names in SQL, and by those in the tree. It is filled
// when it is first looked at: functions are made of each other, so it cannot be a constant of the
// program.
var table struct {
	once        sync.Once
	calls, tree map[string]*Function
}

func fillTable() {
	table.calls, table.tree = map[string]*Function{}, map[string]*Function{}
	for _, f := range slices.Concat(anyFunctions(), numberFunctions(), realFunctions(), textFunctions(), pieceFunctions(), matchFunctions(),
		timeFunctions(), castFunctions()) {
		names := strings.Fields(f.names)
		if f.eval != nil {
			table.tree[names[0]] = &f
		}
		if f.build != nil {
			for _, name := range names {
				table.calls[name] = &f
			}
		}
	}
}

// Lookup returns a function that can be called in SQL, or nil.
func Lookup(name string) *Function {
	table.once.Do(fillTable)
	return table.calls[name]
}

// treeFunction returns a function as it stands in the tree, or nil.
func treeFunction(name string) *Function {
	table.once.Do(fillTable)
	return table.tree[name]
}

// Functions returns the names that can be called in SQL, sorted.
func Functions() []string {
	table.once.Do(fillTable)
	return slices.Sorted(maps.Keys(table.calls))
}

// Nodes returns the values that [tree.Call.Fn] can have, sorted: an engine prints each of them.
func Nodes() []string {
	table.once.Do(fillTable)
	return slices.Sorted(maps.Keys(table.tree))
}

func Named(name string, args []tree.Expr, pos int32) (tree.Expr, error) {
	f := Lookup(name)
	if len(args) < f.least || f.most > 0 && len(args) > f.most {
		return nil, syntax.Refuse(syntax.NoFunction, pos, "write "+f.Usage, "%s has the wrong number of arguments", name)
	}
	return f.build(args, pos)
}

// Constant returns the value of an expression without columns.
func Constant(e tree.Expr) (*tree.Literal, bool) {
	l, ok := Normal(e).(*tree.Literal)
	return l, ok
}

// wholeConstant reads an argument that must be a whole number between two ends.
func wholeConstant(e tree.Expr, lo, hi int64, what string, pos int32) (int64, error) {
	l, ok := Constant(AdoptNumber(e))
	if ok && l.Number != nil && l.Typ.Integer() && l.Number.IsInt64() {
		if n := l.Number.Int64(); lo <= n && n <= hi {
			return n, nil
		}
	}
	return 0, syntax.Refuse(syntax.BadValue, pos, "write a number here, as in "+what,
		"this argument must be a constant whole number from %d to %d", lo, hi)
}

// TextConstant reads an argument that must be a constant text.
func TextConstant(e tree.Expr, most int, what string, pos int32) (string, error) {
	l, ok := Constant(e)
	switch {
	case !ok || l.Text == nil:
		return "", syntax.Refuse(syntax.BadValue, pos, "write a text in quotes here, as in "+what, "this argument must be a constant text")
	case len(*l.Text) > most:
		return "", syntax.Refuse(syntax.TooComplex, pos, "write a shorter text", "this text is longer than %d bytes", most)
	}
	return *l.Text, nil
}

// requireKind refuses an argument of another kind than the function takes.
func requireKind(name string, e tree.Expr, pos int32, kinds ...tree.Kind) (tree.Expr, error) {
	if l, ok := e.(*tree.Literal); ok && (l.IsNullLiteral() || l.Text != nil) && kinds[0] != tree.Text {
		sample := map[tree.Kind]tree.Expr{tree.Number: NewNumber(tree.One), tree.Real: NewNumber(tree.One), tree.Date: newDate(0),
			tree.Timestamp: newTimestamp(0), tree.Boolean: NewBool(true)}
		for _, k := range kinds {
			if e = Adopt(e, sample[k]); e.Type().Kind == k {
				break
			}
		}
	} else if ok && l.IsNullLiteral() && l.Typ.Kind == 0 {
		e = NewNull(textType(0))
	}
	if !slices.Contains(kinds, e.Type().Kind) {
		return nil, syntax.Refuse(syntax.NoFunction, pos, "write "+Lookup(name).Usage, "%s cannot take %s", name, Article(e.Type().Kind))
	}
	return Checked(e, pos)
}

// NewCall makes a node, or refuses one that is too wide or too large.
func NewCall(fn string, t tree.Type, pos int32, args ...tree.Expr) (tree.Expr, error) {
	e := &tree.Call{Fn: fn, Args: args, Typ: t}
	if err := NotTooLarge(e, pos); err != nil {
		return nil, err
	}
	return Checked(e, pos)
}

func (v evaluation) call(e *tree.Call) tree.Value {
	f := treeFunction(e.Fn)
	args := make([]tree.Value, len(e.Args))
	bytes := 0
	for i, a := range e.Args {
		if args[i] = v.value(a); args[i] == nil && !f.nulls {
			return nil
		}
		if s, ok := args[i].(string); ok {
			bytes += len(s)
		}
	}
	if e.Fn == "matches" && v.meter != nil {
		return v.meter.Match(args[1].(string), args[0].(string))
	}
	v.meter.Work(2+len(args)+bytes/textPart, meter.Computed)
	v.meter.Work(f.scratch/textPart, meter.Computed/4)
	if e.Fn == "replace" { // each part that is found takes time, and there may be one in every few bytes
		v.meter.Work(bytes/4, meter.Computed/2)
	}
	v.meter.Build(16*len(args) + max(usualScratchBytes, f.scratch))
	out := f.eval(e, args)
	switch out := out.(type) {
	case string: // of at most maxJoined characters, where it is longer than what it is made of
		v.meter.Work(3+len(out)/textPart, meter.Computed)
		v.meter.Build(meter.Number + len(out))
		if len(out) > bytes { // it may have grown more than once
			v.meter.Build(len(out))
		}
	case *big.Int:
		v.meter.Build(meter.Integer)
	}
	return out
}

// textPart is how much of a text is looked at in the time that a node takes.
const textPart = 16

// restrict restricts a number or a time to an interval, in steps. It changes nothing where the
// value cannot be outside.
func restrict(x tree.Expr, lo, hi *big.Int, declared bool, pos int32) (tree.Expr, error) {
	t := x.Type()
	from, to := t.Lo, t.Hi
	if t.Kind != tree.Number {
		from, to = t.Span()
	}
	if from.Cmp(lo) >= 0 && to.Cmp(hi) <= 0 {
		return x, nil
	}
	t.Lo, t.Hi = Larger(from, lo), Smaller(to, hi)
	t.Declared = t.Declared || declared
	if t.Lo.Cmp(t.Hi) > 0 { // never inside
		t.Lo, t.Hi = new(big.Int), new(big.Int)
		return NewNull(t), nil
	}
	e := &tree.Within{X: x, Typ: t}
	return e, NotTooLarge(e, pos)
}

// restrictReal is restrict for a Real.
func restrictReal(x tree.Expr, r tree.Range, declared bool, pos int32) (tree.Expr, error) {
	t := x.Type()
	have := t.RealRange()
	if have.Inside(r) {
		return x, nil
	}
	r = tree.Range{Low: max(have.Low, r.Low), High: min(have.High, r.High)}
	if r.Low > r.High {
		return NewNull(realType(tree.Range{}, true)), nil
	}
	e := &tree.Within{X: x, Typ: realType(r, t.Declared || declared)}
	return e, NotTooLarge(e, pos)
}

func isWithin(e *tree.Within, v tree.Value) bool {
	switch v := v.(type) {
	case *big.Int:
		return e.Typ.Lo.Cmp(v) <= 0 && v.Cmp(e.Typ.Hi) <= 0
	case float64:
		return e.Typ.Range.Holds(v)
	case tree.Day:
		return e.Typ.Lo.Cmp(big.NewInt(int64(v))) <= 0 && e.Typ.Hi.Cmp(big.NewInt(int64(v))) >= 0
	case tree.Moment:
		return e.Typ.Lo.Cmp(big.NewInt(int64(v))) <= 0 && e.Typ.Hi.Cmp(big.NewInt(int64(v))) >= 0
	}
	return false
}

// mayVanish reports whether a node can be NULL where nothing below it is.
func mayVanish(e tree.Expr) bool {
	switch e := e.(type) {
	case *tree.Within:
		return true
	case *tree.Call:
		return treeFunction(e.Fn).vanishes
	}
	return false
}

// Copies is how often an engine may write a part of a node.
func Copies(e tree.Expr, part int) int {
	switch e := e.(type) {
	case *tree.Within:
		return 2
	case *tree.Arith:
		if part == 1 && (e.Op == tree.Div || e.Op == tree.Quo || e.Op == tree.Rem) {
			return 2 // the divisor is looked at before
		}
	case *tree.Call:
		return max(1, treeFunction(e.Fn).copies)
	}
	return 1
}

// Functions of values of every kind: coalesce, nullif, greatest and least.

func anyFunctions() []Function {
	alike := Signature{"alike", "alike"}
	extreme := func(name string, sign int) Function {
		return Function{
			names: name, Usage: name + "(x, y)", least: 1, Signature: alike,
			build: func(args []tree.Expr, pos int32) (tree.Expr, error) { return newExtreme(name, sign, args, pos) },
			nulls: true, eval: func(_ *tree.Call, args []tree.Value) tree.Value {
				var best tree.Value
				for _, a := range args {
					if a != nil && (best == nil || CompareValues(a, best)*sign > 0) {
						best = a
					}
				}
				return best
			},
		}
	}
	return []Function{
		{
			names: "coalesce", Usage: "coalesce(x, y)", least: 1, build: NewCoalesce, Signature: alike,
			nulls: true, eval: func(_ *tree.Call, args []tree.Value) tree.Value {
				for _, a := range args {
					if a != nil {
						return a
					}
				}
				return nil
			},
		},
		{
			names: "nullif", Usage: "nullif(x, y)", least: 2, most: 2, build: newNullif, Signature: alike,
			nulls: true, vanishes: true, copies: 2, eval: func(_ *tree.Call, args []tree.Value) tree.Value {
				if args[0] != nil && args[1] != nil && CompareValues(args[0], args[1]) == 0 {
					return nil
				}
				return args[0]
			},
		},
		extreme("greatest", 1), extreme("least", -1),
	}
}

// Unify brings expressions to one type, as PostgreSQL does for the branches of CASE:
// quoted constants and NULL take the type of the others, numbers the finest lattice.
func Unify(args []tree.Expr, what string, pos int32) ([]tree.Expr, error) {
	out := make([]tree.Expr, len(args))
	copy(out, args)
	real, stamp := false, false
	// What has a type of its own decides; a quoted constant is text only where nothing does.
	for i := range out {
		for _, other := range args {
			if l, ok := other.(*tree.Literal); ok && (l.Text != nil || l.IsNullLiteral()) {
				continue
			}
			out[i] = Adopt(out[i], other)
		}
	}
	for i := range out {
		for _, other := range out {
			if out[i].Type().Kind == 0 {
				out[i] = Adopt(out[i], other)
			}
		}
	}
	for _, e := range out {
		if _, err := Checked(e, pos); err != nil {
			return nil, err
		}
		real = real || e.Type().Kind == tree.Real
		stamp = stamp || e.Type().Kind == tree.Timestamp
	}
	for i, e := range out {
		switch k := e.Type().Kind; {
		case k == 0:
			return nil, syntax.Refuse(syntax.Unsupported, pos, "give at least one of them a value", "every value of this %s is NULL", what)
		case k == tree.Number && real:
			out[i] = Real(e)
		case k == tree.Date && stamp:
			var err error
			if out[i], err = Midnight(e, pos); err != nil {
				return nil, err
			}
		}
		if a, b := out[0].Type().Kind, out[i].Type().Kind; a != b {
			return nil, syntax.Refuse(syntax.Mismatch, pos, comparison(a, b), "%s cannot mix %s and %s", what, Article(a), Article(b))
		}
	}
	if out[0].Type().Kind != tree.Number {
		return out, nil
	}
	// Twice around puts all of them on the finest lattice.
	for range 2 {
		for i := 1; i < len(out); i++ {
			var err error
			if out[0], out[i], err = oneLattice(out[0], out[i], pos); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// neverNull reports whether an expression is never NULL. What the policy says of a column is
// not a proof: the data may hold something else.
func neverNull(e tree.Expr) bool {
	switch e := e.(type) {
	case *tree.Literal:
		return !e.IsNullLiteral()
	case *tree.Rescale:
		return neverNull(e.X)
	case *tree.ToReal:
		return neverNull(e.X)
	}
	return false
}

func NewCoalesce(args []tree.Expr, pos int32) (tree.Expr, error) {
	args, err := Unify(args, "coalesce", pos)
	if err != nil {
		return nil, err
	}
	return NewCall("coalesce", Hull(args), pos, args...)
}

func newNullif(args []tree.Expr, pos int32) (tree.Expr, error) {
	l, r, err := Unite(args[0], args[1], pos)
	if err != nil {
		return nil, err
	}
	return NewCall("nullif", l.Type(), pos, l, r)
}

// newExtreme makes greatest (sign 1) or least (sign -1). A NULL is passed over, so
// only an argument that is never NULL bounds the result from its side.
func newExtreme(name string, sign int, args []tree.Expr, pos int32) (tree.Expr, error) {
	for i, a := range args {
		if l, ok := Constant(a); ok && a.Type().Kind != tree.Real {
			args[i] = l
		}
	}
	args, err := Unify(args, name, pos)
	if err != nil {
		return nil, err
	}
	t := Hull(args)
	for _, a := range args {
		if u := a.Type(); neverNull(a) {
			switch {
			case t.Kind == tree.Real && sign > 0:
				t = realType(tree.Range{Low: max(t.RealRange().Low, u.RealRange().Low), High: max(t.RealRange().High, u.RealRange().Low)},
					t.Declared)
			case t.Kind == tree.Real:
				t = realType(tree.Range{Low: min(t.RealRange().Low, u.RealRange().High), High: min(t.RealRange().High, u.RealRange().High)},
					t.Declared)
			case t.Lo == nil || u.Lo == nil:
			case sign > 0 && u.Lo.Cmp(t.Lo) >= 0:
				t.Lo, t.LoDeclared = u.Lo, u.LoIsDeclared()
			case sign < 0 && u.Hi.Cmp(t.Hi) <= 0:
				t.Hi, t.HiDeclared = u.Hi, u.HiIsDeclared()
			}
		}
	}
	t.Declared = t.Declared || t.LoDeclared && t.HiDeclared
	return NewCall(name, t, pos, args...)
}
