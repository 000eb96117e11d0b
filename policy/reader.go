package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/discreet-dp/discreet/dp"
)

// reader walks the YAML tree and collects problems. It works on nodes and not on decoded values for
// two reasons: every problem has a position, and every scalar is read from its spelling, so that a
// number never passes through float64 and the text NO never becomes false.
type reader struct {
	problems []Problem
	// tableSources remembers which table is read from where, in all datasets.
	tableSources map[string]tableSource
	prepared     map[string]string
	// broken is the columns with a problem of their own, about which nothing else is told.
	broken map[*Column]bool
	// bins counts the values of all columns of streams.
	bins int64
}

// element is a value in the file, with the key it stands under and the names above it.
type element struct {
	node, key *yaml.Node
	where     string
}

// mark returns the node whose position tells a person where to look: the key for a
// value that spans lines or has no text, the value itself otherwise.
func (p element) mark() *yaml.Node {
	spans := p.node.Kind != yaml.ScalarNode && p.node.Style&yaml.FlowStyle == 0
	empty := p.node.Kind == yaml.ScalarNode && p.node.Value == ""
	if p.key != nil && (spans || empty) {
		return p.key
	}
	return p.node
}

func (p element) in(name string) string {
	if p.where == "" {
		return name
	}
	return p.where + "." + name
}

// kind names what a node is, for a person.
func kind(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping of keys to values"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Value == "" && plain(n):
		return "empty"
	}
	if strings.ContainsAny(n.Value, ",;\t\n ") {
		// Perhaps a line of data, in a file that is no policy: it is not shown.
		return "a single text"
	}
	return "the single value " + quote(n.Value)
}

// plain reports whether a scalar is written without quotes.
func plain(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
}

// isNull reports whether a value is missing, or is null without quotes.
func (r *reader) isNull(p element) bool { return plain(p.node) && p.node.Tag == "!!null" }

// fields is the keys of a mapping whose keys are known beforehand.
type fields struct {
	at element
	m  map[string]element
	// meant is the keys that a misspelt one was taken for; that they are missing
	// needs no second problem.
	meant map[string]bool
}

// get returns the value of a key and whether it is there.
func (f fields) get(key string) (element, bool) {
	p, ok := f.m[key]
	return p, ok
}

// need returns the value of a key, and records a problem where it is missing.
func (f fields) need(r *reader, key, hint string) (element, bool) {
	p, ok := f.m[key]
	if !ok && !f.meant[key] {
		r.at(f.at, "the key '%s' is missing: %s", key, hint)
	}
	return p, ok
}

func (r *reader) fields(at element, n *yaml.Node, what string, keys keySet) (fields, bool) {
	pairs, ok := r.pairs(at, n, what)
	if !ok {
		return fields{}, false
	}
	f := fields{at, map[string]element{}, map[string]bool{}}
	for _, p := range pairs {
		if key := p.key.Value; keys.has(key) {
			f.m[key] = p
		} else if p.key.Tag != "!!merge" {
			text, meant := keys.explain(key, what)
			r.at(element{node: p.key, where: at.where}, "%s", text)
			f.meant[meant] = true
		}
	}
	return f, true
}

// entry is one of the named things that an owner lists.
type entry struct {
	name string
	element
}

// entries reads a mapping whose keys are names that the owner chose. SQL folds
// letter case, so two names must differ in more than that.
func (r *reader) entries(at element, what, noun string, check func(string) string) ([]entry, bool) {
	if r.isNull(at) {
		return nil, true
	}
	pairs, ok := r.pairs(at, at.node, what)
	if !ok {
		return nil, false
	}
	var es []entry
	seen := map[string]*yaml.Node{}
	for _, p := range pairs {
		name := p.key.Value
		if p.key.Tag == "!!merge" && plain(p.key) {
			continue // Refused already.
		}
		if problem := check(name); problem != "" {
			r.at(element{node: p.key, where: at.where}, "the %s %s %s", noun, quote(name), problem)
		}
		if first, ok := seen[fold(name)]; ok {
			r.at(element{node: p.key, where: at.where},
				"the %s %s differs only in letter case from %s in line %d, which %s; rename one of them", noun, quote(name),
				quote(first.Value), first.Line, confusion[noun])
			continue
		}
		seen[fold(name)] = p.key
		p.where = at.in(showName(name))
		es = append(es, entry{name, p})
	}
	return es, true
}

// confusion says why two names must differ in more than letter case.
var confusion = map[string]string{
	"dataset": "is easily confused",
	"analyst": "is easily confused",
	"group":   "is easily confused",
	"stream":  "is easily confused",
	"holdout": "is easily confused",
	"table":   "SQL cannot tell apart",
	"column":  "SQL cannot tell apart",
	"view":    "SQL cannot tell apart",
}

// showName keeps strange names from disturbing the text of an error.
func showName(name string) string {
	if q := quote(name); strings.Contains(name, " ") || q != "'"+name+"'" {
		return q
	}
	return name
}

// pairs reads any mapping, and drops what is given twice.
func (r *reader) pairs(at element, n *yaml.Node, what string) ([]element, bool) {
	switch n.Kind {
	case yaml.AliasNode:
		return nil, false // Refused already.
	case yaml.MappingNode:
	default:
		r.at(at, "%s must be a mapping of keys to values, but this is %s", what, kind(n))
		return nil, false
	}
	var ps []element
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind == yaml.AliasNode {
			continue // Refused already.
		}
		if k.Kind != yaml.ScalarNode {
			r.at(element{node: k, where: at.where}, "a key must be a word, but this is %s", kind(k))
			continue
		}
		if line, ok := seen[k.Value]; ok {
			r.at(element{node: k, where: at.where}, "%s is given twice, first in line %d; keep one", quote(k.Value), line)
			continue
		}
		seen[k.Value] = k.Line
		ps = append(ps, element{node: v, key: k, where: at.where})
	}
	return ps, true
}

// maxDepth is more than twice the depth of the deepest correct policy.
const maxDepth = 20

// document parses the text into the root of its one document. It returns nil where
// there is nothing to go on with.
func (r *reader) document(text []byte) *yaml.Node {
	top := element{node: &yaml.Node{Kind: yaml.ScalarNode, Line: 1, Column: 1}}
	if len(text) > MaxSize {
		r.at(top, "the policy is larger than 1 MiB; is this the right file?")
		return nil
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	var doc, next yaml.Node
	switch err := d.Decode(&doc); {
	case errors.Is(err, io.EOF):
		r.at(top, "the policy is empty; 'discreet init FILE...' drafts one from the data's schema")
		return nil
	case err != nil:
		r.syntax(err, text)
		return nil
	}
	switch err := d.Decode(&next); {
	case errors.Is(err, io.EOF):
	case err != nil:
		r.syntax(err, text)
		return nil
	default:
		r.at(element{node: &next}, "a second document begins here; a policy is one document, so remove the line ---")
	}
	if len(doc.Content) != 1 {
		r.at(top, "the policy is empty; 'discreet init FILE...' drafts one from the data's schema")
		return nil
	}
	r.shape(doc.Content[0], 1)
	return doc.Content[0]
}

var (
	yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)
	// The YAML library counts lines from 0 in the errors of its parser and from 1 in
	// those of its scanner. These are the parser's.
	fromZero = regexp.MustCompile(`did not find expected (key|node content|'-' indicator|',' or|<)`)
)

// syntax records that the text is not YAML. There is one such problem at a time,
// because a parser that lost its way cannot go on.
func (r *reader) syntax(err error, text []byte) {
	line, problem := 1, err.Error()
	if m := yamlLine.FindStringSubmatch(problem); m != nil {
		problem = problem[len(m[0]):]
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = n
			if fromZero.MatchString(problem) {
				line++
			}
		}
	}
	hint := "check the indentation and the brackets around this line"
	if lines := bytes.Split(text, []byte("\n")); line <= len(lines) {
		if s := lines[line-1]; bytes.Contains(s[:len(s)-len(bytes.TrimLeft(s, " \t"))], []byte("\t")) {
			hint = "this line begins with a tab, but YAML is indented with spaces"
		}
	}
	at := &yaml.Node{Kind: yaml.ScalarNode, Line: line, Column: 1}
	r.at(element{node: at}, "this is not YAML: %s; %s", problem, hint)
}

// shape refuses the parts of YAML that let a file say something other than what it
// shows: references, merges, tags, and nesting without end.
func (r *reader) shape(n *yaml.Node, depth int) {
	at := element{node: n}
	if depth > maxDepth {
		r.at(at, "nested more than %d deep; a policy never is", maxDepth)
		n.Content = nil
		return
	}
	if n.Anchor != "" {
		r.at(at, "the anchor &%s is refused, so that a policy can be read as it stands; write the value out where it is used", n.Anchor)
	}
	if n.Kind == yaml.AliasNode {
		r.at(at, "the alias *%s is refused, so that a policy can be read as it stands; write the value out", n.Value)
		return
	}
	if n.Style&yaml.TaggedStyle != 0 {
		r.at(at, "the tag %s is refused; write the value without it", quote(n.Tag))
	}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && c.Kind == yaml.ScalarNode && c.Tag == "!!merge" {
			r.at(element{node: c}, "the merge key << is refused, so that a policy can be read as it stands; write the keys out")
		}
		r.shape(c, depth+1)
	}
}

// maxName is PostgreSQL's limit for a name, in bytes.
const maxName = 63

// checkName returns what is wrong with the name of a table or column, or nothing. Names come from
// other people's files, so everything goes that can be quoted in SQL and seen on a screen.
func checkName(name string) string {
	switch {
	case name == "":
		return "is empty; give it a name"
	case len(name) > maxName:
		return "is longer than 63 bytes; rename it in the data or in a view"
	case !utf8.ValidString(name):
		return "is not valid UTF-8; rename it in the data or in a view"
	case strings.ContainsRune(name, '"'):
		return "contains a double quote; rename it in the data or in a view"
	case strings.TrimSpace(name) != name:
		return "begins or ends with a space; rename it in the data or in a view"
	}
	for _, c := range name {
		if !unicode.IsPrint(c) {
			return "contains a character that cannot be seen; rename it in the data or in a view"
		}
	}
	return ""
}

// checkShortName does the same for datasets and the like, which are named by the
// owner and appear in addresses and connection strings. For analysts see username.
func checkShortName(name string) string {
	ok := name != "" && len(name) <= 64
	for _, c := range name {
		ok = ok && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("_.@-", c))
	}
	if !ok {
		return "is not a name; write 1 to 64 of the characters A-Z, a-z, 0-9, _, ., @ and -"
	}
	return ""
}

// fold returns the same text for names that differ only in letter case: every
// letter becomes the smallest of the letters that Unicode folds together.
func fold(name string) string {
	return strings.Map(func(c rune) rune {
		least := c
		for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, name)
}

func (r *reader) scalar(p element, key, want string) (*yaml.Node, bool) {
	switch {
	case p.node.Kind == yaml.AliasNode:
		return nil, false // Refused already.
	case p.node.Kind != yaml.ScalarNode:
		r.at(p, "'%s' must be %s, but this is %s", key, want, kind(p.node))
		return nil, false
	case r.isNull(p):
		r.at(p, "'%s' is empty; write %s", key, want)
		return nil, false
	}
	return p.node, true
}

func (r *reader) text(p element, key, want string) (string, bool) {
	n, ok := r.scalar(p, key, want)
	if !ok {
		return "", false
	}
	if n.Value == "" {
		r.at(p, "'%s' is empty; write %s", key, want)
		return "", false
	}
	return n.Value, true
}

// number reads a decimal number exactly, from its spelling.
func (r *reader) number(p element, key string) (*big.Rat, bool) {
	n, ok := r.scalar(p, key, "a decimal number")
	if !ok {
		return nil, false
	}
	if !plain(n) {
		r.at(p, "'%s' is text, because it stands in quotes; write the number without them", key)
		return nil, false
	}
	v, err := dp.ParseDecimal(n.Value)
	if err != nil {
		r.at(p, "'%s' is %s, which is not a decimal number; write for example %s", key, quote(n.Value), exampleOf(key))
		return nil, false
	}
	return v, true
}

func exampleOf(key string) string {
	switch key {
	case "format":
		return "1"
	case "failures", "analyst", "dataset":
		return "3"
	case "max_rows", "max_groups", "windows", "every", "answers", "steps", "width":
		return "5"
	case "max_fanout":
		return "1000"
	case "existence":
		return "50"
	case "lengths":
		return "30"
	case "max_joined":
		return "500"
	case "granularity", "alpha", "noise", "threshold":
		return "0.01"
	case "beta":
		return "0.001"
	case "size", "queries", "people", "rows", "values":
		return "100000"
	case "delta", "keys_delta":
		return "1e-6"
	}
	return "0.5"
}

// amount reads a positive amount of privacy, rounded down.
func (r *reader) amount(p element, key string) (dp.Amount, bool) {
	n, ok := r.number(p, key)
	if !ok {
		return 0, false
	}
	a, err := dp.Floor(n)
	switch {
	case n.Sign() <= 0:
		r.at(p, "%s must be above 0; write for example 0.5", key)
	case err != nil:
		// The largest amount stands for all that are too large to be one; every
		// limit on an epsilon is far below it.
		return dp.Unbounded, true
	case a == 0:
		r.at(p, "%s %s is below 2^-40, about 1e-12, the smallest amount that is counted; write a larger one", key, p.node.Value)
	default:
		return a, true
	}
	return 0, false
}

// limit reads a whole number, or auto, which stands for the most that is chosen.
func (r *reader) limit(n element, key string, most, chosen int64, means string) (limit int64, auto bool) {
	if n.node.Kind == yaml.ScalarNode && strings.EqualFold(n.node.Value, "auto") {
		if n.node.Value != "auto" {
			r.at(n, "write %s: auto, in small letters", key)
		}
		return chosen, true
	}
	limit, _ = r.whole(n, key, most, means)
	return limit, false
}

// whole reads a whole number between 1 and most.
func (r *reader) whole(p element, key string, most int64, means string) (int64, bool) {
	n, ok := r.number(p, key)
	if !ok {
		return 0, false
	}
	if !n.IsInt() || n.Sign() <= 0 || n.Cmp(new(big.Rat).SetInt64(most)) > 0 {
		r.at(p, "%s must be a whole number from 1 to %d; it is %s", key, most, means)
		return 0, false
	}
	return n.Num().Int64(), true
}

// truth reads true or false. The many other spellings of YAML 1.1 are refused
// here, because next to text columns they are traps.
func (r *reader) truth(p element, key string) (value, ok bool) {
	n, ok := r.scalar(p, key, "true or false")
	if !ok {
		return false, false
	}
	if value, ok = parseBool(n); !ok {
		r.at(p, "'%s' must be true or false, but this is %s", key, quote(n.Value))
	}
	return value, ok
}

func parseBool(n *yaml.Node) (value, ok bool) {
	if !plain(n) || (n.Value != "true" && n.Value != "false") {
		return false, false
	}
	return n.Value == "true", true
}

// parseNumber reads a number exactly, and returns what is wrong where it is none.
func parseNumber(text string) (*big.Rat, string) {
	n, err := dp.ParseDecimal(text)
	if err != nil {
		return nil, fmt.Sprintf("%s is not a decimal number; write for example 0, 110 or 0.5", quote(text))
	}
	return n, ""
}

// decimal writes a number as a person would, exactly where that is short.
func decimal(n *big.Rat) string {
	digits, exact := n.FloatPrec()
	if exact && digits <= 20 && n.Num().BitLen() <= 128 {
		return n.FloatString(digits)
	}
	return "about " + new(big.Float).SetRat(n).Text('g', 6)
}
