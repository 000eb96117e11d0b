package catalog

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/server/catalog/ident"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
	"github.com/discreet-dp/discreet/policy"
)

const (
	firstTable   = 16384
	userOID      = 16383
	ownerOID     = 16382
	bootstrapOID = 10    // whom PostgreSQL's own relations belong to
	firstDB      = 98304 // not below 16384, where tools take it for a database of the system
)

// model makes the relations of the policy.
func (c *Catalog) model() {
	c.owner = ownerName(c.session.User)
	for i := range systemRelations {
		r := systemRelations[i]
		c.relations = append(c.relations, &r)
	}
	c.last = firstTable - 1
	if d := c.dataset; d != nil {
		c.tables(d)
	}
	c.relations = append(c.relations, c.user...)
	c.listed = c.user
	c.byName = make(map[string]*relation, len(c.relations))
	c.byOID = make(map[uint32]*relation, len(c.relations))
	for _, r := range c.relations {
		r.catalog = c
		c.byName[r.schema+"."+r.name] = r
		c.byOID[r.oid] = r
	}
	if d := c.dataset; d != nil {
		c.keys(d)
	}
	c.views()
}

// tables makes the tables and views of a dataset, and the types of their rows.
func (c *Catalog) tables(d *policy.Dataset) {
	for _, name := range d.TableNames() {
		t := d.Tables[name]
		r := &relation{oid: c.next(), schema: "public", name: name, kind: "r", policy: true, public: t.Public, comment: tableComment(t)}
		for _, n := range t.ColumnNames() {
			col := t.Columns[n]
			r.cols = append(r.cols, attribute{name: n, typ: columnType(col.Type), notNull: !col.Nullable, comment: columnComment(t, col)})
		}
		identify(d, t, r)
		c.user = append(c.user, r)
	}
	for _, name := range d.ViewNames() {
		c.user = append(c.user, &relation{oid: c.next(), schema: "public", name: name, kind: "v", policy: true, text: d.Views[name]})
	}
	for _, r := range c.user {
		c.typed(r)
	}
}

// next is an OID that nothing has.
func (c *Catalog) next() uint32 {
	c.last++
	return c.last
}

// typed makes the types of the rows of a relation, and of arrays of them.
func (c *Catalog) typed(r *relation) {
	r.rowType, r.arrType = c.next(), c.next()
	c.rowTypes = append(c.rowTypes,
		&oid.Type{OID: r.rowType, Name: r.name, Schema: oid.PublicSchema, Form: "c", Category: "C", Array: r.arrType},
		&oid.Type{OID: r.arrType, Name: "_" + ident.Truncate(r.name, 62), Schema: oid.PublicSchema, Form: "b", Category: "A",
			Elem: r.rowType})
}

func columnType(t policy.Type) uint32 {
	switch t {
	case policy.Integer:
		return oid.Int8
	case policy.Decimal:
		return oid.Numeric
	case policy.Boolean:
		return oid.Bool
	case policy.Date:
		return oid.Date
	case policy.Timestamp:
		return oid.Timestamp
	}
	return oid.Text
}

// keys makes the constraints that the policy promises.
func (c *Catalog) keys(d *policy.Dataset) {
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
		k := &constraint{kind: "u", table: r, column: i + 1, name: ident.Truncate(table+"_"+column, 59) + "_key"}
		for _, other := range c.constraints {
			if other.table == r && other.kind == "p" {
				primary = false
			}
		}
		if primary {
			k.kind, k.name = "p", ident.Truncate(table, 58)+"_pkey"
			r.cols[i].notNull = true
		}
		k.oid, k.index = c.next(), c.next()
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
		// The owner promises that the key at the end of a step that is not the unit has one row for
		// each value.
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
		c.constraints = append(c.constraints, &constraint{oid: c.next(), index: to.index, name: ident.Truncate(name+"_"+p[0].Column,
			58) + "_fkey", kind: "f",
			table: r, column: i + 1, target: to.table, targetCol: to.column})
	}
}

func tableComment(t *policy.Table) string {
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
