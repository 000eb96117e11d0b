package expr

import (
	"errors"
	"regexp"
	"strings"
	"sync"

	"github.com/discreet-dp/discreet/internal/plan/posix"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// Patterns: ~, ~*, !~, !~*, SIMILAR TO and regexp_like. The pattern is a constant, and stands in
// the tree as package posix writes it.

func matchFunctions() []Function {
	return []Function{
		{
			names: "matches", eval: func(_ *tree.Call, a []tree.Value) tree.Value {
				return compiled(a[1].(string)).MatchString(a[0].(string))
			},
		},
		{names: "regexp_like", Usage: "regexp_like(name, '^A', 'i')", least: 2, most: 3, build: newRegexpLike,
			Signature: Signature{Takes: "text", Gives: "boolean"}},
	}
}

// compilations keeps the patterns that were used last.
var compilations struct {
	sync.Mutex
	byText map[string]*regexp.Regexp
}

const maxCompilations = 64

func compiled(pattern string) *regexp.Regexp {
	compilations.Lock()
	defer compilations.Unlock()
	if r, ok := compilations.byText[pattern]; ok {
		return r
	}
	if compilations.byText == nil || len(compilations.byText) >= maxCompilations {
		compilations.byText = map[string]*regexp.Regexp{}
	}
	r := regexp.MustCompile(pattern)
	compilations.byText[pattern] = r
	return r
}

// NewMatch makes a match of a pattern that [posix.Translate] or [posix.Similar] reads.
func NewMatch(x, pattern tree.Expr, read func(string) (string, error), pos int32) (tree.Expr, error) {
	const example = "name ~ '^A'"
	if l, ok := Constant(pattern); ok && l.IsNullLiteral() {
		return NewNull(tree.Bool), nil
	}
	if l, ok := x.(*tree.Literal); ok && l.IsNullLiteral() {
		return NewNull(tree.Bool), nil
	}
	if k := x.Type().Kind; k != tree.Text {
		return nil, syntax.Refuse(pos, "compare with =, < or BETWEEN, or cast it, as in CAST(age AS text)",
			"a pattern is for text, and this is %s", Article(k))
	}
	text, err := TextConstant(pattern, 4*posix.MaxLength, example, pos)
	if err != nil {
		return nil, err
	}
	written, err := read(text)
	if e := (*posix.Error)(nil); errors.As(err, &e) {
		return nil, syntax.Refuse(pos, e.Instead, "%s", e.Reason)
	}
	if _, bad := regexp.Compile(written); err != nil || bad != nil {
		return nil, syntax.Refuse(pos, "write a simpler pattern", "this pattern cannot be used")
	}
	return NewCall("matches", tree.Bool, pos, x, NewText(written))
}

// newOperatorMatch makes x ~ 'p' and its relatives.
func newOperatorMatch(op string, l, r tree.Expr, pos int32) (tree.Expr, error) {
	fold := strings.HasSuffix(op, "*")
	e, err := NewMatch(l, r, func(p string) (string, error) { return posix.Translate(p, fold) }, pos)
	if err == nil && op[0] == '!' {
		e = &tree.Not{X: e}
	}
	return e, err
}

func newRegexpLike(args []tree.Expr, pos int32) (tree.Expr, error) {
	fold := false
	if len(args) == 3 {
		flags, err := TextConstant(args[2], 8, "regexp_like(name, '^A', 'i')", pos)
		if err != nil {
			return nil, err
		}
		for _, c := range flags {
			if c != 'i' && c != 'c' && c != 's' {
				return nil, syntax.Refuse(pos, "write 'i' to ignore case, or leave it out",
					"the flags of regexp_like can only be i, c and s here")
			}
			if c != 's' {
				fold = c == 'i'
			}
		}
	}
	return NewMatch(args[0], args[1], func(p string) (string, error) { return posix.Translate(p, fold) }, pos)
}
