package pgwire

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
)

// view is what a CREATE TEMPORARY VIEW says beside its SELECT.
type view struct {
	name    string
	columns []string // names for the first of its columns
}

// routeView takes CREATE TEMPORARY VIEW, with which tools learn the columns of a SELECT: it is
// described, which is free, and stands in the session's own catalogue. It is never asked by its
// name, so that a question has one text, which says all of it.
func (s *session) routeView(st *statement, n *pg.ViewStmt) error {
	if n.View.GetRelpersistence() != "t" {
		return refused(&pg.Node{Node: &pg.Node_ViewStmt{ViewStmt: n}})
	}
	st.view = view{name: n.View.GetRelname()}
	for _, a := range n.Aliases {
		st.view.columns = append(st.view.columns, a.GetString_().GetSval())
	}
	return s.enclose(st, n.Query, pg.Token_AS)
}

func (s *session) runView(st *statement) (*result, error) {
	if err := s.describeInner(st); err != nil {
		return nil, err
	}
	if len(st.view.columns) > len(st.inner.columns) {
		return nil, failure(syntaxError, "the view has more names than columns")
	}
	var columns []datum.Column
	for i, c := range st.inner.columns {
		if i < len(st.view.columns) {
			c.name = st.view.columns[i]
		}
		columns = append(columns, datum.Column{Name: c.name, OID: c.oid})
	}
	if err := s.catalog.AddView(st.view.name, st.inner.sql(), columns); err != nil {
		return nil, err
	}
	if err := s.recountViews(); err != nil {
		s.dropViews(st.view.name)
		return nil, err
	}
	return &result{tag: "CREATE VIEW"}, nil
}

// recountViews counts what the temporary views take.
func (s *session) recountViews() error {
	size := s.catalog.ViewBytes()
	if err := s.keep(size - s.viewBytes); err != nil {
		return err
	}
	s.viewBytes = size
	return nil
}

// dropViews drops temporary views, all where none is named.
func (s *session) dropViews(names ...string) (found bool) {
	found = s.catalog.DropViews(names...)
	s.recountViews() // which can only be less
	return found
}

// routeDrop takes DROP VIEW of temporary views.
func (s *session) routeDrop(st *statement, n *pg.DropStmt) error {
	if n.RemoveType != pg.ObjectType_OBJECT_VIEW {
		return refused(st.node)
	}
	st.kind = dropping
	return nil
}

func (s *session) runDrop(n *pg.DropStmt) (*result, error) {
	for _, o := range n.Objects {
		parts := o.GetList().GetItems()
		name := parts[len(parts)-1].GetString_().GetSval()
		switch {
		case s.dropViews(name):
		case !n.MissingOk:
			return nil, failure(readOnly, "there is no temporary view %q, and nothing else can be dropped here", clip(name))
		}
	}
	return &result{tag: "DROP VIEW"}, nil
}

// asksView refuses a question about a temporary view.
func (s *session) asksView(n *pg.SelectStmt) error {
	if name := s.catalog.ReadsTemporary(n); name != "" {
		return failure(notSupported, "the temporary view %q is there to be looked at, and not to be asked", clip(name)).
			hinting("write its SELECT in FROM, or in WITH")
	}
	return nil
}
