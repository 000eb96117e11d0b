package pgcatalog

import "github.com/discreet-dp/discreet/internal/pgcatalog/oid"

// informationContents make the rows of information_schema that tell about the policy.
var informationContents = map[string]func(db *database, add func(row)){
	"tables": func(db *database, add func(row)) {
		for _, r := range db.schema.listed {
			kind := "BASE TABLE"
			if r.kind == "v" {
				kind = "VIEW"
			}
			add(db.named(r, row{"table_type": kind, "is_insertable_into": "NO", "is_typed": "NO"}))
		}
	},
	"columns": func(db *database, add func(row)) {
		for _, r := range db.schema.listed {
			for i, a := range r.cols {
				add(db.named(r, db.columnRow(i, a)))
			}
		}
	},
	"schemata": func(db *database, add func(row)) {
		for _, ns := range []uint32{oid.CatalogSchema, oid.PublicSchema, oid.InformationSchema} {
			owner := bootstrapName
			if ns == oid.PublicSchema {
				owner = db.roles.owner
			}
			add(row{"catalog_name": db.session.Database, "schema_name": oid.SchemaName(ns), "schema_owner": owner})
		}
	},
	"views": func(db *database, add func(row)) {
		for _, r := range db.schema.listed {
			if r.kind == "v" {
				v := row{"check_option": "NONE", "is_updatable": "NO", "is_insertable_into": "NO", "is_trigger_updatable": "NO",
					"is_trigger_deletable": "NO", "is_trigger_insertable_into": "NO"}
				if r.policy {
					v["view_definition"] = r.definition()
				}
				add(db.named(r, v))
			}
		}
	},
	"table_constraints": func(db *database, add func(row)) {
		for _, k := range db.schema.constraints {
			v := row{"constraint_type": constraintTypes[k.kind], "is_deferrable": "NO", "initially_deferred": "NO", "enforced": "YES"}
			if k.kind == "u" {
				v["nulls_distinct"] = "YES"
			}
			add(db.named(k.table, db.constrained(k, v)))
		}
		for _, r := range db.schema.declared {
			for i, a := range r.cols {
				if a.notNull {
					add(db.named(r, db.constrained(&constraint{name: notNullName(r, i)}, row{"constraint_type": "CHECK",
						"is_deferrable": "NO", "initially_deferred": "NO", "enforced": "YES"})))
				}
			}
		}
	},
	"check_constraints": func(db *database, add func(row)) {
		for _, r := range db.schema.declared {
			for i, a := range r.cols {
				if a.notNull {
					add(db.constrained(&constraint{name: notNullName(r, i)}, row{"check_clause": a.name + " IS NOT NULL"}))
				}
			}
		}
	},
	"key_column_usage": func(db *database, add func(row)) {
		for _, k := range db.schema.constraints {
			v := row{"column_name": k.table.cols[k.column-1].name, "ordinal_position": "1"}
			if k.kind == "f" {
				v["position_in_unique_constraint"] = "1"
			}
			add(db.named(k.table, db.constrained(k, v)))
		}
	},
	"constraint_column_usage": func(db *database, add func(row)) {
		for _, k := range db.schema.constraints {
			t, n := k.table, k.column
			if k.kind == "f" {
				t, n = k.target, k.targetCol
			}
			add(db.named(t, db.constrained(k, row{"column_name": t.cols[n-1].name})))
		}
	},
	"constraint_table_usage": func(db *database, add func(row)) {
		for _, k := range db.schema.constraints {
			t := k.table
			if k.kind == "f" {
				t = k.target
			}
			add(db.named(t, db.constrained(k, row{})))
		}
	},
	"referential_constraints": func(db *database, add func(row)) {
		for _, k := range db.schema.constraints {
			if k.kind != "f" {
				continue
			}
			v := row{"unique_constraint_catalog": db.session.Database, "unique_constraint_schema": "public", "match_option": "NONE",
				"update_rule": "NO ACTION", "delete_rule": "NO ACTION"}
			for _, to := range db.schema.constraints {
				if to.kind != "f" && to.index == k.index {
					v["unique_constraint_name"] = to.name
				}
			}
			add(db.constrained(k, v))
		}
	},
	"table_privileges":   tablePrivileges,
	"role_table_grants":  tablePrivileges,
	"column_privileges":  columnPrivileges,
	"role_column_grants": columnPrivileges,
	"character_sets": func(db *database, add func(row)) {
		add(row{"character_set_name": "UTF8", "character_repertoire": "UCS", "form_of_use": "UTF8",
			"default_collate_catalog": db.session.Database, "default_collate_schema": "pg_catalog", "default_collate_name": "C"})
	},
	"enabled_roles": func(db *database, add func(row)) { add(row{"role_name": db.session.User}) },
	"information_schema_catalog_name": func(db *database, add func(row)) {
		add(row{"catalog_name": db.session.Database})
	},
}

var constraintTypes = map[string]string{"p": "PRIMARY KEY", "u": "UNIQUE", "f": "FOREIGN KEY"}

func (db *database) named(r *relation, v row) row {
	v["table_catalog"], v["table_schema"], v["table_name"] = db.session.Database, r.schema, r.name
	return v
}

func (db *database) constrained(k *constraint, v row) row {
	v["constraint_catalog"], v["constraint_schema"], v["constraint_name"] = db.session.Database, "public", k.name
	return v
}

func notNullName(r *relation, i int) string {
	return oid.Format(oid.PublicSchema) + "_" + oid.Format(r.oid) + "_" + oid.Format(uint32(i+1)) + "_not_null"
}

func (db *database) columnRow(i int, a attribute) row {
	t := oid.Base(a.typ)
	v := row{"column_name": a.name, "ordinal_position": number(i + 1), "is_nullable": "YES", "data_type": oid.Types(nil).Format(t, -1),
		"udt_catalog": db.session.Database, "udt_schema": "pg_catalog", "dtd_identifier": oid.Format(uint32(i + 1)),
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
		v["domain_catalog"], v["domain_schema"], v["domain_name"] = db.session.Database, "information_schema", oid.Find(a.typ).Name
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
		if a.modifier != 0 {
			v["numeric_precision"], v["numeric_scale"] = number((a.modifier-4)>>16), number((a.modifier-4)&0x7ff)
		}
	case oid.Text, oid.Varchar, oid.Bpchar:
		v["character_octet_length"] = number(1 << 30)
		if a.modifier != 0 {
			v["character_maximum_length"], v["character_octet_length"] = number(a.modifier-4), number((a.modifier-4)*4)
		}
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

func tablePrivileges(db *database, add func(row)) {
	for _, r := range db.schema.declared {
		add(db.named(r, row{"grantor": db.roles.owner, "grantee": db.session.User, "privilege_type": "SELECT", "is_grantable": "NO",
			"with_hierarchy": "YES"}))
	}
}

func columnPrivileges(db *database, add func(row)) {
	for _, r := range db.schema.declared {
		for _, a := range r.cols {
			add(db.named(r, row{"grantor": db.roles.owner, "grantee": db.session.User, "column_name": a.name, "privilege_type": "SELECT",
				"is_grantable": "NO"}))
		}
	}
}
