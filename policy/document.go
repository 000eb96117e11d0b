package policy

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// maxDepth is more than twice the depth of the deepest correct policy.
const maxDepth = 20

// document parses the text into the root of its one document. It returns nil where
// there is nothing to go on with.
func (r *reader) document(text []byte) *yaml.Node {
	top := place{node: &yaml.Node{Kind: yaml.ScalarNode, Line: 1, Column: 1}}
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
		r.at(place{node: &next}, "a second document begins here; a policy is one document, so remove the line ---")
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
	r.at(place{node: at}, "this is not YAML: %s; %s", problem, hint)
}

// shape refuses the parts of YAML that let a file say something other than what it
// shows: references, merges, tags, and nesting without end.
func (r *reader) shape(n *yaml.Node, depth int) {
	at := place{node: n}
	if depth > maxDepth {
		r.at(at, "nested more than %d deep; a policy never is", maxDepth)
		n.Content = nil
		return
	}
	if n.Anchor != "" {
		r.at(at, "the anchor &%s is refused, so that a policy says what it shows; write the value out where it is used", n.Anchor)
	}
	if n.Kind == yaml.AliasNode {
		r.at(at, "the alias *%s is refused, so that a policy says what it shows; write the value out", n.Value)
		return
	}
	if n.Style&yaml.TaggedStyle != 0 {
		r.at(at, "the tag %s is refused; write the value without it", quote(n.Tag))
	}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && c.Kind == yaml.ScalarNode && c.Tag == "!!merge" {
			r.at(place{node: c}, "the merge key << is refused, so that a policy says what it shows; write the keys out")
		}
		r.shape(c, depth+1)
	}
}
