package catalog

import (
	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/ident"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

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

func (k *constraint) columnName() string { return ident.Quote(k.table.cols[k.column-1].name) }

// indexdef is a key's index as pg_get_indexdef writes it.
func (k *constraint) indexdef() string {
	return "CREATE UNIQUE INDEX " + ident.Quote(k.name) + " ON public." + ident.Quote(k.table.name) + " USING btree (" + k.columnName() + ")"
}

// def is a key as pg_get_constraintdef writes it.
func (k *constraint) def() string {
	switch k.kind {
	case "p":
		return "PRIMARY KEY (" + k.columnName() + ")"
	case "u":
		return "UNIQUE (" + k.columnName() + ")"
	}
	return "FOREIGN KEY (" + k.columnName() + ") REFERENCES " + ident.Quote(k.target.name) + "(" + ident.Quote(k.target.cols[k.targetCol-1].name) + ")"
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

func pgConstraint(c *Catalog, add func(row)) {
	for _, k := range c.constraints {
		v := row{"oid": datum.Int(k.oid), "conname": datum.Text(k.name), "connamespace": datum.Int(oid.PublicSchema), "contype": datum.Text(k.kind), "convalidated": datum.True, "conrelid": datum.Int(k.table.oid), "conindid": datum.Int(k.index),
			"conislocal": datum.True, "connoinherit": datum.True, "conkey": datum.List{datum.Int(k.column)}, "confupdtype": datum.Text(" "), "confdeltype": datum.Text(" "), "confmatchtype": datum.Text(" ")}
		if k.kind == "f" {
			v["confrelid"], v["confkey"] = datum.Int(k.target.oid), datum.List{datum.Int(k.targetCol)}
			v["confupdtype"], v["confdeltype"], v["confmatchtype"] = datum.Text("a"), datum.Text("a"), datum.Text("s")
			equal := datum.List{datum.Int(equality(k.table.cols[k.column-1].typ))}
			v["conpfeqop"], v["conppeqop"], v["conffeqop"] = equal, equal, equal
		}
		add(v)
	}
}

func pgIndex(c *Catalog, add func(row)) {
	for _, k := range c.constraints {
		if k.kind == "f" {
			continue
		}
		t := k.table.cols[k.column-1].typ
		add(row{"indexrelid": datum.Int(k.index), "indrelid": datum.Int(k.table.oid), "indnatts": datum.Int(1), "indnkeyatts": datum.Int(1), "indisunique": datum.True, "indisprimary": datum.Bool(k.kind == "p"),
			"indimmediate": datum.True, "indisvalid": datum.True, "indisready": datum.True, "indislive": datum.True, "indkey": datum.List{datum.Int(k.column)},
			"indcollation": datum.List{datum.Int(collationOf(t))}, "indclass": datum.List{datum.Int(btree(t))}, "indoption": datum.List{datum.Int(0)}})
	}
}

func pgIndexes(c *Catalog, add func(row)) {
	for _, k := range c.constraints {
		if k.kind != "f" {
			add(row{"schemaname": datum.Text("public"), "tablename": datum.Text(k.table.name), "indexname": datum.Text(k.name), "indexdef": datum.Text(k.indexdef())})
		}
	}
}

// equality is the operator = of a type.
func equality(t uint32) uint32 {
	switch t {
	case oid.Int8:
		return 410
	case oid.Numeric:
		return 1752
	case oid.Bool:
		return 91
	case oid.Date:
		return 1093
	case oid.Timestamp:
		return 2060
	}
	return 98
}

// btree is the default class of operators of a type.
func btree(t uint32) uint32 {
	for _, row := range rawRows("pg_opclass") {
		if oid.Parse(row[1]) == 403 && oid.Parse(row[6]) == t && row[7] == "t" {
			return oid.Parse(row[0])
		}
	}
	return 0
}
