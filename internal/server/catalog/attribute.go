package catalog

import (
	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

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
			if !r.policy && (v["attcollation"] == datum.Int(100) || a.typ == oid.NodeTree) {
				v["attcollation"] = datum.Int(950) // the system sorts by bytes
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
	v["attrelid"], v["attname"], v["atttypid"], v["attnum"] = datum.Int(relid), datum.Text(a.name), datum.Int(a.typ), datum.Int(n)
	v["attstattarget"], v["attcacheoff"], v["atttypmod"] = datum.Int(-1), datum.Int(-1), datum.Int(-1)
	v["attnotnull"], v["attislocal"], v["attcollation"] = datum.Bool(a.notNull), datum.True, datum.Int(collationOf(a.typ))
	if oid.Elem(a.typ) != 0 && a.typ != oid.Int2Vector && a.typ != oid.OidVector {
		v["attndims"] = datum.Int(1)
	}
	return v
}

// collationOf is the OID of the collation of a type.
func collationOf(t uint32) uint32 {
	switch oid.Base(t) {
	case oid.Text, oid.Varchar, oid.Bpchar, oid.TextArray:
		return 100
	case oid.Name, oid.NameArray:
		return 950
	}
	return 0
}

// storage is how PostgreSQL would keep a type: its length, whether by value, its alignment and its storage.
func storage(t uint32) row {
	d := oid.Find(oid.Base(t))
	if d == nil {
		return row{"attlen": datum.Int(-1), "attalign": datum.Text("d"), "attstorage": datum.Text("x")}
	}
	return row{"attlen": datum.Int(d.Length), "attbyval": datum.Bool(d.ByValue), "attalign": datum.Text(d.Align), "attstorage": datum.Text(d.Storage)}
}

// pgType has the row types of the tables, and the arrays of them.
func pgType(c *Catalog, add func(row)) {
	for _, r := range c.user {
		add(row{"oid": datum.Int(r.rowType), "typname": datum.Text(r.name), "typnamespace": datum.Int(oid.PublicSchema), "typowner": datum.Int(ownerOID), "typlen": datum.Int(-1), "typtype": datum.Text("c"), "typcategory": datum.Text("C"),
			"typisdefined": datum.True, "typdelim": datum.Text(","), "typrelid": datum.Int(r.oid), "typarray": datum.Int(r.arrType), "typinput": datum.Int(2290), "typoutput": datum.Int(2291), "typreceive": datum.Int(2402), "typsend": datum.Int(2403),
			"typalign": datum.Text("d"), "typstorage": datum.Text("x"), "typtypmod": datum.Int(-1)})
		add(row{"oid": datum.Int(r.arrType), "typname": datum.Text(c.rowTypes.Find(r.arrType).Name), "typnamespace": datum.Int(oid.PublicSchema), "typowner": datum.Int(ownerOID), "typlen": datum.Int(-1), "typtype": datum.Text("b"), "typcategory": datum.Text("A"),
			"typisdefined": datum.True, "typdelim": datum.Text(","), "typelem": datum.Int(r.rowType), "typsubscript": datum.Int(6179), "typinput": datum.Int(750), "typoutput": datum.Int(751), "typreceive": datum.Int(2400), "typsend": datum.Int(2401),
			"typanalyze": datum.Int(3816), "typalign": datum.Text("d"), "typstorage": datum.Text("x"), "typtypmod": datum.Int(-1)})
	}
}
