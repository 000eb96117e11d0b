package expr

import (
	"math/big"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
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
				x, err := requireKind(name, args[0], pos, tree.Text)
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
	x, err := requireKind("starts_with", args[0], pos, tree.Text)
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
	x, err := requireKind("length", args[0], pos, tree.Text)
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
	x, err := requireKind(name, args[0], pos, tree.Text)
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
	x, err := requireKind("substring", args[0], pos, tree.Text)
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
	x, err := requireKind("right", args[0], pos, tree.Text)
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
		x, err := requireKind(name, a, pos, tree.Text)
		if err != nil {
			if name == "||" || a.Type().Kind != 0 {
				return nil,
					syntax.Refuse(syntax.NoFunction, pos, "cast it, as in CAST(age AS text)", "%s joins texts, but this is %s", name,
						Article(a.Type().Kind))
			}
			return nil, err
		}
		n := x.Type().MaxLength
		if l, ok := x.(*tree.Literal); ok && l.IsNullLiteral() {
			n = 1
		}
		if n == 0 || length+n > maxJoined {
			return nil, syntax.Refuse(syntax.TooComplex, pos, "take the beginning of each, as in left(first, 50) || left(last, 50)",
				"%s joins texts of at most %d characters together, but a column's text can have any length", name, maxJoined)
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
	x, err := requireKind("strpos", args[0], pos, tree.Text)
	if err != nil {
		return nil, err
	}
	needle, err := TextConstant(args[1], MaxNeedle, "strpos(name, 'abc')", pos)
	if err != nil {
		return nil, err
	}
	if needle == "" {
		return nil, syntax.Refuse(syntax.BadValue, pos, "write the text to look for, as in strpos(name, 'abc')",
			"an empty text is found everywhere")
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

// digitPatterns are patterns that are numbers: a field, and how many digits it has.
var digitPatterns = map[string]struct {
	field string
	width int64
}{
	"YYYY": {"year", 4}, "IYYY": {"isoyear", 4}, "YY": {"year", 2}, "MM": {"month", 2}, "DD": {"day", 2}, "DDD": {"doy", 3},
	"HH24": {"hour", 2}, "MI": {"minute", 2}, "SS": {"second", 2}, "IW": {"week", 2}, "Q": {"quarter", 1}, "ID": {"isodow", 1},
	"D": {"dow", 1}, "WW": {"doy", 2}, "W": {"day", 1}, "HH12": {"hour", 2}, "HH": {"hour", 2}, "MS": {"second", 3}, "US": {"second", 6},
}

// newToChar spells a time by a form. It is made of fields, so that no engine's own forms matter.
func newToChar(args []tree.Expr, pos int32) (tree.Expr, error) {
	x, err := requireKind("to_char", args[0], pos, tree.Timestamp, tree.Date)
	if err != nil {
		return nil, err
	}
	form, err := TextConstant(args[1], 100, "to_char(day, 'YYYY-MM')", pos)
	if err != nil {
		return nil, err
	}
	if x.Type().Kind == tree.Date {
		if x, err = Midnight(x, pos); err != nil {
			return nil, err
		}
	}
	all, ok := splitForm(form)
	if !ok {
		return nil, syntax.Refuse(syntax.Unsupported, pos,
			"use YYYY, MM, DD, Month, Mon, Day, Dy, Q, IYYY, IW, HH24, MI, SS and the like, and put "+
				"other letters in double quotes", "this format of a time has letters that mean nothing here")
	}
	b := &builder{pos: pos}
	var parts []tree.Expr
	plain := ""
	for _, w := range all {
		if w.pattern == "" {
			plain += w.text
			continue
		}
		if plain != "" {
			parts, plain = append(parts, NewText(plain)), ""
		}
		parts = append(parts, b.formatPart(w, x))
	}
	if plain != "" {
		parts = append(parts, NewText(plain))
	}
	if b.err != nil {
		return nil, b.err
	}
	if len(parts) == 0 || strings.Trim(form, " ") == "" {
		return nil, syntax.Refuse(syntax.BadValue, pos, "write for example to_char(day, 'YYYY-MM')", "the format is empty")
	}
	out := parts[0]
	for _, p := range parts[1:] {
		if out, err = Named("||", []tree.Expr{out, p}, pos); err != nil {
			return nil, err
		}
	}
	if len(parts) == 1 && isLiteral(out) { // it is NULL where the time is
		missing := &tree.IsNull{X: x}
		return NewCase([]tree.When{{If: missing, Then: NewNull(out.Type())}}, out, pos)
	}
	return out, nil
}

func isLiteral(e tree.Expr) bool { _, ok := e.(*tree.Literal); return ok }

func (b *builder) formatPart(w formPart, x tree.Expr) tree.Expr {
	d, number := digitPatterns[w.pattern]
	switch {
	case number:
		return b.padded(b.digits(w.pattern, b.field(d.field, x)), d.width, w)
	case w.pattern == "AM" || w.pattern == "PM":
		late := b.compared(tree.Ge, b.field("hour", x), count(12))
		return b.choice([]tree.When{{If: late, Then: NewText("PM")}}, NewText("AM"))
	case strings.EqualFold(w.pattern, "month") || strings.EqualFold(w.pattern, "mon"):
		return b.names(w, b.field("month", x), 1, 12, func(i int) string { return time.Month(i).String() })
	}
	return b.names(w, b.field("dow", x), 0, 6, func(i int) string { return time.Weekday(i).String() })
}

// digits makes the number of a pattern of a field.
func (b *builder) digits(pattern string, n tree.Expr) tree.Expr {
	switch pattern {
	case "YY":
		return b.arith(tree.Rem, n, count(100))
	case "SS":
		return b.named("floor", n)
	case "MS", "US":
		by := map[string]int64{"MS": 1000, "US": 1_000_000}[pattern]
		return b.arith(tree.Rem, b.named("floor", b.arith(tree.Mul, n, count(by))), count(by))
	case "D":
		return b.arith(tree.Add, n, count(1))
	case "WW", "W":
		return b.arith(tree.Add, b.arith(tree.Div, b.arith(tree.Sub, n, count(1)), count(7)), count(1))
	case "HH12", "HH":
		return b.arith(tree.Add, b.arith(tree.Rem, b.arith(tree.Add, n, count(11)), count(12)), count(1))
	}
	return n
}

func (b *builder) padded(n tree.Expr, width int64, w formPart) tree.Expr {
	if b.err != nil {
		return NewText("")
	}
	text, err := castText(n, b.pos)
	if err == nil && !w.fill && width > 1 {
		text, err = Named("||", []tree.Expr{NewText(strings.Repeat("0", int(width)-1)), text}, b.pos)
		if err == nil {
			text, err = Named("right", []tree.Expr{text, NewNumber(big.NewRat(width, 1))}, b.pos)
		}
	}
	if err != nil {
		b.err = err
		return NewText("")
	}
	return text
}

func (b *builder) compared(op tree.CompareOp, l, r tree.Expr) tree.Expr {
	if b.err != nil {
		return NewBool(false)
	}
	e, err := NewCompare(op, l, r, b.pos)
	if err != nil {
		b.err = err
		return NewBool(false)
	}
	return e
}

func (b *builder) choice(whens []tree.When, otherwise tree.Expr) tree.Expr {
	if b.err != nil {
		return otherwise
	}
	e, err := NewCase(whens, otherwise, b.pos)
	if err != nil {
		b.err = err
		return otherwise
	}
	return e
}

// names chooses the name of a month or a day: written as the pattern is, three letters of it, or
// all, filled up with spaces to the longest.
func (b *builder) names(w formPart, n tree.Expr, from, to int, name func(int) string) tree.Expr {
	var whens []tree.When
	for i := from; i <= to; i++ {
		text := name(i)
		switch {
		case strings.EqualFold(w.pattern, "mon") || strings.EqualFold(w.pattern, "dy"):
			text = text[:3]
		case !w.fill:
			text += strings.Repeat(" ", 9-len(text))
		}
		switch w.pattern {
		case strings.ToUpper(w.pattern):
			text = strings.ToUpper(text)
		case strings.ToLower(w.pattern):
			text = strings.ToLower(text)
		}
		whens = append(whens, tree.When{If: b.compared(tree.Eq, n, count(int64(i))), Then: NewText(text)})
	}
	// What is left is NULL, and so is its spelling; a constant NULL would be a group of its own.
	return b.choice(whens, b.padded(n, 1, w))
}
