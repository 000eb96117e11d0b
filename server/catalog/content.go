package catalog

import (
	"context"
	"strings"
	"time"
)

var background = context.Background()

// contents make the rows of pg_catalog that depend on the policy or the session. What is not here is empty, or as PostgreSQL has it
// (data/rows.tsv). Statistics are never here: there is nothing to count.
var contents map[string]func(c *Catalog, add func(values))

func init() {
	contents = map[string]func(c *Catalog, add func(values)){
		"pg_catalog.pg_database":      pgDatabase,
		"pg_catalog.pg_namespace":     pgNamespace,
		"pg_catalog.pg_class":         pgClass,
		"pg_catalog.pg_attribute":     pgAttribute,
		"pg_catalog.pg_type":          pgType,
		"pg_catalog.pg_constraint":    pgConstraint,
		"pg_catalog.pg_index":         pgIndex,
		"pg_catalog.pg_indexes":       pgIndexes,
		"pg_catalog.pg_description":   pgDescription,
		"pg_catalog.pg_rewrite":       pgRewrite,
		"pg_catalog.pg_authid":        pgRole,
		"pg_catalog.pg_roles":         pgRole,
		"pg_catalog.pg_user":          pgUser,
		"pg_catalog.pg_shadow":        pgUser,
		"pg_catalog.pg_tables":        pgTables,
		"pg_catalog.pg_views":         pgViews,
		"pg_catalog.pg_settings":      pgSettings,
		"pg_catalog.pg_stat_activity": pgStatActivity,
	}
	for name, make := range informationContents {
		contents["information_schema."+name] = make
	}
}

func (c *Catalog) databases() []string {
	var names []string
	for _, name := range c.policy.Names() {
		if _, ok := c.policy.Datasets[name].Analysts[c.session.User]; ok || name == c.session.Database {
			names = append(names, name)
		}
	}
	return names
}

func (c *Catalog) databaseOID(name string) uint32 {
	for i, n := range c.databases() {
		if n == name {
			return firstDB + uint32(i)
		}
	}
	return 0
}

func pgDatabase(c *Catalog, add func(values)) {
	for _, name := range c.databases() {
		add(values{"oid": c.databaseOID(name), "datname": name, "datdba": ownerOID, "encoding": 6, "datlocprovider": "c", "datallowconn": true,
			"datconnlimit": -1, "datfrozenxid": 722, "datminmxid": 1, "dattablespace": 1663, "datcollate": "C", "datctype": "C"})
	}
}

func pgNamespace(c *Catalog, add func(values)) {
	for _, ns := range []uint32{nsCatalog, nsPublic, nsInformation} {
		owner, name := bootstrapOID, bootstrapName
		if ns == nsPublic {
			owner, name = ownerOID, c.owner
		}
		add(values{"oid": ns, "nspname": schemaName(ns), "nspowner": owner, "nspacl": []any{name + "=UC/" + name, "=U/" + name}})
	}
}

func namespaceOID(schema string) uint32 {
	switch schema {
	case "pg_catalog":
		return nsCatalog
	case "information_schema":
		return nsInformation
	case "public":
		return nsPublic
	}
	return 0
}

func (c *Catalog) acl() []any {
	return []any{c.owner + "=arwdDxt/" + c.owner, aclName(c.session.User) + "=r/" + c.owner}
}

func aclName(s string) string {
	for _, b := range []byte(s) {
		if !(b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_') {
			return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
		}
	}
	return s
}

func (c *Catalog) hasIndex(r *relation) bool {
	for _, k := range c.constraints {
		if k.table == r && k.kind != "f" {
			return true
		}
	}
	return false
}

func (c *Catalog) hasReferences(r *relation) bool {
	for _, k := range c.constraints {
		if k.kind == "f" && (k.table == r || k.target == r) {
			return true
		}
	}
	return false
}

func pgClass(c *Catalog, add func(values)) {
	for _, r := range c.listed {
		v := values{"oid": r.oid, "relname": r.name, "relnamespace": namespaceOID(r.schema), "reltype": r.rowType, "relowner": ownerOID, "reltuples": -1.0,
			"relpersistence": "p", "relkind": r.kind, "relnatts": len(r.cols), "relispopulated": true, "relreplident": "n",
			"relhasrules": r.kind == "v", "relhasindex": c.hasIndex(r), "relhastriggers": c.hasReferences(r)}
		if r.kind == "r" {
			v["relam"] = 2
			if r.policy {
				v["relfilenode"], v["relreplident"], v["relfrozenxid"], v["relminmxid"] = r.oid, "d", 722, 1
			}
		}
		if r.policy {
			v["relacl"] = c.acl()
		} else {
			v["relowner"] = bootstrapOID
			v["relacl"] = []any{bootstrapName + "=arwdDxt/" + bootstrapName, "=r/" + bootstrapName}
		}
		add(v)
	}
	for _, k := range c.constraints {
		if k.kind != "f" {
			add(values{"oid": k.index, "relname": k.name, "relnamespace": nsPublic, "relowner": ownerOID, "relam": 403, "relfilenode": k.index,
				"relpersistence": "p", "relkind": "i", "relnatts": 1, "relispopulated": true, "relreplident": "n"})
		}
	}
}

func collationOf(t uint32) uint32 {
	switch base(t) {
	case tText, tVarchar, tBpchar, tTextArray:
		return 100
	case tName, tNameArray:
		return 950
	}
	return 0
}

// storage is how PostgreSQL would keep a type: its length, whether by value, its alignment and its storage.
func storage(t uint32) values {
	raw := rawTypes[base(t)]
	if raw == nil {
		return values{"attlen": -1, "attalign": "d", "attstorage": "x"}
	}
	d := types[base(t)]
	return values{"attlen": d.length, "attbyval": raw[5] == "t", "attalign": raw[22], "attstorage": raw[23]}
}

var rawTypes = map[uint32][]string{}

func init() {
	for _, row := range rawRows("pg_type") {
		rawTypes[atoid(row[0])] = row
	}
}

func attributeRow(relid uint32, n int, a attribute) values {
	v := storage(a.typ)
	v["attrelid"], v["attname"], v["atttypid"], v["attnum"] = relid, a.name, a.typ, n
	v["attstattarget"], v["attcacheoff"], v["atttypmod"] = -1, -1, -1
	v["attnotnull"], v["attislocal"], v["attcollation"] = a.notNull, true, collationOf(a.typ)
	if elem(a.typ) != 0 && a.typ != tInt2Vector && a.typ != tOidVector {
		v["attndims"] = 1
	}
	return v
}

func pgAttribute(c *Catalog, add func(values)) {
	for _, r := range c.listed {
		for i, a := range r.cols {
			v := attributeRow(r.oid, i+1, a)
			if !r.policy && (v["attcollation"] == uint32(100) || a.typ == tNodeTree) {
				v["attcollation"] = 950 // the system sorts by bytes
			}
			add(v)
		}
	}
	for _, k := range c.constraints {
		if k.kind != "f" {
			a := k.table.cols[k.column-1]
			add(attributeRow(k.index, 1, attribute{name: a.name, typ: a.typ}))
		}
	}
}

func pgType(c *Catalog, add func(values)) {
	for _, r := range c.user {
		add(values{"oid": r.rowType, "typname": r.name, "typnamespace": nsPublic, "typowner": ownerOID, "typlen": -1, "typtype": "c", "typcategory": "C",
			"typisdefined": true, "typdelim": ",", "typrelid": r.oid, "typarray": r.arrType, "typinput": 2290, "typoutput": 2291, "typreceive": 2402, "typsend": 2403,
			"typalign": "d", "typstorage": "x", "typtypmod": -1})
		add(values{"oid": r.arrType, "typname": c.rowTypes[r.arrType].name, "typnamespace": nsPublic, "typowner": ownerOID, "typlen": -1, "typtype": "b", "typcategory": "A",
			"typisdefined": true, "typdelim": ",", "typelem": r.rowType, "typsubscript": 6179, "typinput": 750, "typoutput": 751, "typreceive": 2400, "typsend": 2401,
			"typanalyze": 3816, "typalign": "d", "typstorage": "x", "typtypmod": -1})
	}
}

func pgConstraint(c *Catalog, add func(values)) {
	for _, k := range c.constraints {
		v := values{"oid": k.oid, "conname": k.name, "connamespace": nsPublic, "contype": k.kind, "convalidated": true, "conrelid": k.table.oid, "conindid": k.index,
			"conislocal": true, "connoinherit": true, "conkey": []any{int64(k.column)}, "confupdtype": " ", "confdeltype": " ", "confmatchtype": " "}
		if k.kind == "f" {
			v["confrelid"], v["confkey"] = k.target.oid, []any{int64(k.targetCol)}
			v["confupdtype"], v["confdeltype"], v["confmatchtype"] = "a", "a", "s"
			equal := []any{int64(equality(k.table.cols[k.column-1].typ))}
			v["conpfeqop"], v["conppeqop"], v["conffeqop"] = equal, equal, equal
		}
		add(v)
	}
}

// equality is the operator = of a type.
func equality(t uint32) uint32 {
	switch t {
	case tInt8:
		return 410
	case tNumeric:
		return 1752
	case tBool:
		return 91
	case tDate:
		return 1093
	case tTimestamp:
		return 2060
	}
	return 98
}

// btree is the default class of operators of a type.
func btree(t uint32) uint32 {
	for _, row := range rawRows("pg_opclass") {
		if atoid(row[1]) == 403 && atoid(row[6]) == t && row[7] == "t" {
			return atoid(row[0])
		}
	}
	return 0
}

func pgIndex(c *Catalog, add func(values)) {
	for _, k := range c.constraints {
		if k.kind == "f" {
			continue
		}
		t := k.table.cols[k.column-1].typ
		add(values{"indexrelid": k.index, "indrelid": k.table.oid, "indnatts": 1, "indnkeyatts": 1, "indisunique": true, "indisprimary": k.kind == "p",
			"indimmediate": true, "indisvalid": true, "indisready": true, "indislive": true, "indkey": []any{int64(k.column)},
			"indcollation": []any{int64(collationOf(t))}, "indclass": []any{int64(btree(t))}, "indoption": []any{int64(0)}})
	}
}

func pgIndexes(c *Catalog, add func(values)) {
	for _, k := range c.constraints {
		if k.kind != "f" {
			add(values{"schemaname": "public", "tablename": k.table.name, "indexname": k.name, "indexdef": k.indexdef()})
		}
	}
}

func (k *constraint) columnName() string { return quoteIdent(k.table.cols[k.column-1].name) }

func (k *constraint) indexdef() string {
	return "CREATE UNIQUE INDEX " + quoteIdent(k.name) + " ON public." + quoteIdent(k.table.name) + " USING btree (" + k.columnName() + ")"
}

func (k *constraint) def() string {
	switch k.kind {
	case "p":
		return "PRIMARY KEY (" + k.columnName() + ")"
	case "u":
		return "UNIQUE (" + k.columnName() + ")"
	}
	return "FOREIGN KEY (" + k.columnName() + ") REFERENCES " + quoteIdent(k.target.name) + "(" + quoteIdent(k.target.cols[k.targetCol-1].name) + ")"
}

func pgDescription(c *Catalog, add func(values)) {
	add(values{"objoid": nsPublic, "classoid": 2615, "description": "standard public schema"})
	for _, r := range c.user {
		if r.comment != "" {
			add(values{"objoid": r.oid, "classoid": 1259, "description": r.comment})
		}
		for i, a := range r.cols {
			if a.comment != "" {
				add(values{"objoid": r.oid, "classoid": 1259, "objsubid": i + 1, "description": a.comment})
			}
		}
	}
}

func pgRewrite(c *Catalog, add func(values)) {
	for _, r := range c.user {
		if r.kind == "v" {
			add(values{"oid": r.oid + 1<<20, "rulename": "_RETURN", "ev_class": r.oid, "ev_type": "1", "ev_enabled": "O", "is_instead": true, "ev_qual": "<>", "ev_action": "<>"})
		}
	}
}

// pgRole has the user, and whom the tables belong to, as clients join with it. Other analysts are nobody's business.
func pgRole(c *Catalog, add func(values)) {
	add(values{"oid": ownerOID, "rolname": c.owner, "rolsuper": false, "rolinherit": true, "rolcreaterole": false, "rolcreatedb": false,
		"rolcanlogin": false, "rolpassword": "********", "rolreplication": false, "rolbypassrls": false, "rolconnlimit": -1})
	add(values{"oid": userOID, "rolname": c.session.User, "rolsuper": false, "rolinherit": true, "rolcreaterole": false, "rolcreatedb": false,
		"rolcanlogin": true, "rolpassword": "********", "rolreplication": false, "rolbypassrls": false, "rolconnlimit": -1})
}

func pgUser(c *Catalog, add func(values)) {
	add(values{"usename": c.session.User, "usesysid": userOID, "usecreatedb": false, "usesuper": false, "userepl": false, "usebypassrls": false})
}

func (c *Catalog) ownerOf(r *relation) string {
	if r.policy {
		return c.owner
	}
	return bootstrapName
}

func pgTables(c *Catalog, add func(values)) {
	for _, r := range c.listed {
		if r.kind == "r" {
			add(values{"schemaname": r.schema, "tablename": r.name, "tableowner": c.ownerOf(r), "hasindexes": c.hasIndex(r), "hasrules": false,
				"hastriggers": c.hasReferences(r), "rowsecurity": false})
		}
	}
}

func pgViews(c *Catalog, add func(values)) {
	for _, r := range c.listed {
		if r.kind == "v" {
			add(values{"schemaname": r.schema, "viewname": r.name, "viewowner": c.ownerOf(r), "definition": r.definition()})
		}
	}
}

// definition is a view's text as pg_get_viewdef writes it.
func (r *relation) definition() string {
	return " " + strings.TrimRight(strings.TrimSpace(r.text), ";") + ";"
}

func pgStatActivity(c *Catalog, add func(values)) {
	add(values{"datid": c.databaseOID(c.session.Database), "datname": c.session.Database, "pid": int64(c.session.PID), "usesysid": userOID, "usename": c.session.User,
		"application_name": c.setting("application_name"), "backend_start": c.start, "state": "active", "query": "", "backend_type": "client backend"})
}

func (c *Catalog) now() time.Time { return time.Now().UTC() }
