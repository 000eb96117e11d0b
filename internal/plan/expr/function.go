package expr

import (
	"maps"
	"slices"

	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// function is what can be called: a row of the one table that names, checks,
// types and computes it. Every function is total, and takes time in proportion to the
// length of its arguments at most.
type function struct {
	least, most int    // how many arguments; most is 0 for any number
	Usage       string // how it is written
	// build checks the arguments and makes the expression, with the interval of its
	// value: nil where it has no name in SQL.
	Build func(args []tree.Expr, pos int32) (tree.Expr, error)
}

// node is a function as it stands in the tree, which an engine prints.
type node struct {
	eval     func(e *tree.Call, args []tree.Value) tree.Value
	nulls    bool // eval wants NULLs; otherwise a NULL argument makes NULL
	vanishes bool // it can be NULL where no argument is
	copies   int  // how often an engine may write its arguments, where more than once
}

// Registry are those of SQL by name, and nodes those of the tree. They are filled by the
// files of their kinds: fn_any.go, fn_number.go, fn_real.go, fn_text.go, fn_time.go, cast.go.
var (
	Registry = map[string]function{}
	nodes    = map[string]node{}
)

// Functions returns the names that can be called in SQL, sorted.
func Functions() []string { return slices.Sorted(maps.Keys(Registry)) }

// Nodes returns the values that [Call.Fn] can have, sorted: an engine prints each of them.
func Nodes() []string { return slices.Sorted(maps.Keys(nodes)) }

func IsFunction(name string) bool { _, ok := Registry[name]; return ok }

// Named makes a function of checked arguments.
func Named(name string, args []tree.Expr, pos int32) (tree.Expr, error) {
	f := Registry[name]
	if len(args) < f.least || f.most > 0 && len(args) > f.most {
		return nil, syntax.Refuse(pos, "write "+f.Usage, "%s has another number of arguments", name)
	}
	return f.Build(args, pos)
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
		sample := map[tree.Kind]tree.Expr{tree.Number: NewNumber(tree.One), tree.Real: NewNumber(tree.One), tree.Date: newDate(0), tree.Timestamp: newTimestamp(0), tree.Boolean: NewBool(true)}
		for _, k := range kinds {
			if e = Adopt(e, sample[k]); e.Type().Kind == k {
				break
			}
		}
	} else if ok && l.IsNullLiteral() && l.Typ.Kind == 0 {
		e = NewNull(textType(0))
	}
	if !slices.Contains(kinds, e.Type().Kind) {
		return nil, syntax.Refuse(pos, "write "+Registry[name].Usage, "%s cannot take %s", name, Article(e.Type().Kind))
	}
	return Checked(e, pos)
}
