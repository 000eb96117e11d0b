package pgwire

import (
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/ident"
)

// routeCopy takes a COPY that gives the client an answer. It is the same answer in another
// encoding: what is inside is asked, paid for, remembered and held back as any SELECT is.
func (s *session) routeCopy(st *statement, n *pg.CopyStmt) error {
	switch {
	case n.IsFrom:
		return failure(readOnly, "nothing can be written here").hinting("write a SELECT of aggregates, as in SELECT count(*) FROM table")
	case n.Filename != "" || n.IsProgram:
		return failure(notPermitted, "this server writes no files and runs no programs").
			hinting("write COPY (SELECT ...) TO STDOUT; in psql, \\copy (SELECT ...) TO 'file'")
	}
	var err error
	if st.copy, err = readCopyOptions(n.Options); err != nil {
		return err
	}
	if n.Relation == nil {
		return s.enclose(st, n.Query, pg.Token_ASCII_40)
	}
	all, err := split(selectAll(n))
	if err != nil || len(all) != 1 {
		return internal()
	}
	st.inner = all[0]
	return st.moved(s.route(st.inner))
}

// selectAll is the SELECT that COPY table is short for.
func selectAll(n *pg.CopyStmt) string {
	columns := []string{}
	for _, c := range n.Attlist {
		columns = append(columns, ident.Quote(c.GetString_().GetSval()))
	}
	if len(columns) == 0 {
		columns = []string{"*"}
	}
	name := ident.Quote(n.Relation.Relname)
	if n.Relation.Schemaname != "" {
		name = ident.Quote(n.Relation.Schemaname) + "." + name
	}
	return "SELECT " + strings.Join(columns, ", ") + " FROM " + name
}

func (s *session) runCopy(st *statement, values []argument) (*result, error) {
	if len(st.copy.force) > 0 { // a column that is not there is refused before anything is paid
		if err := s.describeInner(st); err != nil {
			return nil, err
		}
		if err := st.copy.check(st.inner.columns); err != nil {
			return nil, err
		}
	}
	r, err := s.run(st.inner, values)
	if err != nil {
		return nil, st.moved(err)
	}
	r.tag, r.copy, r.count = "COPY", st.copy, len(r.rows)
	return r, nil
}

// sendCopy sends an answer as COPY does.
func (s *session) sendCopy(r *result) error {
	lines := copyEncoder{options: r.copy, columns: r.columns, types: s.typeMap}
	format := byte(0)
	if r.copy.format == binaryCopy {
		format = 1
	}
	response := &pgproto3.CopyOutResponse{OverallFormat: format, ColumnFormatCodes: make([]uint16, len(r.columns))}
	for i := range response.ColumnFormatCodes {
		response.ColumnFormatCodes[i] = uint16(format)
	}
	s.conn.send(response)
	send := func(data []byte) error {
		s.conn.send(&pgproto3.CopyData{Data: data})
		return s.reached()
	}
	if head := lines.header(); len(head) > 0 {
		if err := send(head); err != nil {
			return err
		}
	}
	for _, row := range r.rows {
		data, err := lines.row(row)
		if err == nil {
			err = send(data)
		}
		if err != nil {
			return err
		}
	}
	if tail := lines.trailer(); len(tail) > 0 {
		if err := send(tail); err != nil {
			return err
		}
	}
	s.conn.send(&pgproto3.CopyDone{})
	s.complete(r, r.count)
	return nil
}
