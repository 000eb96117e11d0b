package catalog

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/ident"
	"github.com/discreet-dp/discreet/internal/server/catalog/interpret"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// maxTemporary is how many temporary views a session has. Tools make one to learn the columns of a
// SELECT and do not always drop it, so the oldest makes room.
const maxTemporary = 20

// AddView makes a temporary view: columns that the session can look at in its own catalogue, and
// nothing behind them. It takes the place of one of the same name.
func (c *Catalog) AddView(name, text string, columns []datum.Column) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(name) > 63 {
		name = ident.Truncate(name, 63)
	}
	if r := c.byName["public."+name]; r != nil && !r.temporary {
		return interpret.Fail("42P07", "relation %q already exists", clip(name))
	}
	c.remove(func(r *relation) bool { return r.name == name })
	if own := c.temporary(); len(own) >= maxTemporary {
		c.remove(func(r *relation) bool { return r == own[0] })
	}
	r := &relation{catalog: c, oid: c.next(), schema: "public", name: name, kind: "v", policy: true, temporary: true, text: text,
		comment: "a temporary view of this session, to be looked at and not to be asked"}
	for _, col := range columns {
		r.cols = append(r.cols, attribute{name: col.Name, typ: col.OID})
	}
	c.typed(r)
	c.user = append(slices.Clone(c.user), r)
	c.relations = append(c.relations, r)
	c.byName["public."+name], c.byOID[r.oid] = r, r
	c.anew()
	return nil
}

// DropViews drops the temporary views of these names, or all where none is named. It reports
// whether there is one for each.
func (c *Catalog) DropViews(names ...string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := 0
	c.remove(func(r *relation) bool {
		drop := len(names) == 0 || slices.Contains(names, r.name)
		if drop {
			found++
		}
		return drop
	})
	return found == len(names)
}

// ViewBytes is about what the temporary views take: their texts, and their columns in the tables of
// the catalogue.
func (c *Catalog) ViewBytes() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, r := range c.temporary() {
		n += len(r.text) + columnBytes*len(r.cols)
	}
	return n
}

// columnBytes is what a column takes: rows of a dozen tables are made of it.
const columnBytes = 2 << 10

// ReadsTemporary returns a temporary view that a SELECT reads, or nothing.
func (c *Catalog) ReadsTemporary(s *pg.SelectStmt) (name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.temporary()) == 0 {
		return ""
	}
	interpret.VisitRelations(s, func(v *pg.RangeVar, ctes map[string]bool) {
		if r := c.find(v.Schemaname, v.Relname); r != nil && r.temporary && !(v.Schemaname == "" && ctes[v.Relname]) {
			name = v.Relname
		}
	})
	return name
}

// temporary are the session's own views, the oldest first.
func (c *Catalog) temporary() []*relation {
	return slices.DeleteFunc(slices.Clone(c.user), func(r *relation) bool { return !r.temporary })
}

// remove takes temporary views away.
func (c *Catalog) remove(which func(*relation) bool) {
	gone := func(r *relation) bool { return r.temporary && which(r) }
	for _, r := range slices.DeleteFunc(c.temporary(), func(r *relation) bool { return !gone(r) }) {
		delete(c.byName, "public."+r.name)
		delete(c.byOID, r.oid)
		c.rowTypes = slices.DeleteFunc(slices.Clone(c.rowTypes), func(t *oid.Type) bool { return t.OID == r.rowType || t.OID == r.arrType })
		c.user = slices.DeleteFunc(slices.Clone(c.user), func(o *relation) bool { return o == r })
		c.relations = slices.DeleteFunc(slices.Clone(c.relations), func(o *relation) bool { return o == r })
	}
	c.anew()
}

// anew forgets all rows that were made of the session's relations.
func (c *Catalog) anew() {
	c.listed = c.user
	for _, r := range c.relations {
		if !r.policy {
			r.rows, r.made, r.index = nil, false, nil
		}
	}
}
