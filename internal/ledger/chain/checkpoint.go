package chain

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// CheckpointFormat begins every checkpoint. The number of the last record follows it.
const CheckpointFormat = "discreet ledger checkpoint 2\n"

// MaxCheckpoint is the last record that a checkpoint can stand for.
const MaxCheckpoint = math.MaxUint32 - 1

// EncodeCheckpoint writes the state, in the one way in which it can be written, so that whoever
// follows the chain to the same record gets the same bytes.
//
// A checkpoint proves nothing by itself. It is believed where a note of the chain, after the record
// that it stands for, holds its hash: then whoever believes the last hash of the chain, because an
// anchor or a receipt has it, believes the checkpoint too, and to forge it takes what it takes to
// forge any other record.
func (s *State) EncodeCheckpoint(w io.Writer) error {
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
	p.lockouts(s.Incidents.lockouts.Standing())
	p.number(uint64(len(s.Incidents.asked.all)))
	for _, who := range s.Incidents.asked.all {
		p.texts(who.dataset, who.analyst)
	}
	p.words(s.Incidents.asked.by)
	p.answerOf(s.Charges.answerOf)
	p.index(s.Charges.requests)
	p.index(s.Charges.keys)
	p.blocks(&s.Blocks)
	return p.flush()
}

// decodeCheckpoint reads a state that was written by EncodeCheckpoint, of so many bytes. What it
// returns is only as good as the proof of the bytes; but whatever they are, it is a state that can
// be worked with.
func decodeCheckpoint(from io.Reader, size int64) (*State, error) {
	l := &decoder{from: from, left: size}
	if l.raw(len(CheckpointFormat)) != CheckpointFormat {
		return nil, errors.New("this is not a checkpoint of a ledger")
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
	l.lockouts(&s.Incidents.lockouts)
	s.Incidents.asked.index = map[asker]uint32{}
	for range l.length(2) {
		who := asker{l.text(), l.text()}
		s.Incidents.asked.all = append(s.Incidents.asked.all, who)
		s.Incidents.asked.index[who] = uint32(len(s.Incidents.asked.all))
	}
	s.Incidents.asked.by = l.words()
	s.Charges.answerOf = l.answerOf()
	s.Charges.requests, s.Charges.keys = l.index(), l.index()
	s.Blocks = l.blocks()
	s.unread = s.sequence
	err := s.checkWhole(l)
	if err == nil {
		s.Notes.findAnchor()
	}
	return s, err
}

// checkWhole returns an error unless a state that was read can be worked with.
func (s *State) checkWhole(l *decoder) error {
	records := s.sequence + 1
	switch {
	case l.err != nil:
		return fmt.Errorf("the checkpoint cannot be read: %w", l.err)
	case l.left != 0, s.sequence > MaxCheckpoint, s.hash == "", uint64(len(s.Charges.answerOf)) != records,
		uint64(len(s.Incidents.asked.by)) > records,
		uint64(len(s.Blocks.whole)) != records/blockRecords, uint64(len(s.Blocks.open)) != records%blockRecords,
		len(s.Charges.requests.digests) != len(s.Charges.requests.records), len(s.Charges.keys.digests) != len(s.Charges.keys.records),
		slices.ContainsFunc(s.Incidents.asked.by, func(n uint32) bool { return int(n) > len(s.Incidents.asked.all) }):
		return errors.New("the checkpoint is not complete")
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

// Sort puts the indexes into their order, which EncodeCheckpoint does otherwise each time.
func (s *State) Sort() {
	s.Charges.requests, s.Charges.keys = s.Charges.requests.sorted(), s.Charges.keys.sorted()
}

// Settle takes over the sorted indexes of an earlier clone.
func (s *State) Settle(clone *State) {
	s.Charges.requests.settle(clone.Charges.requests, clone.sequence)
	s.Charges.keys.settle(clone.Charges.keys, clone.sequence)
}

// encoder writes the parts of a checkpoint, and remembers the first error.
type encoder struct {
	to  io.Writer
	buf []byte
	err error
}

const encoderBytes = 1 << 16

func (p *encoder) flushFull() {
	if len(p.buf) >= encoderBytes {
		p.flush()
	}
}

func (p *encoder) flush() error {
	if p.err == nil {
		_, p.err = p.to.Write(p.buf)
	}
	p.buf = p.buf[:0]
	return p.err
}

func (p *encoder) raw(text string) {
	p.buf = append(p.buf, text...)
	p.flushFull()
}

func (p *encoder) number(n uint64) {
	p.buf = binary.AppendUvarint(p.buf, n)
	p.flushFull()
}

func (p *encoder) texts(all ...string) {
	for _, text := range all {
		p.number(uint64(len(text)))
		p.raw(text)
	}
}

func (p *encoder) positions(all ...ledger.Position) {
	for _, at := range all {
		p.number(at.Sequence)
		p.texts(at.Hash)
	}
}

func (p *encoder) costs(all ...dp.Cost) {
	for _, c := range all {
		p.number(uint64(c.Epsilon))
		p.number(uint64(c.Rho))
		p.number(uint64(c.Delta))
	}
}

// numbers writes sequences, which mostly rise, by their distances.
func (p *encoder) numbers(all []uint64) {
	p.number(uint64(len(all)))
	before := uint64(0)
	for _, n := range all {
		p.number(n - before)
		before = n
	}
}

func (p *encoder) words(all []uint32) {
	p.number(uint64(len(all)))
	for _, n := range all {
		p.buf = binary.LittleEndian.AppendUint32(p.buf, n)
		p.flushFull()
	}
}

func (p *encoder) answerOf(all []uint64) {
	p.number(uint64(len(all)))
	for _, n := range all {
		p.buf = binary.LittleEndian.AppendUint32(p.buf, uint32(n)) // noCharge has all bits
		p.flushFull()
	}
}

func (p *encoder) index(x index) {
	x = x.sorted()
	p.number(uint64(len(x.digests)))
	for i := range x.digests {
		p.buf = append(p.buf, x.digests[i][:]...)
		p.flushFull()
	}
	p.words(x.records)
}

func (p *encoder) blocks(b *blocks) {
	p.number(uint64(len(b.whole)))
	for i := range b.whole {
		p.buf = append(p.buf, b.whole[i][:]...)
		p.flushFull()
	}
	p.number(uint64(len(b.open)))
	p.texts(b.open...)
}

func (p *encoder) lockouts(standing []*ledger.Record) {
	p.number(uint64(len(standing)))
	for _, r := range standing {
		p.texts(r.Dataset, r.Analyst, r.Time.UTC().Format(time.RFC3339Nano))
		p.number(r.ByAnalyst)
		p.number(r.ByDataset)
	}
}

// writeMap writes a map by its sorted names.
func writeMap[V any](p *encoder, m map[string]V, value func(V)) {
	p.number(uint64(len(m)))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		p.texts(name)
		value(m[name])
	}
}

// decoder reads what an encoder wrote, and remembers the first error, after which it returns zeros.
// It asks for no more memory than the bytes that are left could fill.
type decoder struct {
	from io.Reader
	left int64 // bytes that were not read yet
	buf  []byte
	err  error
}

var errShort = errors.New("it ends too early")

// next returns the next bytes, which are good until the next call.
func (l *decoder) next(n int) []byte {
	if l.err == nil && int64(n) > l.left {
		l.err = errShort
	}
	if cap(l.buf) < n && l.err == nil {
		l.buf = make([]byte, n)
	}
	if l.err == nil {
		_, l.err = io.ReadFull(l.from, l.buf[:n])
		l.left -= int64(n)
	}
	if l.err != nil {
		return make([]byte, min(n, decoderBytes))
	}
	return l.buf[:n]
}

const decoderBytes = 1 << 16

func (l *decoder) raw(n int) string { return string(l.next(n)) }

func (l *decoder) number() uint64 {
	n := uint64(0)
	for shift := 0; shift < 64; shift += 7 {
		b := l.next(1)[0]
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return n
		}
	}
	l.err = errors.Join(l.err, errors.New("a number is too large"))
	return 0
}

// length returns how many things follow, each of which takes at least so many bytes.
func (l *decoder) length(least int64) int {
	n := l.number()
	if l.err == nil && n > uint64(l.left/least) {
		l.err = errShort
	}
	if l.err != nil {
		return 0
	}
	return int(n)
}

func (l *decoder) text() string { return l.raw(l.length(1)) }

func (l *decoder) cost() dp.Cost {
	return dp.Cost{Epsilon: dp.Amount(l.number()), Rho: dp.Amount(l.number()), Delta: dp.Amount(l.number())}
}

func (l *decoder) position() ledger.Position {
	return ledger.Position{Sequence: l.number(), Hash: l.text()}
}

func (l *decoder) numbers() []uint64 {
	all := make([]uint64, l.length(1))
	before := uint64(0)
	for i := range all {
		before += l.number()
		all[i] = before
	}
	return all
}

// each calls f with so many things of a width, many at a time.
func (l *decoder) each(n, width int, f func(i int, b []byte)) {
	for i := 0; i < n && l.err == nil; {
		some := min(n-i, decoderBytes/width)
		b := l.next(some * width)
		for j := range some {
			f(i+j, b[j*width:(j+1)*width])
		}
		i += some
	}
}

// spareRecords is for how many more records there is room, so that the first one after a checkpoint
// does not copy all others.
const spareRecords = 1 << 16

func (l *decoder) words() []uint32 {
	n := l.length(4)
	all := make([]uint32, n, n+spareRecords)
	l.each(n, 4, func(i int, b []byte) { all[i] = binary.LittleEndian.Uint32(b) })
	return all
}

func (l *decoder) answerOf() []uint64 {
	n := l.length(4)
	all := make([]uint64, n, n+spareRecords)
	l.each(n, 4, func(i int, b []byte) {
		if all[i] = uint64(binary.LittleEndian.Uint32(b)); all[i] > MaxCheckpoint {
			all[i] = noCharge
		}
	})
	return all
}

func (l *decoder) index() index {
	x := newIndex(0)
	x.digests = make([]digest, l.length(int64(len(digest{}))))
	l.each(len(x.digests), len(digest{}), func(i int, b []byte) { x.digests[i] = digest(b) })
	x.records = l.words()
	return x
}

func (l *decoder) blocks() blocks {
	b := blocks{whole: make([][32]byte, l.length(32))}
	l.each(len(b.whole), 32, func(i int, from []byte) { b.whole[i] = [32]byte(from) })
	b.open = make([]string, 0, blockRecords)
	for range l.length(1) {
		b.open = append(b.open, l.text())
	}
	return b
}

func (l *decoder) lockouts(d *ledger.Lockouts) {
	for range l.length(5) {
		r := &ledger.Record{Kind: ledger.KindIncident, Dataset: l.text(), Analyst: l.text()}
		var err error
		if r.Time, err = time.Parse(time.RFC3339Nano, l.text()); err != nil {
			l.err = errors.Join(l.err, err)
		}
		r.ByAnalyst, r.ByDataset = l.number(), l.number()
		d.Restore(r)
	}
}

// readMap reads the names of a map, and what f reads of each.
func readMap(l *decoder, f func(name string)) {
	for range l.length(2) {
		f(l.text())
		if l.err != nil {
			return
		}
	}
}
