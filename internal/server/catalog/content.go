package catalog

import "github.com/discreet-dp/discreet/internal/server/catalog/oid"

// contents make the rows of pg_catalog that depend on the policy or the session. What is not here
// is empty, or as PostgreSQL has it (data/rows.tsv). Statistics are never here: there is nothing to
// count.
var contents = map[string]func(c *Catalog, add func(row)){
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
	"pg_stat_gssapi": func(c *Catalog, add func(row)) {
		add(row{"pid": number(c.session.PID), "gss_authenticated": "f", "encrypted": "f"})
	},
}

// content makes the rows of a relation, where they depend on the policy or the session.
func (r *relation) content() func(c *Catalog, add func(row)) {
	if r.schema == "information_schema" {
		return informationContents[r.name]
	}
	return contents[r.name]
}

func pgDescription(c *Catalog, add func(row)) {
	add(row{"objoid": number(oid.PublicSchema), "classoid": "2615", "description": "standard public schema"})
	for _, r := range c.user {
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

func pgStatActivity(c *Catalog, add func(row)) {
	add(row{"datid": number(c.databaseOID(c.session.Database)), "datname": c.session.Database, "pid": number(c.session.PID),
		"usesysid": number(userOID), "usename": c.session.User, "application_name": c.setting("application_name"),
		"backend_start": c.start.Format("2006-01-02 15:04:05.999999+00"), "state": "active", "query": "", "backend_type": "client backend"})
}
