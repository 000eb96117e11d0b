package catalog

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/policy"
)

const (
	firstTable   = 16384
	userOID      = 16383
	ownerOID     = 16382
	bootstrapOID = 10 // whom PostgreSQL's own relations belong to
	firstDB      = 16200
)

// model makes the relations of the policy.
func (c *Catalog) model() {
	c.byName = make(map[string]*relation, len(systemRelations)+16)
	c.byOID = make(map[uint32]*relation, len(systemRelations)+16)
	c.rowTypes = map[uint32]*typ{}
	c.owner = ownerOf(c.session.User)
	for i := range systemRelations {
		r := systemRelations[i]
		c.relations = append(c.relations, &r)
	}
	next := uint32(firstTable)
	oid := func() uint32 { next++; return next - 1 }
	if d := c.dataset; d != nil {
		for _, name := range d.TableNames() {
			t := d.Tables[name]
			r := &relation{oid: oid(), schema: "public", name: name, kind: "r", policy: true, comment: tableComment(d, t)}
			for _, n := range t.ColumnNames() {
				col := t.Columns[n]
				r.cols = append(r.cols, attribute{name: n, typ: columnType(col.Type), notNull: !col.Nullable, comment: columnComment(t, col)})
			}
			c.user = append(c.user, r)
		}
		for _, name := range d.ViewNames() {
			c.user = append(c.user, &relation{oid: oid(), schema: "public", name: name, kind: "v", policy: true, text: d.Views[name]})
		}
		for _, r := range c.user {
			r.rowType, r.arrType = oid(), oid()
			c.rowTypes[r.rowType] = &typ{oid: r.rowType, name: r.name, namespace: nsPublic, length: -1, kind: "c", category: "C", array: r.arrType, typmod: -1}
			c.rowTypes[r.arrType] = &typ{oid: r.arrType, name: "_" + truncate(r.name, 62), namespace: nsPublic, length: -1, kind: "b", category: "A", elem: r.rowType, typmod: -1}
		}
		c.relations = append(c.relations, c.user...)
	}
	for _, r := range c.relations {
		c.byName[r.schema+"."+r.name] = r
		c.byOID[r.oid] = r
	}
	c.listed = c.user
	c.keys(oid)
	for _, r := range c.user {
		if r.kind == "v" {
			r.cols = c.viewColumns(r.text)
			r.comment = "a view; what is asked about it is answered with noise"
		}
	}
}

func columnType(t policy.Type) uint32 {
	switch t {
	case policy.Integer:
		return tInt8
	case policy.Decimal:
		return tNumeric
	case policy.Boolean:
		return tBool
	case policy.Date:
		return tDate
	case policy.Timestamp:
		return tTimestamp
	}
	return tText
}

// keys makes the constraints that the policy promises and that are about listed columns.
func (c *Catalog) keys(oid func() uint32) {
	d := c.dataset
	if d == nil {
		return
	}
	unique := func(table, column string) *constraint {
		for _, k := range c.constraints {
			if k.kind != "f" && k.table.name == table && k.table.cols[k.column-1].name == column {
				return k
			}
		}
		return nil
	}
	add := func(table, column string, primary bool) {
		r := c.byName["public."+table]
		if r == nil || unique(table, column) != nil {
			return
		}
		i := r.column(column)
		if i < 0 {
			return
		}
		k := &constraint{kind: "u", table: r, column: i + 1, name: truncate(table+"_"+column, 59) + "_key"}
		for _, other := range c.constraints {
			if other.table == r && other.kind == "p" {
				primary = false
			}
		}
		if primary {
			k.kind, k.name = "p", truncate(table, 58)+"_pkey"
			r.cols[i].notNull = true
		}
		k.oid, k.index = oid(), oid()
		c.constraints = append(c.constraints, k)
	}
	for _, name := range d.TableNames() {
		t := d.Tables[name]
		switch {
		case t.Public && t.UniqueColumn != "":
			col := t.Columns[t.UniqueColumn]
			add(name, t.UniqueColumn, col != nil && !col.Nullable)
		case t.UnitKind == policy.Unique && t.UnitColumn != "":
			// A row without a person counts in no answer, so NULL is not seen.
			add(name, t.UnitColumn, true)
		}
	}
	for _, name := range d.TableNames() {
		// The owner promises that the key at the end of a step that is not the unit has one row for each value.
		if p := d.Tables[name].Path; len(p) > 1 {
			add(p[0].Table, p[0].Key, true)
		}
	}
	for _, name := range d.TableNames() {
		p := d.Tables[name].Path
		if len(p) == 0 {
			continue
		}
		r := c.byName["public."+name]
		i, to := r.column(p[0].Column), unique(p[0].Table, p[0].Key)
		if i < 0 || to == nil {
			continue
		}
		c.constraints = append(c.constraints, &constraint{oid: oid(), index: to.index, name: truncate(name+"_"+p[0].Column, 58) + "_fkey", kind: "f",
			table: r, column: i + 1, target: to.table, targetCol: to.column})
	}
}

func tableComment(d *policy.Dataset, t *policy.Table) string {
	if t.Public {
		return "public; can be joined to private tables"
	}
	text := "private; answers are noisy"
	switch t.UnitKind {
	case policy.Unique:
		text += "; one row for each person"
	case policy.Many:
		text += fmt.Sprintf("; at most %d rows of a person count in a group, and a person in at most %d groups", t.MaxRows, t.MaxGroups)
	}
	return text
}

func columnComment(t *policy.Table, c *policy.Column) string {
	var parts []string
	if c.Bounds != nil {
		parts = append(parts, "bounds "+c.Show(c.Bounds.LoSteps)+" to "+c.Show(c.Bounds.HiSteps))
	}
	switch c.Keys {
	case policy.PrivateKeys:
		parts = append(parts, "which values there are is private")
	case policy.PublicKeys:
		var b strings.Builder
		for i, v := range c.KeyValues {
			if i > 0 {
				b.WriteString(", ")
			}
			if b.Len() > 200 {
				b.WriteString("...")
				break
			}
			b.WriteString(c.ShowValue(v))
		}
		parts = append(parts, "keys "+b.String())
	}
	if !t.Public {
		parts = append(parts, "noisy; private")
	}
	return strings.Join(parts, "; ")
}
