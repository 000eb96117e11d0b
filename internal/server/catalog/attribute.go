package catalog

// attribute is a column of a relation.
type attribute struct {
	name    string
	typ     uint32 // as declared, which may be a domain
	notNull bool
	comment string
}

// pgAttribute has the columns of relations and of indexes.
func pgAttribute(c *Catalog, add func(values)) {
	for _, r := range c.listed {
		for i, a := range r.cols {
			v := attributeRow(r.oid, i+1, a)
			if !r.policy && (v["attcollation"] == uint32(100) || a.typ == tNodeTree) {
				v["attcollation"] = 950 // the system sorts by bytes
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
func attributeRow(relid uint32, n int, a attribute) values {
	v := storage(a.typ)
	v["attrelid"], v["attname"], v["atttypid"], v["attnum"] = relid, a.name, a.typ, n
	v["attstattarget"], v["attcacheoff"], v["atttypmod"] = -1, -1, -1
	v["attnotnull"], v["attislocal"], v["attcollation"] = a.notNull, true, collationOf(a.typ)
	if elem(a.typ) != 0 && a.typ != tInt2Vector && a.typ != tOidVector {
		v["attndims"] = 1
	}
	return v
}

// collationOf is the OID of the collation of a type.
func collationOf(t uint32) uint32 {
	switch base(t) {
	case tText, tVarchar, tBpchar, tTextArray:
		return 100
	case tName, tNameArray:
		return 950
	}
	return 0
}

// storage is how PostgreSQL would keep a type: its length, whether by value, its alignment and its storage.
func storage(t uint32) values {
	raw := rawTypes[base(t)]
	if raw == nil {
		return values{"attlen": -1, "attalign": "d", "attstorage": "x"}
	}
	d := types[base(t)]
	return values{"attlen": d.length, "attbyval": raw[5] == "t", "attalign": raw[22], "attstorage": raw[23]}
}

// rawTypes are PostgreSQL's own rows of pg_type, by OID.
var rawTypes = map[uint32][]string{}

func init() {
	for _, row := range rawRows("pg_type") {
		rawTypes[atoid(row[0])] = row
	}
}

// pgType has the row types of the tables, and the arrays of them.
func pgType(c *Catalog, add func(values)) {
	for _, r := range c.user {
		add(values{"oid": r.rowType, "typname": r.name, "typnamespace": nsPublic, "typowner": ownerOID, "typlen": -1, "typtype": "c", "typcategory": "C",
			"typisdefined": true, "typdelim": ",", "typrelid": r.oid, "typarray": r.arrType, "typinput": 2290, "typoutput": 2291, "typreceive": 2402, "typsend": 2403,
			"typalign": "d", "typstorage": "x", "typtypmod": -1})
		add(values{"oid": r.arrType, "typname": c.rowTypes[r.arrType].name, "typnamespace": nsPublic, "typowner": ownerOID, "typlen": -1, "typtype": "b", "typcategory": "A",
			"typisdefined": true, "typdelim": ",", "typelem": r.rowType, "typsubscript": 6179, "typinput": 750, "typoutput": 751, "typreceive": 2400, "typsend": 2401,
			"typanalyze": 3816, "typalign": "d", "typstorage": "x", "typtypmod": -1})
	}
}
