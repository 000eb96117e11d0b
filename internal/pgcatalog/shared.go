package pgcatalog

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/interpret"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

//go:embed data/rows.tsv
var rowsText string

// rawRows returns the rows of a table as PostgreSQL copied them out.
func rawRows(table string) [][]string {
	if table == "pg_type" {
		return oid.Rows()
	}
	_, rest, ok := strings.Cut(rowsText, "# "+table+"\n")
	if !ok {
		return nil
	}
	var rows [][]string
	for line := range strings.SplitSeq(rest, "\n") {
		if line == "" || strings.HasPrefix(line, "# ") {
			break
		}
		rows = append(rows, strings.Split(line, "\t"))
	}
	return rows
}

// shared are the rows of a system relation that are the same in all sessions, and indexes of them.
type shared struct {
	rows  []datum.Tuple
	index map[int]index
}

var (
	sharedMu  sync.Mutex
	sharedAll = map[string]*shared{}
)

// find are the shared rows whose column has a value.
func (s *shared) find(col int, key []byte) []datum.Tuple {
	sharedMu.Lock()
	defer sharedMu.Unlock()
	if s.index[col] == nil {
		s.index[col] = newIndex(s.rows, col)
	}
	return s.index[col][string(key)]
}

// aboutSystem are the relations that list the system's own relations too.
var aboutSystem = map[string]bool{"pg_catalog.pg_class": true, "pg_catalog.pg_attribute": true, "pg_catalog.pg_tables": true,
	"pg_catalog.pg_views": true, "pg_catalog.pg_type": true,
	"information_schema.tables": true, "information_schema.columns": true, "information_schema.views": true}

// sharedRows returns what is shared of a relation. information_schema has the name of the database
// in its rows.
func (r *relation) sharedRows() *shared {
	db := r.db
	id := r.schema + "." + r.name
	if r.schema == "information_schema" {
		id += " " + db.session.Database
	}
	sharedMu.Lock()
	defer sharedMu.Unlock()
	if s := sharedAll[id]; s != nil {
		return s
	}
	s := &shared{index: map[int]index{}}
	sharedAll[id] = s
	if r.schema == "pg_catalog" {
		for _, raw := range rawRows(r.name) {
			t := make(datum.Tuple, len(r.cols))
			for i, a := range r.cols {
				if raw[i] == `\N` {
					continue
				}
				// These are PostgreSQL's own texts, made when this was built.
				if v, err := interpret.ParseValue(db, raw[i], a.typ); err == nil {
					t[i] = v
				}
			}
			s.rows = append(s.rows, t)
		}
	}
	if aboutSystem[r.schema+"."+r.name] {
		system := &database{session: Session{Database: db.session.Database},
			schema: &schema{listed: db.schema.relations[:len(systemRelations)]}}
		r.content()(system, func(v row) { s.rows = append(s.rows, r.tuple(v)) })
	}
	return s
}
