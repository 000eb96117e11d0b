package interpret

import (
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// matching binds LIKE and the regular expressions.
func (b *binder) matching(op string, l, r *expr) (*expr, error) {
	for _, x := range []**expr{&l, &r} {
		if !(*x).untyped() && oid.KindOf((*x).typ) != oid.KindText {
			return nil, b.noOperator(op, l, r)
		}
		var err error
		if *x, err = b.cast(*x, oid.Text); err != nil {
			return nil, err
		}
	}
	not := strings.HasPrefix(op, "!")
	kind := strings.TrimPrefix(op, "!")
	return strict(oid.Bool, l, r, func(r *run, x, y datum.Value) (datum.Value, error) {
		text := string(x.(datum.Text))
		re, err := r.countedPattern(kind, string(y.(datum.Text)), text)
		if err != nil {
			return nil, err
		}
		return datum.Bool(re.MatchString(text) != not), nil
	}), nil
}

// Limits on a pattern.
const (
	maxPattern      = 1000   // bytes
	maxInstructions = 10_000 // of a compiled pattern
)

// pattern is a compiled regular expression, and how many instructions it has.
type pattern struct {
	*regexp.Regexp
	instructions int
}

// cost is how many steps it takes to look for the pattern once: at worst, RE2 tries every
// instruction at every byte.
func (p *pattern) cost(text string) int { return 1 + len(text)*p.instructions/20 }

// costAll is cost for all places of a text: each may be looked for to the end.
func (p *pattern) costAll(text string) int { return (1 + len(text)) * p.cost(text) }

// countedPattern is pattern, with the steps counted that it takes to look for it once in a text.
func (r *run) countedPattern(kind, source, text string) (*pattern, error) {
	re, err := r.pattern(kind, source)
	if err != nil {
		return nil, err
	}
	return re, r.step(re.cost(text))
}

// pattern compiles a pattern of LIKE (~~) or of POSIX (~), with * for any letter case.
func (r *run) pattern(kind, text string) (*pattern, error) {
	id := kind + " " + text
	if re := r.regexps[id]; re != nil {
		return re, nil
	}
	if len(text) > maxPattern {
		return nil, Fail("54000", "a pattern is longer than %d bytes", maxPattern)
	}
	flags := "(?s"
	if strings.HasSuffix(kind, "*") {
		flags += "i"
	}
	var source string
	var err error
	if strings.HasPrefix(kind, "~~") {
		source, err = likeSource(text)
	} else {
		source, err = posixSource(text)
	}
	if err != nil {
		return nil, err
	}
	source = flags + ")" + source
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil, Fail("2201B", "invalid regular expression")
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, Fail("2201B", "invalid regular expression")
	}
	n := len(program.Inst)
	if n > maxInstructions {
		return nil, Fail("54000", "a pattern is too large")
	}
	if err := r.spend(100+10*n, 1000+300*n); err != nil {
		return nil, err
	}
	re, err := regexp.Compile(source)
	if err != nil {
		return nil, Fail("2201B", "invalid regular expression")
	}
	if r.regexps == nil {
		r.regexps = map[string]*pattern{}
	}
	p := &pattern{re, n}
	r.regexps[id] = p
	return p, nil
}

// likeSource writes a pattern of LIKE as RE2 has it.
func likeSource(text string) (string, error) {
	var b strings.Builder
	b.WriteString("^(?:")
	escaped := false
	for _, c := range text {
		switch {
		case escaped:
			b.WriteString(regexp.QuoteMeta(string(c)))
			escaped = false
		case c == '\\':
			escaped = true
		case c == '%':
			b.WriteString(".*")
		case c == '_':
			b.WriteString(".")
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	if escaped {
		return "", Fail("22025", "LIKE pattern must not end with escape character")
	}
	b.WriteString(")$")
	return b.String(), nil
}
