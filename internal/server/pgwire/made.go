package pgwire

import (
	"encoding/binary"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

// madeOID is the type of JSON and of arrays, which a query around answers makes and spells.
func madeOID(name string) (uint32, bool) {
	switch name {
	case "json":
		return jsonOID, true
	case "jsonb":
		return pgtype.JSONBOID, true
	}
	of, ok := strings.CutSuffix(name, "[]")
	if !ok {
		return 0, false
	}
	element, ok := typeOIDs[of]
	return oid.ArrayOf(element), ok
}

// jsonbVersion is the first byte of jsonb in the binary format (jsonb_send).
const jsonbVersion = 1

// emptyArray is an array without elements in the binary format (array_send): no dimensions, no
// NULL, and the type of its elements.
func emptyArray(element uint32) []byte {
	return binary.BigEndian.AppendUint32(make([]byte, 8, 12), element)
}

func binaryJSONB(text string) []byte { return append([]byte{jsonbVersion}, text...) }
