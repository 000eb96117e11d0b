package pgcatalog

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/interpret"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
	"github.com/discreet-dp/discreet/internal/planner/announce"
)

// relation is a table or view: of the system, or one of the policy's, which has columns here and no
// rows.
type relation struct {
	db     *database
	oid    uint32
	schema string
	name   string
	kind   string // r table, v view
	cols   []attribute
	policy bool // one of the policy's
	public bool // of public tables alone
	// temporary: a view that the session made.
	temporary bool
	rowType   uint32
	arrType   uint32
	text      string            // of a view
	announced []announce.Column // of a view, as answers have them
	comment   string
	rows      []datum.Tuple // of a system relation, when made
	shared    *shared       // the first of them
	made      bool
	index     map[int]index
}

type attribute struct {
	name    string
	typ     uint32 // as declared, which may be a domain
	notNull bool
	comment string
	// modifier is that of the type, as of numeric(10,2); 0 where it has none.
	modifier int32
}

// index are rows by the key of a column.
type index map[string][]datum.Tuple

//go:embed data/relations.tsv
var relationsText string

// systemRelations are those of PostgreSQL 15, with no rows. Every catalogue has copies of its own.
var systemRelations = func() []relation {
	var out []relation
	for line := range strings.SplitSeq(strings.TrimSpace(relationsText), "\n") {
		f := strings.Split(line, "\t")
		// PostgreSQL gives their types of rows such numbers, and others each time.
		rowType := uint32(firstSystemType + 2*len(out))
		r := relation{oid: oid.Parse(f[0]), schema: f[1], name: f[2], kind: f[3], rowType: rowType, arrType: rowType + 1}
		for _, c := range strings.Fields(f[4]) {
			name, t, _ := strings.Cut(c, ":")
			t, notNull := strings.CutSuffix(t, "!")
			r.cols = append(r.cols, attribute{name: name, typ: oid.Parse(t), notNull: notNull})
		}
		out = append(out, r)
	}
	return out
}()

const firstSystemType = 10000

// systemTypes are the types of rows of the system's relations, and of arrays of them.
var systemTypes = func() (out oid.Types) {
	for i := range systemRelations {
		out = append(out, systemRelations[i].types()...)
	}
	return out
}()

// types are the type of the rows of a relation, and that of arrays of them.
func (r *relation) types() oid.Types {
	schema := oid.Schema(r.schema)
	return oid.Types{{OID: r.rowType, Name: r.name, Schema: schema, Form: "c", Category: "C", Array: r.arrType},
		{OID: r.arrType, Name: "_" + datum.Truncate(r.name, 62), Schema: schema, Form: "b", Category: "A", Elem: r.rowType}}
}

// column is the place of a column, or -1.
func (r *relation) column(name string) int {
	return slices.IndexFunc(r.cols, func(a attribute) bool { return a.name == name })
}

// Heading is what the interpreter knows before it reads a relation. A system table's rows are
// determined by their oid.
func (r *relation) Heading() interpret.Heading {
	h := interpret.Heading{OID: r.oid, Schema: r.schema, Key: -1, Readable: !r.policy}
	for _, a := range r.cols {
		h.Columns = append(h.Columns, datum.Column{Name: a.name, OID: oid.Base(a.typ)})
	}
	if r.kind == "r" {
		h.Key = r.column("oid")
	}
	return h
}

// Rows are the rows of a system relation: the shared ones, then its own.
func (r *relation) Rows() []datum.Tuple {
	if r.made || r.policy {
		return r.rows
	}
	r.made = true
	r.shared = r.sharedRows()
	r.rows = r.shared.rows
	if make := r.content(); make != nil {
		r.rows = slices.Clone(r.rows)
		make(r.db, func(v row) { r.rows = append(r.rows, r.tuple(v)) })
	}
	return r.rows
}

func (r *relation) resetRows() { r.rows, r.made, r.index = nil, false, nil }

// Find are the rows whose column has a value, by indexes that are made when first asked for.
func (r *relation) Find(col int, key []byte) []datum.Tuple {
	rows := r.Rows()
	found := r.shared.find(col, key)
	n := len(r.shared.rows)
	if len(rows) == n {
		return found
	}
	if r.index[col] == nil {
		if r.index == nil {
			r.index = map[int]index{}
		}
		r.index[col] = newIndex(rows[n:], col)
	}
	return append(found[:len(found):len(found)], r.index[col][string(key)]...)
}

func newIndex(rows []datum.Tuple, col int) index {
	m := make(index, len(rows))
	var key []byte
	for _, t := range rows {
		if t[col] != nil {
			key = datum.Key(key[:0], t[col])
			m[string(key)] = append(m[string(key)], t)
		}
	}
	return m
}

// row are the columns of a row that are not the default: NULL where a column may be, otherwise 0,
// false or empty. They are written as PostgreSQL writes them, and get the types of their columns.
type row map[string]string

func (r *relation) tuple(v row) datum.Tuple {
	t := make(datum.Tuple, len(r.cols))
	for i, a := range r.cols {
		s, ok := v[a.name]
		switch {
		case !ok && a.notNull:
			t[i] = zero(a.typ)
		case ok && oid.KindOf(a.typ) == oid.KindText:
			t[i] = datum.Text(s)
		case ok:
			t[i], _ = interpret.ParseValue(r.db, s, a.typ) // it is one of its type
		}
	}
	return t
}

// zero is what a column that is not NULL has where nothing is said.
func zero(t uint32) datum.Value {
	switch oid.KindOf(t) {
	case oid.KindBool:
		return datum.False
	case oid.KindInt:
		return datum.Int(0)
	case oid.KindFloat:
		if t == oid.Numeric {
			return datum.Numeric{}
		}
		return datum.Float(0)
	case oid.KindList:
		return datum.List{}
	}
	return datum.Text("")
}

// number, truth and array write values as PostgreSQL does.
func number[N int | int32 | uint32](n N) string { return strconv.FormatInt(int64(n), 10) }

func truth(b bool) string { return strconv.FormatBool(b)[:1] }

func array(items ...string) string {
	for i, s := range items {
		items[i] = `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(s) + `"`
	}
	return "{" + strings.Join(items, ",") + "}"
}
