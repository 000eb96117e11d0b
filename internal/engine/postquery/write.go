package postquery

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/pgtext"
)

var (
	errMade     = stopError("makes more than %d MB of JSON and arrays; make them of fewer rows or columns", MaxMade>>20)
	errElements = stopError("makes an array or JSON of more than %d values; make it of fewer rows", maxElements)
	errKey      = error(&api.AroundError{Text: "the outer query makes a JSON object with a key that is NULL; leave such rows out"})
	errKeyKind  = error(&api.AroundError{Text: "the outer query makes a JSON object with a key that is not a text; cast it"})
	errNoArray  = error(&api.AroundError{Text: "the outer query counts the elements of JSON that is not an array"})
	errNoValue  = error(&api.AroundError{Text: "the outer query puts a value into JSON that has no type there; cast it to text"})
)

// isText reports whether an error is about a text of JSON.
func isText(err error) bool {
	for _, is := range []error{pgtext.ErrJSON, pgtext.ErrNumber, pgtext.ErrEscape, pgtext.ErrNested, pgtext.ErrTooLong} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}

// plainText writes a value as PostgreSQL writes its type. typ is DuckDB's name of the type, which
// tells dates from timestamps.
func (m *makings) plainText(v any, typ string) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case bool:
		if v {
			return "t", nil
		}
		return "f", nil
	case int8, int16, int32, int64, uint8, uint16, uint32, uint64:
		return fmt.Sprint(v), nil
	case *big.Int:
		return v.String(), nil
	case driver.Decimal:
		return formatSteps(v.Value, int(v.Scale)), nil
	case float32:
		return pgtext.Float(float64(v), 32), nil
	case float64:
		return pgtext.Float(v, 64), nil
	case time.Time:
		if v.Year() > 9999 || v.Year() < 1 {
			return "", errNoValue
		}
		if typ == "DATE" {
			return v.Format(dateLayout), nil
		}
		return v.Format(timestampLayout), nil
	case map[string]any:
		return m.text(v)
	}
	return "", errNoValue
}

// appendJSON writes a value as to_json does.
func (m *makings) appendJSON(out []byte, v any, typ string) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(out, "null"...), nil
	case bool:
		return strconv.AppendBool(out, v), nil
	case string:
		return pgtext.AppendString(out, v), nil
	case float32, float64:
		s, err := m.plainText(v, typ)
		if err == nil && (strings.HasSuffix(s, "y") || s == "NaN") {
			return append(out, "null"...), nil // as where it is a column
		}
		return append(out, s...), err
	case time.Time:
		s, err := m.plainText(v, typ)
		return append(append(append(out, '"'), strings.Replace(s, " ", "T", 1)...), '"'), err
	case map[string]any:
		field, is, err := m.open(v)
		switch {
		case err != nil:
			return nil, err
		case len(out)+len(is.text) > MaxMade: // before it is copied
			return nil, errMade
		case field == textField:
			return pgtext.AppendString(out, is.text), nil
		case field == arrayField:
			return m.appendElements(out, is, ",")
		}
		return append(out, is.text...), nil
	}
	s, err := m.plainText(v, typ)
	return append(out, s...), err
}

func (m *makings) appendElements(out []byte, is made, between string) ([]byte, error) {
	out = append(out, '[')
	for i, e := range is.elements {
		if i > 0 {
			out = append(out, between...)
		}
		var err error
		if out, err = m.appendJSON(out, e, is.typ); err != nil {
			return nil, err
		}
		if len(out) > MaxMade {
			return nil, errMade
		}
	}
	return append(out, ']'), nil
}

func typeArg(args []any, i int) string {
	s, _ := args[i].(string)
	return s
}

// writeValue is to_json: value, type.
func (m *makings) writeValue(args []any) ([]byte, error) {
	if args[0] == nil {
		return nil, nil
	}
	return m.appendJSON(nil, args[0], typeArg(args, 1))
}

// writeRow is row_to_json: name, value, type, and so on.
func (m *makings) writeRow(args []any) ([]byte, error) {
	out := []byte{'{'}
	for i := 0; i+2 < len(args); i += 3 {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(pgtext.AppendString(out, typeArg(args, i)), ':')
		var err error
		if out, err = m.appendJSON(out, args[i+1], typeArg(args, i+2)); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

// key writes the key of an object.
func (m *makings) key(out []byte, v any, typ string) ([]byte, error) {
	if v == nil {
		return nil, errKey
	}
	if s, ok := v.(map[string]any); ok {
		if _, long := s[textField]; !long {
			return nil, errKeyKind
		}
	}
	if b, ok := v.(bool); ok {
		return pgtext.AppendString(out, strconv.FormatBool(b)), nil
	}
	s, err := m.plainText(v, typ)
	if _, ok := v.(time.Time); ok {
		s = strings.Replace(s, " ", "T", 1)
	}
	return pgtext.AppendString(out, s), err
}

// member writes a key and a value, each followed by its type.
func (m *makings) member(out []byte, args []any) ([]byte, error) {
	out, err := m.key(out, args[0], typeArg(args, 1))
	if err != nil {
		return nil, err
	}
	return m.appendJSON(append(out, " : "...), args[2], typeArg(args, 3))
}

// writeObject is json_build_object: key, type, value, type, and so on.
func (m *makings) writeObject(args []any) ([]byte, error) {
	out := []byte{'{'}
	for i := 0; i+3 < len(args); i += 4 {
		if i > 0 {
			out = append(out, ", "...)
		}
		var err error
		if out, err = m.member(out, args[i:]); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

// writeArray is json_build_array: value, type, and so on.
func (m *makings) writeArray(args []any) ([]byte, error) {
	out := []byte{'['}
	for i := 0; i+1 < len(args); i += 2 {
		if i > 0 {
			out = append(out, ", "...)
		}
		var err error
		if out, err = m.appendJSON(out, args[i], typeArg(args, i+1)); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

// writeList is json_agg: a list, its type, and what stands between two elements.
func (m *makings) writeList(args []any) ([]byte, error) {
	list, ok := args[0].([]any)
	switch {
	case !ok:
		return nil, nil
	case len(list) > maxElements:
		return nil, errElements
	}
	between := typeArg(args, 2)
	out, typ := []byte{'['}, strings.TrimSuffix(typeArg(args, 1), "[]")
	for i, e := range list {
		switch {
		case i > 0 && e == nil:
			out = append(out, ", "...)
		case i > 0:
			out = append(out, between...)
		}
		var err error
		if out, err = m.appendJSON(out, e, typ); err != nil {
			return nil, err
		}
		if len(out) > MaxMade {
			return nil, errMade
		}
	}
	return append(out, ']'), nil
}

// writeMembers is json_object_agg: a list of what member wrote.
func (m *makings) writeMembers(args []any) ([]byte, error) {
	list, ok := args[0].([]any)
	switch {
	case !ok:
		return nil, nil
	case len(list) > maxElements:
		return nil, errElements
	}
	out := []byte("{ ")
	for i, e := range list {
		if i > 0 {
			out = append(out, ", "...)
		}
		_, is, err := m.open(e)
		if err != nil {
			return nil, err
		}
		if out = append(out, is.text...); len(out) > MaxMade {
			return nil, errMade
		}
	}
	return append(out, " }"...), nil
}
