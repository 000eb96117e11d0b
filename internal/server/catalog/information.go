package catalog

import (
	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// informationContents make the rows of information_schema that tell about the policy.
var informationContents = map[string]func(c *Catalog, add func(row)){
	"tables": func(c *Catalog, add func(row)) {
		for _, r := range c.listed {
			kind := "BASE TABLE"
			if r.kind == "v" {
				kind = "VIEW"
			}
			add(c.named(r, row{"table_type": datum.Text(kind), "is_insertable_into": datum.Text("NO"), "is_typed": datum.Text("NO")}))
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
			add(row{"catalog_name": datum.Text(c.session.Database), "schema_name": datum.Text(oid.SchemaName(ns)), "schema_owner": datum.Text(owner)})
		}
	},
	"views": func(c *Catalog, add func(row)) {
		for _, r := range c.listed {
			if r.kind == "v" {
				v := row{"check_option": datum.Text("NONE"), "is_updatable": datum.Text("NO"), "is_insertable_into": datum.Text("NO"), "is_trigger_updatable": datum.Text("NO"),
					"is_trigger_deletable": datum.Text("NO"), "is_trigger_insertable_into": datum.Text("NO")}
				if r.policy {
					v["view_definition"] = datum.Text(r.definition())
				}
				add(c.named(r, v))
			}
		}
	},
	"table_constraints": func(c *Catalog, add func(row)) {
		for _, k := range c.constraints {
			v := row{"constraint_type": constraintTypes[k.kind],
				"is_deferrable": datum.Text("NO"), "initially_deferred": datum.Text("NO"), "enforced": datum.Text("YES")}
			if k.kind == "u" {
				v["nulls_distinct"] = datum.Text("YES")
			}
			add(c.named(k.table, c.constrained(k, v)))
		}
		for _, r := range c.user {
			for i, a := range r.cols {
				if a.notNull {
					add(c.named(r, c.constrained(&constraint{name: notNullName(r, i)}, row{"constraint_type": datum.Text("CHECK"), "is_deferrable": datum.Text("NO"), "initially_deferred": datum.Text("NO"), "enforced": datum.Text("YES")})))
				}
			}
		}
	},
	"check_constraints": func(c *Catalog, add func(row)) {
		for _, r := range c.user {
			for i, a := range r.cols {
				if a.notNull {
					add(c.constrained(&constraint{name: notNullName(r, i)}, row{"check_clause": datum.Text(a.name + " IS NOT NULL")}))
				}
			}
		}
	},
	"key_column_usage": func(c *Catalog, add func(row)) {
		for _, k := range c.constraints {
			v := row{"column_name": datum.Text(k.table.cols[k.column-1].name), "ordinal_position": datum.Int(1)}
			if k.kind == "f" {
				v["position_in_unique_constraint"] = datum.Int(1)
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
			add(c.named(t, c.constrained(k, row{"column_name": datum.Text(t.cols[n-1].name)})))
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
			v := row{"unique_constraint_catalog": datum.Text(c.session.Database), "unique_constraint_schema": datum.Text("public"), "match_option": datum.Text("NONE"), "update_rule": datum.Text("NO ACTION"), "delete_rule": datum.Text("NO ACTION")}
			for _, to := range c.constraints {
				if to.kind != "f" && to.index == k.index {
					v["unique_constraint_name"] = datum.Text(to.name)
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
		add(row{"character_set_name": datum.Text("UTF8"), "character_repertoire": datum.Text("UCS"), "form_of_use": datum.Text("UTF8"), "default_collate_catalog": datum.Text(c.session.Database),
			"default_collate_schema": datum.Text("pg_catalog"), "default_collate_name": datum.Text("C")})
	},
	"enabled_roles": func(c *Catalog, add func(row)) { add(row{"role_name": datum.Text(c.session.User)}) },
	"information_schema_catalog_name": func(c *Catalog, add func(row)) {
		add(row{"catalog_name": datum.Text(c.session.Database)})
	},
}

var constraintTypes = map[string]datum.Text{"p": "PRIMARY KEY", "u": "UNIQUE", "f": "FOREIGN KEY"}

func (c *Catalog) named(r *relation, v row) row {
	v["table_catalog"], v["table_schema"], v["table_name"] = datum.Text(c.session.Database), datum.Text(r.schema), datum.Text(r.name)
	return v
}

func (c *Catalog) constrained(k *constraint, v row) row {
	v["constraint_catalog"], v["constraint_schema"], v["constraint_name"] = datum.Text(c.session.Database), datum.Text("public"), datum.Text(k.name)
	return v
}

func notNullName(r *relation, i int) string {
	return oid.Format(oid.PublicSchema) + "_" + oid.Format(r.oid) + "_" + oid.Format(uint32(i+1)) + "_not_null"
}

func (c *Catalog) columnRow(i int, a attribute) row {
	t := oid.Base(a.typ)
	v := row{"column_name": datum.Text(a.name), "ordinal_position": datum.Int(i + 1), "is_nullable": datum.Text("YES"), "data_type": datum.Text(oid.Types(nil).Format(t, -1)), "udt_catalog": datum.Text(c.session.Database),
		"udt_schema": datum.Text("pg_catalog"), "dtd_identifier": datum.Text(oid.Format(uint32(i + 1))), "is_self_referencing": datum.Text("NO"), "is_identity": datum.Text("NO"), "identity_cycle": datum.Text("NO"),
		"is_generated": datum.Text("NEVER"), "is_updatable": datum.Text("NO")}
	if d := oid.Find(t); d != nil {
		v["udt_name"] = datum.Text(d.Name)
	}
	if a.notNull {
		v["is_nullable"] = datum.Text("NO")
	}
	if oid.Elem(t) != 0 && t != oid.Int2Vector && t != oid.OidVector {
		v["data_type"] = datum.Text("ARRAY")
	}
	if t != a.typ {
		v["domain_catalog"], v["domain_schema"], v["domain_name"] = datum.Text(c.session.Database), datum.Text("information_schema"), datum.Text(oid.Find(a.typ).Name)
	}
	whole := func(bits int) {
		v["numeric_precision"], v["numeric_precision_radix"] = datum.Int(bits), datum.Int(2)
		if t != oid.Float4 && t != oid.Float8 {
			v["numeric_scale"] = datum.Int(0)
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
		v["numeric_precision_radix"] = datum.Int(10)
	case oid.Text, oid.Varchar, oid.Bpchar:
		v["character_octet_length"] = datum.Int(1 << 30)
		if a.typ != t && oid.Find(a.typ).Typmod > 4 {
			v["character_maximum_length"] = datum.Int(oid.Find(a.typ).Typmod - 4)
			v["character_octet_length"] = datum.Int((oid.Find(a.typ).Typmod - 4) * 4)
		}
	case oid.Date:
		v["datetime_precision"] = datum.Int(0)
	case oid.Timestamp, oid.Timestamptz, oid.Time:
		v["datetime_precision"] = datum.Int(6)
	}
	return v
}

func tablePrivileges(c *Catalog, add func(row)) {
	for _, r := range c.user {
		add(c.named(r, row{"grantor": datum.Text(c.owner), "grantee": datum.Text(c.session.User), "privilege_type": datum.Text("SELECT"), "is_grantable": datum.Text("NO"), "with_hierarchy": datum.Text("YES")}))
	}
}

func columnPrivileges(c *Catalog, add func(row)) {
	for _, r := range c.user {
		for _, a := range r.cols {
			add(c.named(r, row{"grantor": datum.Text(c.owner), "grantee": datum.Text(c.session.User), "column_name": datum.Text(a.name), "privilege_type": datum.Text("SELECT"), "is_grantable": datum.Text("NO")}))
		}
	}
}
