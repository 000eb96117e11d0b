package catalog

import (
	"strings"

	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// pgClass has the relations, and the indexes of the keys.
func pgClass(c *Catalog, add func(row)) {
	for _, r := range c.listed {
		v := row{"oid": number(r.oid), "relname": r.name, "relnamespace": number(oid.Schema(r.schema)), "reltype": number(r.rowType),
			"relowner": number(ownerOID), "reltuples": "-1", "relpersistence": "p", "relkind": r.kind, "relnatts": number(len(r.cols)),
			"relispopulated": "t", "relreplident": "n", "relhasrules": truth(r.kind == "v"), "relhasindex": truth(c.hasIndex(r)),
			"relhastriggers": truth(c.hasReferences(r))}
		if r.kind == "r" {
			v["relam"] = "2"
			if r.policy {
				v["relfilenode"], v["relreplident"], v["relfrozenxid"], v["relminmxid"] = number(r.oid), "d", "722", "1"
			}
		}
		if r.policy {
			v["relacl"] = c.acl()
		} else {
			v["relowner"] = number(bootstrapOID)
			v["relacl"] = array(bootstrapName+"=arwdDxt/"+bootstrapName, "=r/"+bootstrapName)
		}
		add(v)
	}
	for _, k := range c.constraints {
		if k.kind != "f" {
			add(row{"oid": number(k.index), "relname": k.name, "relnamespace": number(oid.PublicSchema), "relowner": number(ownerOID),
				"relam": "403", "relfilenode": number(k.index), "relpersistence": "p", "relkind": "i", "relnatts": "1",
				"relispopulated": "t", "relreplident": "n"})
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

func pgTables(c *Catalog, add func(row)) {
	for _, r := range c.listed {
		if r.kind == "r" {
			add(row{"schemaname": r.schema, "tablename": r.name, "tableowner": c.relationOwner(r), "hasindexes": truth(c.hasIndex(r)),
				"hasrules": "f", "hastriggers": truth(c.hasReferences(r)), "rowsecurity": "f"})
		}
	}
}

func pgViews(c *Catalog, add func(row)) {
	for _, r := range c.listed {
		if r.kind == "v" {
			add(row{"schemaname": r.schema, "viewname": r.name, "viewowner": c.relationOwner(r), "definition": r.definition()})
		}
	}
}

func pgRewrite(c *Catalog, add func(row)) {
	for _, r := range c.user {
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
