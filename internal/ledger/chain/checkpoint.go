package chain

import (
	"cmp"
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
	p := &pen{to: w}
	p.raw(CheckpointFormat)
	p.number(s.sequence)
	p.texts(s.hash, s.identity, s.owner, s.era)
	for _, n := range []uint64{s.eraBegan, s.renewed, s.answers, s.charges} {
		p.number(n)
	}
	writeMap(p, s.spent, func(b *ledger.Balance) { p.costs(b.Limit, b.Granted, b.Spent) })
	writeMap(p, s.granted, func(c dp.Cost) { p.costs(c) })
	writeMap(p, s.first, func(c dp.Cost) { p.costs(c) })
	writeMap(p, s.windows, p.number)
	writeMap(p, s.crashed, p.number)
	writeMap(p, s.versions, func(v versions) {
		p.texts(v.last)
		p.number(v.since)
		p.index(index{since: v.numbers})
	})
	writeMap(p, s.notes, p.numbers)
	p.numbers(slices.Sorted(maps.Keys(s.failed)))
	p.numbers(slices.Sorted(maps.Keys(s.sessions)))
	p.numbers(s.decided.all)
	p.positions(s.decided.last, s.decided.seen)
	p.doors(s.doors.Standing())
	p.number(uint64(len(s.asked.all)))
	for _, who := range s.asked.all {
		p.texts(who.dataset, who.analyst)
	}
	p.words(s.asked.by)
	p.paid(s.paid)
	p.index(s.requests)
	p.index(s.keys)
	p.blocks(&s.blocks)
	return p.flush()
}

// ReadCheckpoint reads a state that was written by [State.Checkpoint], of so many bytes. What it
// returns is only as good as the proof of the bytes; but whatever they are, it is a state that can
// be worked with.
func ReadCheckpoint(from io.Reader, size int64) (*State, error) {
	l := &lens{from: from, left: size}
	if l.raw(len(CheckpointFormat)) != CheckpointFormat {
		return nil, errors.New("this is no checkpoint of a ledger")
	}
	s := New()
	s.sequence = l.number()
	for _, text := range []*string{&s.hash, &s.identity, &s.owner, &s.era} {
		*text = l.text()
	}
	for _, n := range []*uint64{&s.eraBegan, &s.renewed, &s.answers, &s.charges} {
		*n = l.number()
	}
	readMap(l, func(name string) {
		s.spent[name] = &ledger.Balance{Account: name, Limit: l.cost(), Granted: l.cost(), Spent: l.cost()}
	})
	readMap(l, func(name string) { s.granted[name] = l.cost() })
	readMap(l, func(name string) { s.first[name] = l.cost() })
	readMap(l, func(name string) { s.windows[name] = l.number() })
	readMap(l, func(name string) { s.crashed[name] = l.number() })
	readMap(l, func(name string) {
		v := versions{last: l.text(), since: l.number(), numbers: map[digest]uint64{}}
		x := l.index()
		for i, d := range x.digests {
			v.numbers[d] = uint64(x.records[i])
		}
		s.versions[name] = v
	})
	readMap(l, func(name string) {
		if s.notes[name] = l.numbers(); len(s.notes[name]) == 0 {
			l.err = errors.Join(l.err, errors.New("a session has no notes"))
		}
	})
	for _, n := range l.numbers() {
		s.failed[n] = true
	}
	for _, n := range l.numbers() {
		s.sessions[n] = true
	}
	s.decided = decisions{all: l.numbers(), last: l.position(), seen: l.position()}
	l.doors(&s.doors)
	s.asked.place = map[asker]uint32{}
	for range l.length(2) {
		who := asker{l.text(), l.text()}
		s.asked.all = append(s.asked.all, who)
		s.asked.place[who] = uint32(len(s.asked.all))
	}
	s.asked.by = l.words()
	s.paid = l.paid()
	s.requests, s.keys = l.index(), l.index()
	s.blocks = l.blocks()
	s.unread = s.sequence
	err := s.whole(l)
	if err == nil {
		s.findAnchor()
	}
	return s, err
}

// whole returns an error unless a state that was read can be worked with.
func (s *State) whole(l *lens) error {
	records := s.sequence + 1
	switch {
	case l.err != nil:
		return fmt.Errorf("the checkpoint cannot be read: %w", l.err)
	case l.left != 0, s.sequence > MaxCheckpoint, s.hash == "", uint64(len(s.paid)) != records, uint64(len(s.asked.by)) > records,
		uint64(len(s.blocks.whole)) != records/blockRecords, uint64(len(s.blocks.open)) != records%blockRecords,
		len(s.requests.digests) != len(s.requests.records), len(s.keys.digests) != len(s.keys.records),
		slices.ContainsFunc(s.asked.by, func(n uint32) bool { return int(n) > len(s.asked.all) }):
		return errors.New("the checkpoint is not whole")
	}
	return nil
}

// Unread returns the last record that a checkpoint stands for, 0 where all were read.
func (s *State) Unread() uint64 { return s.unread }

// Clone returns a state that does not change with this one.
func (s *State) Clone() *State {
	c := *s
	c.spent = make(map[string]*ledger.Balance, len(s.spent))
	for name, b := range s.spent {
		own := *b
		c.spent[name] = &own
	}
	c.versions = make(map[string]versions, len(s.versions))
	for name, v := range s.versions {
		v.numbers = maps.Clone(v.numbers)
		c.versions[name] = v
	}
	c.granted, c.first, c.windows, c.crashed = maps.Clone(s.granted), maps.Clone(s.first), maps.Clone(s.windows), maps.Clone(s.crashed)
	c.notes, c.failed, c.sessions = maps.Clone(s.notes), maps.Clone(s.failed), maps.Clone(s.sessions) // notes are only appended to
	c.requests.since, c.keys.since = maps.Clone(s.requests.since), maps.Clone(s.keys.since)
	c.paid, c.decided.all, c.protects = slices.Clone(s.paid), slices.Clone(s.decided.all), slices.Clone(s.protects)
	c.asked = askers{slices.Clone(s.asked.by), slices.Clone(s.asked.all), maps.Clone(s.asked.place)}
	c.blocks = blocks{slices.Clone(s.blocks.whole), slices.Clone(s.blocks.open)}
	c.doors = ledger.Doors{}
	for _, r := range s.doors.Standing() {
		c.doors.Stand(r)
	}
	return &c
}

// Sort puts the indexes into their order, which Checkpoint does otherwise each time.
func (s *State) Sort() { s.requests, s.keys = s.requests.sorted(), s.keys.sorted() }

// Settle takes over the sorted indexes of an earlier clone.
func (s *State) Settle(clone *State) {
	s.requests.settle(clone.requests, clone.sequence)
	s.keys.settle(clone.keys, clone.sequence)
}

// CheckSigned verifies every signature that raised a limit once more, and returns an error unless
// what the state says of the owner and of top-ups follows from these records alone. So not even
// whoever can write the whole file anew tops up without the owner's key.
func (s *State) CheckSigned(read func(sequence uint64) (*ledger.Record, error)) error {
	t := New()
	for _, n := range s.decided.all {
		r, err := read(n)
		if err == nil && (r.Kind == ledger.KindOwner || r.Kind == ledger.KindTopUp) {
			err = t.checkSignature(r)
		}
		if err != nil {
			return fmt.Errorf("record %d: %w", n, err)
		}
		switch r.Kind {
		case ledger.KindOwner:
			t.owner = r.PublicKey
		case ledger.KindRecovery:
			t.owner = cmp.Or(t.owner, r.PublicKey)
		case ledger.KindTopUp:
			for _, name := range r.Accounts {
				t.granted[name] = t.granted[name].Add(r.Cost)
			}
		}
		t.decided.add(r, ledger.Hash(r.Encode()))
	}
	if !slices.Equal(t.decided.all, s.decided.all) || len(s.decided.all) > 0 && t.decided.last != s.decided.last {
		return errors.New("what the owner decided last does not follow from the records")
	}
	if t.owner != s.owner || !maps.Equal(t.granted, s.granted) {
		return errors.New("what top-ups granted does not follow from what was signed")
	}
	return nil
}
