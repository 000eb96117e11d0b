package catalog

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

func pgStatActivity(c *Catalog, add func(values)) {
	add(values{"datid": c.databaseOID(c.session.Database), "datname": c.session.Database, "pid": int64(c.session.PID), "usesysid": userOID, "usename": c.session.User,
		"application_name": c.setting("application_name"), "backend_start": c.start, "state": "active", "query": "", "backend_type": "client backend"})
}
