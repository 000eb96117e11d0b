package catalog

import "strings"

// pgClass has the relations, and the indexes of the keys.
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

func pgRewrite(c *Catalog, add func(values)) {
	for _, r := range c.user {
		if r.kind == "v" {
			add(values{"oid": r.oid + 1<<20, "rulename": "_RETURN", "ev_class": r.oid, "ev_type": "1", "ev_enabled": "O", "is_instead": true, "ev_qual": "<>", "ev_action": "<>"})
		}
	}
}

// definition is a view's text as pg_get_viewdef writes it.
func (r *relation) definition() string {
	return " " + strings.TrimRight(strings.TrimSpace(r.text), ";") + ";"
}
