package postgres

import (
	"errors"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/ledger"
)

// Import makes a new ledger of the records of another one, where there is none. What it wrote is
// for the caller to verify.
func Import(address string, lines iter.Seq2[chain.Stored, error]) error {
	p, err := parse(address)
	if err != nil {
		return err
	}
	c, err := p.dial(background)
	if err != nil {
		return fmt.Errorf("the ledger %s cannot be written: %w", p.name, p.said(err))
	}
	defer hangUp(c)
	// Who is copied from may be slow.
	if _, err := c.Exec(background, "SET idle_in_transaction_session_timeout = 0; SET statement_timeout = 0"); err != nil {
		return p.said(err)
	}
	filled := false
	err = p.fill(background, c, func(tx pgx.Tx) error {
		filled = true
		return p.copyIn(tx, lines)
	})
	if err == nil && !filled {
		return fmt.Errorf("there is a ledger at %s already, and it is not replaced", p.name)
	}
	if err != nil && !damaged(err) {
		err = fmt.Errorf("the ledger %s cannot be written: %w", p.name, p.said(err))
	}
	return err
}

// copyIn writes the records and the head.
func (p *place) copyIn(tx pgx.Tx, lines iter.Seq2[chain.Stored, error]) error {
	next, stop := iter.Pull2(lines)
	defer stop()
	var head ledger.Position
	n := 0
	_, err := tx.CopyFrom(background, pgx.Identifier{p.schema, "records"}, []string{"sequence", "body", "hash", "answer", "server"},
		pgx.CopyFromFunc(func() ([]any, error) {
			s, err, more := next()
			if !more || err != nil {
				return nil, err
			}
			n++
			head = ledger.Position{Sequence: s.Record.Sequence, Hash: s.Hash}
			return []any{int64(head.Sequence), []byte(s.Body), s.Hash, s.Answer, int64(0)}, nil
		}))
	if err == nil && n == 0 {
		err = errors.New("there are no records")
	}
	if err == nil {
		_, err = tx.Exec(background, p.in(insertHead), format, int64(head.Sequence), head.Hash)
	}
	return err
}
