package plan

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// Like is whether all of a text matches a pattern, which is read when the
// question is planned. Its time is in proportion to the text for every pattern.
type Like struct {
	X       Expr
	Pattern Pattern
}

// Pattern is a sequence of characters and wildcards. No two Anything follow each other.
type Pattern []PatternPart

// PatternPart is a character or a wildcard.
type PatternPart rune

const (
	// anything is %, any number of any characters.
	anything PatternPart = -1
	// single is _, one character.
	single PatternPart = -2
)

// Anything reports whether the part is %, any number of characters.
func (p PatternPart) Anything() bool { return p == anything }

// One reports whether the part is _, any one character.
func (p PatternPart) One() bool { return p == single }

// maxPattern bounds a pattern: an engine may look at every character of a text
// once for each of its characters.
const maxPattern = 250

func literalPattern(s string) Pattern {
	var p Pattern
	for _, r := range s {
		p = append(p, PatternPart(r))
	}
	return p
}

// String writes a pattern with a backslash before what is no wildcard.
func (p Pattern) String() string {
	var b strings.Builder
	for _, c := range p {
		switch {
		case c.Anything():
			b.WriteByte('%')
		case c.One():
			b.WriteByte('_')
		case c == '%' || c == '_' || c == '\\':
			b.WriteString("\\" + string(rune(c)))
		default:
			b.WriteRune(rune(c))
		}
	}
	return b.String()
}

// readPattern reads a pattern with its escape character; none where escape is 0.
func readPattern(text string, escape rune) (Pattern, bool) {
	var p Pattern
	escaped := false
	for _, r := range text {
		switch {
		case escaped:
			p, escaped = append(p, PatternPart(r)), false
		case r == escape && escape != 0:
			escaped = true
		case r == '%':
			if len(p) == 0 || p[len(p)-1] != anything {
				p = append(p, anything)
			}
		case r == '_':
			p = append(p, single)
		default:
			p = append(p, PatternPart(r))
		}
	}
	return p, !escaped
}

func checkLike(s scope, op string, a *pg.A_Expr) (Expr, error) {
	const example = "name LIKE 'A%'"
	x, err := checkExpr(s, a.Lexpr)
	if err != nil {
		return nil, err
	}
	right, escape := a.Rexpr, '\\'
	if f := right.GetFuncCall(); f != nil && functionName(f) == "like_escape" && len(f.Args) == 2 {
		right = f.Args[0]
		text, isText := f.Args[1].GetAConst().GetVal().(*pg.A_Const_Sval)
		runes := []rune(text2(text))
		if !isText || len(runes) > 1 {
			return nil, refuse(a.Location, "write one character in quotes, as in LIKE '10!%' ESCAPE '!'", "ESCAPE takes one constant character")
		}
		escape = 0
		if len(runes) == 1 {
			escape = runes[0]
		}
	}
	r, err := checkExpr(s, right)
	if err != nil {
		return nil, err
	}
	if l, ok := constant(r); ok && l.IsNullLiteral() {
		return newNull(boolean), nil
	}
	if l, ok := x.(*Literal); ok && l.IsNullLiteral() {
		return newNull(boolean), nil
	}
	if k := x.Type().Kind; k != Text {
		return nil, refuse(a.Location, "compare with =, < or BETWEEN, or cast it, as in CAST(age AS text)", "LIKE is for text, and this is %s", article(k))
	}
	text, err := textConstant(r, maxNeedle, example, a.Location)
	if err != nil {
		return nil, err
	}
	not := strings.HasPrefix(op, "!")
	p, ok := readPattern(text, escape)
	if !ok {
		return nil, refuse(a.Location, "write the escape character twice", "the pattern ends with its escape character")
	}
	if strings.HasSuffix(op, "*") { // ILIKE
		for i, c := range p {
			if c >= 0 {
				p[i] = PatternPart([]rune(lower(string(rune(c))))[0])
			}
		}
		if x, err = named("lower", []Expr{x}, a.Location); err != nil {
			return nil, err
		}
	}
	e, err := newLike(x, p, a.Location)
	if err == nil && not {
		e = &Not{e}
	}
	return e, err
}

func text2(s *pg.A_Const_Sval) string {
	if s == nil {
		return ""
	}
	return s.Sval.GetSval()
}

func newLike(x Expr, p Pattern, pos int32) (Expr, error) {
	if len(p) > maxPattern {
		return nil, refuse(pos, "write a shorter pattern", "a pattern has at most %d characters", maxPattern)
	}
	return &Like{X: x, Pattern: p}, nil
}

// matches compares from left to right and goes back to the last % only, which is enough: what
// an earlier % could take, the last one can take too.
func (e *Like) matches(text string) bool {
	s, p := []rune(text), e.Pattern
	i, j, star, from := 0, 0, -1, 0
	for i < len(s) {
		switch {
		case j < len(p) && p[j].Anything():
			star, from = j, i
			j++
		case j < len(p) && (p[j].One() || rune(p[j]) == s[i]):
			i, j = i+1, j+1
		case star >= 0:
			from++
			i, j = from, star+1
		default:
			return false
		}
	}
	for j < len(p) && p[j].Anything() {
		j++
	}
	return j == len(p)
}
