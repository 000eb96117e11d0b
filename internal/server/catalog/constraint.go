package catalog

// constraint is a key of a table, or a reference to one.
type constraint struct {
	oid, index uint32 // index is the key's own, or the referenced key's
	name       string
	kind       string // p, u, f
	table      *relation
	column     int // number from 1
	target     *relation
	targetCol  int
}

func (k *constraint) columnName() string { return quoteIdent(k.table.cols[k.column-1].name) }

// indexdef is a key's index as pg_get_indexdef writes it.
func (k *constraint) indexdef() string {
	return "CREATE UNIQUE INDEX " + quoteIdent(k.name) + " ON public." + quoteIdent(k.table.name) + " USING btree (" + k.columnName() + ")"
}

// def is a key as pg_get_constraintdef writes it.
func (k *constraint) def() string {
	switch k.kind {
	case "p":
		return "PRIMARY KEY (" + k.columnName() + ")"
	case "u":
		return "UNIQUE (" + k.columnName() + ")"
	}
	return "FOREIGN KEY (" + k.columnName() + ") REFERENCES " + quoteIdent(k.target.name) + "(" + quoteIdent(k.target.cols[k.targetCol-1].name) + ")"
}

// indexByOID finds the key that an index belongs to, or nil.
func (c *Catalog) indexByOID(o uint32) *constraint {
	for _, k := range c.constraints {
		if k.kind != "f" && k.index == o {
			return k
		}
	}
	return nil
}

// exists reports whether there is a relation or an index of this OID.
func (c *Catalog) exists(o uint32) bool { return c.byOID[o] != nil || c.indexByOID(o) != nil }

func pgConstraint(c *Catalog, add func(values)) {
	for _, k := range c.constraints {
		v := values{"oid": k.oid, "conname": k.name, "connamespace": nsPublic, "contype": k.kind, "convalidated": true, "conrelid": k.table.oid, "conindid": k.index,
			"conislocal": true, "connoinherit": true, "conkey": []any{int64(k.column)}, "confupdtype": " ", "confdeltype": " ", "confmatchtype": " "}
		if k.kind == "f" {
			v["confrelid"], v["confkey"] = k.target.oid, []any{int64(k.targetCol)}
			v["confupdtype"], v["confdeltype"], v["confmatchtype"] = "a", "a", "s"
			equal := []any{int64(equality(k.table.cols[k.column-1].typ))}
			v["conpfeqop"], v["conppeqop"], v["conffeqop"] = equal, equal, equal
		}
		add(v)
	}
}

func pgIndex(c *Catalog, add func(values)) {
	for _, k := range c.constraints {
		if k.kind == "f" {
			continue
		}
		t := k.table.cols[k.column-1].typ
		add(values{"indexrelid": k.index, "indrelid": k.table.oid, "indnatts": 1, "indnkeyatts": 1, "indisunique": true, "indisprimary": k.kind == "p",
			"indimmediate": true, "indisvalid": true, "indisready": true, "indislive": true, "indkey": []any{int64(k.column)},
			"indcollation": []any{int64(collationOf(t))}, "indclass": []any{int64(btree(t))}, "indoption": []any{int64(0)}})
	}
}

func pgIndexes(c *Catalog, add func(values)) {
	for _, k := range c.constraints {
		if k.kind != "f" {
			add(values{"schemaname": "public", "tablename": k.table.name, "indexname": k.name, "indexdef": k.indexdef()})
		}
	}
}

// equality is the operator = of a type.
func equality(t uint32) uint32 {
	switch t {
	case tInt8:
		return 410
	case tNumeric:
		return 1752
	case tBool:
		return 91
	case tDate:
		return 1093
	case tTimestamp:
		return 2060
	}
	return 98
}

// btree is the default class of operators of a type.
func btree(t uint32) uint32 {
	for _, row := range rawRows("pg_opclass") {
		if atoid(row[1]) == 403 && atoid(row[6]) == t && row[7] == "t" {
			return atoid(row[0])
		}
	}
	return 0
}
