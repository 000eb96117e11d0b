package pgwire

import (
	"fmt"

	"github.com/jackc/pgx/v5/pgproto3"
)

// simple answers a Query message: all of its statements, up to the first that fails.
func (s *session) simple(text string) error {
	s.closePortal("") // as PostgreSQL does
	s.closeStatement("")
	offset, err := s.each(text)
	if err != nil {
		if err := s.fail(err, text, offset); err != nil {
			return err
		}
	}
	if !s.block.open {
		s.endPortals(s.declared)
	}
	s.ready()
	return s.flush()
}

// each runs the statements of a text, and returns where the one is that failed.
func (s *session) each(text string) (offset int, err error) {
	all, err := split(text)
	if err != nil {
		return 0, err
	}
	if len(all) == 0 {
		s.backend.Send(&pgproto3.EmptyQueryResponse{})
		return 0, nil
	}
	s.several = len(all) > 1
	defer func() { s.several = false }()
	for _, st := range all {
		if err := s.one(st); err != nil {
			return st.from, err
		}
	}
	return 0, nil
}

// one runs a statement and sends what it returns, as text.
func (s *session) one(st *statement) error {
	if err := s.allowed(st); err != nil {
		return err
	}
	if err := s.still(); err != nil {
		return err
	}
	if err := s.route(st); err != nil {
		return err
	}
	if st.values > 0 {
		return failure("42P02", "there is no parameter $%d", st.values).hinting("parameters need the extended protocol")
	}
	r, err := s.run(st, nil)
	if err != nil {
		return err
	}
	if r.copy != nil {
		return s.sendCopy(r)
	}
	if r.columns != nil {
		s.backend.Send(describing(r.columns, r.codes))
	}
	for _, row := range r.rows {
		if err := s.send(r.columns, r.codes, row); err != nil {
			return err
		}
	}
	s.complete(r, len(r.rows))
	return nil
}

// allowed refuses everything in a block that has failed, but for its end.
func (s *session) allowed(st *statement) error {
	if s.block.failed && !ends(st.node.GetTransactionStmt()) {
		return failure(failedTransaction, "current transaction is aborted, commands ignored until end of transaction block")
	}
	return nil
}

// send sends a row, and flushes where many wait.
func (s *session) send(columns []column, codes []int16, row []any) error {
	data, err := s.encode(columns, codes, row)
	if err != nil {
		return err
	}
	s.backend.Send(data)
	for _, v := range data.Values {
		s.unsent += len(v) + 4
	}
	if s.unsent += 7; s.unsent >= flushSize {
		return s.flush()
	}
	return nil
}

// complete ends a result: with what is to be known about it, and its tag.
func (s *session) complete(r *result, rows int) {
	if r.answer != nil {
		s.remarks(r.answer)
		r.answer = nil // once
	}
	tag := r.tag
	switch tag {
	case "SELECT", "FETCH", "COPY":
		tag = fmt.Sprintf("%s %d", tag, rows)
	case "MOVE":
		tag = fmt.Sprintf("MOVE %d", r.count)
	}
	s.backend.Send(&pgproto3.CommandComplete{CommandTag: []byte(tag)})
}
