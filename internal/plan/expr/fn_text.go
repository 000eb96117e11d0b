package expr

import (
	"math/big"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// Functions of text. A character is a Unicode code point; text is compared by its
// bytes. No result is longer than what went in, except that of ||, whose length is bounded
// before it runs: a text that could grow could use up the memory over one row.

const (
	maxJoined   = 1000    // characters of a result of || and concat
	maxPosition = 1 << 20 // the largest position in a text
	MaxNeedle   = 1000    // bytes of a text that is looked for
	MaxLong     = 32      // functions of a question that copy a text of any length
	anyLength   = 1 << 31 // no engine stores a longer text
)

// Lower and upper are Unicode's simple case mapping, character by character, in which ß
// has the capital ẞ. They do not depend on a language.
func Lower(s string) string { return strings.Map(unicode.ToLower, s) }

func upper(s string) string {
	return strings.Map(func(r rune) rune {
		if r == 'ß' {
			return 'ẞ'
		}
		return unicode.ToUpper(r)
	}, s)
}

func textFunctions() []Function {
	texts, toInteger := Signature{"text", "text"}, Signature{"text", "integer"}
	mapping := func(name string, f func(string) string) Function {
		return Function{
			names: name, Usage: name + "(name)", least: 1, most: 1, Signature: texts,
			build: func(args []tree.Expr, pos int32) (tree.Expr, error) {
				x, err := need(name, args[0], pos, tree.Text)
				if err != nil {
					return nil, err
				}
				return NewCall(name, tree.Type{Kind: tree.Text, MaxLength: x.Type().MaxLength}, pos, x)
			},
			eval: func(_ *tree.Call, a []tree.Value) tree.Value { return f(a[0].(string)) },
		}
	}
	trim := func(name string, f func(s, set string) string) Function {
		return Function{
			names: name, Usage: "trim(name) or trim(both 'xy' from name)", least: 1, most: 2, Signature: texts,
			build: func(args []tree.Expr, pos int32) (tree.Expr, error) { return newTrim(name, args, pos) },
			eval:  func(_ *tree.Call, a []tree.Value) tree.Value { return f(a[0].(string), a[1].(string)) },
		}
	}
	join := func(name string) Function {
		return Function{
			names: name, Usage: "left(a, 20) || left(b, 20)", least: 1, Signature: texts,
			build: func(args []tree.Expr, pos int32) (tree.Expr, error) { return newConcat(name, args, pos) },
			nulls: name == "concat", eval: func(_ *tree.Call, a []tree.Value) tree.Value {
				var b strings.Builder
				for _, v := range a {
					if s, ok := v.(string); ok {
						b.WriteString(s)
					}
				}
				return b.String()
			},
		}
	}
	return []Function{
		{
			names: "length char_length character_length", Usage: "length(name)", least: 1, most: 1, build: newLength, Signature: toInteger,
			eval: func(_ *tree.Call, a []tree.Value) tree.Value {
				return big.NewInt(int64(utf8.RuneCountInString(a[0].(string))))
			},
		},
		mapping("lower", Lower), mapping("upper", upper),
		trim("btrim", strings.Trim), trim("ltrim", strings.TrimLeft), trim("rtrim", strings.TrimRight),
		{
			names: "substring substr", Usage: "substring(name, 1, 3)", least: 2, most: 3, build: newSubstring,
			Signature: Signature{"text integer", "text"},
			eval: func(_ *tree.Call, a []tree.Value) tree.Value {
				s := a[0].(string)
				s = s[prefix(s, a[1].(*big.Int).Int64()-1):]
				return s[:prefix(s, a[2].(*big.Int).Int64())]
			},
		},
		{
			names: "left", Usage: "left(name, 3)", least: 2, most: 2, Signature: Signature{"text integer", "text"},
			build: func(args []tree.Expr, pos int32) (tree.Expr, error) {
				return newSubstring([]tree.Expr{args[0], NewNumber(tree.One), args[1]}, pos)
			},
		},
		{
			names: "right", Usage: "right(name, 3)", least: 2, most: 2, build: newRight, Signature: Signature{"text integer", "text"},
			eval: func(_ *tree.Call, a []tree.Value) tree.Value {
				s := a[0].(string)
				return s[prefix(s, int64(utf8.RuneCountInString(s))-a[1].(*big.Int).Int64()):]
			},
		},
		join("||"), join("concat"),
		{
			names: "strpos", Usage: "strpos(name, 'abc')", least: 2, most: 2, build: newPosition, Signature: toInteger,
			eval: func(_ *tree.Call, a []tree.Value) tree.Value {
				before, _, found := strings.Cut(a[0].(string), a[1].(string))
				if !found {
					return new(big.Int)
				}
				return big.NewInt(int64(utf8.RuneCountInString(before)) + 1)
			},
		},
		{names: "position", Usage: "position('abc' in name)", least: 2, most: 2, build: newPosition, Signature: toInteger},
		{names: "starts_with", Usage: "starts_with(name, 'abc')", least: 2, most: 2, build: newStartsWith,
			Signature: Signature{Takes: "text"}},
	}
}

// prefix is how many bytes the first characters of a text have, or all that there are.
func prefix(s string, characters int64) int {
	for i := range s {
		if characters <= 0 {
			return i
		}
		characters--
	}
	return len(s)
}

func newStartsWith(args []tree.Expr, pos int32) (tree.Expr, error) {
	x, err := need("starts_with", args[0], pos, tree.Text)
	if err != nil {
		return nil, err
	}
	prefix, err := TextConstant(args[1], MaxNeedle, "starts_with(name, 'abc')", pos)
	if err != nil {
		return nil, err
	}
	return NewLike(x, append(literalPattern(prefix), tree.PatternAnything), pos)
}

func newLength(args []tree.Expr, pos int32) (tree.Expr, error) {
	x, err := need("length", args[0], pos, tree.Text)
	if err != nil {
		return nil, err
	}
	n := x.Type().MaxLength
	return NewCall("length", lengthType(n), pos, x)
}

// lengthType is the type of a length, which has bounds where the text has.
func lengthType(n int) tree.Type {
	if n == 0 {
		return tree.NumberType(tree.One, new(big.Int), big.NewInt(anyLength), false)
	}
	return tree.NumberType(tree.One, new(big.Int), big.NewInt(int64(n)), true)
}

func newTrim(name string, args []tree.Expr, pos int32) (tree.Expr, error) {
	x, err := need(name, args[0], pos, tree.Text)
	if err != nil {
		return nil, err
	}
	set := " "
	if len(args) == 2 {
		if set, err = TextConstant(args[1], 100, "trim(both 'xy' from name)", pos); err != nil {
			return nil, err
		}
	}
	return NewCall(name, tree.Type{Kind: tree.Text, MaxLength: x.Type().MaxLength}, pos, x, NewText(set))
}

func newSubstring(args []tree.Expr, pos int32) (tree.Expr, error) {
	x, err := need("substring", args[0], pos, tree.Text)
	if err != nil {
		return nil, err
	}
	start, err := wholeConstant(args[1], -maxPosition, maxPosition, "substring(name, 1, 3)", pos)
	if err != nil {
		return nil, err
	}
	length := int64(anyLength)
	if len(args) == 3 {
		if length, err = wholeConstant(args[2], 0, maxPosition, "substring(name, 1, 3)", pos); err != nil {
			return nil, err
		}
	}
	if start < 1 { // SQL counts the places before the text
		if len(args) == 3 {
			length = max(0, length+start-1)
		}
		start = 1
	}
	t := tree.Type{Kind: tree.Text, MaxLength: x.Type().MaxLength}
	if len(args) == 3 && (t.MaxLength == 0 || length < int64(t.MaxLength)) {
		t = textType(int(length))
	}
	return NewCall("substring", t, pos, x, NewNumber(big.NewRat(start, 1)), NewNumber(big.NewRat(length, 1)))
}

func newRight(args []tree.Expr, pos int32) (tree.Expr, error) {
	x, err := need("right", args[0], pos, tree.Text)
	if err != nil {
		return nil, err
	}
	n, err := wholeConstant(args[1], 0, maxPosition, "right(name, 3)", pos)
	if err != nil {
		return nil, err
	}
	t := textType(int(n))
	if m := x.Type().MaxLength; m > 0 {
		t = textType(min(m, int(n)))
	}
	return NewCall("right", t, pos, x, NewNumber(big.NewRat(n, 1)))
}

func newConcat(name string, args []tree.Expr, pos int32) (tree.Expr, error) {
	length := 0
	texts := make([]tree.Expr, len(args))
	for i, a := range args {
		a, err := joinable(name, a, args, pos)
		if err != nil {
			return nil, err
		}
		x, err := need(name, a, pos, tree.Text)
		if err != nil {
			if name == "||" || a.Type().Kind != 0 {
				return nil,
					syntax.Refuse(pos, "cast it, as in CAST(age AS text)", "%s joins texts, and this is %s", name, Article(a.Type().Kind))
			}
			return nil, err
		}
		n := x.Type().MaxLength
		if l, ok := x.(*tree.Literal); ok && l.IsNullLiteral() {
			n = 1
		}
		if n == 0 || length+n > maxJoined {
			return nil, syntax.Refuse(pos, "take the beginning of each, as in left(first, 50) || left(last, 50)",
				"%s joins texts of at most %d characters together, and a column's text can have any length", name, maxJoined)
		}
		length += n
		texts[i] = x
	}
	return NewCall(name, textType(length), pos, texts...)
}

// joinable spells a value that stands beside a text, as PostgreSQL does: 5 || 'a' is '5a'. What
// concat writes for a truth value is another spelling than that of a cast, and is refused.
func joinable(name string, e tree.Expr, all []tree.Expr, pos int32) (tree.Expr, error) {
	text := name != "||" || slices.ContainsFunc(all, func(a tree.Expr) bool { return a.Type().Kind == tree.Text })
	switch k := e.Type().Kind; {
	case !text:
	case k == tree.Number, k == tree.Date, k == tree.Timestamp, k == tree.Boolean && name == "||", k == tree.Real && isReleased(e):
		return castText(e, pos)
	}
	return e, nil
}

func newPosition(args []tree.Expr, pos int32) (tree.Expr, error) {
	x, err := need("strpos", args[0], pos, tree.Text)
	if err != nil {
		return nil, err
	}
	needle, err := TextConstant(args[1], MaxNeedle, "strpos(name, 'abc')", pos)
	if err != nil {
		return nil, err
	}
	if needle == "" {
		return nil, syntax.Refuse(pos, "write the text to look for, as in strpos(name, 'abc')", "the empty text is everywhere")
	}
	return NewCall("strpos", lengthType(x.Type().MaxLength), pos, x, NewText(needle))
}

// Long reports whether a node copies a text of any length.
func Long(e tree.Expr) bool {
	c, ok := e.(*tree.Call)
	if ok && c.Fn == "matches" { // it copies nothing, and looks at all of it
		n := c.Args[0].Type().MaxLength
		return n == 0 || n > maxJoined
	}
	if !ok || c.Typ.Kind != tree.Text || c.Fn == "coalesce" || c.Fn == "nullif" || c.Fn == "greatest" || c.Fn == "least" {
		return false
	}
	return c.Typ.MaxLength == 0 || c.Typ.MaxLength > maxJoined
}
