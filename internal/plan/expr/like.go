package expr

import (
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// maxPattern bounds a pattern: an engine may look at every character of a text
// once for each of its characters.
const maxPattern = 250

func literalPattern(s string) tree.Pattern {
	var p tree.Pattern
	for _, r := range s {
		p = append(p, tree.PatternPart(r))
	}
	return p
}

// ReadPattern reads a pattern with its escape character; none where escape is 0.
func ReadPattern(text string, escape rune) (tree.Pattern, bool) {
	var p tree.Pattern
	escaped := false
	for _, r := range text {
		switch {
		case escaped:
			p, escaped = append(p, tree.PatternPart(r)), false
		case r == escape && escape != 0:
			escaped = true
		case r == '%':
			if len(p) == 0 || p[len(p)-1] != tree.PatternAnything {
				p = append(p, tree.PatternAnything)
			}
		case r == '_':
			p = append(p, tree.PatternOne)
		default:
			p = append(p, tree.PatternPart(r))
		}
	}
	return p, !escaped
}

func NewLike(x tree.Expr, p tree.Pattern, pos int32) (tree.Expr, error) {
	if len(p) > maxPattern {
		return nil, syntax.Refuse(pos, "write a shorter pattern", "a pattern has at most %d characters", maxPattern)
	}
	return &tree.Like{X: x, Pattern: p}, nil
}

// matches compares from left to right and goes back to the last % only, which is enough: what
// an earlier % could take, the last one can take too.
func matches(e *tree.Like, text string) bool {
	p := e.Pattern
	i, j, star, from := 0, 0, -1, 0
	for i < len(text) {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case j < len(p) && p[j].Anything():
			star, from = j, i
			j++
		case j < len(p) && (p[j].One() || rune(p[j]) == r):
			i, j = i+n, j+1
		case star >= 0:
			_, n = utf8.DecodeRuneInString(text[from:])
			from += n
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
