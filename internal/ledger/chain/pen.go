package chain

import (
	"encoding/binary"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// pen writes the parts of a checkpoint, and remembers the first error.
type pen struct {
	to  io.Writer
	buf []byte
	err error
}

const penful = 1 << 16

func (p *pen) room() {
	if len(p.buf) >= penful {
		p.flush()
	}
}

func (p *pen) flush() error {
	if p.err == nil {
		_, p.err = p.to.Write(p.buf)
	}
	p.buf = p.buf[:0]
	return p.err
}

func (p *pen) raw(text string) {
	p.buf = append(p.buf, text...)
	p.room()
}

func (p *pen) number(n uint64) {
	p.buf = binary.AppendUvarint(p.buf, n)
	p.room()
}

func (p *pen) texts(all ...string) {
	for _, text := range all {
		p.number(uint64(len(text)))
		p.raw(text)
	}
}

func (p *pen) positions(all ...ledger.Position) {
	for _, at := range all {
		p.number(at.Sequence)
		p.texts(at.Hash)
	}
}

func (p *pen) costs(all ...dp.Cost) {
	for _, c := range all {
		p.number(uint64(c.Epsilon))
		p.number(uint64(c.Rho))
		p.number(uint64(c.Delta))
	}
}

// numbers writes sequences, which mostly rise, by their distances.
func (p *pen) numbers(all []uint64) {
	p.number(uint64(len(all)))
	before := uint64(0)
	for _, n := range all {
		p.number(n - before)
		before = n
	}
}

func (p *pen) words(all []uint32) {
	p.number(uint64(len(all)))
	for _, n := range all {
		p.buf = binary.LittleEndian.AppendUint32(p.buf, n)
		p.room()
	}
}

func (p *pen) paid(all []uint64) {
	p.number(uint64(len(all)))
	for _, n := range all {
		p.buf = binary.LittleEndian.AppendUint32(p.buf, uint32(n)) // noCharge has all bits
		p.room()
	}
}

func (p *pen) index(x index) {
	x = x.sorted()
	p.number(uint64(len(x.digests)))
	for i := range x.digests {
		p.buf = append(p.buf, x.digests[i][:]...)
		p.room()
	}
	p.words(x.records)
}

func (p *pen) blocks(b *blocks) {
	p.number(uint64(len(b.whole)))
	for i := range b.whole {
		p.buf = append(p.buf, b.whole[i][:]...)
		p.room()
	}
	p.number(uint64(len(b.open)))
	p.texts(b.open...)
}

func (p *pen) doors(standing []*ledger.Record) {
	p.number(uint64(len(standing)))
	for _, r := range standing {
		p.texts(r.Dataset, r.Analyst, r.Time.UTC().Format(time.RFC3339Nano))
		p.number(r.ByAnalyst)
		p.number(r.ByDataset)
	}
}

// writeMap writes a map by its sorted names.
func writeMap[V any](p *pen, m map[string]V, value func(V)) {
	p.number(uint64(len(m)))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		p.texts(name)
		value(m[name])
	}
}
