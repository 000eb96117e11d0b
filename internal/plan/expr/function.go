package expr

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// Function is a row of the one table of functions: what can be called in SQL, what stands in a
// tree, or both. Everything that is known of a function is in its row. Every function is total, and
// takes time in proportion to the length of its arguments at most.
type Function struct {
	names string // in SQL, or in the tree where it has none there; several are separated by spaces
	// Usage is how it is written.
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
	// usualScratch. A test measures it.
	scratch int
}

// usualScratch is what most functions take.
const usualScratch = 16

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

func fill() {
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
	table.once.Do(fill)
	return table.calls[name]
}

// node returns a function as it stands in the tree, or nil.
func node(name string) *Function {
	table.once.Do(fill)
	return table.tree[name]
}

// Functions returns the names that can be called in SQL, sorted.
func Functions() []string {
	table.once.Do(fill)
	return slices.Sorted(maps.Keys(table.calls))
}

// Nodes returns the values that [tree.Call.Fn] can have, sorted: an engine prints each of them.
func Nodes() []string {
	table.once.Do(fill)
	return slices.Sorted(maps.Keys(table.tree))
}

// Named makes a function of checked arguments.
func Named(name string, args []tree.Expr, pos int32) (tree.Expr, error) {
	f := Lookup(name)
	if len(args) < f.least || f.most > 0 && len(args) > f.most {
		return nil, syntax.Refuse(pos, "write "+f.Usage, "%s has another number of arguments", name)
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
	return 0, syntax.Refuse(pos, "write a number there, as in "+what, "this argument must be a constant whole number from %d to %d", lo, hi)
}

// TextConstant reads an argument that must be a constant text.
func TextConstant(e tree.Expr, most int, what string, pos int32) (string, error) {
	l, ok := Constant(e)
	switch {
	case !ok || l.Text == nil:
		return "", syntax.Refuse(pos, "write a text in quotes there, as in "+what, "this argument must be a constant text")
	case len(*l.Text) > most:
		return "", syntax.Refuse(pos, "write a shorter text", "this text is longer than %d bytes", most)
	}
	return *l.Text, nil
}

// need refuses an argument of another kind than the function takes.
func need(name string, e tree.Expr, pos int32, kinds ...tree.Kind) (tree.Expr, error) {
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
		return nil, syntax.Refuse(pos, "write "+Lookup(name).Usage, "%s cannot take %s", name, Article(e.Type().Kind))
	}
	return Checked(e, pos)
}
