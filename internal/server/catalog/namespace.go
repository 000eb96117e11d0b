package catalog

const (
	nsCatalog     = 11
	nsPublic      = 2200
	nsInformation = 13207
)

// namespaceOID is the OID of a schema, or 0.
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

// schemaName is the name of a schema that there is.
func schemaName(ns uint32) string {
	switch ns {
	case nsCatalog:
		return "pg_catalog"
	case nsInformation:
		return "information_schema"
	}
	return "public"
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
