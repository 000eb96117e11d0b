package sqlite

import (
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/ledger"
)

// group is what is written in one transaction.
type group struct {
	*Ledger
	sequence   uint64 // the head before it
	hash       string
	links      []*chain.Link
	answers    [][]byte // by link
	log        int64    // how long the log was before it
	err        error    // why it must not be written
	unanchored error    // why nothing may be charged, although it could be written
}

// serve decides requests one after the other, makes their records durable together, and only then
// answers any of them. Also a refusal waits: it may rest on a record that the disk does not take.
// The caller has the turn.
func (l *Ledger) serve(requests []*request) {
	l.work(requests)
	for _, r := range requests {
		close(r.done)
	}
	l.shorten()
}

// work is serve without its last step, the answers.
func (l *Ledger) work(requests []*request) {
	if l.stopped() != nil {
		for _, r := range requests {
			r.err = l.stopped() // an error of its own for each
		}
		return
	}
	g := &group{Ledger: l, unanchored: l.storeAnchor(nil)}
	g.sequence, g.hash = l.state.Head()
	var decided []*request
	for _, r := range requests {
		if r.err = r.ctx.Err(); r.err == nil {
			g.decide(r)
			decided = append(decided, r)
		}
	}
	if err := g.write(); err != nil {
		failure := l.failed(g, err)
		for _, r := range decided {
			own := *failure
			r.receipt, r.err = ledger.Receipt{}, &own
		}
		return
	}
	if err := l.storeAnchor(g.links); err != nil {
		for _, r := range decided {
			if r.err == nil {
				r.receipt, r.err = ledger.Receipt{}, &ledger.WriteError{Path: l.path, Charged: true, Err: err}
			}
		}
	}
}

// decide lets a request make its records. A signer of the owner's is somebody else's code, and may
// panic.
func (g *group) decide(r *request) {
	records := len(g.links)
	defer func() {
		if p := recover(); p != nil {
			r.receipt, r.err = ledger.Receipt{}, fmt.Errorf("the entry could not be made: %v", p)
			if len(g.links) != records {
				g.err = r.err
			}
		}
	}()
	r.receipt, r.err = r.decide(g)
}

// add puts records at the end of the group. The state knows them from here on, so that the next
// request is decided after them. The answer, where there is one, belongs to the only record.
func (g *group) add(answer []byte, links ...*chain.Link) error {
	for _, k := range links {
		// What is written is read as it will be read at the next Open.
		var written ledger.Record
		err := written.Decode(k.Body)
		if err == nil {
			err = g.state.Check(&written)
		}
		if err != nil {
			g.err = fmt.Errorf("the ledger refuses its own record %d: %w", k.Record.Sequence, err)
			return g.err
		}
		g.state.Apply(&written, k.Hash)
		g.links = append(g.links, k)
		g.answers = append(g.answers, answer)
	}
	return nil
}

// read returns a record and its hash, also one of this group.
func (g *group) read(sequence uint64) (*ledger.Record, string, error) {
	if sequence > g.sequence {
		k := g.links[sequence-g.sequence-1]
		return k.Record.Clone(), k.Hash, nil
	}
	record, hash, _, err := g.Ledger.read(sequence)
	return record, hash, err
}

// write is one transaction: the records and the head, or neither.
func (g *group) write() error {
	if g.err != nil || len(g.links) == 0 {
		return g.err
	}
	if !g.marked {
		// From here on the file needs its log, and must say so before the first charge is only
		// there.
		if err := g.conn.mark(opened); err != nil {
			return err
		}
		g.marked = true
	}
	var err error
	if g.log, err = logSize(g.path); err != nil {
		return err
	}
	if _, err := g.begin.ExecContext(background); err != nil {
		return err
	}
	for i, k := range g.links {
		if _, err := g.insertRecord.ExecContext(background, int64(k.Record.Sequence), k.Body, k.Hash, g.answers[i]); err != nil {
			return err
		}
	}
	last := g.links[len(g.links)-1]
	result, err := g.updateHead.ExecContext(background, int64(last.Record.Sequence), last.Hash, int64(g.sequence), g.hash)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return errors.Join(errors.New("the head in the file is not the head of this ledger"), err)
	}
	_, err = g.commit.ExecContext(background)
	g.commits++
	return err
}
