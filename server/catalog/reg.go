package catalog

import (
	"strconv"
	"strings"
)

// splitName splits a name such as public."My table" into its parts, as SQL reads them.
func splitName(s string) ([]string, bool) {
	var parts []string
	i := 0
	s = strings.TrimSpace(s)
	for {
		var b strings.Builder
		switch {
		case i < len(s) && s[i] == '"':
			closed := false
			for i++; i < len(s); i++ {
				if s[i] == '"' {
					if i+1 < len(s) && s[i+1] == '"' {
						i++
					} else {
						closed = true
						i++
						break
					}
				}
				b.WriteByte(s[i])
			}
			if !closed {
				return nil, false
			}
		default:
			for i < len(s) && s[i] != '.' && s[i] != '"' {
				b.WriteByte(s[i])
				i++
			}
		}
		text := b.String()
		if text == "" {
			return nil, false
		}
		if !strings.HasSuffix(s[:i], `"`) {
			text = strings.ToLower(strings.TrimSpace(text))
		}
		if parts = append(parts, text); i == len(s) {
			return parts, len(parts) <= 3
		}
		if s[i] != '.' {
			return nil, false
		}
		i++
	}
}

// find returns a relation by name, or nil. pg_catalog comes before public.
func (c *Catalog) find(schema, name string) *relation {
	if schema != "" {
		return c.byName[schema+"."+name]
	}
	for _, s := range c.searchPath(true) {
		if r := c.byName[s.(string)+"."+name]; r != nil {
			return r
		}
	}
	return nil
}

// relationOID is find for indexes too.
func (c *Catalog) relationOID(parts []string) (uint32, bool) {
	schema, name := "", parts[len(parts)-1]
	if len(parts) > 1 {
		schema = parts[len(parts)-2]
	}
	if len(parts) == 3 && parts[0] != c.session.Database {
		return 0, false
	}
	if r := c.find(schema, name); r != nil {
		return r.oid, true
	}
	if schema == "" || schema == "public" {
		for _, k := range c.constraints {
			if k.kind != "f" && k.name == name {
				return k.index, true
			}
		}
	}
	return 0, false
}

// lookupReg reads a name as a type such as regclass does.
func (c *Catalog) lookupReg(s string, t uint32) (any, error) {
	if s == "-" {
		return int64(0), nil
	}
	name := s
	if t == tRegprocedure || t == tRegoperator {
		name, _, _ = strings.Cut(s, "(")
	}
	if t == tRegtype {
		if o, ok := c.typeNamed(s); ok {
			return int64(o), nil
		}
		return nil, fail("42704", "type %s does not exist", strconv.Quote(clip(s)))
	}
	parts, ok := splitName(name)
	if !ok {
		return nil, fail("42602", "invalid name syntax")
	}
	last := parts[len(parts)-1]
	switch t {
	case tRegclass:
		if o, ok := c.relationOID(parts); ok {
			return int64(o), nil
		}
		return nil, fail("42P01", "relation %s does not exist", strconv.Quote(clip(s)))
	case tRegproc, tRegprocedure:
		if o := procOID(last); o != 0 {
			return int64(o), nil
		}
		return nil, fail("42883", "function %s does not exist", strconv.Quote(clip(s)))
	case tRegnamespace:
		if o := namespaceOID(last); o != 0 {
			return int64(o), nil
		}
		return nil, fail("3F000", "schema %s does not exist", strconv.Quote(clip(s)))
	case tRegrole:
		if last == c.session.User {
			return int64(userOID), nil
		}
		if last == c.owner {
			return int64(ownerOID), nil
		}
		if last == bootstrapName {
			return int64(bootstrapOID), nil
		}
		return nil, fail("42704", "role %s does not exist", strconv.Quote(clip(s)))
	case tRegcollation:
		for _, row := range rawRows("pg_collation") {
			if row[1] == last {
				return int64(atoid(row[0])), nil
			}
		}
	}
	return nil, fail("42704", "%s does not exist", strconv.Quote(clip(s)))
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

// aliases are other spellings of types.
var aliases = map[string]uint32{"int": tInt4, "decimal": tNumeric, "dec": tNumeric, "char": tBpchar, "float": tFloat8, "timestamp": tTimestamp, "time": tTime,
	"nchar": tBpchar, "string": 0}

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

// showReg writes an OID as a type such as regclass does.
func (c *Catalog) showReg(o uint32, t uint32) string {
	if o == 0 {
		return "-"
	}
	switch t {
	case tRegclass:
		if r := c.byOID[o]; r != nil {
			if c.visible(r.schema) && (r.schema == "pg_catalog" || c.byName["pg_catalog."+r.name] == nil) {
				return quoteIdent(r.name)
			}
			return quoteIdent(r.schema) + "." + quoteIdent(r.name)
		}
		for _, k := range c.constraints {
			if k.kind != "f" && k.index == o {
				return quoteIdent(k.name)
			}
		}
	case tRegtype:
		if c.typeOf(o) != nil {
			return c.formatType(o, -2)
		}
	case tRegproc, tRegprocedure:
		if name := procName(o); name != "" {
			return name
		}
	case tRegnamespace:
		if o == nsCatalog || o == nsPublic || o == nsInformation {
			return schemaName(o)
		}
	case tRegrole:
		if o == userOID {
			return quoteIdent(c.session.User)
		}
		if o == ownerOID {
			return c.owner
		}
		if o == bootstrapOID {
			return bootstrapName
		}
	case tRegcollation:
		for _, row := range rawRows("pg_collation") {
			if atoid(row[0]) == o {
				return quoteIdent(row[1])
			}
		}
	}
	return itoa(o)
}

func (c *Catalog) visible(schema string) bool {
	for _, s := range c.searchPath(true) {
		if s == schema {
			return true
		}
	}
	return false
}

var procByName, procByOID = map[string]uint32{}, map[uint32]string{}

func init() {
	for _, row := range rawRows("pg_proc") {
		o := atoid(row[0])
		if _, ok := procByName[row[1]]; !ok {
			procByName[row[1]] = o
		}
		procByOID[o] = row[1]
	}
}

func procOID(name string) uint32 { return procByName[name] }
func procName(o uint32) string   { return procByOID[o] }
