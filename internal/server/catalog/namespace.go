package catalog

import "github.com/discreet-dp/discreet/internal/server/catalog/oid"

func pgNamespace(c *Catalog, add func(row)) {
	for _, schema := range []uint32{oid.CatalogSchema, oid.PublicSchema, oid.InformationSchema} {
		owner, name := bootstrapOID, bootstrapName
		if schema == oid.PublicSchema {
			owner, name = ownerOID, c.owner
		}
		add(row{"oid": number(schema), "nspname": oid.SchemaName(schema), "nspowner": number(owner),
			"nspacl": array(name+"=UC/"+name, "=U/"+name)})
	}
}
