package pgcatalog

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/interpret"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

// database is what queries are asked of: the relations of a dataset, for one session.
type database struct {
	names    []string // of the databases that there are for the user
	session  Session
	start    time.Time
	schema   *schema
	settings settings
	roles    roles
	locks    locks
}

func newDatabase(names []string, tables *schema, s Session) *database {
	db := &database{names: names, session: s, start: time.Now().UTC().Truncate(time.Microsecond), schema: tables,
		locks: locks{}, settings: settings{own: s.Setting, names: s.Names}, roles: roles{user: s.User, owner: ownerName(s.User)}}
	for _, r := range tables.relations {
		r.db = db
	}
	db.describeViews()
	return db
}

func (db *database) prepare(ctx context.Context, sql string, known []uint32, l interpret.Limits) (*interpret.Statement, error) {
	tree, err := interpret.Parse(sql)
	if err != nil {
		return nil, err
	}
	return library.Prepare(ctx, db, tree, known, l)
}

func (db *database) Name() string { return db.session.Database }

// Types are those of the rows of the policy's tables.
func (db *database) Types() oid.Types { return db.schema.rowTypes }

func (db *database) Relation(schema, name string) interpret.Relation {
	if r := db.find(schema, name); r != nil {
		return r
	}
	return nil
}

func (db *database) databaseOID(name string) uint32 {
	if i := slices.Index(db.names, name); i >= 0 {
		return firstDB + uint32(i)
	}
	return 0
}

// find returns a relation by name, or nil. pg_catalog comes before public.
func (db *database) find(schema, name string) *relation {
	if schema != "" {
		return db.schema.byName[schema+"."+name]
	}
	for _, s := range db.settings.searchPath(true) {
		if r := db.schema.byName[s+"."+name]; r != nil {
			return r
		}
	}
	return nil
}

// relationOID is find for indexes too.
func (db *database) relationOID(parts []string) (uint32, bool) {
	schema, name := "", parts[len(parts)-1]
	if len(parts) > 1 {
		schema = parts[len(parts)-2]
	}
	if len(parts) == 3 && parts[0] != db.session.Database {
		return 0, false
	}
	if r := db.find(schema, name); r != nil {
		return r.oid, true
	}
	if schema == "" || schema == "public" {
		for _, k := range db.schema.constraints {
			if k.kind != "f" && k.name == name {
				return k.index, true
			}
		}
	}
	return 0, false
}

// ParseName reads a name as a type such as regclass does.
func (db *database) ParseName(s string, t uint32) (uint32, error) {
	if s == "-" {
		return 0, nil
	}
	missing := func(code, what string) error {
		return interpret.Fail(code, "%s%s does not exist", what, strconv.Quote(clip(s)))
	}
	if t == oid.Regtype {
		if o := db.schema.rowTypes.Parse(s); o != 0 {
			return o, nil
		}
		return 0, missing("42704", "type ")
	}
	name := s
	if t == oid.Regprocedure || t == oid.Regoperator {
		name, _, _ = strings.Cut(s, "(")
	}
	parts, ok := datum.Split(name)
	if !ok {
		return 0, interpret.Fail("42602", "invalid name syntax")
	}
	last := parts[len(parts)-1]
	o, code, what := uint32(0), "42704", ""
	switch t {
	case oid.Regclass:
		code, what = "42P01", "relation "
		o, _ = db.relationOID(parts)
	case oid.Regproc, oid.Regprocedure:
		code, what = "42883", "function "
		o = procOIDs[last]
	case oid.Regnamespace:
		code, what = "3F000", "schema "
		o = oid.Schema(last)
	case oid.Regrole:
		what = "role "
		o = db.roles.oid(last)
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
func (db *database) FormatName(o uint32, t uint32) string {
	if o == 0 {
		return "-"
	}
	switch t {
	case oid.Regclass:
		if r := db.schema.byOID[o]; r != nil {
			if db.settings.visible(r.schema) && (r.schema == "pg_catalog" || db.schema.byName["pg_catalog."+r.name] == nil) {
				return datum.Quote(r.name)
			}
			return datum.Quote(r.schema) + "." + datum.Quote(r.name)
		}
		if k := db.schema.indexByOID(o); k != nil {
			return datum.Quote(k.name)
		}
	case oid.Regtype:
		if db.schema.rowTypes.Find(o) != nil {
			return db.schema.rowTypes.Format(o, -2)
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
		if name, ok := db.roles.name(o); ok {
			return datum.Quote(name)
		}
	case oid.Regcollation:
		for _, row := range rawRows("pg_collation") {
			if oid.Parse(row[0]) == o {
				return datum.Quote(row[1])
			}
		}
	}
	return oid.Format(o)
}

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

func clip(s string) string { return datum.Truncate(s, 100) }
