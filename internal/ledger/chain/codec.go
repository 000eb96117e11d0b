package chain

import (
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// encoder writes the parts of a checkpoint, and remembers the first error.
type encoder struct {
	to  io.Writer
	buf []byte
	err error
}

const encoderBytes = 1 << 16

func (p *encoder) room() {
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
	p.room()
}

func (p *encoder) number(n uint64) {
	p.buf = binary.AppendUvarint(p.buf, n)
	p.room()
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
		p.room()
	}
}

func (p *encoder) paid(all []uint64) {
	p.number(uint64(len(all)))
	for _, n := range all {
		p.buf = binary.LittleEndian.AppendUint32(p.buf, uint32(n)) // noCharge has all bits
		p.room()
	}
}

func (p *encoder) index(x index) {
	x = x.sorted()
	p.number(uint64(len(x.digests)))
	for i := range x.digests {
		p.buf = append(p.buf, x.digests[i][:]...)
		p.room()
	}
	p.words(x.records)
}

func (p *encoder) blocks(b *blocks) {
	p.number(uint64(len(b.whole)))
	for i := range b.whole {
		p.buf = append(p.buf, b.whole[i][:]...)
		p.room()
	}
	p.number(uint64(len(b.open)))
	p.texts(b.open...)
}

func (p *encoder) doors(standing []*ledger.Record) {
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

// decoder reads what a encoder wrote, and remembers the first error, after which it returns zeros. It asks
// for no more memory than the bytes that are left could fill.
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

// spare is for how many more records there is room, so that the first one after a checkpoint does
// not copy all others.
const spare = 1 << 16

func (l *decoder) words() []uint32 {
	n := l.length(4)
	all := make([]uint32, n, n+spare)
	l.each(n, 4, func(i int, b []byte) { all[i] = binary.LittleEndian.Uint32(b) })
	return all
}

func (l *decoder) paid() []uint64 {
	n := l.length(4)
	all := make([]uint64, n, n+spare)
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

func (l *decoder) doors(d *ledger.Doors) {
	for range l.length(5) {
		r := &ledger.Record{Kind: ledger.KindIncident, Dataset: l.text(), Analyst: l.text()}
		var err error
		if r.Time, err = time.Parse(time.RFC3339Nano, l.text()); err != nil {
			l.err = errors.Join(l.err, err)
		}
		r.ByAnalyst, r.ByDataset = l.number(), l.number()
		d.Stand(r)
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
