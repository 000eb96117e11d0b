package verify

import (
	"regexp"
	"regexp/syntax"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// signs are all that may stand in a pattern: characters are numbers, and nothing in it can end the
// text of a statement that it stands in.
var signs = regexp.MustCompile(`\A(?:\\x\{[0-9a-f]{1,6}\}|\\[AzbB]|\(\?:|[\[\])|*+?^-]|\{[0-9]{1,3},[0-9]{0,3}\})*\z`)

// mostSteps is how many steps a matcher may take for one character of a text.
const mostSteps = 4000

// matched derives a match of a pattern: it is true or false for every text, in time that is in
// proportion to the text.
func (c *checker) matched(e *tree.Call, args []fact) fact {
	c.must(args[0].kind == tree.Text, "a pattern is looked for in %v", args[0].kind)
	pattern := c.word(e.Args[1])
	c.must(signs.MatchString(pattern), "a pattern has signs that are not known here")
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	c.must(err == nil, "a pattern cannot be read")
	program, err := syntax.Compile(parsed.Simplify())
	c.must(err == nil && len(program.Inst) <= mostSteps, "a pattern is too large")
	return boolean()
}
