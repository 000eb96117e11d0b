package interpret

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

// document is a value of JSON, with its text as it was written. As a value of the interpreter it is
// that text, and for jsonb the text that PostgreSQL makes of it.
type document struct {
	kind  byte // { [ " 0 t f n
	raw   string
	text  string // of a string
	names []string
	items []document
}

const maxDocumentDepth = 64

// documentReader reads a document from its beginning to its end.
type documentReader struct {
	run *run
	s   string
	i   int
}

func badDocument() error { return Fail("22P02", "invalid input syntax for type json") }

// readDocument reads JSON, and counts what it takes.
func (r *run) readDocument(s string) (document, error) {
	if err := r.spend(1+len(s)/8, 32*len(s)); err != nil {
		return document{}, err
	}
	d := &documentReader{run: r, s: s}
	out, err := d.value(0)
	if err != nil {
		return document{}, err
	}
	if d.skip(); d.i != len(s) {
		return document{}, badDocument()
	}
	return out, nil
}

func (d *documentReader) skip() {
	for d.i < len(d.s) && strings.IndexByte(" \t\r\n", d.s[d.i]) >= 0 {
		d.i++
	}
}

// next reports whether a character comes next, and passes it.
func (d *documentReader) next(c byte) bool {
	d.skip()
	if d.i < len(d.s) && d.s[d.i] == c {
		d.i++
		return true
	}
	return false
}

func (d *documentReader) value(depth int) (out document, err error) {
	d.skip()
	from := d.i
	switch {
	case depth > maxDocumentDepth:
		return out, Fail("54001", "a document is nested too deeply")
	case d.i >= len(d.s):
		return out, badDocument()
	case d.s[d.i] == '{' || d.s[d.i] == '[':
		out, err = d.container(depth)
	case d.s[d.i] == '"':
		out.kind = '"'
		out.text, err = d.string()
	default:
		for d.i < len(d.s) && strings.IndexByte(" \t\r\n,]}:", d.s[d.i]) < 0 {
			d.i++
		}
		switch word := d.s[from:d.i]; {
		case word == "true" || word == "false" || word == "null":
			out.kind = word[0]
		case json.Valid([]byte(word)):
			out.kind = '0'
		default:
			return out, badDocument()
		}
	}
	out.raw = d.s[from:d.i]
	return out, err
}

func (d *documentReader) container(depth int) (out document, err error) {
	out.kind = d.s[d.i]
	end := byte(']')
	if out.kind == '{' {
		end = '}'
	}
	d.i++
	for first := true; !d.next(end); first = false {
		if !first && !d.next(',') {
			return out, badDocument()
		}
		if out.kind == '{' {
			if d.skip(); d.i >= len(d.s) || d.s[d.i] != '"' {
				return out, badDocument()
			}
			name, err := d.string()
			if err != nil {
				return out, err
			}
			if !d.next(':') {
				return out, badDocument()
			}
			out.names = append(out.names, name)
		}
		item, err := d.value(depth + 1)
		if err != nil {
			return out, err
		}
		out.items = append(out.items, item)
	}
	return out, nil
}

func (d *documentReader) string() (text string, err error) {
	from := d.i
	for d.i++; d.i < len(d.s) && d.s[d.i] != '"'; d.i++ {
		if d.s[d.i] == '\\' {
			d.i++
		}
	}
	if d.i++; d.i > len(d.s) || json.Unmarshal([]byte(d.s[from:d.i]), &text) != nil {
		return "", badDocument()
	}
	if strings.ContainsRune(text, 0) {
		return "", Fail("22P05", "unsupported Unicode escape sequence")
	}
	return text, nil
}

// normal writes a document as jsonb has it: names once, by their length and then by their bytes.
func (d document) normal(b *strings.Builder) {
	switch d.kind {
	case '{':
		last := map[string]int{}
		for i, name := range d.names {
			last[name] = i
		}
		names := make([]string, 0, len(last))
		for name := range last {
			names = append(names, name)
		}
		slices.SortFunc(names, func(x, y string) int {
			if len(x) != len(y) {
				return len(x) - len(y)
			}
			return strings.Compare(x, y)
		})
		b.WriteByte('{')
		for i, name := range names {
			if i > 0 {
				b.WriteString(", ")
			}
			quoteDocument(b, name)
			b.WriteString(": ")
			d.items[last[name]].normal(b)
		}
		b.WriteByte('}')
	case '[':
		b.WriteByte('[')
		for i, item := range d.items {
			if i > 0 {
				b.WriteString(", ")
			}
			item.normal(b)
		}
		b.WriteByte(']')
	case '"':
		quoteDocument(b, d.text)
	case '0':
		b.WriteString(plainNumber(d.raw))
	default:
		b.WriteString(d.raw)
	}
}

// plainNumber writes a number without an exponent, as numeric does.
func plainNumber(s string) string {
	i := strings.IndexAny(s, "eE")
	if i < 0 {
		if strings.Trim(s, "-0.") == "" {
			s = strings.TrimPrefix(s, "-")
		}
		return s
	}
	exponent, err := strconv.Atoi(s[i+1:])
	if err != nil || exponent > 1000 || exponent < -1000 {
		return s
	}
	digits, negative := strings.CutPrefix(s[:i], "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	point := len(whole) + exponent
	all := whole + fraction
	if point > len(all) {
		all += strings.Repeat("0", point-len(all))
	}
	if point <= 0 {
		all, point = strings.Repeat("0", 1-point)+all, 1
	}
	whole, fraction = strings.TrimLeft(all[:point], "0"), all[point:]
	if whole == "" {
		whole = "0"
	}
	if fraction != "" {
		whole += "." + fraction
	}
	if negative && strings.Trim(whole, "0.") != "" {
		return "-" + whole
	}
	return whole
}

func quoteDocument(b *strings.Builder, s string) {
	w := jsonWriter{}
	w.quote(s)
	b.WriteString(w.String())
}

// normalDocument is the text of a document as a json or a jsonb has it.
func normalDocument(r *run, s string, t uint32) (datum.Value, error) {
	d, err := r.readDocument(s)
	if err != nil {
		return nil, err
	}
	return d.as(r, t)
}

// as is a document as a json or a jsonb.
func (d document) as(r *run, t uint32) (datum.Value, error) {
	if t != oid.JSONB {
		return r.text(d.raw)
	}
	var b strings.Builder
	d.normal(&b)
	return r.text(b.String())
}

// plain is a document as text: a string without its quotes, and null as NULL.
func (d document) plain(r *run, t uint32) (datum.Value, error) {
	switch d.kind {
	case 'n':
		return nil, nil
	case '"':
		return r.text(d.text)
	}
	return d.as(r, t)
}

// member is the item of a name or of a number, from the end where it is negative.
func (d document) member(name string) (document, bool) {
	switch d.kind {
	case '{':
		for i := len(d.names) - 1; i >= 0; i-- {
			if d.names[i] == name {
				return d.items[i], true
			}
		}
	case '[':
		if n, err := strconv.Atoi(name); err == nil {
			return d.element(n)
		}
	}
	return document{}, false
}

func (d document) element(n int) (document, bool) {
	if n < 0 {
		n += len(d.items)
	}
	if d.kind != '[' || n < 0 || n >= len(d.items) {
		return document{}, false
	}
	return d.items[n], true
}

var documentKinds = map[byte]string{'{': "object", '[': "array", '"': "string", '0': "number", 't': "boolean", 'f': "boolean", 'n': "null"}

// pretty writes a document with a line for every item.
func (d document) pretty(b *strings.Builder, indent string) {
	if d.kind != '{' && d.kind != '[' || len(d.items) == 0 {
		d.normal(b)
		return
	}
	end := "}"
	if d.kind == '[' {
		end = "]"
	}
	b.WriteByte(d.kind)
	for i, item := range d.items {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n" + indent + "    ")
		if d.kind == '{' {
			quoteDocument(b, d.names[i])
			b.WriteString(": ")
		}
		item.pretty(b, indent+"    ")
	}
	b.WriteString("\n" + indent + end)
}

// has reports whether one document contains another, as @> says.
func (d document) has(o document) bool {
	switch {
	case d.kind == '[' && o.kind == '[':
		for _, item := range o.items {
			if !slices.ContainsFunc(d.items, func(x document) bool { return x.kind == item.kind && x.has(item) }) {
				return false
			}
		}
		return true
	case d.kind != o.kind:
		return false
	case d.kind == '{':
		for i, name := range o.names {
			if x, ok := d.member(name); !ok || !x.has(o.items[i]) {
				return false
			}
		}
		return true
	case d.kind == '"':
		return d.text == o.text
	}
	return d.raw == o.raw
}

// size is how many documents one is made of.
func (d document) size() int {
	n := 1
	for _, item := range d.items {
		n += item.size()
	}
	return n
}

// castDocument makes a number or a boolean of a jsonb that is one.
func castDocument(r *run, s string, to uint32) (datum.Value, error) {
	d, err := r.readDocument(s)
	if err != nil {
		return nil, err
	}
	switch {
	case to == oid.Bool && (d.kind == 't' || d.kind == 'f'):
		return datum.Bool(d.kind == 't'), nil
	case to != oid.Bool && d.kind == '0':
		n, err := r.parse(d.raw, oid.Numeric)
		if err != nil {
			return nil, err
		}
		return r.cast(n, oid.Numeric, to)
	}
	kind := documentKinds[d.kind]
	if d.kind == '"' {
		kind = "string"
	}
	return nil, Fail("22023", "cannot cast jsonb %s to type %s", kind, r.nameType(to))
}
