package oid

import (
	_ "embed"
	"strconv"
	"strings"
)

type Type struct {
	OID         uint32
	Name        string
	Schema      uint32
	Length      int
	ByValue     bool
	Form        string // b base, d domain, p pseudo, r range, m multirange, c composite
	Category    string
	Elem, Array uint32
	Align       string
	Storage     string
	Base        uint32
	Typmod      int
}

//go:embed pg_type.tsv
var text string

var types, byName = load()

// Rows are the rows of pg_type as PostgreSQL copied them out.
func Rows() [][]string {
	var rows [][]string
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		rows = append(rows, strings.Split(line, "\t"))
	}
	return rows
}

func load() (map[uint32]*Type, map[string]uint32) {
	types, byName := map[uint32]*Type{}, map[string]uint32{}
	for _, row := range Rows() {
		t := &Type{OID: Parse(row[0]), Name: row[1], Schema: Parse(row[2]), ByValue: row[5] == "t", Form: row[6], Category: row[7],
			Elem: Parse(row[13]), Array: Parse(row[14]), Align: row[22], Storage: row[23], Base: Parse(row[25]), Typmod: -1}
		t.Length, _ = strconv.Atoi(row[4])
		if t.Form == "d" {
			t.Typmod, _ = strconv.Atoi(row[26])
		}
		types[t.OID] = t
		if t.Schema == CatalogSchema {
			byName[t.Name] = t.OID
		}
		byName[SchemaName(t.Schema)+"."+t.Name] = t.OID
	}
	return types, byName
}

// Find is a type of PostgreSQL's, or nil.
func Find(t uint32) *Type { return types[t] }

// Named is the type of a name, with its schema or in pg_catalog, or 0.
func Named(name string) uint32 { return byName[name] }

// Base is the type below a domain.
func Base(t uint32) uint32 {
	if d := types[t]; d != nil && d.Form == "d" {
		return d.Base
	}
	return t
}

// Elem is the type of an array's elements, or 0.
func Elem(t uint32) uint32 {
	switch t {
	case Int2Vector:
		return Int2
	case OidVector:
		return Oid
	case RecordArray:
		return Record
	}
	if d := types[t]; d != nil && d.Category == "A" {
		return d.Elem
	}
	return 0
}

// ArrayOf is the type of arrays of a type, or 0.
func ArrayOf(t uint32) uint32 {
	switch t {
	case Unknown:
		return TextArray
	case Record:
		return RecordArray
	}
	if d := types[t]; d != nil {
		return d.Array
	}
	return 0
}

// IsReg says whether a type is an OID that shows as a name.
func IsReg(t uint32) bool {
	switch t {
	case Regproc, Regprocedure, Regoper, Regoperator, Regclass, Regtype, Regconfig, Regdictionary, Regnamespace, Regrole, Regcollation:
		return true
	}
	return false
}

// IsInt says whether a type is one of the three integers.
func IsInt(t uint32) bool { return t == Int2 || t == Int4 || t == Int8 }

// IsString says whether a type is a text in all but name.
func IsString(t uint32) bool {
	return t == Text || t == Name || t == Varchar || t == Bpchar || t == Char
}

// IsVector says whether a type is an array that counts from 0 and has no braces.
func IsVector(t uint32) bool { return t == Int2Vector || t == OidVector }

// Parse reads an OID, and is 0 where it is none.
func Parse(s string) uint32 {
	n, _ := strconv.ParseUint(s, 10, 32)
	return uint32(n)
}

func Format(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
