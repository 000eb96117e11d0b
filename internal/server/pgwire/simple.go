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
	all, err := s.read(text)
	if err != nil {
		return 0, err
	}
	if len(all) == 0 {
		s.conn.send(&pgproto3.EmptyQueryResponse{})
		return 0, nil
	}
	trees := wordSize * all[0].words // which are there until the last statement is done
	if err := s.borrow(trees); err != nil {
		return 0, err
	}
	defer s.giveBack(trees)
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
	if !r.shared {
		size := r.size()
		if err := s.share.Take(size); err != nil {
			return full(err)
		}
		defer s.share.Give(size)
	}
	return s.sending(r.rows, func() error { return s.sendResult(r) })
}

func (s *session) sendResult(r *result) error {
	if r.copy != nil {
		return s.sendCopy(r)
	}
	if r.columns != nil {
		s.conn.send(describing(r.columns, r.codes))
	}
	if err := s.sendRows(r.columns, r.codes, r.rows); err != nil {
		return err
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

func (s *session) sendRows(columns []column, codes []int16, rows [][]any) error {
	for _, row := range rows {
		data, err := s.encode(columns, codes, row)
		if err != nil {
			return err
		}
		if s.conn.send(data); s.conn.lost != nil {
			return errSilent
		}
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
	s.conn.send(&pgproto3.CommandComplete{CommandTag: []byte(tag)})
}
