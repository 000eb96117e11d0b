package policy

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// reader walks the YAML tree and collects problems. It works on nodes and not
// on decoded values for two reasons: every problem has a position, and every scalar is
// read from its spelling, so that a number never passes through float64 and
// the text NO never becomes false.
type reader struct {
	problems []Problem
	// homes remembers which table is read from where, in all datasets.
	homes map[string]home
	// prepared remembers whose prepared file a path is.
	prepared map[string]string
	// broken is the columns with a problem of their own, about which nothing else is told.
	broken map[*Column]bool
	// bins counts the values of all columns of streams.
	bins int64
}

// place is a value in the file, with the key it stands under and the names above
// it.
type place struct {
	node, key *yaml.Node
	where     string
}

// mark returns the node whose position tells a person where to look: the key for a
// value that spans lines or has no text, the value itself otherwise.
func (p place) mark() *yaml.Node {
	spans := p.node.Kind != yaml.ScalarNode && p.node.Style&yaml.FlowStyle == 0
	empty := p.node.Kind == yaml.ScalarNode && p.node.Value == ""
	if p.key != nil && (spans || empty) {
		return p.key
	}
	return p.node
}

func (p place) in(name string) string {
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
func (r *reader) isNull(p place) bool {
	return plain(p.node) && p.node.Tag == "!!null"
}

// fields is the keys of a mapping whose keys are known beforehand.
type fields struct {
	at place
	m  map[string]place
	// meant is the keys that a misspelt one was taken for; that they are missing
	// needs no second problem.
	meant map[string]bool
}

// get returns the value of a key and whether it is there.
func (f fields) get(key string) (place, bool) {
	p, ok := f.m[key]
	return p, ok
}

// need returns the value of a key, and records a problem where it is missing.
func (f fields) need(r *reader, key, hint string) (place, bool) {
	p, ok := f.m[key]
	if !ok && !f.meant[key] {
		r.at(f.at, "the key '%s' is missing: %s", key, hint)
	}
	return p, ok
}

// fields reads a mapping with known keys.
func (r *reader) fields(at place, n *yaml.Node, what string, keys keySet) (fields, bool) {
	pairs, ok := r.pairs(at, n, what)
	if !ok {
		return fields{}, false
	}
	f := fields{at, map[string]place{}, map[string]bool{}}
	for _, p := range pairs {
		if key := p.key.Value; keys.has(key) {
			f.m[key] = p
		} else if p.key.Tag != "!!merge" {
			text, meant := keys.explain(key, what)
			r.at(place{node: p.key, where: at.where}, "%s", text)
			f.meant[meant] = true
		}
	}
	return f, true
}

// entry is one of the named things that an owner lists.
type entry struct {
	name string
	place
}

// entries reads a mapping whose keys are names that the owner chose. SQL folds
// letter case, so two names must differ in more than that.
func (r *reader) entries(at place, what, noun string, check func(string) string) ([]entry, bool) {
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
			r.at(place{node: p.key, where: at.where}, "the %s %s %s", noun, quote(name), problem)
		}
		if first, ok := seen[fold(name)]; ok {
			r.at(place{node: p.key, where: at.where},
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
func (r *reader) pairs(at place, n *yaml.Node, what string) ([]place, bool) {
	switch n.Kind {
	case yaml.AliasNode:
		return nil, false // Refused already.
	case yaml.MappingNode:
	default:
		r.at(at, "%s must be a mapping of keys to values, but this is %s", what, kind(n))
		return nil, false
	}
	var ps []place
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind == yaml.AliasNode {
			continue // Refused already.
		}
		if k.Kind != yaml.ScalarNode {
			r.at(place{node: k, where: at.where}, "a key must be a word, but this is %s", kind(k))
			continue
		}
		if line, ok := seen[k.Value]; ok {
			r.at(place{node: k, where: at.where}, "%s is given twice, first in line %d; keep one", quote(k.Value), line)
			continue
		}
		seen[k.Value] = k.Line
		ps = append(ps, place{node: v, key: k, where: at.where})
	}
	return ps, true
}
