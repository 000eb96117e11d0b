package catalog

import (
	_ "embed"
	"strconv"
	"strings"
)

// OIDs of types, as in PostgreSQL's pg_type.
const (
	tBool          = 16
	tChar          = 18 // "char", one byte
	tName          = 19
	tInt8          = 20
	tInt2          = 21
	tInt2Vector    = 22
	tInt4          = 23
	tRegproc       = 24
	tText          = 25
	tOid           = 26
	tXid           = 28
	tCid           = 29
	tOidVector     = 30
	tJSON          = 114
	tNodeTree      = 194
	tFloat4        = 700
	tFloat8        = 701
	tUnknown       = 705
	tCharArray     = 1002
	tNameArray     = 1003
	tInt2Array     = 1005
	tTextArray     = 1009
	tOidArray      = 1028
	tBpchar        = 1042
	tVarchar       = 1043
	tDate          = 1082
	tTime          = 1083
	tTimestamp     = 1114
	tTimestamptz   = 1184
	tInterval      = 1186
	tNumeric       = 1700
	tRegprocedure  = 2202
	tRegoper       = 2203
	tRegoperator   = 2204
	tRegclass      = 2205
	tRegtype       = 2206
	tRecord        = 2249
	tRecordArray   = 2287
	tAnyArray      = 2277
	tJSONB         = 3802
	tRegconfig     = 3734
	tRegdictionary = 3769
	tRegnamespace  = 4089
	tRegrole       = 4096
	tRegcollation  = 4191
	tXid8          = 5069
)

// typ is a row of pg_type that the interpreter looks at.
type typ struct {
	oid         uint32
	name        string
	namespace   uint32
	length      int
	kind        string // b, d, p, r, m, c
	category    string
	elem, array uint32
	base        uint32
	typmod      int
}

//go:embed data/rows.tsv
var rowsText string

//go:embed data/relations.tsv
var relationsText string

var types, typeByName = loadTypes()

func loadTypes() (map[uint32]*typ, map[string]uint32) {
	types, typeByName := map[uint32]*typ{}, map[string]uint32{}
	for _, row := range rawRows("pg_type") {
		t := &typ{oid: atoid(row[0]), name: row[1], namespace: atoid(row[2]), kind: row[6], category: row[7], elem: atoid(row[13]), array: atoid(row[14])}
		t.length, _ = strconv.Atoi(row[4])
		t.base, t.typmod = atoid(row[25]), -1
		if t.kind == "d" {
			t.typmod, _ = strconv.Atoi(row[26])
		}
		types[t.oid] = t
		if t.namespace == nsCatalog {
			typeByName[t.name] = t.oid
		}
		typeByName[schemaName(t.namespace)+"."+t.name] = t.oid
	}
	return types, typeByName
}

// rawRows returns the rows of a table as PostgreSQL copied them out.
func rawRows(table string) [][]string {
	_, rest, ok := strings.Cut(rowsText, "# "+table+"\n")
	if !ok {
		return nil
	}
	var rows [][]string
	for line := range strings.SplitSeq(rest, "\n") {
		if line == "" || strings.HasPrefix(line, "# ") {
			break
		}
		rows = append(rows, strings.Split(line, "\t"))
	}
	return rows
}

// base returns the type below a domain.
func base(t uint32) uint32 {
	if d := types[t]; d != nil && d.kind == "d" {
		return d.base
	}
	return t
}

// elem returns the type of an array's elements, or 0.
func elem(t uint32) uint32 {
	switch t {
	case tInt2Vector:
		return tInt2
	case tOidVector:
		return tOid
	case tRecordArray:
		return tRecord
	}
	if d := types[t]; d != nil && d.category == "A" {
		return d.elem
	}
	return 0
}

func arrayOf(t uint32) uint32 {
	switch t {
	case tUnknown:
		return tTextArray
	case tRecord:
		return tRecordArray
	}
	if d := types[t]; d != nil {
		return d.array
	}
	return 0
}

// class says how values of a type are kept: n int64, f float64, s string, b bool, t time.Time, a []any, r *record.
func class(t uint32) byte {
	switch t {
	case tBool:
		return 'b'
	case tInt2, tInt4, tInt8, tOid, tXid, tCid, tXid8, tRegproc, tRegprocedure, tRegoper, tRegoperator, tRegclass, tRegtype, tRegconfig, tRegdictionary, tRegnamespace, tRegrole, tRegcollation:
		return 'n'
	case tFloat4, tFloat8, tNumeric:
		return 'f'
	case tTimestamp, tTimestamptz, tDate:
		return 't'
	case tRecord:
		return 'r'
	case tInt2Vector, tOidVector:
		return 'a'
	}
	if d := types[t]; d != nil {
		switch {
		case d.kind == "d":
			return class(d.base)
		case d.category == "A":
			return 'a'
		case d.kind == "c":
			return 'r'
		}
	}
	return 's'
}

// isReg says whether a type is an OID that shows as a name.
func isReg(t uint32) bool {
	switch t {
	case tRegproc, tRegprocedure, tRegoper, tRegoperator, tRegclass, tRegtype, tRegconfig, tRegdictionary, tRegnamespace, tRegrole, tRegcollation:
		return true
	}
	return false
}

func isInt(t uint32) bool { return t == tInt2 || t == tInt4 || t == tInt8 }

func isString(t uint32) bool {
	return t == tText || t == tName || t == tVarchar || t == tBpchar || t == tChar
}
