package interpret

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// jsonFunctions are the functions that write JSON.
var jsonFunctions = []Function{
	{"row_to_json|to_json(any) json", toJSON},
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
		return Fail("54001", "a value is nested too deep")
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
	f, isFloat := v.(datum.Float)
	if finite := isFloat && !math.IsNaN(float64(f)) && !math.IsInf(float64(f), 0); finite || oid.IsInt(t) || t == oid.JSON {
		w.WriteString(s)
	} else {
		w.quote(s)
	}
	return nil
}

// list writes items with commas between them.
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

// quote writes a text in quotes.
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
