package pgcatalog

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/interpret"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
	"github.com/discreet-dp/discreet/internal/planner/announce"
	"github.com/discreet-dp/discreet/policy"
)

// New makes the catalogue of a dataset. Of other datasets it knows the names of those that the user
// may ask.
func New(p *policy.Policy, dataset string, s Session) *Catalog {
	if s.Database == "" {
		s.Database = dataset
	}
	var names []string
	for _, name := range p.Names() {
		if _, ok := p.Datasets[name].Analysts[s.User]; ok || name == s.Database {
			names = append(names, name)
		}
	}
	db := newDatabase(names, datasetSchema(p.Datasets[dataset]), s)
	return &Catalog{db: db, limits: interpret.Limits{Steps: maxSteps, Bytes: maxBytes}}
}

// datasetSchema makes the relations of the system and of a dataset, which may be nil. The views
// have no columns yet: to tell them takes the interpreter, which takes a database.
func datasetSchema(d *policy.Dataset) *schema {
	s := newSchema()
	if d != nil {
		s.addTables(d)
		s.addKeys(d)
	}
	s.listed = s.declared
	return s
}

// addTables makes the tables and views of a dataset, and the types of their rows.
func (s *schema) addTables(d *policy.Dataset) {
	for _, name := range d.TableNames() {
		t := d.Tables[name]
		r := &relation{oid: s.nextOID(), schema: "public", name: name, kind: "r", policy: true, public: t.Public, comment: tableComment(t)}
		for _, n := range t.ColumnNames() {
			col := t.Columns[n]
			typ, modifier := columnType(col)
			r.cols = append(r.cols, attribute{name: n, typ: typ, modifier: modifier, notNull: !col.Nullable,
				comment: columnComment(t, col)})
		}
		addIdentities(d, t, r)
		s.declared = append(s.declared, r)
	}
	for _, name := range d.ViewNames() {
		s.declared = append(s.declared,
			&relation{oid: s.nextOID(), schema: "public", name: name, kind: "v", policy: true, text: d.Views[name],
				announced: announce.OfView(d, name)})
	}
	for _, r := range s.declared {
		s.addRowType(r)
		s.add(r)
	}
}

// addKeys makes the constraints that the policy promises.
func (s *schema) addKeys(d *policy.Dataset) {
	for _, name := range d.TableNames() {
		t := d.Tables[name]
		switch {
		case t.Public && t.UniqueColumn != "":
			col := t.Columns[t.UniqueColumn]
			s.addUnique(name, t.UniqueColumn, col != nil && !col.Nullable)
		case t.UnitKind == policy.Unique && t.UnitColumn != "":
			// A row without a person counts in no answer, so NULL is not seen.
			s.addUnique(name, t.UnitColumn, true)
		}
	}
	for _, name := range d.TableNames() {
		// The owner promises that the key at the end of a step that is not the unit has one row for
		// each value.
		if p := d.Tables[name].Path; len(p) > 1 {
			s.addUnique(p[0].Table, p[0].Key, true)
		}
	}
	for _, name := range d.TableNames() {
		p := d.Tables[name].Path
		if len(p) == 0 {
			continue
		}
		r := s.byName["public."+name]
		i, to := r.column(p[0].Column), s.uniqueKey(p[0].Table, p[0].Key)
		if i < 0 || to == nil {
			continue
		}
		s.constraints = append(s.constraints, &constraint{oid: s.nextOID(), index: to.index,
			name: datum.Truncate(name+"_"+p[0].Column, 58) + "_fkey", kind: "f",
			table: r, column: i + 1, target: to.table, targetCol: to.column})
	}
}

// An identity is a column on which tables can be joined: it says whose a row is, or leads to a row
// that does. It need not be listed in the policy, and has no values to show then, but whoever looks
// around has to find it.
type identity struct {
	table, column string
	comment       string
	person        bool
}

// identities are those of a private table, in the order in which the planner has them.
func identities(d *policy.Dataset, t *policy.Table) []identity {
	if t.Public || d.Unit.Row() {
		return nil
	}
	var out []identity
	add := func(column, comment string, person bool) {
		for _, i := range out {
			if strings.EqualFold(i.column, column) {
				return
			}
		}
		out = append(out, identity{t.Name, column, comment, person})
	}
	switch {
	case len(t.Path) > 1:
		add(t.Path[0].Column, fmt.Sprintf("leads to %s.%s, and so to the person; join on it", t.Path[0].Table, t.Path[0].Key), false)
	case len(t.Path) == 1:
		add(t.UnitColumn, fmt.Sprintf("identifies the person, as %s does; join on it, and count people with COUNT(DISTINCT %s)", d.Unit,
			t.UnitColumn), true)
	case t.UnitColumn != "":
		add(t.UnitColumn, fmt.Sprintf("identifies the person; join on it, and count people with COUNT(DISTINCT %s)", t.UnitColumn), true)
	}
	for _, name := range d.TableNames() {
		if p := d.Tables[name].Path; len(p) > 1 && p[0].Table == t.Name {
			add(p[0].Key, fmt.Sprintf("tells rows apart; %s.%s leads here; join on it", name, p[0].Column), false)
		}
	}
	return out
}

// identityType is the type that is declared for a column at some place of the way to the person; a
// text where there is none.
func identityType(d *policy.Dataset, table, column string) uint32 {
	declared := func(table, column string) (uint32, bool) {
		if t := d.Tables[table]; t != nil && t.Columns[column] != nil {
			typ, _ := columnType(t.Columns[column])
			return typ, true
		}
		return 0, false
	}
	if t := d.Tables[table]; t != nil && len(t.Path) > 0 && t.Path[0].Column == column {
		if typ, ok := declared(table, column); ok {
			return typ
		}
		table, column = t.Path[0].Table, t.Path[0].Key
	}
	if typ, ok := declared(table, column); ok {
		return typ
	}
	for _, name := range d.TableNames() {
		if p := d.Tables[name].Path; len(p) > 0 && p[0].Table == table && p[0].Key == column {
			if typ, ok := declared(name, p[0].Column); ok {
				return typ
			}
		}
	}
	return oid.Text
}

// addIdentities adds the identities of a table to its columns, and says of listed ones what they
// are.
func addIdentities(d *policy.Dataset, t *policy.Table, r *relation) {
	for _, id := range identities(d, t) {
		at := -1
		for i := range r.cols {
			if strings.EqualFold(r.cols[i].name, id.column) {
				at = i
			}
		}
		if at >= 0 {
			r.cols[at].comment = strings.Join([]string{id.comment, r.cols[at].comment}, "; ")
		} else {
			r.cols = append(r.cols, attribute{name: id.column, typ: identityType(d, t.Name, id.column),
				comment: id.comment + "; its values are never shown"})
		}
		if id.person {
			r.comment += "; " + id.column + " identifies the person"
		}
	}
}

// columnType is the type of a column, with its modifier.
func columnType(c *policy.Column) (typ uint32, modifier int32) {
	t := announce.OfColumn(c)
	return oid.Named(t.Name), t.Modifier
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
		text += fmt.Sprintf("; at most %d rows of a person count in a group, and a person counts in at most %d "+
			"groups", t.MaxRows, t.MaxGroups)
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
		parts = append(parts, "the list of values is private")
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
