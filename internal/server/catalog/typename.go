package catalog

import (
	"strconv"
	"strings"
)

// sqlNames are the names that the SQL standard has for types.
var sqlNames = map[uint32]string{
	tBool: "boolean", tChar: `"char"`, tInt2: "smallint", tInt4: "integer", tInt8: "bigint", tFloat4: "real", tFloat8: "double precision",
	tNumeric: "numeric", tVarchar: "character varying", tBpchar: "character", tTime: "time without time zone", 1266: "time with time zone",
	tTimestamp: "timestamp without time zone", tTimestamptz: "timestamp with time zone", tInterval: "interval", 1560: "bit", 1562: "bit varying",
}

// aliases are other spellings of types.
var aliases = map[string]uint32{"int": tInt4, "decimal": tNumeric, "dec": tNumeric, "char": tBpchar, "float": tFloat8, "timestamp": tTimestamp, "time": tTime,
	"nchar": tBpchar}

// formatType is format_type: a type as SQL writes it.
func (c *Catalog) formatType(t uint32, typmod int64) string {
	if t == 0 {
		return "-"
	}
	d := c.typeOf(t)
	if d == nil {
		return "???"
	}
	if d.category == "A" && d.elem != 0 && d.name[0] == '_' {
		return c.formatType(d.elem, typmod) + "[]"
	}
	name, ok := sqlNames[t]
	if !ok {
		name = quoteIdent(d.name)
		if d.namespace == nsInformation {
			name = "information_schema." + name
		}
	}
	if typmod >= 0 {
		switch t {
		case tVarchar, tBpchar:
			if typmod >= 4 {
				name += "(" + strconv.FormatInt(typmod-4, 10) + ")"
			}
		case tNumeric:
			if typmod >= 4 {
				name += "(" + strconv.FormatInt((typmod-4)>>16&0xffff, 10) + "," + strconv.FormatInt((typmod-4)&0x7ff, 10) + ")"
			}
		case tTimestamp, tTimestamptz, tTime, 1266:
			first, rest, _ := strings.Cut(name, " ")
			name = first + "(" + strconv.FormatInt(typmod, 10) + ") " + rest
		case 1560, 1562:
			name += "(" + strconv.FormatInt(typmod, 10) + ")"
		}
	} else if t == tBpchar && typmod == -1 {
		name = "bpchar"
	}
	return name
}

// typeNamed finds a type as it is written in SQL.
func (c *Catalog) typeNamed(s string) (uint32, bool) {
	s = strings.TrimSpace(s)
	array := false
	for strings.HasSuffix(s, "[]") {
		s, array = strings.TrimSpace(strings.TrimSuffix(s, "[]")), true
	}
	name := s
	if i := strings.IndexByte(name, '('); i >= 0 {
		j := strings.IndexByte(name, ')')
		if j < i {
			return 0, false
		}
		name = strings.TrimSpace(name[:i]) + name[j+1:]
	}
	o := uint32(0)
	lower := strings.ToLower(name)
	for t, n := range sqlNames {
		if n == lower {
			o = t
		}
	}
	if o == 0 {
		o = aliases[lower]
	}
	if o == 0 {
		parts, ok := splitName(name)
		if !ok {
			return 0, false
		}
		o = c.typeByParts(parts)
	}
	if array && o != 0 {
		if d := c.typeOf(o); d != nil {
			o = d.array
		}
	}
	return o, o != 0
}

// typeByParts finds a type by its name and schema, or 0.
func (c *Catalog) typeByParts(parts []string) uint32 {
	name := parts[len(parts)-1]
	if len(parts) > 1 {
		schema := parts[len(parts)-2]
		if schema == "public" {
			return c.rowTypeNamed(name)
		}
		return typeByName[schema+"."+name]
	}
	if o := typeByName[name]; o != 0 {
		return o
	}
	return c.rowTypeNamed(name)
}

// rowTypeNamed finds the type of the rows of a table, or of their arrays, or 0.
func (c *Catalog) rowTypeNamed(name string) uint32 {
	for _, r := range c.user {
		switch name {
		case r.name:
			return r.rowType
		case c.rowTypes[r.arrType].name:
			return r.arrType
		}
	}
	return 0
}

// typeOf is a type by its OID, or nil.
func (c *Catalog) typeOf(t uint32) *typ {
	if d := types[t]; d != nil {
		return d
	}
	return c.rowTypes[t]
}
