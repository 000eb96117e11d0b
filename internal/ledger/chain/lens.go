package chain

import (
	"encoding/binary"
	"errors"
	"io"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// lens reads what a pen wrote, and remembers the first error, after which it returns zeros. It asks
// for no more memory than the bytes that are left could fill.
type lens struct {
	from io.Reader
	left int64 // bytes that were not read yet
	buf  []byte
	err  error
}

var errShort = errors.New("it ends too early")

// next returns the next bytes, which are good until the next call.
func (l *lens) next(n int) []byte {
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
		return make([]byte, min(n, lensful))
	}
	return l.buf[:n]
}

const lensful = 1 << 16

func (l *lens) raw(n int) string { return string(l.next(n)) }

func (l *lens) number() uint64 {
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
func (l *lens) length(least int64) int {
	n := l.number()
	if l.err == nil && n > uint64(l.left/least) {
		l.err = errShort
	}
	if l.err != nil {
		return 0
	}
	return int(n)
}

func (l *lens) text() string { return l.raw(l.length(1)) }

func (l *lens) cost() dp.Cost {
	return dp.Cost{Epsilon: dp.Amount(l.number()), Rho: dp.Amount(l.number()), Delta: dp.Amount(l.number())}
}

func (l *lens) position() ledger.Position {
	return ledger.Position{Sequence: l.number(), Hash: l.text()}
}

func (l *lens) numbers() []uint64 {
	all := make([]uint64, l.length(1))
	before := uint64(0)
	for i := range all {
		before += l.number()
		all[i] = before
	}
	return all
}

// each calls f with so many things of a width, many at a time.
func (l *lens) each(n, width int, f func(i int, b []byte)) {
	for i := 0; i < n && l.err == nil; {
		some := min(n-i, lensful/width)
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

func (l *lens) words() []uint32 {
	n := l.length(4)
	all := make([]uint32, n, n+spare)
	l.each(n, 4, func(i int, b []byte) { all[i] = binary.LittleEndian.Uint32(b) })
	return all
}

func (l *lens) paid() []uint64 {
	n := l.length(4)
	all := make([]uint64, n, n+spare)
	l.each(n, 4, func(i int, b []byte) {
		if all[i] = uint64(binary.LittleEndian.Uint32(b)); all[i] > MaxCheckpoint {
			all[i] = noCharge
		}
	})
	return all
}

func (l *lens) index() index {
	x := newIndex(0)
	x.digests = make([]digest, l.length(int64(len(digest{}))))
	l.each(len(x.digests), len(digest{}), func(i int, b []byte) { x.digests[i] = digest(b) })
	x.records = l.words()
	return x
}

func (l *lens) blocks() blocks {
	b := blocks{whole: make([][32]byte, l.length(32))}
	l.each(len(b.whole), 32, func(i int, from []byte) { b.whole[i] = [32]byte(from) })
	b.open = make([]string, 0, blockRecords)
	for range l.length(1) {
		b.open = append(b.open, l.text())
	}
	return b
}

func (l *lens) doors(d *ledger.Doors) {
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
func readMap(l *lens, f func(name string)) {
	for range l.length(2) {
		f(l.text())
		if l.err != nil {
			return
		}
	}
}
