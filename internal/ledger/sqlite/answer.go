package sqlite

import (
	"fmt"

	"github.com/discreet-dp/discreet/ledger"
)

// Read returns a record, its hash and its answer, all checked.
func (l *Ledger) Read(sequence uint64) (*ledger.Record, string, []byte, error) {
	var body, hash string
	var answer []byte
	where := fmt.Sprintf("record %d cannot be read", sequence)
	if err := l.selectRecord.QueryRowContext(background, sequence).Scan(&body, &hash, &answer); err != nil {
		return nil, "", nil, corrupt(l.Path, where, err)
	}
	record := new(ledger.Record)
	err := record.Read(body, hash, hashOf(answer))
	if err == nil && record.Sequence != sequence {
		err = fmt.Errorf("it is record %d", record.Sequence)
	}
	if err == nil {
		err = l.prove(sequence, hash)
	}
	if err != nil {
		return nil, "", nil, &ledger.CorruptError{Path: l.Path, Where: where, Err: err}
	}
	return record, hash, answer, nil
}
