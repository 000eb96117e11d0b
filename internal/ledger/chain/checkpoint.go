package chain

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// CheckpointFormat begins every checkpoint. The number of the last record follows it.
const CheckpointFormat = "discreet ledger checkpoint 2\n"

// MaxCheckpoint is the last record that a checkpoint can stand for.
const MaxCheckpoint = math.MaxUint32 - 1

// Checkpoint writes the state, in the one way in which it can be written, so that whoever follows
// the chain to the same record gets the same bytes.
//
// A checkpoint proves nothing by itself. It is believed where a note of the chain, after the record
// that it stands for, holds its hash: then whoever believes the last hash of the chain, because an
// anchor or a receipt has it, believes the checkpoint too, and to forge it takes what it takes to
// forge any other record.
func (s *State) Checkpoint(w io.Writer) error {
	if s.sequence > MaxCheckpoint || s.hash == "" {
		return errors.New("there is no checkpoint of this ledger")
	}
	p := &encoder{to: w}
	p.raw(CheckpointFormat)
	p.number(s.sequence)
	p.texts(s.hash, s.identity, s.Owner.key, s.Notes.era)
	for _, n := range []uint64{s.Notes.eraBegan, s.renewed, s.Charges.answers, s.Charges.charges} {
		p.number(n)
	}
	writeMap(p, s.Accounts.spent, func(b *ledger.Balance) { p.costs(b.Limit, b.Granted, b.Spent) })
	writeMap(p, s.Accounts.granted, func(c dp.Cost) { p.costs(c) })
	writeMap(p, s.Accounts.first, func(c dp.Cost) { p.costs(c) })
	writeMap(p, s.windows, p.number)
	writeMap(p, s.Incidents.crashed, p.number)
	writeMap(p, s.versions, func(v versions) {
		p.texts(v.last)
		p.number(v.since)
		p.index(index{since: v.numbers})
	})
	writeMap(p, s.Notes.bySession, p.numbers)
	p.numbers(slices.Sorted(maps.Keys(s.Incidents.failed)))
	p.numbers(slices.Sorted(maps.Keys(s.Incidents.sessions)))
	p.numbers(s.Owner.decided.all)
	p.positions(s.Owner.decided.last, s.Owner.decided.seen)
	p.doors(s.Incidents.doors.Standing())
	p.number(uint64(len(s.Incidents.asked.all)))
	for _, who := range s.Incidents.asked.all {
		p.texts(who.dataset, who.analyst)
	}
	p.words(s.Incidents.asked.by)
	p.paid(s.Charges.answerOf)
	p.index(s.Charges.requests)
	p.index(s.Charges.keys)
	p.blocks(&s.Blocks)
	return p.flush()
}

// ReadCheckpoint reads a state that was written by [State.Checkpoint], of so many bytes. What it
// returns is only as good as the proof of the bytes; but whatever they are, it is a state that can
// be worked with.
func ReadCheckpoint(from io.Reader, size int64) (*State, error) {
	l := &decoder{from: from, left: size}
	if l.raw(len(CheckpointFormat)) != CheckpointFormat {
		return nil, errors.New("this is no checkpoint of a ledger")
	}
	s := New()
	s.sequence = l.number()
	for _, text := range []*string{&s.hash, &s.identity, &s.Owner.key, &s.Notes.era} {
		*text = l.text()
	}
	for _, n := range []*uint64{&s.Notes.eraBegan, &s.renewed, &s.Charges.answers, &s.Charges.charges} {
		*n = l.number()
	}
	readMap(l, func(name string) {
		s.Accounts.spent[name] = &ledger.Balance{Account: name, Limit: l.cost(), Granted: l.cost(), Spent: l.cost()}
	})
	readMap(l, func(name string) { s.Accounts.granted[name] = l.cost() })
	readMap(l, func(name string) { s.Accounts.first[name] = l.cost() })
	readMap(l, func(name string) { s.windows[name] = l.number() })
	readMap(l, func(name string) { s.Incidents.crashed[name] = l.number() })
	readMap(l, func(name string) {
		v := versions{last: l.text(), since: l.number(), numbers: map[digest]uint64{}}
		x := l.index()
		for i, d := range x.digests {
			v.numbers[d] = uint64(x.records[i])
		}
		s.versions[name] = v
	})
	readMap(l, func(name string) {
		if s.Notes.bySession[name] = l.numbers(); len(s.Notes.bySession[name]) == 0 {
			l.err = errors.Join(l.err, errors.New("a session has no notes"))
		}
	})
	for _, n := range l.numbers() {
		s.Incidents.failed[n] = true
	}
	for _, n := range l.numbers() {
		s.Incidents.sessions[n] = true
	}
	s.Owner.decided = decisions{all: l.numbers(), last: l.position(), seen: l.position()}
	l.doors(&s.Incidents.doors)
	s.Incidents.asked.index = map[asker]uint32{}
	for range l.length(2) {
		who := asker{l.text(), l.text()}
		s.Incidents.asked.all = append(s.Incidents.asked.all, who)
		s.Incidents.asked.index[who] = uint32(len(s.Incidents.asked.all))
	}
	s.Incidents.asked.by = l.words()
	s.Charges.answerOf = l.paid()
	s.Charges.requests, s.Charges.keys = l.index(), l.index()
	s.Blocks = l.blocks()
	s.unread = s.sequence
	err := s.whole(l)
	if err == nil {
		s.Notes.findAnchor()
	}
	return s, err
}

// whole returns an error unless a state that was read can be worked with.
func (s *State) whole(l *decoder) error {
	records := s.sequence + 1
	switch {
	case l.err != nil:
		return fmt.Errorf("the checkpoint cannot be read: %w", l.err)
	case l.left != 0, s.sequence > MaxCheckpoint, s.hash == "", uint64(len(s.Charges.answerOf)) != records, uint64(len(s.Incidents.asked.by)) > records,
		uint64(len(s.Blocks.whole)) != records/blockRecords, uint64(len(s.Blocks.open)) != records%blockRecords,
		len(s.Charges.requests.digests) != len(s.Charges.requests.records), len(s.Charges.keys.digests) != len(s.Charges.keys.records),
		slices.ContainsFunc(s.Incidents.asked.by, func(n uint32) bool { return int(n) > len(s.Incidents.asked.all) }):
		return errors.New("the checkpoint is not whole")
	}
	return nil
}

// Unread returns the last record that a checkpoint stands for, 0 where all were read.
func (s *State) Unread() uint64 { return s.unread }

// Clone returns a state that does not change with this one.
func (s *State) Clone() *State {
	c := *s
	c.Accounts, c.Charges, c.Notes, c.Incidents = s.Accounts.clone(), s.Charges.clone(), s.Notes.clone(), s.Incidents.clone()
	c.Owner.decided.all = slices.Clone(s.Owner.decided.all)
	c.Blocks = blocks{slices.Clone(s.Blocks.whole), slices.Clone(s.Blocks.open)}
	c.windows, c.versions = maps.Clone(s.windows), s.versions.clone()
	return &c
}

// Sort puts the indexes into their order, which Checkpoint does otherwise each time.
func (s *State) Sort() {
	s.Charges.requests, s.Charges.keys = s.Charges.requests.sorted(), s.Charges.keys.sorted()
}

// Settle takes over the sorted indexes of an earlier clone.
func (s *State) Settle(clone *State) {
	s.Charges.requests.settle(clone.Charges.requests, clone.sequence)
	s.Charges.keys.settle(clone.Charges.keys, clone.sequence)
}
