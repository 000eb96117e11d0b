package expr

import (
	"errors"
	"math/big"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/planner/posix"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
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
		return nil, syntax.Refuse(syntax.NoFunction, pos, "compare with =, < or BETWEEN, or cast it, as in CAST(age AS text)",
			"a pattern is for text, but this is %s", Article(k))
	}
	text, err := TextConstant(pattern, 4*posix.MaxLength, example, pos)
	if err != nil {
		return nil, err
	}
	written, err := read(text)
	if e := (*posix.Error)(nil); errors.As(err, &e) {
		return nil, syntax.Refuse(syntax.BadPattern, pos, e.Instead, "%s", e.Reason)
	}
	if _, bad := regexp.Compile(written); err != nil || bad != nil {
		return nil, syntax.Refuse(syntax.Unsupported, pos, "write a simpler pattern", "this pattern cannot be used")
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
				return nil, syntax.Refuse(syntax.BadValue, pos, "write 'i' to ignore case, or leave it out",
					"here the flags of regexp_like can only be i, c and s")
			}
			if c != 's' {
				fold = c == 'i'
			}
		}
	}
	return NewMatch(args[0], args[1], func(p string) (string, error) { return posix.Translate(p, fold) }, pos)
}

// Functions that put texts together and take them apart. What they look for and put in are
// constants, so that the length of a result is known.

func pieceFunctions() []Function {
	pad := func(name string, left bool) Function {
		return Function{
			names: name, Usage: name + "(code, 5, '0')", least: 2, most: 3, Signature: Signature{"text integer text", "text"},
			build: func(args []tree.Expr, pos int32) (tree.Expr, error) { return newPad(name, args, pos) },
			eval: func(_ *tree.Call, a []tree.Value) tree.Value {
				s, fill, n := a[0].(string), a[2].(string), a[1].(*big.Int).Int64()
				missing := n - int64(utf8.RuneCountInString(s))
				if missing <= 0 {
					return s[:prefix(s, n)]
				}
				each := int64(utf8.RuneCountInString(fill))
				times, rest := int(missing/each), fill[:prefix(fill, missing%each)]
				var b strings.Builder
				b.Grow(len(s) + times*len(fill) + len(rest))
				if !left {
					b.WriteString(s)
				}
				for range times {
					b.WriteString(fill)
				}
				b.WriteString(rest)
				if left {
					b.WriteString(s)
				}
				return b.String()
			},
		}
	}
	return []Function{
		{
			names: "split_part", Usage: "split_part(code, '-', 1)", least: 3, most: 3, build: newSplitPart, copies: 4,
			Signature: Signature{"text text integer", "text"},
			eval: func(_ *tree.Call, a []tree.Value) tree.Value {
				part, rest, found := strings.Cut(a[0].(string), a[1].(string))
				for range a[2].(*big.Int).Int64() - 1 {
					if !found {
						return ""
					}
					part, rest, found = strings.Cut(rest, a[1].(string))
				}
				return part
			},
		},
		{
			names: "replace", Usage: "replace(name, 'ab', 'c')", least: 3, most: 3, build: newReplace, Signature: Signature{"text", "text"},
			eval: func(_ *tree.Call, a []tree.Value) tree.Value {
				return strings.ReplaceAll(a[0].(string), a[1].(string), a[2].(string))
			},
		},
		{
			names: "concat_ws", Usage: "concat_ws('-', left(a, 20), left(b, 20))", least: 2, build: newConcatWS,
			Signature: Signature{"text", "text"},
			nulls:     true, eval: func(_ *tree.Call, a []tree.Value) tree.Value {
				var all []string
				for _, v := range a[1:] {
					if s, ok := v.(string); ok {
						all = append(all, s)
					}
				}
				return strings.Join(all, a[0].(string))
			},
		},
		pad("lpad", true), pad("rpad", false),
	}
}

func nonEmptyText(e tree.Expr, what string, pos int32) (string, error) {
	s, err := TextConstant(e, MaxNeedle, what, pos)
	if err == nil && s == "" {
		err = syntax.Refuse(syntax.BadValue, pos, "write a text here, as in "+what, "this text must not be empty")
	}
	return s, err
}

func newSplitPart(args []tree.Expr, pos int32) (tree.Expr, error) {
	x, err := requireKind("split_part", args[0], pos, tree.Text)
	if err != nil {
		return nil, err
	}
	by, err := nonEmptyText(args[1], "split_part(code, '-', 1)", pos)
	if err != nil {
		return nil, err
	}
	n, err := wholeConstant(args[2], 1, maxJoined, "split_part(code, '-', 1)", pos)
	if err != nil {
		return nil, err
	}
	t := tree.Type{Kind: tree.Text, MaxLength: x.Type().MaxLength}
	return NewCall("split_part", t, pos, x, NewText(by), NewNumber(big.NewRat(n, 1)))
}

// newReplace makes a text longer only where that has a known length.
func newReplace(args []tree.Expr, pos int32) (tree.Expr, error) {
	const example = "replace(name, 'ab', 'c')"
	x, err := requireKind("replace", args[0], pos, tree.Text)
	if err != nil {
		return nil, err
	}
	from, err := nonEmptyText(args[1], example, pos)
	if err != nil {
		return nil, err
	}
	to, err := TextConstant(args[2], MaxNeedle, example, pos)
	if err != nil {
		return nil, err
	}
	t := tree.Type{Kind: tree.Text, MaxLength: x.Type().MaxLength}
	if more := utf8.RuneCountInString(to); more > utf8.RuneCountInString(from) {
		if t.MaxLength == 0 || t.MaxLength*more > maxJoined {
			return nil, syntax.Refuse(syntax.TooComplex, pos,
				"take the beginning of the text first, as in replace(left(name, 20), 'a', 'bc')",
				"where replace lengthens a text, the result can have at most %d characters, but a column's text can have any length",
				maxJoined)
		}
		t = textType(t.MaxLength * more)
	}
	return NewCall("replace", t, pos, x, NewText(from), NewText(to))
}

func newConcatWS(args []tree.Expr, pos int32) (tree.Expr, error) {
	between, err := TextConstant(args[0], MaxNeedle, "concat_ws('-', left(a, 20), left(b, 20))", pos)
	if err != nil {
		return nil, err
	}
	joined, err := newConcat("concat", args[1:], pos)
	if err != nil {
		return nil, err
	}
	c := joined.(*tree.Call)
	n := c.Typ.MaxLength + (len(args)-2)*utf8.RuneCountInString(between)
	if n > maxJoined {
		return nil, syntax.Refuse(syntax.TooComplex, pos, "join less", "concat_ws makes texts of at most %d characters", maxJoined)
	}
	return NewCall("concat_ws", textType(n), pos, append([]tree.Expr{NewText(between)}, c.Args...)...)
}

func newPad(name string, args []tree.Expr, pos int32) (tree.Expr, error) {
	example := name + "(code, 5, '0')"
	x, err := requireKind(name, args[0], pos, tree.Text)
	if err != nil {
		return nil, err
	}
	n, err := wholeConstant(args[1], 1, maxJoined, example, pos)
	if err != nil {
		return nil, err
	}
	fill := " "
	if len(args) == 3 {
		if fill, err = nonEmptyText(args[2], example, pos); err != nil {
			return nil, err
		}
	}
	return NewCall(name, textType(int(n)), pos, x, NewNumber(big.NewRat(n, 1)), NewText(fill))
}
