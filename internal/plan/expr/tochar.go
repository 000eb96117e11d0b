package expr

import (
	"math/big"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// digits are patterns that are numbers: a field, and how many digits it has.
var digits = map[string]struct {
	field string
	width int64
}{
	"YYYY": {"year", 4}, "IYYY": {"isoyear", 4}, "YY": {"year", 2}, "MM": {"month", 2}, "DD": {"day", 2}, "DDD": {"doy", 3},
	"HH24": {"hour", 2}, "MI": {"minute", 2}, "SS": {"second", 2}, "IW": {"week", 2}, "Q": {"quarter", 1}, "ID": {"isodow", 1},
	"D": {"dow", 1}, "WW": {"doy", 2}, "W": {"day", 1}, "HH12": {"hour", 2}, "HH": {"hour", 2}, "MS": {"second", 3}, "US": {"second", 6},
}

// newToChar spells a time by a form. It is made of fields, so that no engine's own forms matter.
func newToChar(args []tree.Expr, pos int32) (tree.Expr, error) {
	x, err := need("to_char", args[0], pos, tree.Timestamp, tree.Date)
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
	all, ok := words(form)
	if !ok {
		return nil, syntax.Refuse(pos, "use YYYY, MM, DD, Month, Mon, Day, Dy, Q, IYYY, IW, HH24, MI, SS and the like, and put other "+
			"letters into double quotes", "this form of a time has letters that mean nothing here")
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
		parts = append(parts, b.spelled(w, x))
	}
	if plain != "" {
		parts = append(parts, NewText(plain))
	}
	if b.err != nil {
		return nil, b.err
	}
	if len(parts) == 0 || strings.Trim(form, " ") == "" {
		return nil, syntax.Refuse(pos, "write for example to_char(day, 'YYYY-MM')", "the form is empty")
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

// spelled is a pattern of a time.
func (b *builder) spelled(w word, x tree.Expr) tree.Expr {
	d, number := digits[w.pattern]
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

// padded writes a number with zeros before it.
func (b *builder) padded(n tree.Expr, width int64, w word) tree.Expr {
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
func (b *builder) names(w word, n tree.Expr, from, to int, name func(int) string) tree.Expr {
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
