package outer

import (
	"errors"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/posix"
)

// match prints a match of a regular expression. A constant is read as below the noise, and means
// the same; anything else is RE2's.
func (p *printer) match(x, pattern *pg.Node, fold, not bool, pos int32) {
	before, after := "regexp_matches(", ")"
	if not {
		before, after = "(NOT regexp_matches(", "))"
	}
	p.say(before)
	p.expr(x)
	p.say(", ")
	switch c := pattern.GetAConst(); {
	case c != nil && !c.Isnull && c.GetSval() != nil:
		p.pattern(func() (string, error) { return posix.Translate(c.GetSval().GetSval(), fold) }, pos)
	case fold:
		p.expr(pattern)
		p.say(", 'i'")
	default:
		p.expr(pattern)
	}
	p.say(after)
}

// similar prints SIMILAR TO, whose pattern is a constant.
func (p *printer) similar(e *pg.A_Expr) {
	pattern, escape := e.Rexpr, '\\'
	if f := pattern.GetFuncCall(); f != nil && len(f.Funcname) == 2 && text(f.Funcname[1]) == "similar_to_escape" && len(f.Args) > 0 {
		pattern = f.Args[0]
		if len(f.Args) == 2 {
			runes := []rune(f.Args[1].GetAConst().GetSval().GetSval())
			if len(runes) != 1 {
				p.refuse(e.Location, "write ESCAPE '!' or another character", "the escape of SIMILAR TO is not one character")
				return
			}
			escape = runes[0]
		}
	}
	c := pattern.GetAConst().GetSval()
	if c == nil {
		p.refuse(e.Location, "write the pattern in single quotes, or use LIKE", "the pattern of SIMILAR TO is a constant")
		return
	}
	p.say("(")
	if p.operator(e.Name, e.Location) == "!~" {
		p.say("NOT ")
	}
	p.say("regexp_matches(")
	p.expr(e.Lexpr)
	p.say(", ")
	p.pattern(func() (string, error) { return posix.Similar(c.Sval, escape) }, e.Location)
	p.say("))")
}

// pattern prints a pattern that was read, in signs that are ours.
func (p *printer) pattern(read func() (string, error), pos int32) {
	written, err := read()
	if e := (*posix.Error)(nil); errors.As(err, &e) {
		p.refuse(pos, e.Instead, "%s", e.Reason)
		return
	}
	p.say("'", written, "'")
}

// byBytes are the collations in which texts compare by their bytes, as all texts do here.
var byBytes = []string{"C", "POSIX", "ucs_basic", "C.UTF-8", "C.utf8", "pg_c_utf8", "default"}

func (p *printer) collate(c *pg.CollateClause) {
	if len(c.Collname) == 0 || !slices.Contains(byBytes, text(c.Collname[len(c.Collname)-1])) {
		p.refuse(c.Location, `leave it out, or write COLLATE "C"`, "texts compare by their bytes here, and there are no other collations")
		return
	}
	p.expr(c.Arg)
}
