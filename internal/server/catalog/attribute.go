package catalog

import "github.com/discreet-dp/discreet/internal/server/catalog/oid"

// attribute is a column of a relation.
type attribute struct {
	name    string
	typ     uint32 // as declared, which may be a domain
	notNull bool
	comment string
}

// pgAttribute has the columns of relations and of indexes.
func pgAttribute(c *Catalog, add func(row)) {
	for _, r := range c.listed {
		for i, a := range r.cols {
			v := attributeRow(r.oid, i+1, a)
			if !r.policy && (v["attcollation"] == "100" || a.typ == oid.NodeTree) {
				v["attcollation"] = "950" // the system sorts by bytes
			}
			add(v)
		}
	}
	for _, k := range c.constraints {
		if k.kind != "f" {
			a := k.table.cols[k.column-1]
			add(attributeRow(k.index, 1, attribute{name: a.name, typ: a.typ}))
		}
	}
}

// attributeRow is what a column of a relation and one of an index have alike.
func attributeRow(relid uint32, n int, a attribute) row {
	v := storage(a.typ)
	v["attrelid"], v["attname"], v["atttypid"], v["attnum"] = number(relid), a.name, number(a.typ), number(n)
	v["attstattarget"], v["attcacheoff"], v["atttypmod"] = "-1", "-1", "-1"
	v["attnotnull"], v["attislocal"], v["attcollation"] = truth(a.notNull), "t", number(collation(a.typ))
	if oid.Elem(a.typ) != 0 && a.typ != oid.Int2Vector && a.typ != oid.OidVector {
		v["attndims"] = "1"
	}
	return v
}

// collation is the OID of the collation of a type.
func collation(t uint32) uint32 {
	switch oid.Base(t) {
	case oid.Text, oid.Varchar, oid.Bpchar, oid.TextArray:
		return 100
	case oid.Name, oid.NameArray:
		return 950
	}
	return 0
}

// storage is how PostgreSQL would keep a type: its length, whether by value, its alignment and its
// storage.
func storage(t uint32) row {
	d := oid.Find(oid.Base(t))
	if d == nil {
		return row{"attlen": "-1", "attalign": "d", "attstorage": "x"}
	}
	return row{"attlen": number(d.Length), "attbyval": truth(d.ByValue), "attalign": d.Align, "attstorage": d.Storage}
}

// pgType has the row types of the tables, and the arrays of them.
func pgType(c *Catalog, add func(row)) {
	for _, r := range c.user {
		add(row{"oid": number(r.rowType), "typname": r.name, "typnamespace": number(oid.PublicSchema), "typowner": number(ownerOID),
			"typlen": "-1", "typtype": "c", "typcategory": "C", "typisdefined": "t", "typdelim": ",", "typrelid": number(r.oid),
			"typarray": number(r.arrType), "typinput": "2290", "typoutput": "2291", "typreceive": "2402", "typsend": "2403",
			"typalign": "d", "typstorage": "x", "typtypmod": "-1"})
		add(row{"oid": number(r.arrType), "typname": c.rowTypes.Find(r.arrType).Name, "typnamespace": number(oid.PublicSchema),
			"typowner": number(ownerOID), "typlen": "-1", "typtype": "b", "typcategory": "A", "typisdefined": "t", "typdelim": ",",
			"typelem": number(r.rowType), "typsubscript": "6179", "typinput": "750", "typoutput": "751", "typreceive": "2400",
			"typsend": "2401", "typanalyze": "3816", "typalign": "d", "typstorage": "x", "typtypmod": "-1"})
	}
}
