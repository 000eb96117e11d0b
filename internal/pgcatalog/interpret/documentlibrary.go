package interpret

import (
	"strings"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

// documentFunctions are the functions on json and jsonb.
var documentFunctions = []Function{
	{"json_typeof(json) text", onDocument(typeOfDocument)}, {"jsonb_typeof(jsonb) text", onDocument(typeOfDocument)},
	{"json_array_length(json) int4", onDocument(lengthOfDocument)}, {"jsonb_array_length(jsonb) int4", onDocument(lengthOfDocument)},
	{"json_object_keys(json) setof text", onDocument(documentKeys)}, {"jsonb_object_keys(jsonb) setof text", onDocument(documentKeys)},
	{"json_array_elements(json) setof json as value", onDocument(elements(document.as))},
	{"jsonb_array_elements(jsonb) setof jsonb as value", onDocument(elements(document.as))},
	{"json_array_elements_text(json) setof text as value", onDocument(elements(document.plain))},
	{"jsonb_array_elements_text(jsonb) setof text as value", onDocument(elements(document.plain))},
	{"json_each(json) (key text, value json)", onDocument(eachMember(document.as))},
	{"jsonb_each(jsonb) (key text, value jsonb)", onDocument(eachMember(document.as))},
	{"json_each_text(json) (key text, value text)", onDocument(eachMember(document.plain))},
	{"jsonb_each_text(jsonb) (key text, value text)", onDocument(eachMember(document.plain))},
	{"json_extract_path(json,...text) json", path(document.as)}, {"jsonb_extract_path(jsonb,...text) jsonb", path(document.as)},
	{"json_extract_path_text(json,...text) text", path(document.plain)},
	{"jsonb_extract_path_text(jsonb,...text) text", path(document.plain)},
	{"json_object_field(json,text) json", at(document.as)}, {"jsonb_object_field(jsonb,text) jsonb", at(document.as)},
	{"json_object_field_text(json,text) text", at(document.plain)}, {"jsonb_object_field_text(jsonb,text) text", at(document.plain)},
	{"json_array_element(json,int4) json", at(document.as)}, {"jsonb_array_element(jsonb,int4) jsonb", at(document.as)},
	{"json_array_element_text(json,int4) text", at(document.plain)}, {"jsonb_array_element_text(jsonb,int4) text", at(document.plain)},
	{"jsonb_pretty(jsonb) text", onDocument(func(c *Call, d document) (datum.Value, error) {
		var b strings.Builder
		if n := d.size(); n*4*maxDocumentDepth > maxString {
			return nil, tooLong()
		}
		d.pretty(&b, "")
		return c.NewText(b.String())
	})},
	{"jsonb_contains(jsonb,jsonb) bool", contained(false)}, {"jsonb_contained(jsonb,jsonb) bool", contained(true)},
	{"jsonb_exists(jsonb,text) bool", onDocument(func(c *Call, d document) (datum.Value, error) {
		return datum.Bool(d.exists(c.Text(1))), nil
	})},
	{"jsonb_exists_any(jsonb,text[]) bool", onDocument(existing(true))},
	{"jsonb_exists_all(jsonb,text[]) bool", onDocument(existing(false))},
	{"to_jsonb(any) jsonb", func(c *Call) (datum.Value, error) { return c.normalized(c.run.json(c.Args[0], c.Types[0])) }},
	{"lax jsonb_build_object() jsonb", func(*Call) (datum.Value, error) { return datum.Text("{}"), nil }},
	{"lax jsonb_build_object(...any) jsonb", func(c *Call) (datum.Value, error) { return c.normalized(buildObject(c)) }},
	{"lax json_build_array() json", func(*Call) (datum.Value, error) { return datum.Text("[]"), nil }},
	{"lax json_build_array(...any) json", buildArray},
	{"lax jsonb_build_array() jsonb", func(*Call) (datum.Value, error) { return datum.Text("[]"), nil }},
	{"lax jsonb_build_array(...any) jsonb", func(c *Call) (datum.Value, error) { return c.normalized(buildArray(c)) }},
}

// onDocument makes a function of one on the document that is its first argument.
func onDocument(f func(*Call, document) (datum.Value, error)) func(*Call) (datum.Value, error) {
	return func(c *Call) (datum.Value, error) {
		d, err := c.run.readDocument(c.Text(0))
		if err != nil {
			return nil, err
		}
		return f(c, d)
	}
}

// normalized makes a jsonb of a json.
func (c *Call) normalized(v datum.Value, err error) (datum.Value, error) {
	if v == nil || err != nil {
		return nil, err
	}
	return normalDocument(c.run, string(v.(datum.Text)), oid.JSONB)
}

func typeOfDocument(_ *Call, d document) (datum.Value, error) {
	return datum.Text(documentKinds[d.kind]), nil
}

func lengthOfDocument(_ *Call, d document) (datum.Value, error) {
	switch d.kind {
	case '[':
		return datum.Int(len(d.items)), nil
	case '{':
		return nil, Fail("22023", "cannot get array length of a non-array")
	}
	return nil, Fail("22023", "cannot get array length of a scalar")
}

// sorted are the names of an object and what they are of: once each, and in order, where it is a
// jsonb.
func (d document) sorted(t uint32) document {
	if t != oid.JSONB {
		return d
	}
	var b strings.Builder
	d.normal(&b)
	r := &documentReader{s: b.String()}
	out, _ := r.value(0)
	return out
}

func documentKeys(c *Call, d document) (datum.Value, error) {
	if d.kind != '{' {
		return nil, Fail("22023", "cannot call %s on a %s", c.Name, map[bool]string{true: "array", false: "scalar"}[d.kind == '['])
	}
	return c.run.list(datum.Texts(d.sorted(c.Types[0]).names...))
}

type showing func(document, *run, uint32) (datum.Value, error)

func elements(show showing) func(*Call, document) (datum.Value, error) {
	return func(c *Call, d document) (datum.Value, error) {
		if d.kind != '[' {
			return nil, Fail("22023", "cannot call %s on a %s", c.Name, map[bool]string{true: "non-array", false: "scalar"}[d.kind == '{'])
		}
		var out datum.List
		for _, item := range d.items {
			v, err := show(item, c.run, c.Types[0])
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, c.run.take(64 * len(out))
	}
}

func eachMember(show showing) func(*Call, document) (datum.Value, error) {
	return func(c *Call, d document) (datum.Value, error) {
		if d.kind != '{' {
			return nil, Fail("22023", "cannot call %s on a non-object", c.Name)
		}
		d = d.sorted(c.Types[0])
		var out datum.List
		for i, item := range d.items {
			v, err := show(item, c.run, c.Types[0])
			if err != nil {
				return nil, err
			}
			out = append(out, datum.List{datum.Text(d.names[i]), v})
		}
		return out, c.run.take(96 * len(out))
	}
}

// path makes a function that follows names and numbers into a document.
func path(show showing) func(*Call) (datum.Value, error) {
	return onDocument(func(c *Call, d document) (datum.Value, error) {
		for i := range c.Args[1:] {
			var ok bool
			if d, ok = d.member(c.Text(1 + i)); !ok {
				return nil, nil
			}
		}
		return show(d, c.run, c.Types[0])
	})
}

// at makes a function that takes one item of a document: of an object by its name, of an array by
// its number.
func at(show showing) func(*Call) (datum.Value, error) {
	return onDocument(func(c *Call, d document) (datum.Value, error) {
		var item document
		ok := false
		switch key := c.Args[1].(type) {
		case datum.Int:
			item, ok = d.element(int(key))
		case datum.Text:
			if d.kind == '{' {
				item, ok = d.member(string(key))
			}
		}
		if !ok {
			return nil, nil
		}
		return show(item, c.run, c.Types[0])
	})
}

func (d document) exists(name string) bool {
	if d.kind == '{' {
		_, ok := d.member(name)
		return ok
	}
	for _, item := range d.items {
		if item.kind == '"' && item.text == name {
			return true
		}
	}
	return d.kind == '"' && d.text == name
}

func existing(anyOf bool) func(*Call, document) (datum.Value, error) {
	return func(c *Call, d document) (datum.Value, error) {
		for _, v := range c.List(1) {
			if err := c.run.step(1 + len(d.items)); err != nil {
				return nil, err
			}
			if s, ok := v.(datum.Text); ok && d.exists(string(s)) == anyOf {
				return datum.Bool(anyOf), nil
			}
		}
		return datum.Bool(!anyOf), nil
	}
}

// contained makes @> and <@.
func contained(in bool) func(*Call) (datum.Value, error) {
	return func(c *Call) (datum.Value, error) {
		x, err := c.run.readDocument(c.Text(0))
		if err != nil {
			return nil, err
		}
		y, err := c.run.readDocument(c.Text(1))
		if err != nil {
			return nil, err
		}
		if in {
			x, y = y, x
		}
		// At worst every part is compared with every other.
		if err := c.run.step(x.size() * y.size()); err != nil {
			return nil, err
		}
		if x.kind == '[' && y.kind != '[' && y.kind != '{' {
			y = document{kind: '[', items: []document{y}} // an array contains a scalar
		}
		return datum.Bool(x.has(y)), nil
	}
}

func buildArray(c *Call) (datum.Value, error) {
	w := jsonWriter{run: c.run}
	w.WriteByte('[')
	for i, v := range c.Args {
		if i > 0 {
			w.WriteString(", ")
		}
		if err := w.write(v, c.Types[i], 0); err != nil {
			return nil, err
		}
	}
	w.WriteByte(']')
	return c.NewText(w.String())
}

// documentOperators are the functions that do the operators on json and jsonb.
var documentOperators = map[string]string{"->": "field", "->>": "field_text", "#>": "path", "#>>": "path_text", "@>": "contains",
	"<@": "contained", "?": "exists", "?|": "exists_any", "?&": "exists_all"}

// documents binds an operator on json or jsonb, or returns nil where it is on something else.
func (b operatorBinder) documents(op string, l, r *expr) (*expr, error) {
	isDocument := func(x *expr) bool { return x.typ == oid.JSON || x.typ == oid.JSONB }
	as := documentOperators[op]
	if as == "" || !isDocument(l) && !(isDocument(r) && l.untyped()) {
		return nil, nil
	}
	var err error
	if l.untyped() {
		if l, err = b.types.coerce(l, r.typ); err != nil {
			return nil, err
		}
	}
	t, right := l.typ, uint32(oid.Text)
	name := map[uint32]string{oid.JSON: "json_", oid.JSONB: "jsonb_"}[t]
	result := t
	switch as {
	case "field", "field_text":
		if oid.IsInt(r.typ) {
			right, name = oid.Int4, name+strings.Replace(as, "field", "array_element", 1)
		} else {
			name += "object_" + as
		}
	case "path", "path_text":
		right, name = oid.TextArray, name+"extract_"+as
	case "contains", "contained":
		right, name, result = oid.JSONB, name+as, oid.Bool
	case "exists":
		name, result = name+as, oid.Bool
	default:
		right, name, result = oid.TextArray, name+as, oid.Bool
	}
	if t == oid.JSON && result == oid.Bool {
		return nil, nil // jsonb alone has them
	}
	if strings.HasSuffix(as, "_text") {
		result = oid.Text
	}
	if r, err = b.types.coerce(r, right); err != nil {
		return nil, b.noOperator(op, l, r)
	}
	for _, f := range documentFunctions {
		if signature, _, _ := strings.Cut(f.Signature, "("); signature == name {
			return b.documentCall(name, f.Do, result, l, r), nil
		}
	}
	return nil, nil
}

func (b operatorBinder) documentCall(name string, do func(*Call) (datum.Value, error), result uint32, l, r *expr) *expr {
	types := []uint32{l.typ, r.typ}
	return strict(result, l, r, func(run *run, x, y datum.Value) (datum.Value, error) {
		args := []datum.Value{x, y}
		if list, ok := y.(datum.List); ok && strings.Contains(name, "path") {
			args = append([]datum.Value{x}, list...)
		}
		return do(&Call{Name: name, run: run, Args: args, Types: types})
	})
}
