package pgcatalog

import (
	"context"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/pgcatalog/interpret"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
	"github.com/discreet-dp/discreet/internal/planner/announce"
)

// describeViews gives the views of the policy their columns. One view may read another, in any
// order.
func (db *database) describeViews() {
	var left []*relation
	for _, r := range db.schema.declared {
		if r.kind == "v" {
			left = append(left, r)
		}
	}
	for range len(left) { // each time one at least can be read, or none ever
		left = slices.DeleteFunc(left, func(r *relation) bool {
			if slices.ContainsFunc(db.relationsRead(r), func(from *relation) bool { return slices.Contains(left, from) }) {
				return false
			}
			db.describeView(r)
			return true
		})
	}
}

// relationsRead are the relations of the policy that a view reads.
func (db *database) relationsRead(r *relation) (out []*relation) {
	s, err := interpret.Parse(viewText(r.text))
	if err != nil {
		return nil
	}
	interpret.VisitRelations(s, func(v *pg.RangeVar, ctes map[string]bool) {
		if from := db.find(v.Schemaname, v.Relname); from != nil && from.policy && !(v.Schemaname == "" && ctes[v.Relname]) {
			out = append(out, from)
		}
	})
	return out
}

func viewText(text string) string { return strings.TrimRight(strings.TrimSpace(text), "; \t\n") }

// describeView makes the columns of a view, as far as its text tells: their types, and what the
// columns that they are say of themselves.
func (db *database) describeView(r *relation) {
	r.comment = "a view; questions about it are answered with noise"
	s, err := interpret.Parse(viewText(r.text))
	if err != nil {
		return
	}
	from := db.relationsRead(r)
	if len(from) > 0 && !slices.ContainsFunc(from, func(f *relation) bool { return !f.public }) {
		r.public, r.comment = true, "a view of public tables; it can be joined to private tables"
	}
	st, err := db.prepare(context.Background(), viewText(r.text), nil, interpret.Limits{Steps: maxSteps, Bytes: maxBytes})
	if err != nil {
		r.cols = namedColumns(r, s, from)
		r.announce()
		return
	}
	for i, col := range st.Columns {
		a := attribute{name: col.Name, typ: col.OID, comment: r.columnComment()}
		if is := columnOf(s, i, col.Name, from); is != nil {
			a.comment = is.comment
		}
		r.cols = append(r.cols, a)
	}
	r.announce()
}

// announce gives the columns of a view the types that answers about it have.
func (r *relation) announce() {
	for i := range r.cols {
		at := slices.IndexFunc(r.announced, func(c announce.Column) bool { return c.Name == r.cols[i].name })
		if at < 0 {
			continue
		}
		if typ := oid.Named(r.announced[at].Type.Name); typ != 0 {
			r.cols[i].typ, r.cols[i].modifier = typ, r.announced[at].Modifier
		}
	}
}

// columnComment is what there is to say of a column of a view that is computed.
func (r *relation) columnComment() string {
	if r.public {
		return ""
	}
	return "noisy; private"
}

// namedColumns are the columns of a view whose text has something that questions can have and the
// catalogue cannot, so that types are known of plain columns alone.
func namedColumns(r *relation, s *pg.SelectStmt, from []*relation) (out []attribute) {
	for i, t := range s.TargetList {
		name := t.GetResTarget().GetName()
		a := attribute{name: name, typ: oid.Text, comment: r.columnComment()}
		if is := columnOf(s, i, name, from); is != nil {
			a.typ, a.comment = is.typ, is.comment
			if name == "" {
				a.name = is.name
			}
		}
		if a.name != "" {
			out = append(out, a)
		}
	}
	return out
}

// columnOf is the column of a table that the i-th column of a view is, or nil where it is computed
// or where that is not clear.
func columnOf(s *pg.SelectStmt, i int, name string, from []*relation) (found *attribute) {
	if s.Op != pg.SetOperation_SETOP_NONE || i >= len(s.TargetList) && len(s.TargetList) != 1 {
		return nil
	}
	fields := s.TargetList[min(i, len(s.TargetList)-1)].GetResTarget().GetVal().GetColumnRef().GetFields()
	if len(fields) == 0 {
		return nil
	}
	last := fields[len(fields)-1]
	switch {
	case last.GetAStar() == nil:
		name = last.GetString_().GetSval()
	case len(s.TargetList) > 1: // which columns it stands for decides what is behind it
		return nil
	}
	for _, r := range from {
		if k := r.column(name); k >= 0 {
			if found != nil && found.comment != r.cols[k].comment {
				return nil
			}
			found = &r.cols[k]
		}
	}
	return found
}
