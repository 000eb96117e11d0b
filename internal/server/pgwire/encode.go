package pgwire

import (
	"encoding/json"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
	"github.com/discreet-dp/discreet/internal/pgtext"
)

const (
	boolOID        = pgtype.BoolOID
	int8OID        = pgtype.Int8OID
	int2OID        = pgtype.Int2OID
	int4OID        = pgtype.Int4OID
	oidOID         = pgtype.OIDOID
	textOID        = pgtype.TextOID
	jsonOID        = pgtype.JSONOID
	float4OID      = pgtype.Float4OID
	float8OID      = pgtype.Float8OID
	unknownOID     = pgtype.UnknownOID
	varcharOID     = pgtype.VarcharOID
	bpcharOID      = pgtype.BPCharOID
	nameOID        = pgtype.NameOID
	dateOID        = pgtype.DateOID
	timestampOID   = pgtype.TimestampOID
	timestamptzOID = pgtype.TimestamptzOID
	numericOID     = pgtype.NumericOID
)

type column struct {
	name     string
	oid      uint32
	modifier int32 // of its type; 0 where it has none
}

func oidOf(kind string) uint32 {
	if of, ok := strings.CutSuffix(kind, "[]"); ok {
		return oid.ArrayOf(oidOf(of))
	}
	switch kind {
	case "integer":
		return int8OID
	case "decimal":
		return numericOID
	case "real":
		return float8OID
	case "boolean":
		return boolOID
	case "date":
		return dateOID
	case "timestamp":
		return timestampOID
	}
	return textOID
}

// typeOIDs are the types of columns by PostgreSQL's names of them.
var typeOIDs = map[string]uint32{
	"int2": int2OID, "int4": int4OID, "int8": int8OID, "float4": float4OID, "float8": float8OID, "numeric": numericOID,
	"text": textOID, "varchar": varcharOID, "bpchar": bpcharOID, "bool": boolOID, "date": dateOID, "timestamp": timestampOID,
	"timestamptz": timestamptzOID,
}

func columnOf(c api.Column) column {
	if oid, ok := madeOID(c.Type); ok {
		return column{name: c.Name, oid: oid}
	}
	out := column{name: c.Name, oid: oidOf(c.Kind), modifier: c.Modifier}
	if oid, ok := typeOIDs[c.Type]; ok {
		out.oid = oid
	}
	return out
}

func kindOf(oid uint32) string {
	if of := elementType(oid); of != 0 {
		return kindOf(of) + "[]"
	}
	switch oid {
	case int2OID, int4OID, int8OID, oidOID:
		return "integer"
	case float4OID, float8OID, numericOID:
		return "decimal"
	case boolOID:
		return "boolean"
	case dateOID:
		return "date"
	case timestampOID, timestamptzOID:
		return "timestamp"
	}
	return "text"
}

// sizeOf is how many bytes a value of a type has, or -1.
func sizeOf(oid uint32) int16 {
	switch oid {
	case boolOID, pgtype.QCharOID:
		return 1
	case int2OID:
		return 2
	case int4OID, oidOID, float4OID, dateOID, pgtype.XIDOID, pgtype.CIDOID:
		return 4
	case int8OID, float8OID, timestampOID, timestamptzOID:
		return 8
	case nameOID:
		return 64
	}
	return -1
}

// formatCode picks the format of a column or of a parameter: there is one code for each, one for
// all, or none for text.
func formatCode(codes []int16, i int) int16 {
	switch {
	case len(codes) == 1:
		return codes[0]
	case i < len(codes):
		return codes[i]
	}
	return pgtype.TextFormatCode
}

// text writes a value of the column as PostgreSQL does.
func (c column) text(v any) (text string, null bool) {
	switch v := v.(type) {
	case json.Number:
		return c.number(v.String()), false
	case string:
		if len(v) == len("2006-01-02") && (c.oid == timestampOID || c.oid == timestamptzOID) { // a day is its midnight
			v += " 00:00:00"
		}
		if c.oid == timestamptzOID && !strings.HasSuffix(v, "+00") {
			v += "+00" // the time zone is UTC, which the catalogue writes itself
		}
		return printable(v), false
	}
	return formatText(v, c.oid)
}

// number writes a number as PostgreSQL writes one of the column's type.
func (c column) number(text string) string {
	switch c.oid {
	case float4OID, float8OID:
		bits := map[uint32]int{float4OID: 32, float8OID: 64}[c.oid]
		if f, err := strconv.ParseFloat(text, bits); err == nil {
			return formatFloat(f, bits)
		}
	case numericOID:
		if !strings.ContainsAny(text, "eE") {
			return text
		}
		if x, ok := new(big.Rat).SetString(text); ok { // a numeric has no exponent
			digits, _ := x.FloatPrec()
			return x.FloatString(digits)
		}
	}
	return text
}

// formatFloat writes a floating-point number: with an exponent where it would have more than 15
// digits before the point, or 6 of a float4, or more than 4 zeros after it.
func formatFloat(f float64, bits int) string {
	switch a, most := math.Abs(f), map[int]float64{32: 1e6, 64: 1e15}[bits]; {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case a != 0 && (a < 1e-4 || a >= most):
		return strconv.FormatFloat(f, 'e', -1, bits)
	}
	return strconv.FormatFloat(f, 'f', -1, bits)
}

// formatText writes a value as PostgreSQL does.
func formatText(v any, oid uint32) (text string, null bool) {
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
		if oid == float4OID {
			return formatFloat(v, 32), false
		}
		return formatFloat(v, 64), false
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
		if t, null := formatText(r.Index(i).Interface(), element); !null {
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
	return pgtext.Array(texts), false
}

const (
	int2VectorOID = 22
	oidVectorOID  = 30
)

// formatBinary turns the text of a value into its binary form.
func formatBinary(types *pgtype.Map, typ uint32, text string) ([]byte, error) {
	switch typ {
	case textOID, varcharOID, bpcharOID, nameOID, unknownOID, jsonOID:
		return []byte(text), nil
	case pgtype.JSONBOID:
		return binaryJSONB(text), nil
	}
	if element := oid.Elem(typ); element != 0 && text == "{}" {
		return emptyArray(element), nil
	}
	none := failure(notSupported, "a column has a type that has no binary form here").withHint("ask for the text format")
	t, ok := types.TypeForOID(typ)
	if !ok {
		return nil, none
	}
	value, err := t.Codec.DecodeValue(types, typ, pgtype.TextFormatCode, []byte(text))
	if err != nil {
		return nil, failure(outOfRange, "a value does not fit the binary form of its type").withHint("ask for the text format")
	}
	out, err := types.Encode(typ, pgtype.BinaryFormatCode, value, make([]byte, 0, 16))
	if err != nil || out == nil {
		return nil, none
	}
	return out, nil
}
