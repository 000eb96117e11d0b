package oid

import (
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
)

// sqlNames are the names that the SQL standard has for types.
var sqlNames = map[uint32]string{
	Bool: "boolean", Char: `"char"`, Int2: "smallint", Int4: "integer", Int8: "bigint", Float4: "real", Float8: "double precision",
	Numeric: "numeric", Varchar: "character varying", Bpchar: "character", Time: "time without time zone", Timetz: "time with time zone",
	Timestamp: "timestamp without time zone", Timestamptz: "timestamp with time zone", Interval: "interval", Bit: "bit",
	Varbit: "bit varying",
}

var aliases = map[string]uint32{"int": Int4, "decimal": Numeric, "dec": Numeric, "char": Bpchar, "float": Float8, "timestamp": Timestamp,
	"time":  Time,
	"nchar": Bpchar}

// Types are the types of a database: PostgreSQL's, and these, of the rows of its tables.
type Types []*Type

// Find is a type by its OID, or nil.
func (own Types) Find(t uint32) *Type {
	if d := types[t]; d != nil {
		return d
	}
	for _, d := range own {
		if d.OID == t {
			return d
		}
	}
	return nil
}

// Format is format_type: a type as SQL writes it.
func (own Types) Format(t uint32, typmod int64) string {
	if t == 0 {
		return "-"
	}
	d := own.Find(t)
	if d == nil {
		return "???"
	}
	if d.Category == "A" && d.Elem != 0 && d.Name[0] == '_' {
		return own.Format(d.Elem, typmod) + "[]"
	}
	name, ok := sqlNames[t]
	if !ok {
		name = datum.Quote(d.Name)
		if d.Schema == InformationSchema {
			name = "information_schema." + name
		}
	}
	switch {
	case typmod >= 0:
		return modified(name, t, typmod)
	case t == Bpchar && typmod == -1:
		return "bpchar"
	}
	return name
}

// modified is the name of a type with its modifier.
func modified(name string, t uint32, typmod int64) string {
	mod := func(n int64) string { return strconv.FormatInt(n, 10) }
	switch t {
	case Varchar, Bpchar:
		if typmod >= 4 {
			return name + "(" + mod(typmod-4) + ")"
		}
	case Numeric:
		if typmod >= 4 {
			return name + "(" + mod((typmod-4)>>16&0xffff) + "," + mod((typmod-4)&0x7ff) + ")"
		}
	case Timestamp, Timestamptz, Time, Timetz:
		first, rest, _ := strings.Cut(name, " ")
		return first + "(" + mod(typmod) + ") " + rest
	case Bit, Varbit:
		return name + "(" + mod(typmod) + ")"
	}
	return name
}

// Parse finds a type as it is written in SQL, or 0.
func (own Types) Parse(s string) uint32 {
	s = strings.TrimSpace(s)
	array := false
	for strings.HasSuffix(s, "[]") {
		s, array = strings.TrimSpace(strings.TrimSuffix(s, "[]")), true
	}
	name := s
	if i := strings.IndexByte(name, '('); i >= 0 {
		j := strings.IndexByte(name, ')')
		if j < i {
			return 0
		}
		name = strings.TrimSpace(name[:i]) + name[j+1:]
	}
	t := spelled(strings.ToLower(name))
	if t == 0 {
		parts, ok := datum.Split(name)
		if !ok {
			return 0
		}
		t = own.Named(parts)
	}
	if d := own.Find(t); array && d != nil {
		return d.Array
	}
	return t
}

// spelled finds a type by a name that the SQL standard has for it, or 0.
func spelled(name string) uint32 {
	for t, n := range sqlNames {
		if n == name {
			return t
		}
	}
	return aliases[name]
}

// Named finds a type by its name and schema, or 0.
func (own Types) Named(parts []string) uint32 {
	name, schema := parts[len(parts)-1], ""
	if len(parts) > 1 {
		schema = parts[len(parts)-2]
	}
	if schema != "" && schema != "public" {
		return byName[schema+"."+name]
	}
	if t := byName[name]; t != 0 && schema == "" {
		return t
	}
	for _, d := range own {
		if d.Name == name {
			return d.OID
		}
	}
	return 0
}
