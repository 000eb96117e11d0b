package postquery

import (
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"slices"
	"strings"
	"sync"

	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/internal/pgtext"
)

// JSON and arrays are made in Go, in PostgreSQL's spelling, and DuckDB has only numbers of them,
// each in a STRUCT of one field whose name says what it is. So a large value that a join copies
// takes no more memory, MaxMade bounds all of them together, no function of DuckDB's can read one,
// and the type of each is known to DuckDB wherever it goes.

// Names of fields. No name of a statement begins with the mark; see checkName.
const (
	handleMark  = "\x01"
	jsonField   = handleMark + "json"
	jsonbField  = handleMark + "jsonb"
	textField   = handleMark + "text" // a text that may be longer than MaxText
	arrayField  = handleMark + "array"
	memberField = handleMark + "of" // of an array, NULL of its elements' type
)

// made is a value that was made. Of an array it has the elements, and their type in DuckDB.
type made struct {
	text     string
	elements []any
	typ      string
}

// makings are the values of a call.
type makings struct {
	mu    sync.Mutex
	all   []made
	bytes int   // of all that was made, also of texts
	err   error // why the first function failed
}

const madeOverhead = 64 // bytes of a value, beside its text

// count adds bytes that were made.
func (m *makings) count(bytes int) error {
	if m.bytes += bytes; m.bytes > MaxMade {
		return errMade
	}
	return nil
}

func (m *makings) add(field string, v made) (any, error) {
	if err := m.count(len(v.text) + madeOverhead); err != nil {
		return nil, err
	}
	m.all = append(m.all, v)
	return map[string]any{field: uint64(len(m.all) - 1)}, nil
}

func (m *makings) addJSON(text []byte) (any, error) {
	return m.add(jsonField, made{text: string(text)})
}

func (m *makings) addJSONB(text []byte) (any, error) {
	written, err := pgtext.JSONB(string(text), MaxMade)
	if err != nil {
		return nil, err
	}
	return m.add(jsonbField, made{text: written})
}

// find returns what a number stands for.
func (m *makings) find(number any) (made, error) {
	n, ok := number.(uint64)
	if !ok || n >= uint64(len(m.all)) {
		return made{}, errStart
	}
	return m.all[n], nil
}

// open finds what a STRUCT stands for, and says which field it has.
func (m *makings) open(v any) (field string, is made, err error) {
	s, ok := v.(map[string]any)
	if !ok {
		return "", made{}, errStart
	}
	for _, field = range []string{jsonField, jsonbField, textField, arrayField} {
		if n, ok := s[field]; ok {
			is, err = m.find(n)
			return field, is, err
		}
	}
	return "", made{}, errStart
}

// text is a value of an answer.
func (m *makings) text(v any) (string, error) {
	field, is, err := m.open(v)
	if err != nil || field != arrayField {
		return is.text, err
	}
	return m.arrayText(is)
}

func (m *makings) arrayText(is made) (string, error) {
	texts := make([]*string, len(is.elements))
	for i, e := range is.elements {
		if e == nil {
			continue
		}
		s, err := m.plainText(e, is.typ)
		if err != nil {
			return "", err
		}
		texts[i] = &s
	}
	return pgtext.Array(texts), nil
}

// maker is a function that DuckDB calls.
type maker struct {
	store  *makings
	inputs []driver.TypeInfo
	more   driver.TypeInfo // of any further arguments
	output driver.TypeInfo
	nulls  bool // it is called for NULL too
	run    func(args []any) (any, error)
}

func (f *maker) Config() driver.ScalarFuncConfig {
	return driver.ScalarFuncConfig{InputTypeInfos: f.inputs, VariadicTypeInfo: f.more, ResultTypeInfo: f.output,
		SpecialNullHandling: f.nulls}
}

func (f *maker) Executor() driver.ScalarFuncExecutor {
	return driver.ScalarFuncExecutor{RowExecutor: func(values []sqldriver.Value) (out any, err error) {
		f.store.mu.Lock()
		defer f.store.mu.Unlock()
		defer func() {
			if recover() != nil { // on a thread of DuckDB's it would end the process
				out, err = nil, errStart
			}
			if err != nil && f.store.err == nil {
				f.store.err = err
			}
		}()
		args := make([]any, len(values))
		for i, v := range values {
			args[i] = v
		}
		return f.run(args)
	}}
}

// makerTypes are types of arguments and results.
type makerTypes struct {
	any, text, number, id, json, jsonb, long, texts driver.TypeInfo
}

func newMakerTypes() (t makerTypes, err error) {
	plain := func(of driver.Type) driver.TypeInfo {
		info, e := driver.NewTypeInfo(of)
		err = errors.Join(err, e)
		return info
	}
	t.any, t.text = plain(driver.TYPE_ANY), plain(driver.TYPE_VARCHAR)
	t.number, t.id = plain(driver.TYPE_BIGINT), plain(driver.TYPE_UBIGINT)
	if err != nil {
		return t, err
	}
	handle := func(name string) driver.TypeInfo {
		entry, e := driver.NewStructEntry(t.id, name)
		err = errors.Join(err, e)
		if e != nil {
			return nil
		}
		info, e := driver.NewStructInfo(entry)
		err = errors.Join(err, e)
		return info
	}
	t.json, t.jsonb, t.long = handle(jsonField), handle(jsonbField), handle(textField)
	if t.texts, err = driver.NewListInfo(t.text); err != nil {
		return t, err
	}
	return t, err
}

// register teaches a connection the functions that make values.
func (m *makings) register(conn *sql.Conn) error {
	t, err := newMakerTypes()
	if err != nil {
		return errStart
	}
	for name, all := range m.functions(t) {
		set := make([]driver.ScalarFunc, len(all))
		for i, f := range all {
			f.store = m
			set[i] = f
		}
		if err := driver.RegisterScalarUDFSet(conn, makerPrefix+name, set...); err != nil {
			return errStart
		}
	}
	return nil
}

// makerPrefix begins the names of our functions in DuckDB.
const makerPrefix = "discreet_"

// functions are those that make and read values, by name. A value is followed by its type as typeof
// writes it; jsonb is made of json.
func (m *makings) functions(t makerTypes) map[string][]*maker {
	out := map[string][]*maker{}
	for _, kind := range []struct {
		prefix string
		is     driver.TypeInfo
		add    func([]byte) (any, error)
	}{{"json_", t.json, m.addJSON}, {"jsonb_", t.jsonb, m.addJSONB}} {
		variadic := func(run func([]any) ([]byte, error)) []*maker {
			return []*maker{{more: t.any, output: kind.is, nulls: true, run: func(args []any) (any, error) {
				written, err := run(args)
				if err != nil || written == nil {
					return nil, err
				}
				return kind.add(written)
			}}}
		}
		out[kind.prefix+"value"] = variadic(m.writeValue)
		out[kind.prefix+"row"] = variadic(m.writeRow)
		out[kind.prefix+"object"] = variadic(m.writeObject)
		out[kind.prefix+"array"] = variadic(m.writeArray)
		out[kind.prefix+"list"] = variadic(m.writeList)
		out[kind.prefix+"members"] = variadic(m.writeMembers)
		out[kind.prefix+"parse"] = []*maker{{inputs: []driver.TypeInfo{t.text}, output: kind.is, run: func(args []any) (any, error) {
			s := args[0].(string)
			if err := pgtext.CheckJSON(s); err != nil {
				return nil, err
			}
			return kind.add([]byte(s))
		}}}
		get := func(by driver.TypeInfo) *maker {
			return &maker{inputs: []driver.TypeInfo{kind.is, by}, output: kind.is, run: func(args []any) (any, error) {
				found, ok, err := m.get(args)
				if err != nil || !ok {
					return nil, err
				}
				return kind.add([]byte(found))
			}}
		}
		getText := func(by driver.TypeInfo) *maker {
			return &maker{inputs: []driver.TypeInfo{kind.is, by}, output: t.text, run: m.getText}
		}
		out["get"] = append(out["get"], get(t.text), get(t.number))
		out["get_text"] = append(out["get_text"], getText(t.text), getText(t.number))
		out["typeof"] = append(out["typeof"], &maker{inputs: []driver.TypeInfo{kind.is}, output: t.text, run: m.jsonType})
		out["length"] = append(out["length"], &maker{inputs: []driver.TypeInfo{kind.is}, output: t.number, run: m.jsonLength})
		out["convert_"+strings.TrimSuffix(kind.prefix, "_")] = []*maker{{inputs: []driver.TypeInfo{t.any}, output: kind.is,
			run: func(args []any) (any, error) {
				_, is, err := m.open(args[0])
				if err == nil {
					err = pgtext.CheckJSON(is.text) // of a text it is not known
				}
				if err != nil {
					return nil, err
				}
				return kind.add([]byte(is.text))
			}}}
	}
	// It is no JSON alone, and only members reads it.
	out["member"] = []*maker{{more: t.any, output: t.json, nulls: true, run: func(args []any) (any, error) {
		written, err := m.member(nil, args)
		if err != nil {
			return nil, err
		}
		return m.addJSON(written)
	}}}
	out["long"] = []*maker{{inputs: []driver.TypeInfo{t.any}, output: t.long, run: func(args []any) (any, error) {
		s, err := m.text(args[0])
		if err != nil {
			return nil, err
		}
		return m.add(textField, made{text: s})
	}}}
	out["short"] = []*maker{{inputs: []driver.TypeInfo{t.any}, output: t.text, run: func(args []any) (any, error) {
		s, err := m.text(args[0])
		if err = errors.Join(err, m.count(len(s)/16)); err != nil {
			return nil, err
		}
		return m.cut(s)
	}}}
	out["keep"] = []*maker{{inputs: []driver.TypeInfo{t.any, t.text}, output: t.id, run: m.keepArray}}
	out["texts"] = []*maker{{inputs: []driver.TypeInfo{t.id}, output: t.texts, run: m.elementTexts}}
	out["count"] = []*maker{{inputs: []driver.TypeInfo{t.id}, output: t.number, run: func(args []any) (any, error) {
		is, err := m.find(args[0])
		return int64(len(is.elements)), err
	}}}
	out["join"] = []*maker{{inputs: []driver.TypeInfo{t.id, t.text, t.text}, output: t.text, nulls: true, run: m.joinArray}}
	return out
}

// cut ends a text after MaxText characters, where Run sees that it may have been longer.
func (m *makings) cut(s string) (any, error) {
	if len(s) > MaxText {
		if runes := []rune(s[:min(len(s), 4*MaxText)]); len(runes) > MaxText {
			s = string(runes[:MaxText])
		}
	}
	return s, m.count(len(s))
}

func (m *makings) get(args []any) (pgtext.Value, bool, error) {
	field, is, err := m.open(args[0])
	if err != nil {
		return "", false, err
	}
	if err := m.count(len(is.text) / 16); err != nil { // it is read for each row
		return "", false, err
	}
	if key, ok := args[1].(string); ok {
		return pgtext.Value(is.text).Field(key)
	}
	n, _ := args[1].(int64)
	if field == jsonbField {
		return pgtext.Value(is.text).ElementOfJSONB(n)
	}
	return pgtext.Value(is.text).Element(n)
}

func (m *makings) getText(args []any) (any, error) {
	found, ok, err := m.get(args)
	if err != nil || !ok {
		return nil, err
	}
	s, null, err := found.Text()
	if err != nil || null {
		return nil, err
	}
	return m.cut(s)
}

func (m *makings) jsonType(args []any) (any, error) {
	_, is, err := m.open(args[0])
	return pgtext.Value(is.text).Kind(), err
}

func (m *makings) jsonLength(args []any) (any, error) {
	_, is, err := m.open(args[0])
	if err != nil {
		return nil, err
	}
	if pgtext.Value(is.text).Kind() != "array" {
		return nil, errNoArray
	}
	n, err := pgtext.Value(is.text).Len()
	return int64(n), errors.Join(err, m.count(len(is.text)/16))
}

// keepArray keeps the elements of a list.
func (m *makings) keepArray(args []any) (any, error) {
	elements, _ := args[0].([]any)
	if len(elements) > maxElements {
		return nil, errElements
	}
	typ, _ := args[1].(string)
	bytes := madeOverhead
	for _, e := range elements {
		bytes += madeOverhead
		if s, ok := e.(string); ok {
			bytes += len(s)
		}
	}
	if err := m.count(bytes); err != nil {
		return nil, err
	}
	m.all = append(m.all, made{elements: slices.Clone(elements), typ: strings.TrimSuffix(typ, "[]")})
	return uint64(len(m.all) - 1), nil
}

// elementTexts spells elements so that DuckDB reads them again.
func (m *makings) elementTexts(args []any) (any, error) {
	is, err := m.find(args[0])
	if err != nil {
		return nil, err
	}
	out, bytes := make([]any, len(is.elements)), madeOverhead
	for i, e := range is.elements {
		if e == nil {
			continue
		}
		s, err := m.plainText(e, is.typ)
		if err != nil {
			return nil, err
		}
		out[i], bytes = s, bytes+len(s)+16
	}
	return out, m.count(bytes)
}

// joinArray is array_to_string.
func (m *makings) joinArray(args []any) (any, error) {
	between, ok := args[1].(string)
	if args[0] == nil || !ok {
		return nil, nil
	}
	is, err := m.find(args[0])
	if err != nil {
		return nil, err
	}
	var parts []string
	for _, e := range is.elements {
		s, some := args[2].(string) // in the place of NULL, where it is given
		if e != nil {
			some = true
			if s, err = m.plainText(e, is.typ); err != nil {
				return nil, err
			}
		}
		if some {
			parts = append(parts, s)
		}
	}
	size := len(parts) * len(between)
	for _, s := range parts {
		size += len(s)
	}
	if err := m.count(size); err != nil {
		return nil, err
	}
	return m.cut(strings.Join(parts, between))
}
