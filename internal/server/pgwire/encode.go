package pgwire

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"
)

// typeMap is made for those who need it: it is large.
func (s *session) typeMap() *pgtype.Map {
	if s.types == nil {
		s.types = pgtype.NewMap()
	}
	return s.types
}

// formatOf picks the format of a column or of a parameter: there is one code for each, one for all,
// or none for text.
func formatOf(codes []int16, i int) int16 {
	switch {
	case len(codes) == 1:
		return codes[0]
	case i < len(codes):
		return codes[i]
	}
	return pgtype.TextFormatCode
}

// describing is the row description of columns.
func describing(columns []column, codes []int16) *pgproto3.RowDescription {
	out := &pgproto3.RowDescription{Fields: make([]pgproto3.FieldDescription, len(columns))}
	for i, c := range columns {
		out.Fields[i] = pgproto3.FieldDescription{Name: []byte(printable(c.name)), DataTypeOID: c.oid, DataTypeSize: sizeOf(c.oid),
			TypeModifier: -1, Format: formatOf(codes, i)}
	}
	return out
}

// encode writes a row.
func (s *session) encode(columns []column, codes []int16, row []any) (*pgproto3.DataRow, error) {
	if len(row) != len(columns) {
		return nil, internal()
	}
	out := &pgproto3.DataRow{Values: make([][]byte, len(row))}
	for i, v := range row {
		text, null := textOf(v, columns[i].oid)
		if null {
			continue
		}
		if formatOf(codes, i) == pgtype.TextFormatCode {
			out.Values[i] = []byte(text)
			continue
		}
		var err error
		if out.Values[i], err = binaryOf(s.typeMap(), columns[i].oid, text); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// textOf writes a value as PostgreSQL does.
func textOf(v any, oid uint32) (text string, null bool) {
	switch v := v.(type) {
	case nil:
		return "", true
	case string:
		return printable(v), false
	case json.Number:
		return v.String(), false
	case bool:
		if oid == boolOID {
			return map[bool]string{true: "t", false: "f"}[v], false
		}
		return strconv.FormatBool(v), false
	case int64:
		return strconv.FormatInt(v, 10), false
	case int:
		return strconv.Itoa(v), false
	case int32:
		return strconv.FormatInt(int64(v), 10), false
	case uint32:
		return strconv.FormatUint(uint64(v), 10), false
	case float64:
		switch {
		case math.IsNaN(v):
			return "NaN", false
		case math.IsInf(v, 1):
			return "Infinity", false
		case math.IsInf(v, -1):
			return "-Infinity", false
		}
		return strconv.FormatFloat(v, 'g', -1, 64), false
	}
	r := reflect.ValueOf(v)
	if r.Kind() != reflect.Slice || r.IsNil() {
		return "", true
	}
	texts := make([]*string, r.Len())
	var element uint32
	if oid == pgtype.BoolArrayOID {
		element = boolOID
	}
	for i := range texts {
		if t, null := textOf(r.Index(i).Interface(), element); !null {
			texts[i] = &t
		}
	}
	if oid == int2VectorOID || oid == oidVectorOID { // int2vector and oidvector have no braces
		var words []string
		for _, t := range texts {
			if t != nil {
				words = append(words, *t)
			}
		}
		return strings.Join(words, " "), false
	}
	return arrayOf(texts), false
}

const (
	int2VectorOID = 22
	oidVectorOID  = 30
)

// arrayOf writes an array.
func arrayOf(texts []*string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, t := range texts {
		if i > 0 {
			b.WriteByte(',')
		}
		switch {
		case t == nil:
			b.WriteString("NULL")
		case *t == "" || strings.EqualFold(*t, "null") || strings.ContainsAny(*t, "{},\"\\ \t\n\r\v\f"):
			b.WriteByte('"')
			b.WriteString(strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(*t))
			b.WriteByte('"')
		default:
			b.WriteString(*t)
		}
	}
	b.WriteByte('}')
	return b.String()
}

// binaryOf turns the text of a value into its binary form.
func binaryOf(types *pgtype.Map, oid uint32, text string) ([]byte, error) {
	switch oid {
	case textOID, varcharOID, bpcharOID, nameOID, unknownOID, jsonOID:
		return []byte(text), nil
	}
	none := failure(notSupported, "a column has a type without a binary form here").hinting("ask for the text format")
	t, ok := types.TypeForOID(oid)
	if !ok {
		return nil, none
	}
	value, err := t.Codec.DecodeValue(types, oid, pgtype.TextFormatCode, []byte(text))
	if err != nil {
		return nil, failure(outOfRange, "a value does not fit into its type's binary form").hinting("ask for the text format")
	}
	out, err := types.Encode(oid, pgtype.BinaryFormatCode, value, make([]byte, 0, 16))
	if err != nil || out == nil {
		return nil, none
	}
	return out, nil
}
