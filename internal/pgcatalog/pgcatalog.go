package pgcatalog

import (
	"strings"

	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

// contents make the rows of pg_catalog that depend on the policy or the session. What is not here
// is empty, or as PostgreSQL has it (data/rows.tsv). Statistics are never here: there is nothing to
// count.
var contents = map[string]func(db *database, add func(row)){
	"pg_database":      pgDatabase,
	"pg_namespace":     pgNamespace,
	"pg_class":         pgClass,
	"pg_attribute":     pgAttribute,
	"pg_type":          pgType,
	"pg_constraint":    pgConstraint,
	"pg_index":         pgIndex,
	"pg_indexes":       pgIndexes,
	"pg_depend":        pgDepend,
	"pg_description":   pgDescription,
	"pg_rewrite":       pgRewrite,
	"pg_authid":        pgRole,
	"pg_roles":         pgRole,
	"pg_user":          pgUser,
	"pg_shadow":        pgUser,
	"pg_tables":        pgTables,
	"pg_views":         pgViews,
	"pg_settings":      pgSettings,
	"pg_stat_activity": pgStatActivity,
	"pg_cursors":       pgCursors,

	"pg_prepared_statements": pgPreparedStatements,
	"pg_stat_gssapi": func(db *database, add func(row)) {
		add(row{"pid": number(db.session.PID), "gss_authenticated": "f", "encrypted": "f"})
	},
}

// content makes the rows of a relation, where they depend on the policy or the session.
func (r *relation) content() func(db *database, add func(row)) {
	if r.schema == "information_schema" {
		return informationContents[r.name]
	}
	return contents[r.name]
}

func pgDescription(db *database, add func(row)) {
	add(row{"objoid": number(oid.PublicSchema), "classoid": "2615", "description": "standard public schema"})
	for _, r := range db.schema.declared {
		if r.comment != "" {
			add(row{"objoid": number(r.oid), "classoid": "1259", "description": r.comment})
		}
		for i, a := range r.cols {
			if a.comment != "" {
				add(row{"objoid": number(r.oid), "classoid": "1259", "objsubid": number(i + 1), "description": a.comment})
			}
		}
	}
}

func pgStatActivity(db *database, add func(row)) {
	add(row{"datid": number(db.databaseOID(db.session.Database)), "datname": db.session.Database, "pid": number(db.session.PID),
		"usesysid": number(userOID), "usename": db.session.User, "application_name": db.settings.get("application_name"),
		"backend_start": moment(db.start), "state": "active", "query": "", "backend_type": "client backend"})
}

func pgDatabase(db *database, add func(row)) {
	for _, name := range db.names {
		add(row{"oid": number(db.databaseOID(name)), "datname": name, "datdba": number(ownerOID), "encoding": "6", "datlocprovider": "c",
			"datallowconn": "t", "datconnlimit": "-1", "datfrozenxid": "722", "datminmxid": "1", "dattablespace": "1663",
			"datcollate": "C", "datctype": "C"})
	}
}

// pgClass has the relations, and the indexes of the keys.
func pgClass(db *database, add func(row)) {
	for _, r := range db.schema.listed {
		v := row{"oid": number(r.oid), "relname": r.name, "relnamespace": number(oid.Schema(r.schema)), "reltype": number(r.rowType),
			"relowner": number(ownerOID), "reltuples": "-1", "relpersistence": "p", "relkind": r.kind, "relnatts": number(len(r.cols)),
			"relispopulated": "t", "relreplident": "n", "relhasrules": truth(r.kind == "v"), "relhasindex": truth(db.schema.hasIndex(r)),
			"relhastriggers": truth(db.schema.hasReferences(r))}
		if r.kind == "r" {
			v["relam"] = "2"
			if r.policy {
				v["relfilenode"], v["relreplident"], v["relfrozenxid"], v["relminmxid"] = number(r.oid), "d", "722", "1"
			}
		}
		if r.policy {
			v["relacl"] = db.roles.acl()
		} else {
			v["relowner"] = number(bootstrapOID)
			v["relacl"] = array(bootstrapName+"=arwdDxt/"+bootstrapName, "=r/"+bootstrapName)
		}
		add(v)
	}
	for _, k := range db.schema.constraints {
		if k.kind != "f" {
			add(row{"oid": number(k.index), "relname": k.name, "relnamespace": number(oid.PublicSchema), "relowner": number(ownerOID),
				"relam": "403", "relfilenode": number(k.index), "relpersistence": "p", "relkind": "i", "relnatts": "1",
				"relispopulated": "t", "relreplident": "n"})
		}
	}
}

func pgTables(db *database, add func(row)) {
	for _, r := range db.schema.listed {
		if r.kind == "r" {
			add(row{"schemaname": r.schema, "tablename": r.name, "tableowner": db.roles.ownerOf(r),
				"hasindexes": truth(db.schema.hasIndex(r)), "hasrules": "f",
				"hastriggers": truth(db.schema.hasReferences(r)), "rowsecurity": "f"})
		}
	}
}

func pgViews(db *database, add func(row)) {
	for _, r := range db.schema.listed {
		if r.kind == "v" {
			add(row{"schemaname": r.schema, "viewname": r.name, "viewowner": db.roles.ownerOf(r), "definition": r.definition()})
		}
	}
}

func pgRewrite(db *database, add func(row)) {
	for _, r := range db.schema.declared {
		if r.kind == "v" {
			add(row{"oid": number(r.rule()), "rulename": "_RETURN", "ev_class": number(r.oid), "ev_type": "1", "ev_enabled": "O",
				"is_instead": "t", "ev_qual": "<>", "ev_action": "<>"})
		}
	}
}

// rule is the OID of the rule that makes a view one.
func (r *relation) rule() uint32 { return r.oid + 1<<20 }

// definition is a view's text as pg_get_viewdef writes it.
func (r *relation) definition() string {
	return " " + strings.TrimRight(strings.TrimSpace(r.text), ";") + ";"
}

// pgAttribute has the columns of relations and of indexes.
func pgAttribute(db *database, add func(row)) {
	for _, r := range db.schema.listed {
		for i, a := range r.cols {
			v := attributeRow(r.oid, i+1, a)
			if !r.policy && (v["attcollation"] == "100" || a.typ == oid.NodeTree) {
				v["attcollation"] = "950" // the system sorts by bytes
			}
			add(v)
		}
	}
	for _, k := range db.schema.constraints {
		if k.kind != "f" {
			a := k.table.cols[k.column-1]
			add(attributeRow(k.index, 1, attribute{name: a.name, typ: a.typ, modifier: a.modifier}))
		}
	}
}

// attributeRow is what a column of a relation and one of an index have alike.
func attributeRow(relid uint32, n int, a attribute) row {
	v := storage(a.typ)
	v["attrelid"], v["attname"], v["atttypid"], v["attnum"] = number(relid), a.name, number(a.typ), number(n)
	v["attstattarget"], v["attcacheoff"], v["atttypmod"] = "-1", "-1", "-1"
	if a.modifier != 0 {
		v["atttypmod"] = number(a.modifier)
	}
	v["attnotnull"], v["attislocal"], v["attcollation"] = truth(a.notNull), "t", number(collation(a.typ))
	if oid.Elem(a.typ) != 0 && a.typ != oid.Int2Vector && a.typ != oid.OidVector {
		v["attndims"] = "1"
	}
	return v
}

// collation is the OID of the collation of a type.
func collation(t uint32) uint32 {
	switch oid.Base(t) {
	case oid.Text, oid.Varchar, oid.Bpchar, oid.TextArray:
		return 100
	case oid.Name, oid.NameArray:
		return 950
	}
	return 0
}

// storage is how PostgreSQL would keep a type: its length, whether by value, its alignment and its
// storage.
func storage(t uint32) row {
	d := oid.Find(oid.Base(t))
	if d == nil {
		return row{"attlen": "-1", "attalign": "d", "attstorage": "x"}
	}
	return row{"attlen": number(d.Length), "attbyval": truth(d.ByValue), "attalign": d.Align, "attstorage": d.Storage}
}

// pgType has the types of the rows of the relations, and of arrays of them.
func pgType(db *database, add func(row)) {
	for _, r := range db.schema.listed {
		owner := number(bootstrapOID)
		if r.policy {
			owner = number(ownerOID)
		}
		types := r.types()
		add(row{"oid": number(r.rowType), "typname": types[0].Name, "typnamespace": number(types[0].Schema), "typowner": owner,
			"typlen": "-1", "typtype": "c", "typcategory": "C", "typisdefined": "t", "typdelim": ",", "typrelid": number(r.oid),
			"typarray": number(r.arrType), "typinput": "2290", "typoutput": "2291", "typreceive": "2402", "typsend": "2403",
			"typalign": "d", "typstorage": "x", "typtypmod": "-1"})
		add(row{"oid": number(r.arrType), "typname": types[1].Name, "typnamespace": number(types[1].Schema),
			"typowner": owner, "typlen": "-1", "typtype": "b", "typcategory": "A", "typisdefined": "t", "typdelim": ",",
			"typelem": number(r.rowType), "typsubscript": "6179", "typinput": "750", "typoutput": "751", "typreceive": "2400",
			"typsend": "2401", "typanalyze": "3816", "typalign": "d", "typstorage": "x", "typtypmod": "-1"})
	}
}

func pgConstraint(db *database, add func(row)) {
	for _, k := range db.schema.constraints {
		v := row{"oid": number(k.oid), "conname": k.name, "connamespace": number(oid.PublicSchema), "contype": k.kind,
			"convalidated": "t", "conrelid": number(k.table.oid), "conindid": number(k.index), "conislocal": "t", "connoinherit": "t",
			"conkey": array(number(k.column)), "confupdtype": " ", "confdeltype": " ", "confmatchtype": " "}
		if k.kind == "f" {
			v["confrelid"], v["confkey"] = number(k.target.oid), array(number(k.targetCol))
			v["confupdtype"], v["confdeltype"], v["confmatchtype"] = "a", "a", "s"
			equal := array(number(equality(k.table.cols[k.column-1].typ)))
			v["conpfeqop"], v["conppeqop"], v["conffeqop"] = equal, equal, equal
		}
		add(v)
	}
}

func pgIndex(db *database, add func(row)) {
	for _, k := range db.schema.constraints {
		if k.kind == "f" {
			continue
		}
		t := k.table.cols[k.column-1].typ
		add(row{"indexrelid": number(k.index), "indrelid": number(k.table.oid), "indnatts": "1", "indnkeyatts": "1", "indisunique": "t",
			"indisprimary": truth(k.kind == "p"), "indimmediate": "t", "indisvalid": "t", "indisready": "t", "indislive": "t",
			"indkey": number(k.column), "indcollation": number(collation(t)), "indclass": number(btree(t)), "indoption": "0"})
	}
}

func pgIndexes(db *database, add func(row)) {
	for _, k := range db.schema.constraints {
		if k.kind != "f" {
			add(row{"schemaname": "public", "tablename": k.table.name, "indexname": k.name, "indexdef": k.indexdef()})
		}
	}
}

// equality is the operator = of a type.
func equality(t uint32) uint32 {
	switch t {
	case oid.Int8:
		return 410
	case oid.Numeric:
		return 1752
	case oid.Bool:
		return 91
	case oid.Date:
		return 1093
	case oid.Timestamp:
		return 2060
	}
	return 98
}

// btree is the default class of operators of a type.
func btree(t uint32) uint32 {
	for _, row := range rawRows("pg_opclass") {
		if oid.Parse(row[1]) == 403 && oid.Parse(row[6]) == t && row[7] == "t" {
			return oid.Parse(row[0])
		}
	}
	return 0
}

// The relations that list what depends on what.
const (
	typeClass       = 1247
	relationClass   = 1259
	constraintClass = 2606
	namespaceClass  = 2615
	rewriteClass    = 2618
)

// object is something that depends on something, or a column of it.
type object struct {
	class, oid uint32
	column     int
}

// pgDepend has what depends on what. Tools tell an index of a constraint from others by it.
func pgDepend(db *database, add func(row)) {
	depend := func(a, on object, how string) {
		add(row{"classid": number(a.class), "objid": number(a.oid), "objsubid": number(a.column), "refclassid": number(on.class),
			"refobjid": number(on.oid), "refobjsubid": number(on.column), "deptype": how})
	}
	for _, r := range db.schema.declared {
		self := object{relationClass, r.oid, 0}
		depend(object{typeClass, r.rowType, 0}, self, "i")
		depend(object{typeClass, r.arrType, 0}, object{typeClass, r.rowType, 0}, "i")
		depend(self, object{namespaceClass, oid.PublicSchema, 0}, "n")
		if r.kind == "v" {
			rule := object{rewriteClass, r.rule(), 0}
			depend(rule, self, "i")
			depend(rule, self, "n")
			for _, from := range db.relationsRead(r) {
				depend(rule, object{relationClass, from.oid, 0}, "n")
			}
		}
	}
	for _, k := range db.schema.constraints {
		self, index := object{constraintClass, k.oid, 0}, object{relationClass, k.index, 0}
		depend(self, object{relationClass, k.table.oid, k.column}, "a")
		if k.kind == "f" {
			depend(self, index, "n")
			depend(self, object{relationClass, k.target.oid, k.targetCol}, "n")
		} else {
			depend(index, self, "i")
		}
	}
}

func pgNamespace(db *database, add func(row)) {
	for _, schema := range []uint32{oid.CatalogSchema, oid.PublicSchema, oid.InformationSchema} {
		owner, name := bootstrapOID, bootstrapName
		if schema == oid.PublicSchema {
			owner, name = ownerOID, db.roles.owner
		}
		add(row{"oid": number(schema), "nspname": oid.SchemaName(schema), "nspowner": number(owner),
			"nspacl": array(name+"=UC/"+name, "=U/"+name)})
	}
}
