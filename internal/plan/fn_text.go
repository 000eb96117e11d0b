package plan

import (
	"math/big"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Functions of text. A character is a Unicode code point; text is compared by its
// bytes. No result is longer than what went in, except that of ||, whose length is bounded
// before it runs: a text that could grow could use up the memory over one row.

const (
	maxJoined   = 1000    // characters of a result of || and concat
	maxPosition = 1 << 20 // the largest position in a text
	maxNeedle   = 1000    // bytes of a text that is looked for
	maxLong     = 32      // functions of a question that copy a text of any length
	anyLength   = 1 << 31 // no engine stores a longer text
)

// lower and upper are Unicode's simple case mapping, character by character, in which ß
// has the capital ẞ. They do not depend on a language.
func lower(s string) string { return strings.Map(unicode.ToLower, s) }

func upper(s string) string {
	return strings.Map(func(r rune) rune {
		if r == 'ß' {
			return 'ẞ'
		}
		return unicode.ToUpper(r)
	}, s)
}

func init() {
	functions["length"] = function{1, 1, "length(name)", newLength}
	functions["char_length"] = functions["length"]
	functions["character_length"] = functions["length"]
	nodes["length"] = node{eval: func(_ *Call, a []Value) Value { return big.NewInt(int64(utf8.RuneCountInString(a[0].(string)))) }}
	for name, f := range map[string]func(string) string{"lower": lower, "upper": upper} {
		functions[name] = function{1, 1, name + "(name)", func(args []Expr, pos int32) (Expr, error) {
			x, err := need(name, args[0], pos, Text)
			if err != nil {
				return nil, err
			}
			return newCall(name, Type{Kind: Text, MaxLength: x.Type().MaxLength}, pos, x)
		}}
		nodes[name] = node{eval: func(_ *Call, a []Value) Value { return f(a[0].(string)) }}
	}
	for name, f := range map[string]func(s, set string) string{"btrim": strings.Trim, "ltrim": strings.TrimLeft, "rtrim": strings.TrimRight} {
		functions[name] = function{1, 2, "trim(name) or trim(both 'xy' from name)", func(args []Expr, pos int32) (Expr, error) { return newTrim(name, args, pos) }}
		nodes[name] = node{eval: func(_ *Call, a []Value) Value { return f(a[0].(string), a[1].(string)) }}
	}
	functions["substring"] = function{2, 3, "substring(name, 1, 3)", newSubstring}
	functions["substr"] = functions["substring"]
	functions["left"] = function{2, 2, "left(name, 3)", func(args []Expr, pos int32) (Expr, error) {
		return newSubstring([]Expr{args[0], newNumber(one), args[1]}, pos)
	}}
	nodes["substring"] = node{eval: func(_ *Call, a []Value) Value {
		r := []rune(a[0].(string))
		start := min(int64(len(r)), a[1].(*big.Int).Int64()-1)
		return string(r[start:min(int64(len(r)), start+a[2].(*big.Int).Int64())])
	}}
	functions["right"] = function{2, 2, "right(name, 3)", newRight}
	nodes["right"] = node{eval: func(_ *Call, a []Value) Value {
		r := []rune(a[0].(string))
		return string(r[max(0, int64(len(r))-a[1].(*big.Int).Int64()):])
	}}
	for _, name := range []string{"||", "concat"} {
		functions[name] = function{1, 0, "left(a, 20) || left(b, 20)", func(args []Expr, pos int32) (Expr, error) { return newConcat(name, args, pos) }}
		nodes[name] = node{nulls: name == "concat", eval: func(_ *Call, a []Value) Value {
			var b strings.Builder
			for _, v := range a {
				if s, ok := v.(string); ok {
					b.WriteString(s)
				}
			}
			return b.String()
		}}
	}
	functions["strpos"] = function{2, 2, "strpos(name, 'abc')", newPosition}
	functions["position"] = function{2, 2, "position('abc' in name)", newPosition}
	nodes["strpos"] = node{eval: func(_ *Call, a []Value) Value {
		before, _, found := strings.Cut(a[0].(string), a[1].(string))
		if !found {
			return new(big.Int)
		}
		return big.NewInt(int64(utf8.RuneCountInString(before)) + 1)
	}}
	functions["starts_with"] = function{2, 2, "starts_with(name, 'abc')", func(args []Expr, pos int32) (Expr, error) {
		x, err := need("starts_with", args[0], pos, Text)
		if err != nil {
			return nil, err
		}
		prefix, err := textConstant(args[1], maxNeedle, "starts_with(name, 'abc')", pos)
		if err != nil {
			return nil, err
		}
		return newLike(x, append(literalPattern(prefix), anything), pos)
	}}
}

func newLength(args []Expr, pos int32) (Expr, error) {
	x, err := need("length", args[0], pos, Text)
	if err != nil {
		return nil, err
	}
	n := x.Type().MaxLength
	return newCall("length", lengthType(n), pos, x)
}

// lengthType is the type of a length, which has bounds where the text has.
func lengthType(n int) Type {
	if n == 0 {
		return numberType(one, new(big.Int), big.NewInt(anyLength), false)
	}
	return numberType(one, new(big.Int), big.NewInt(int64(n)), true)
}

func newTrim(name string, args []Expr, pos int32) (Expr, error) {
	x, err := need(name, args[0], pos, Text)
	if err != nil {
		return nil, err
	}
	set := " "
	if len(args) == 2 {
		if set, err = textConstant(args[1], 100, "trim(both 'xy' from name)", pos); err != nil {
			return nil, err
		}
	}
	return newCall(name, Type{Kind: Text, MaxLength: x.Type().MaxLength}, pos, x, newText(set))
}

func newSubstring(args []Expr, pos int32) (Expr, error) {
	x, err := need("substring", args[0], pos, Text)
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
	t := Type{Kind: Text, MaxLength: x.Type().MaxLength}
	if len(args) == 3 && (t.MaxLength == 0 || length < int64(t.MaxLength)) {
		t = textType(int(length))
	}
	return newCall("substring", t, pos, x, newNumber(ratOf(start)), newNumber(ratOf(length)))
}

func newRight(args []Expr, pos int32) (Expr, error) {
	x, err := need("right", args[0], pos, Text)
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
	return newCall("right", t, pos, x, newNumber(ratOf(n)))
}

func newConcat(name string, args []Expr, pos int32) (Expr, error) {
	length := 0
	texts := make([]Expr, len(args))
	for i, a := range args {
		x, err := need(name, a, pos, Text)
		if err != nil {
			if name == "||" || a.Type().Kind != 0 {
				return nil, refuse(pos, "cast it, as in CAST(age AS text)", "%s joins texts, and this is %s", name, article(a.Type().Kind))
			}
			return nil, err
		}
		n := x.Type().MaxLength
		if l, ok := x.(*Literal); ok && l.IsNullLiteral() {
			n = 1
		}
		if n == 0 || length+n > maxJoined {
			return nil, refuse(pos, "take the beginning of each, as in left(first, 50) || left(last, 50)", "%s joins texts of at most %d characters together, and a column's text can have any length", name, maxJoined)
		}
		length += n
		texts[i] = x
	}
	return newCall(name, textType(length), pos, texts...)
}

func newPosition(args []Expr, pos int32) (Expr, error) {
	x, err := need("strpos", args[0], pos, Text)
	if err != nil {
		return nil, err
	}
	needle, err := textConstant(args[1], maxNeedle, "strpos(name, 'abc')", pos)
	if err != nil {
		return nil, err
	}
	if needle == "" {
		return nil, refuse(pos, "write the text to look for, as in strpos(name, 'abc')", "the empty text is everywhere")
	}
	return newCall("strpos", lengthType(x.Type().MaxLength), pos, x, newText(needle))
}

// long reports whether a node copies a text of any length.
func long(e Expr) bool {
	c, ok := e.(*Call)
	if !ok || c.typ.Kind != Text || c.Fn == "coalesce" || c.Fn == "nullif" || c.Fn == "greatest" || c.Fn == "least" {
		return false
	}
	return c.typ.MaxLength == 0 || c.typ.MaxLength > maxJoined
}
