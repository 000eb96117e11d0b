package catalog

import (
	"fmt"

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
	return fmt.Sprintf("CREATE UNIQUE INDEX %s ON public.%s USING btree (%s)",
		ident.Quote(k.name), ident.Quote(k.table.name), k.columnName())
}

// def is a key as pg_get_constraintdef writes it.
func (k *constraint) def() string {
	switch k.kind {
	case "p":
		return "PRIMARY KEY (" + k.columnName() + ")"
	case "u":
		return "UNIQUE (" + k.columnName() + ")"
	}
	target := k.target.cols[k.targetCol-1].name
	return fmt.Sprintf("FOREIGN KEY (%s) REFERENCES %s(%s)", k.columnName(), ident.Quote(k.target.name), ident.Quote(target))
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
		v := row{"oid": number(k.oid), "conname": k.name, "connamespace": number(oid.PublicSchema), "contype": k.kind,
			"convalidated": "t", "conrelid": number(k.table.oid), "conindid": number(k.index), "conislocal": "t", "connoinherit": "t",
			"conkey": array(number(k.column)), "confupdtype": " ", "confdeltype": " ", "confmatchtype": " "}
		if k.kind == "f" {
			v["confrelid"], v["confkey"] = number(k.target.oid), array(number(k.targetCol))
			v["confupdtype"], v["confdeltype"], v["confmatchtype"] = "a", "a", "s"
			equal := array(number(equality(k.table.cols[k.column-1].typ)))
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
		add(row{"indexrelid": number(k.index), "indrelid": number(k.table.oid), "indnatts": "1", "indnkeyatts": "1", "indisunique": "t",
			"indisprimary": truth(k.kind == "p"), "indimmediate": "t", "indisvalid": "t", "indisready": "t", "indislive": "t",
			"indkey": number(k.column), "indcollation": number(collation(t)), "indclass": number(btree(t)), "indoption": "0"})
	}
}

func pgIndexes(c *Catalog, add func(row)) {
	for _, k := range c.constraints {
		if k.kind != "f" {
			add(row{"schemaname": "public", "tablename": k.table.name, "indexname": k.name, "indexdef": k.indexdef()})
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
