package catalog

import (
	"strings"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// pgClass has the relations, and the indexes of the keys.
func pgClass(c *Catalog, add func(row)) {
	for _, r := range c.listed {
		v := row{"oid": datum.Int(r.oid), "relname": datum.Text(r.name), "relnamespace": datum.Int(oid.Schema(r.schema)), "reltype": datum.Int(r.rowType), "relowner": datum.Int(ownerOID), "reltuples": datum.Float(-1.0),
			"relpersistence": datum.Text("p"), "relkind": datum.Text(r.kind), "relnatts": datum.Int(len(r.cols)), "relispopulated": datum.True, "relreplident": datum.Text("n"),
			"relhasrules": datum.Bool(r.kind == "v"), "relhasindex": datum.Bool(c.hasIndex(r)), "relhastriggers": datum.Bool(c.hasReferences(r))}
		if r.kind == "r" {
			v["relam"] = datum.Int(2)
			if r.policy {
				v["relfilenode"], v["relreplident"], v["relfrozenxid"], v["relminmxid"] = datum.Int(r.oid), datum.Text("d"), datum.Int(722), datum.Int(1)
			}
		}
		if r.policy {
			v["relacl"] = c.acl()
		} else {
			v["relowner"] = datum.Int(bootstrapOID)
			v["relacl"] = datum.Texts(bootstrapName+"=arwdDxt/"+bootstrapName, "=r/"+bootstrapName)
		}
		add(v)
	}
	for _, k := range c.constraints {
		if k.kind != "f" {
			add(row{"oid": datum.Int(k.index), "relname": datum.Text(k.name), "relnamespace": datum.Int(oid.PublicSchema), "relowner": datum.Int(ownerOID), "relam": datum.Int(403), "relfilenode": datum.Int(k.index),
				"relpersistence": datum.Text("p"), "relkind": datum.Text("i"), "relnatts": datum.Int(1), "relispopulated": datum.True, "relreplident": datum.Text("n")})
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
			add(row{"schemaname": datum.Text(r.schema), "tablename": datum.Text(r.name), "tableowner": datum.Text(c.ownerOf(r)), "hasindexes": datum.Bool(c.hasIndex(r)), "hasrules": datum.False,
				"hastriggers": datum.Bool(c.hasReferences(r)), "rowsecurity": datum.False})
		}
	}
}

func pgViews(c *Catalog, add func(row)) {
	for _, r := range c.listed {
		if r.kind == "v" {
			add(row{"schemaname": datum.Text(r.schema), "viewname": datum.Text(r.name), "viewowner": datum.Text(c.ownerOf(r)), "definition": datum.Text(r.definition())})
		}
	}
}

func pgRewrite(c *Catalog, add func(row)) {
	for _, r := range c.user {
		if r.kind == "v" {
			add(row{"oid": datum.Int(r.oid + 1<<20), "rulename": datum.Text("_RETURN"), "ev_class": datum.Int(r.oid), "ev_type": datum.Text("1"), "ev_enabled": datum.Text("O"), "is_instead": datum.True, "ev_qual": datum.Text("<>"), "ev_action": datum.Text("<>")})
		}
	}
}

// definition is a view's text as pg_get_viewdef writes it.
func (r *relation) definition() string {
	return " " + strings.TrimRight(strings.TrimSpace(r.text), ";") + ";"
}
