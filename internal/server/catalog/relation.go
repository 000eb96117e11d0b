package catalog

import (
	"context"
	"strings"
	"sync"
)

// relation is a table or view: of the system, or one of the policy's, which has columns here and no rows.
type relation struct {
	oid     uint32
	schema  string
	name    string
	kind    string // r table, v view
	cols    []attribute
	policy  bool // one of the policy's
	rowType uint32
	arrType uint32
	text    string // of a view
	comment string
	rows    []tuple // of a system relation, when made
	shared  *shared // the first of them
	made    bool
	index   map[int]map[string][]int // rows by the key of a column
}

// systemRelations are those of PostgreSQL 15, with no rows. Every catalogue has copies of its own.
var systemRelations = func() []relation {
	var out []relation
	for line := range strings.SplitSeq(strings.TrimSpace(relationsText), "\n") {
		f := strings.Split(line, "\t")
		r := relation{oid: atoid(f[0]), schema: f[1], name: f[2], kind: f[3]}
		for _, c := range strings.Fields(f[4]) {
			name, t, _ := strings.Cut(c, ":")
			t, notNull := strings.CutSuffix(t, "!")
			r.cols = append(r.cols, attribute{name: name, typ: atoid(t), notNull: notNull})
		}
		out = append(out, r)
	}
	return out
}()

func (r *relation) column(name string) int {
	for i := range r.cols {
		if r.cols[i].name == name {
			return i
		}
	}
	return -1
}

// shared are the rows of a system relation that are the same in all sessions, and indexes of them.
type shared struct {
	rows  []tuple
	index map[int]map[string][]int
}

var (
	sharedMu   sync.Mutex
	sharedRows = map[string]*shared{}
)

// aboutSystem are the relations that list the system's own relations too.
var aboutSystem = map[string]bool{"pg_catalog.pg_class": true, "pg_catalog.pg_attribute": true, "pg_catalog.pg_tables": true, "pg_catalog.pg_views": true,
	"information_schema.tables": true, "information_schema.columns": true, "information_schema.views": true}

// sharedOf returns what is shared of a relation. information_schema has the name of the database in its rows.
func (c *Catalog) sharedOf(r *relation) *shared {
	id := r.schema + "." + r.name
	if r.schema == "information_schema" {
		id += " " + c.session.Database
	}
	sharedMu.Lock()
	defer sharedMu.Unlock()
	if s := sharedRows[id]; s != nil {
		return s
	}
	s := &shared{index: map[int]map[string][]int{}}
	sharedRows[id] = s
	if r.schema == "pg_catalog" {
		for _, raw := range rawRows(r.name) {
			t := make(tuple, len(r.cols))
			for i, a := range r.cols {
				if raw[i] == `\N` {
					continue
				}
				// These are PostgreSQL's own texts, made when this was built.
				if v, err := (&run{c: c}).parseStored(raw[i], a.typ); err == nil {
					t[i] = v
				}
			}
			s.rows = append(s.rows, t)
		}
	}
	if aboutSystem[r.schema+"."+r.name] {
		system := &Catalog{session: Session{Database: c.session.Database}, listed: c.relations[:len(systemRelations)]}
		contents[r.schema+"."+r.name](system, func(v values) { s.rows = append(s.rows, r.tuple(v)) })
	}
	return s
}

// data returns the rows of a system relation: the shared ones, then its own.
func (c *Catalog) data(r *relation) []tuple {
	if r.made || r.policy {
		return r.rows
	}
	r.made = true
	r.shared = c.sharedOf(r)
	r.rows = r.shared.rows
	if make, ok := contents[r.schema+"."+r.name]; ok {
		r.rows = append([]tuple(nil), r.rows...)
		make(c, func(v values) { r.rows = append(r.rows, r.tuple(v)) })
	}
	return r.rows
}

func (r *run) parseStored(s string, t uint32) (any, error) {
	r.ctx = context.Background()
	return r.parse(s, t)
}

// values are the columns of a row that are not the default: NULL where a column may be, otherwise 0, false or empty.
type values map[string]any

func (r *relation) tuple(v values) tuple {
	t := make(tuple, len(r.cols))
	for i, a := range r.cols {
		x, ok := v[a.name]
		switch x := x.(type) {
		case int:
			t[i] = int64(x)
		case uint32:
			t[i] = int64(x)
		default:
			t[i] = x
		}
		if !ok && a.notNull {
			switch class(a.typ) {
			case 'b':
				t[i] = false
			case 'n':
				t[i] = int64(0)
			case 'f':
				t[i] = float64(0)
			case 'a':
				t[i] = []any{}
			default:
				t[i] = ""
			}
		}
	}
	return t
}

// lookup returns the rows whose column has a value, by indexes that are made when first asked for.
func (c *Catalog) lookup(r *relation, col int, k []byte) []int {
	rows := c.data(r)
	n := len(r.shared.rows)
	sharedMu.Lock()
	if r.shared.index[col] == nil {
		r.shared.index[col] = indexOf(rows[:n], col, 0)
	}
	found := r.shared.index[col][string(k)]
	sharedMu.Unlock()
	if len(rows) == n {
		return found
	}
	if r.index[col] == nil {
		if r.index == nil {
			r.index = map[int]map[string][]int{}
		}
		r.index[col] = indexOf(rows[n:], col, n)
	}
	own := r.index[col][string(k)]
	switch {
	case len(found) == 0:
		return own
	case len(own) == 0:
		return found
	}
	return append(found[:len(found):len(found)], own...)
}

func indexOf(rows []tuple, col, first int) map[string][]int {
	m := make(map[string][]int, len(rows))
	var buf []byte
	for i, t := range rows {
		if t[col] != nil {
			buf = key(buf[:0], t[col])
			m[string(buf)] = append(m[string(buf)], first+i)
		}
	}
	return m
}
