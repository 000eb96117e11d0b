package pgcatalog

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

const (
	firstTable   = 16384
	userOID      = 16383
	ownerOID     = 16382
	bootstrapOID = 10    // whom PostgreSQL's own relations belong to
	firstDB      = 98304 // not below 16384, where tools take it for a database of the system
)

// schema is the relations, keys and row types that there are, and the OIDs that they have.
type schema struct {
	relations   []*relation // all, in order
	declared    []*relation // those of the policy, and the session's temporary views
	listed      []*relation // those that rows are made for: the declared, or all others for what sessions share
	byName      map[string]*relation
	byOID       map[uint32]*relation
	constraints []*constraint
	rowTypes    oid.Types
	lastOID     uint32 // that was given
}

func newSchema() *schema {
	s := &schema{lastOID: firstTable - 1, rowTypes: systemTypes[:len(systemTypes):len(systemTypes)],
		byName: map[string]*relation{}, byOID: map[uint32]*relation{}}
	for _, r := range systemRelations {
		s.add(&r)
	}
	return s
}

func (s *schema) add(r *relation) {
	s.relations = append(s.relations, r)
	s.byName[r.schema+"."+r.name], s.byOID[r.oid] = r, r
}

func (s *schema) nextOID() uint32 {
	s.lastOID++
	return s.lastOID
}

// addRowType makes the types of the rows of a relation, and of arrays of them.
func (s *schema) addRowType(r *relation) {
	r.rowType, r.arrType = s.nextOID(), s.nextOID()
	s.rowTypes = append(s.rowTypes, r.types()...)
}

// addUnique makes a listed column a key, and a primary one where it may be and the table has none.
func (s *schema) addUnique(table, column string, primary bool) {
	r := s.byName["public."+table]
	if r == nil || s.uniqueKey(table, column) != nil {
		return
	}
	i := r.column(column)
	if i < 0 {
		return
	}
	k := &constraint{kind: "u", table: r, column: i + 1, name: datum.Truncate(table+"_"+column, 59) + "_key"}
	if primary && !slices.ContainsFunc(s.constraints, func(o *constraint) bool { return o.table == r && o.kind == "p" }) {
		k.kind, k.name = "p", datum.Truncate(table, 58)+"_pkey"
		r.cols[i].notNull = true
	}
	k.oid, k.index = s.nextOID(), s.nextOID()
	s.constraints = append(s.constraints, k)
}

// uniqueKey finds the key that a column is, or nil.
func (s *schema) uniqueKey(table, column string) *constraint {
	for _, k := range s.constraints {
		if k.kind != "f" && k.table.name == table && k.table.cols[k.column-1].name == column {
			return k
		}
	}
	return nil
}

// indexByOID finds the key that an index belongs to, or nil.
func (s *schema) indexByOID(o uint32) *constraint {
	for _, k := range s.constraints {
		if k.kind != "f" && k.index == o {
			return k
		}
	}
	return nil
}

// exists reports whether there is a relation or an index of this OID.
func (s *schema) exists(o uint32) bool { return s.byOID[o] != nil || s.indexByOID(o) != nil }

func (s *schema) hasIndex(r *relation) bool {
	return slices.ContainsFunc(s.constraints, func(k *constraint) bool { return k.table == r && k.kind != "f" })
}

func (s *schema) hasReferences(r *relation) bool {
	return slices.ContainsFunc(s.constraints, func(k *constraint) bool { return k.kind == "f" && (k.table == r || k.target == r) })
}

// temporary are the session's own views, the oldest first.
func (s *schema) temporary() []*relation {
	return slices.DeleteFunc(slices.Clone(s.declared), func(r *relation) bool { return !r.temporary })
}

func (s *schema) addTemporary(r *relation) {
	s.addRowType(r)
	s.declared = append(slices.Clone(s.declared), r)
	s.add(r)
	s.resetAllRows()
}

// removeTemporary takes the temporary views away that are to be dropped.
func (s *schema) removeTemporary(drop func(*relation) bool) {
	for _, r := range s.temporary() {
		if !drop(r) {
			continue
		}
		delete(s.byName, "public."+r.name)
		delete(s.byOID, r.oid)
		s.rowTypes = slices.DeleteFunc(slices.Clone(s.rowTypes), func(t *oid.Type) bool { return t.OID == r.rowType || t.OID == r.arrType })
		s.declared = slices.DeleteFunc(slices.Clone(s.declared), func(o *relation) bool { return o == r })
		s.relations = slices.DeleteFunc(slices.Clone(s.relations), func(o *relation) bool { return o == r })
	}
	s.resetAllRows()
}

// resetAllRows forgets all rows that were made of the declared relations.
func (s *schema) resetAllRows() {
	s.listed = s.declared
	for _, r := range s.relations {
		if !r.policy {
			r.resetRows()
		}
	}
}

// resetRows drops the rows of relations of pg_catalog that depend on what a session does.
func (s *schema) resetRows(names ...string) {
	for _, name := range names {
		if r := s.byName["pg_catalog."+name]; r != nil {
			r.resetRows()
		}
	}
}

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

func (k *constraint) columnName() string { return datum.Quote(k.table.cols[k.column-1].name) }

// indexdef is a key's index as pg_get_indexdef writes it.
func (k *constraint) indexdef() string {
	return fmt.Sprintf("CREATE UNIQUE INDEX %s ON public.%s USING btree (%s)",
		datum.Quote(k.name), datum.Quote(k.table.name), k.columnName())
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
	return fmt.Sprintf("FOREIGN KEY (%s) REFERENCES %s(%s)", k.columnName(), datum.Quote(k.target.name), datum.Quote(target))
}
