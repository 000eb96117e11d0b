package desk

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/ledger"
)

// Group is what is written in one transaction.
type Group struct {
	*Desk
	Sequence uint64 // the head before it
	Hash     string
	Links    []*chain.Link
	Answers  [][]byte // by link

	err        error // why it must not be written
	unanchored error // why nothing may be charged, although it could be written
}

// NewGroup begins a group after the last record.
func (d *Desk) NewGroup() *Group {
	g := &Group{Desk: d}
	g.Sequence, g.Hash = d.State.Head()
	return g
}

// serve decides requests one after the other, makes their records durable together, and only then
// answers any of them. Also a refusal waits: it may rest on a record that the disk does not take.
// The caller has the turn.
func (d *Desk) serve(requests []*request) {
	d.work(requests)
	for _, r := range requests {
		close(r.done)
	}
	d.store.Served()
}

// work is serve without its last step, the answers.
func (d *Desk) work(requests []*request) {
	if d.Stopped() != nil {
		for _, r := range requests {
			r.err = d.Stopped() // an error of its own for each
		}
		return
	}
	// An anchor that could not be stored is tried again before anybody else has to wait for us.
	unanchored := d.store.Anchor(nil)
	if failure := d.store.Begin(); failure != nil {
		refuse(requests, failure)
		return
	}
	g := d.NewGroup()
	g.unanchored = unanchored
	var decided []*request
	for _, r := range requests {
		if r.err = r.ctx.Err(); r.err == nil {
			g.decide(r)
			decided = append(decided, r)
		}
	}
	err := g.err
	if err == nil {
		err = d.store.Write(g)
	}
	if err != nil {
		refuse(decided, d.store.Failed(g, err))
		return
	}
	if err := d.store.Anchor(g.Links); err != nil {
		for _, r := range decided {
			if r.err == nil {
				r.receipt, r.err = ledger.Receipt{}, &ledger.WriteError{Path: d.Path, Charged: true, Err: err}
			}
		}
	}
}

// refuse gives everybody the same failure, in an error of their own.
func refuse(requests []*request, failure *ledger.WriteError) {
	for _, r := range requests {
		own := *failure
		r.receipt, r.err = ledger.Receipt{}, &own
	}
}

// decide lets a request make its records. A signer of the owner's is somebody else's code, and may
// panic.
func (g *Group) decide(r *request) {
	records := len(g.Links)
	defer func() {
		if p := recover(); p != nil {
			r.receipt, r.err = ledger.Receipt{}, fmt.Errorf("the entry could not be made: %v", p)
			if len(g.Links) != records {
				g.err = r.err
			}
		}
	}()
	r.receipt, r.err = r.decide(g)
}

// Add puts records at the end of the group. The state knows them from here on, so that the next
// request is decided after them. The answer, where there is one, belongs to the only record.
func (g *Group) Add(answer []byte, links ...*chain.Link) error {
	for _, k := range links {
		// What is written is read as it will be read at the next Open.
		var written ledger.Record
		err := written.Decode(k.Body)
		if err == nil {
			err = g.State.Check(&written)
		}
		if err != nil {
			g.err = fmt.Errorf("the ledger refuses its own record %d: %w", k.Record.Sequence, err)
			return g.err
		}
		g.State.Apply(&written, k.Hash)
		g.Links = append(g.Links, k)
		g.Answers = append(g.Answers, answer)
	}
	return nil
}

// read returns a record and its hash, also one of this group.
func (g *Group) read(sequence uint64) (*ledger.Record, string, error) {
	if sequence > g.Sequence {
		k := g.Links[sequence-g.Sequence-1]
		return k.Record.Clone(), k.Hash, nil
	}
	record, hash, _, err := g.store.Read(sequence)
	return record, hash, err
}
