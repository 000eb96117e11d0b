package catalog

import (
	"slices"
	"strconv"
	"strings"
)

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
		if k := c.indexByOID(o); k != nil {
			return quoteIdent(k.name)
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
		if name, ok := c.roleName(o); ok {
			return quoteIdent(name)
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

// visible says whether a schema is in the search path.
func (c *Catalog) visible(schema string) bool {
	return slices.Contains(c.searchPath(true), any(schema))
}

// procByName and procByOID are the functions of pg_proc. A name stands for the first of its forms.
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

func procName(o uint32) string { return procByOID[o] }
