package catalog

import (
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/server/catalog/ident"
	"github.com/discreet-dp/discreet/internal/server/catalog/interpret"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// find returns a relation by name, or nil. pg_catalog comes before public.
func (c *Catalog) find(schema, name string) *relation {
	if schema != "" {
		return c.byName[schema+"."+name]
	}
	for _, s := range c.searchPath(true) {
		if r := c.byName[s+"."+name]; r != nil {
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

// ParseName reads a name as a type such as regclass does.
func (c *Catalog) ParseName(s string, t uint32) (uint32, error) {
	if s == "-" {
		return 0, nil
	}
	missing := func(code, what string) error {
		return interpret.Fail(code, "%s%s does not exist", what, strconv.Quote(clip(s)))
	}
	if t == oid.Regtype {
		if o := c.rowTypes.Parse(s); o != 0 {
			return o, nil
		}
		return 0, missing("42704", "type ")
	}
	name := s
	if t == oid.Regprocedure || t == oid.Regoperator {
		name, _, _ = strings.Cut(s, "(")
	}
	parts, ok := ident.Split(name)
	if !ok {
		return 0, interpret.Fail("42602", "invalid name syntax")
	}
	last := parts[len(parts)-1]
	o, code, what := uint32(0), "42704", ""
	switch t {
	case oid.Regclass:
		code, what = "42P01", "relation "
		o, _ = c.relationOID(parts)
	case oid.Regproc, oid.Regprocedure:
		code, what = "42883", "function "
		o = procOIDs[last]
	case oid.Regnamespace:
		code, what = "3F000", "schema "
		o = oid.Schema(last)
	case oid.Regrole:
		what = "role "
		o = c.roleOID(last)
	case oid.Regcollation:
		for _, row := range rawRows("pg_collation") {
			if row[1] == last {
				return oid.Parse(row[0]), nil
			}
		}
	}
	if o == 0 {
		return 0, missing(code, what)
	}
	return o, nil
}

// FormatName writes an OID as a type such as regclass does.
func (c *Catalog) FormatName(o uint32, t uint32) string {
	if o == 0 {
		return "-"
	}
	switch t {
	case oid.Regclass:
		if r := c.byOID[o]; r != nil {
			if c.visible(r.schema) && (r.schema == "pg_catalog" || c.byName["pg_catalog."+r.name] == nil) {
				return ident.Quote(r.name)
			}
			return ident.Quote(r.schema) + "." + ident.Quote(r.name)
		}
		if k := c.indexByOID(o); k != nil {
			return ident.Quote(k.name)
		}
	case oid.Regtype:
		if c.rowTypes.Find(o) != nil {
			return c.rowTypes.Format(o, -2)
		}
	case oid.Regproc, oid.Regprocedure:
		if name := procNames[o]; name != "" {
			return name
		}
	case oid.Regnamespace:
		if o == oid.CatalogSchema || o == oid.PublicSchema || o == oid.InformationSchema {
			return oid.SchemaName(o)
		}
	case oid.Regrole:
		if name, ok := c.roleName(o); ok {
			return ident.Quote(name)
		}
	case oid.Regcollation:
		for _, row := range rawRows("pg_collation") {
			if oid.Parse(row[0]) == o {
				return ident.Quote(row[1])
			}
		}
	}
	return oid.Format(o)
}

// visible says whether a schema is in the search path.
func (c *Catalog) visible(schema string) bool { return slices.Contains(c.searchPath(true), schema) }

// procOIDs and procNames are the functions of pg_proc. A name stands for the first of its forms.
var procOIDs, procNames = func() (map[string]uint32, map[uint32]string) {
	oids, names := map[string]uint32{}, map[uint32]string{}
	for _, row := range rawRows("pg_proc") {
		o := oid.Parse(row[0])
		if oids[row[1]] == 0 {
			oids[row[1]] = o
		}
		names[o] = row[1]
	}
	return oids, names
}()

// clip shortens a text for a message.
func clip(s string) string { return ident.Truncate(s, 100) }
