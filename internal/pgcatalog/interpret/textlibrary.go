package interpret

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

var textFunctions = []Function{
	{"lower(text) text", mapText(strings.ToLower)},
	{"upper(text) text", mapText(strings.ToUpper)},
	{"quote_ident(text) text", mapText(datum.Quote)},
	{"length|char_length|character_length(text) int4", func(c *Call) (datum.Value, error) {
		return datum.Int(utf8.RuneCountInString(c.Text(0))), nil
	}},
	{"btrim(text,text=) text", trimText(strings.Trim)},
	{"ltrim(text,text=) text", trimText(strings.TrimLeft)},
	{"rtrim(text,text=) text", trimText(strings.TrimRight)},
	{"replace(text,text,text) text", replaceText},
	{"repeat(text,int4) text", repeatText},
	{"parse_ident(text,bool=) text[]", splitIdent},
	{"lax concat(...any) text", func(c *Call) (datum.Value, error) { return c.join("", 0) }},
	{"lax concat_ws(text,...any) text", func(c *Call) (datum.Value, error) {
		if c.Args[0] == nil {
			return nil, nil
		}
		return c.join(c.Text(0), 1)
	}},
	{"lax format(text,...any) text", formatText},
}

// mapText makes a function of one on texts.
func mapText(f func(string) string) func(*Call) (datum.Value, error) {
	return func(c *Call) (datum.Value, error) { return c.NewText(f(c.Text(0))) }
}

// trimText makes a function that takes characters off the ends of a text.
func trimText(trim func(s, cut string) string) func(*Call) (datum.Value, error) {
	return func(c *Call) (datum.Value, error) {
		s, cut := c.Text(0), " "
		if len(c.Args) > 1 {
			cut = c.Text(1)
		}
		if len(cut) > 100 {
			return nil, Fail("54000", "more than 100 characters to trim")
		}
		return datum.Text(trim(s, cut)), c.run.step(1 + len(s)*len(cut)/64)
	}
}

func replaceText(c *Call) (datum.Value, error) {
	s, old, by := c.Text(0), c.Text(1), c.Text(2)
	if old == "" {
		return c.Args[0], nil
	}
	if n := strings.Count(s, old); len(s)+n*(len(by)-len(old)) > maxString {
		return nil, tooLong()
	}
	return c.NewText(strings.ReplaceAll(s, old, by))
}

func repeatText(c *Call) (datum.Value, error) {
	s, n := c.Text(0), max(0, c.Int(1))
	if s == "" || n == 0 {
		return datum.Text(""), nil
	}
	if n > maxString/int64(len(s)) {
		return nil, tooLong()
	}
	return c.NewText(strings.Repeat(s, int(n)))
}

// identifier is a name with or without a schema, at the beginning of a text.
var identifier = regexp.MustCompile(`^\s*(?:"(?:[^"]|"")+"|[\pL_][\pL\d_$]*)(?:\.(?:"(?:[^"]|"")+"|[\pL_][\pL\d_$]*))*`)

func splitIdent(c *Call) (datum.Value, error) {
	s := c.Text(0)
	if err := c.run.step(1 + len(s)); err != nil {
		return nil, err
	}
	if len(c.Args) > 1 && c.Args[1] == datum.False { // what follows the name does not matter
		s = identifier.FindString(s)
	}
	parts, ok := datum.Split(s)
	if !ok {
		return nil, Fail("22023", "string is not a valid identifier")
	}
	return datum.Texts(parts...), nil
}

// join puts the arguments from one on together, without those that are NULL.
func (c *Call) join(sep string, first int) (datum.Value, error) {
	return c.joinValues(c.Args[first:], c.Types[first:], sep, nil)
}

// joinValues writes values with a text between them. NULLs are left out, or are written as null
// says.
func (c *Call) joinValues(values []datum.Value, types []uint32, sep string, null datum.Value) (datum.Value, error) {
	var b strings.Builder
	begun := false
	for i, v := range values {
		s, err := c.run.format(v, types[min(i, len(types)-1)])
		if err != nil {
			return nil, err
		}
		if v == nil {
			text, ok := null.(datum.Text)
			if !ok {
				continue
			}
			s = string(text)
		}
		if begun {
			b.WriteString(sep)
		}
		begun = true
		if b.WriteString(s); b.Len() > maxString {
			return nil, tooLong()
		}
	}
	return c.NewText(b.String())
}

// formatText is format() with %s, %I, %L and %%.
func formatText(c *Call) (datum.Value, error) {
	if c.Args[0] == nil {
		return nil, nil
	}
	f := c.Text(0)
	var b strings.Builder
	next := 1
	for i := 0; i < len(f); i++ {
		if f[i] != '%' {
			b.WriteByte(f[i])
			continue
		}
		n, width := position(f[i+1:])
		if i += 1 + width; width == 0 {
			n = next
		}
		if i >= len(f) {
			return nil, Fail("22023", "unterminated format() type specifier")
		}
		if f[i] == '%' {
			b.WriteByte('%')
			continue
		}
		if n < 1 || n >= len(c.Args) {
			return nil, Fail("22023", "too few arguments for format()")
		}
		s, err := c.formatArgument(n, f[i])
		if err != nil {
			return nil, err
		}
		next = n + 1
		if b.WriteString(s); b.Len() > maxString {
			return nil, tooLong()
		}
		if err := c.run.take(len(s)); err != nil {
			return nil, err
		}
	}
	return c.NewText(b.String())
}

// position reads which argument %1$s is about, and how long that is; 0 where it does not say.
func position(f string) (n, width int) {
	j := 0
	for j < len(f) && f[j] >= '0' && f[j] <= '9' && j < 4 {
		j++
	}
	if j == 0 || j >= len(f) || f[j] != '$' {
		return 0, 0
	}
	n, _ = strconv.Atoi(f[:j])
	return n, j + 1
}

// formatArgument writes an argument as a text, a name or a literal.
func (c *Call) formatArgument(n int, as byte) (string, error) {
	s, err := c.run.format(c.Args[n], c.Types[n])
	if err != nil {
		return "", err
	}
	switch {
	case as == 's':
		return s, nil
	case as == 'I' && c.Args[n] == nil:
		return "", Fail("22004", "null values cannot be formatted as an SQL identifier")
	case as == 'I':
		return datum.Quote(s), nil
	case as == 'L' && c.Args[n] == nil:
		return "NULL", nil
	case as == 'L':
		return quoteLiteral(s), nil
	}
	return "", Fail("22023", "unrecognized format() type specifier")
}

var jsonFunctions = []Function{
	{"row_to_json(record) json", toJSON}, {"to_json(any) json", toJSON},
	{"lax json_build_object(...any) json", buildObject},
}

func toJSON(c *Call) (datum.Value, error) { return c.run.json(c.Args[0], c.Types[0]) }

func buildObject(c *Call) (datum.Value, error) {
	if len(c.Args)%2 != 0 {
		return nil, Fail("22023", "argument list must have even number of elements")
	}
	var cols []datum.Column
	var vals []datum.Value
	for i := 0; i+1 < len(c.Args); i += 2 {
		name, err := c.run.format(c.Args[i], c.Types[i])
		if err != nil {
			return nil, err
		}
		cols, vals = append(cols, datum.Column{Name: name, OID: c.Types[i+1]}), append(vals, c.Args[i+1])
	}
	rec, err := c.run.record(cols, vals)
	if err != nil {
		return nil, err
	}
	return c.run.json(rec, oid.Record)
}

// json writes a value as to_json does.
func (r *run) json(v datum.Value, t uint32) (datum.Value, error) {
	w := jsonWriter{run: r}
	if err := w.write(v, t, 0); err != nil {
		return nil, err
	}
	return r.text(w.String())
}

type jsonWriter struct {
	strings.Builder
	run *run
}

func (w *jsonWriter) write(v datum.Value, t uint32, depth int) error {
	if w.Len() > maxString {
		return tooLong()
	}
	if depth > 50 {
		return Fail("54001", "a value is nested too deeply")
	}
	if err := w.run.step(1); err != nil {
		return err
	}
	switch x := v.(type) {
	case nil:
		w.WriteString("null")
		return nil
	case datum.Bool:
		w.WriteString(strconv.FormatBool(bool(x)))
		return nil
	case *datum.Record:
		return w.list('{', '}', len(x.Values), func(i int) error {
			w.quote(x.Columns[i].Name)
			w.WriteByte(':')
			return w.write(x.Values[i], x.Columns[i].OID, depth+1)
		})
	case datum.List:
		return w.list('[', ']', len(x), func(i int) error { return w.write(x[i], oid.Elem(t), depth+1) })
	}
	s, err := w.run.format(v, t)
	if err != nil {
		return err
	}
	f := float(v)
	isNumber := oid.KindOf(t) == oid.KindFloat
	if finite := isNumber && !math.IsNaN(f) && !math.IsInf(f, 0); finite || oid.IsInt(t) || t == oid.JSON || t == oid.JSONB {
		w.WriteString(s)
	} else {
		w.quote(s)
	}
	return nil
}

func (w *jsonWriter) list(begin, end byte, n int, item func(i int) error) error {
	w.WriteByte(begin)
	for i := range n {
		if i > 0 {
			w.WriteByte(',')
		}
		if err := item(i); err != nil {
			return err
		}
	}
	return w.WriteByte(end)
}

func (w *jsonWriter) quote(s string) {
	w.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			w.WriteByte('\\')
			w.WriteRune(c)
		case c == '\n':
			w.WriteString(`\n`)
		case c == '\t':
			w.WriteString(`\t`)
		case c == '\r':
			w.WriteString(`\r`)
		case c < 0x20:
			fmt.Fprintf(w, `\u%04x`, c)
		default:
			w.WriteRune(c)
		}
	}
	w.WriteByte('"')
}

// partFunctions are the functions on parts of texts.
var partFunctions = []Function{
	{"substring|substr(text,int4,int4=) text", substring},
	{"left(text,int4) text", leftPart},
	{"strpos|position(text,text) int4", findText},
	{"split_part(text,text,int4) text", splitPart},
}

// part is count characters of a text. They are counted from 1, and what is before the text counts
// too.
func part(s string, from, count int64) string {
	end := int64(math.MaxInt64)
	if count < math.MaxInt64-max(from, 0) {
		end = from + count
	}
	n := int64(1)
	begin, stop := -1, len(s)
	for i := range s {
		if n >= end {
			stop = i
			break
		}
		if n >= from && begin < 0 {
			begin = i
		}
		n++
	}
	if begin < 0 || begin > stop {
		return ""
	}
	return s[begin:stop]
}

func substring(c *Call) (datum.Value, error) {
	count := int64(math.MaxInt64)
	if len(c.Args) > 2 {
		count = c.Int(2)
	}
	if count < 0 {
		return nil, Fail("22011", "negative substring length not allowed")
	}
	return c.NewText(part(c.Text(0), c.Int(1), count))
}

func leftPart(c *Call) (datum.Value, error) {
	s, n := c.Text(0), c.Int(1)
	if n < 0 {
		n = max(0, int64(utf8.RuneCountInString(s))+n)
	}
	return c.NewText(part(s, 1, n))
}

func findText(c *Call) (datum.Value, error) {
	s := c.Text(0)
	n := datum.Int(0)
	if i := strings.Index(s, c.Text(1)); i >= 0 {
		n = datum.Int(utf8.RuneCountInString(s[:i])) + 1
	}
	return n, c.run.step(1 + len(s)/64)
}

func splitPart(c *Call) (datum.Value, error) {
	s, n := c.Text(0), c.Int(2)
	if n == 0 {
		return nil, Fail("22023", "field position must not be zero")
	}
	parts := []string{s}
	if sep := c.Text(1); sep != "" {
		if err := c.run.take(16 * strings.Count(s, sep)); err != nil {
			return nil, err
		}
		parts = strings.Split(s, sep)
	}
	if n < 0 {
		n = int64(len(parts)) + n + 1
	}
	if n < 1 || n > int64(len(parts)) {
		return datum.Text(""), nil
	}
	return c.NewText(parts[n-1])
}
