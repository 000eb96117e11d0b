package pgwire

import (
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// The types that the door itself names.
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

// column is a column of a result.
type column struct {
	name string
	oid  uint32
}

// oidOf is the type of a kind of values.
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
}

// columnOf is a column of an answer.
func columnOf(c api.Column) column {
	if oid, ok := typeOIDs[c.Type]; ok {
		return column{c.Name, oid}
	}
	return column{c.Name, oidOf(c.Kind)}
}

// kindOf is the kind of a type's values.
func kindOf(oid uint32) string {
	if of := elementOf(oid); of != 0 {
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
