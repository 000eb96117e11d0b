package catalog

import "github.com/discreet-dp/discreet/internal/server/catalog/oid"

// informationContents make the rows of information_schema that tell about the policy.
var informationContents = map[string]func(c *Catalog, add func(row)){
	"tables": func(c *Catalog, add func(row)) {
		for _, r := range c.listed {
			kind := "BASE TABLE"
			if r.kind == "v" {
				kind = "VIEW"
			}
			add(c.named(r, row{"table_type": kind, "is_insertable_into": "NO", "is_typed": "NO"}))
		}
	},
	"columns": func(c *Catalog, add func(row)) {
		for _, r := range c.listed {
			for i, a := range r.cols {
				add(c.named(r, c.columnRow(i, a)))
			}
		}
	},
	"schemata": func(c *Catalog, add func(row)) {
		for _, ns := range []uint32{oid.CatalogSchema, oid.PublicSchema, oid.InformationSchema} {
			owner := bootstrapName
			if ns == oid.PublicSchema {
				owner = c.owner
			}
			add(row{"catalog_name": c.session.Database, "schema_name": oid.SchemaName(ns), "schema_owner": owner})
		}
	},
	"views": func(c *Catalog, add func(row)) {
		for _, r := range c.listed {
			if r.kind == "v" {
				v := row{"check_option": "NONE", "is_updatable": "NO", "is_insertable_into": "NO", "is_trigger_updatable": "NO",
					"is_trigger_deletable": "NO", "is_trigger_insertable_into": "NO"}
				if r.policy {
					v["view_definition"] = r.definition()
				}
				add(c.named(r, v))
			}
		}
	},
	"table_constraints": func(c *Catalog, add func(row)) {
		for _, k := range c.constraints {
			v := row{"constraint_type": constraintTypes[k.kind], "is_deferrable": "NO", "initially_deferred": "NO", "enforced": "YES"}
			if k.kind == "u" {
				v["nulls_distinct"] = "YES"
			}
			add(c.named(k.table, c.constrained(k, v)))
		}
		for _, r := range c.user {
			for i, a := range r.cols {
				if a.notNull {
					add(c.named(r, c.constrained(&constraint{name: notNullName(r, i)}, row{"constraint_type": "CHECK",
						"is_deferrable": "NO", "initially_deferred": "NO", "enforced": "YES"})))
				}
			}
		}
	},
	"check_constraints": func(c *Catalog, add func(row)) {
		for _, r := range c.user {
			for i, a := range r.cols {
				if a.notNull {
					add(c.constrained(&constraint{name: notNullName(r, i)}, row{"check_clause": a.name + " IS NOT NULL"}))
				}
			}
		}
	},
	"key_column_usage": func(c *Catalog, add func(row)) {
		for _, k := range c.constraints {
			v := row{"column_name": k.table.cols[k.column-1].name, "ordinal_position": "1"}
			if k.kind == "f" {
				v["position_in_unique_constraint"] = "1"
			}
			add(c.named(k.table, c.constrained(k, v)))
		}
	},
	"constraint_column_usage": func(c *Catalog, add func(row)) {
		for _, k := range c.constraints {
			t, n := k.table, k.column
			if k.kind == "f" {
				t, n = k.target, k.targetCol
			}
			add(c.named(t, c.constrained(k, row{"column_name": t.cols[n-1].name})))
		}
	},
	"constraint_table_usage": func(c *Catalog, add func(row)) {
		for _, k := range c.constraints {
			t := k.table
			if k.kind == "f" {
				t = k.target
			}
			add(c.named(t, c.constrained(k, row{})))
		}
	},
	"referential_constraints": func(c *Catalog, add func(row)) {
		for _, k := range c.constraints {
			if k.kind != "f" {
				continue
			}
			v := row{"unique_constraint_catalog": c.session.Database, "unique_constraint_schema": "public", "match_option": "NONE",
				"update_rule": "NO ACTION", "delete_rule": "NO ACTION"}
			for _, to := range c.constraints {
				if to.kind != "f" && to.index == k.index {
					v["unique_constraint_name"] = to.name
				}
			}
			add(c.constrained(k, v))
		}
	},
	"table_privileges":   tablePrivileges,
	"role_table_grants":  tablePrivileges,
	"column_privileges":  columnPrivileges,
	"role_column_grants": columnPrivileges,
	"character_sets": func(c *Catalog, add func(row)) {
		add(row{"character_set_name": "UTF8", "character_repertoire": "UCS", "form_of_use": "UTF8",
			"default_collate_catalog": c.session.Database, "default_collate_schema": "pg_catalog", "default_collate_name": "C"})
	},
	"enabled_roles": func(c *Catalog, add func(row)) { add(row{"role_name": c.session.User}) },
	"information_schema_catalog_name": func(c *Catalog, add func(row)) {
		add(row{"catalog_name": c.session.Database})
	},
}

var constraintTypes = map[string]string{"p": "PRIMARY KEY", "u": "UNIQUE", "f": "FOREIGN KEY"}

func (c *Catalog) named(r *relation, v row) row {
	v["table_catalog"], v["table_schema"], v["table_name"] = c.session.Database, r.schema, r.name
	return v
}

func (c *Catalog) constrained(k *constraint, v row) row {
	v["constraint_catalog"], v["constraint_schema"], v["constraint_name"] = c.session.Database, "public", k.name
	return v
}

func notNullName(r *relation, i int) string {
	return oid.Format(oid.PublicSchema) + "_" + oid.Format(r.oid) + "_" + oid.Format(uint32(i+1)) + "_not_null"
}

func (c *Catalog) columnRow(i int, a attribute) row {
	t := oid.Base(a.typ)
	v := row{"column_name": a.name, "ordinal_position": number(i + 1), "is_nullable": "YES", "data_type": oid.Types(nil).Format(t, -1),
		"udt_catalog": c.session.Database, "udt_schema": "pg_catalog", "dtd_identifier": oid.Format(uint32(i + 1)),
		"is_self_referencing": "NO", "is_identity": "NO", "identity_cycle": "NO", "is_generated": "NEVER", "is_updatable": "NO"}
	if d := oid.Find(t); d != nil {
		v["udt_name"] = d.Name
	}
	if a.notNull {
		v["is_nullable"] = "NO"
	}
	if oid.Elem(t) != 0 && t != oid.Int2Vector && t != oid.OidVector {
		v["data_type"] = "ARRAY"
	}
	if t != a.typ {
		v["domain_catalog"], v["domain_schema"], v["domain_name"] = c.session.Database, "information_schema", oid.Find(a.typ).Name
	}
	whole := func(bits int) {
		v["numeric_precision"], v["numeric_precision_radix"] = number(bits), "2"
		if t != oid.Float4 && t != oid.Float8 {
			v["numeric_scale"] = "0"
		}
	}
	switch t {
	case oid.Int2:
		whole(16)
	case oid.Int4:
		whole(32)
	case oid.Int8:
		whole(64)
	case oid.Float4:
		whole(24)
	case oid.Float8:
		whole(53)
	case oid.Numeric:
		v["numeric_precision_radix"] = "10"
	case oid.Text, oid.Varchar, oid.Bpchar:
		v["character_octet_length"] = number(1 << 30)
		if a.typ != t && oid.Find(a.typ).Typmod > 4 {
			v["character_maximum_length"] = number(oid.Find(a.typ).Typmod - 4)
			v["character_octet_length"] = number((oid.Find(a.typ).Typmod - 4) * 4)
		}
	case oid.Date:
		v["datetime_precision"] = "0"
	case oid.Timestamp, oid.Timestamptz, oid.Time:
		v["datetime_precision"] = "6"
	}
	return v
}

func tablePrivileges(c *Catalog, add func(row)) {
	for _, r := range c.user {
		add(c.named(r, row{"grantor": c.owner, "grantee": c.session.User, "privilege_type": "SELECT", "is_grantable": "NO",
			"with_hierarchy": "YES"}))
	}
}

func columnPrivileges(c *Catalog, add func(row)) {
	for _, r := range c.user {
		for _, a := range r.cols {
			add(c.named(r, row{"grantor": c.owner, "grantee": c.session.User, "column_name": a.name, "privilege_type": "SELECT",
				"is_grantable": "NO"}))
		}
	}
}
