package chain

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"

	"github.com/discreet-dp/discreet/ledger"
)

// Charges says which requests were charged, and where their answers are.
type Charges struct {
	requests index    // the charge of a request
	answerOf []uint64 // by sequence: the answer of a charge, 0 where there is none yet, or noCharge
	keys     index    // the first answer under a key
	answers  uint64
	charges  uint64

	text   string
	digest digest
}

func newCharges(records int64) Charges {
	return Charges{requests: newIndex(records), answerOf: make([]uint64, 0, records), keys: newIndex(0)}
}

func (c *Charges) clone() Charges {
	out := *c
	out.requests.since, out.keys.since = maps.Clone(c.requests.since), maps.Clone(c.keys.since)
	out.answerOf = slices.Clone(c.answerOf)
	return out
}

// noCharge stands for a record that is not a charge.
const noCharge = math.MaxUint64

// digest stands for a request or a key. Keeping half of a SHA-256 instead of the text bounds the
// memory for each record. A caller compares the text in the record that it finds.
type digest [16]byte

func digestOf(text string) digest {
	h := sha256.Sum256([]byte(text))
	return digest(h[:16])
}

// digestOf remembers the last text: the same one is wanted when a charge is looked up, checked and
// applied.
func (c *Charges) digestOf(text string) digest {
	if c.text != text || text == "" {
		c.text, c.digest = text, digestOf(text)
	}
	return c.digest
}

// Request returns the sequence of the charge of a request.
func (c *Charges) Request(request string) (uint64, bool) {
	return c.requests.find(c.digestOf(request))
}

// Key returns the sequence of the first answer under a key, which may be one of several that the
// answer has.
func (c *Charges) Key(key string) (uint64, bool) {
	return c.keys.find(c.digestOf(key))
}

// AnswerOf returns the sequence of the answer of a charge, 0 where there is none
// yet, and false where the sequence is not a charge.
func (c *Charges) AnswerOf(charge uint64) (uint64, bool) {
	if charge >= uint64(len(c.answerOf)) || c.answerOf[charge] == noCharge {
		return 0, false
	}
	return c.answerOf[charge], true
}

// Count and Answered return how many charges and how many answers there are.
func (c *Charges) Count() uint64    { return c.charges }
func (c *Charges) Answered() uint64 { return c.answers }

// addCharge adds a charge, for which there is a place already.
func (c *Charges) addCharge(r *ledger.Record) {
	c.requests.add(c.digestOf(r.Request), r.Sequence)
	c.answerOf[r.Sequence] = 0
	c.charges++
}

func (c *Charges) addAnswer(r *ledger.Record) {
	c.answerOf[r.Charge] = r.Sequence
	for _, name := range ledger.Keys(r.Key) {
		key := c.digestOf(name)
		if _, known := c.keys.find(key); !known {
			c.keys.add(key, r.Sequence)
		}
	}
	c.answers++
}

// index finds the record that a digest stands for. What a checkpoint knows is in order, which takes
// no time to read and little memory; what came since is in a map.
type index struct {
	digests []digest // sorted
	records []uint32 // by digest
	since   map[digest]uint64
}

func newIndex(records int64) index { return index{since: make(map[digest]uint64, records)} }

func (x *index) find(d digest) (uint64, bool) {
	if n, ok := x.since[d]; ok {
		return n, true
	}
	i := sort.Search(len(x.digests), func(i int) bool { return bytes.Compare(x.digests[i][:], d[:]) >= 0 })
	if i < len(x.digests) && x.digests[i] == d {
		return uint64(x.records[i]), true
	}
	return 0, false
}

// add takes in a digest that is not there yet.
func (x *index) add(d digest, record uint64) { x.since[d] = record }

// sorted returns the same index with everything in order, in memory of its own where it is not that
// of this one.
func (x *index) sorted() index {
	if len(x.since) == 0 {
		return index{x.digests, x.records, map[digest]uint64{}}
	}
	fresh := make([]digest, 0, len(x.since))
	for d := range x.since {
		fresh = append(fresh, d)
	}
	slices.SortFunc(fresh, func(a, b digest) int { return bytes.Compare(a[:], b[:]) })
	all := index{
		make([]digest, 0, len(x.digests)+len(fresh)), make([]uint32, 0, len(x.digests)+len(fresh)), map[digest]uint64{},
	}
	old := 0
	for _, d := range fresh {
		for ; old < len(x.digests) && bytes.Compare(x.digests[old][:], d[:]) < 0; old++ {
			all.digests, all.records = append(all.digests, x.digests[old]), append(all.records, x.records[old])
		}
		all.digests, all.records = append(all.digests, d), append(all.records, uint32(x.since[d]))
	}
	all.digests, all.records = append(all.digests, x.digests[old:]...), append(all.records, x.records[old:]...)
	return all
}

// settle takes over another index, which knows all records up to the last one, in order.
func (x *index) settle(other index, last uint64) {
	sorted := other.sorted() // or a request would be forgotten that is not in order there
	x.digests, x.records = sorted.digests, sorted.records
	left := map[digest]uint64{}
	for d, n := range x.since {
		if n > last {
			left[d] = n
		}
	}
	x.since = left
}

// blockRecords is how many records a block has. To prove one record takes the hashes of all of its
// block, so a block is small.
const blockRecords = 16

// blocks are hashes over the hashes of records, block by block: what proves a single record to be
// the one that was checked, in two bytes a record.
type blocks struct {
	whole [][sha256.Size]byte
	open  []string // the hashes of the last records, which make no whole block yet
}

func (b *blocks) add(hash string) {
	if b.open = append(b.open, hash); len(b.open) == blockRecords {
		b.whole = append(b.whole, blockHash(b.open))
		b.open = make([]string, 0, blockRecords)
	}
}

func blockHash(hashes []string) [sha256.Size]byte {
	h := sha256.New()
	for _, text := range hashes {
		h.Write([]byte(text))
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// Around returns the first and the last record of the block that a record is in.
func (b *blocks) Around(sequence uint64) (first, last uint64) {
	first = sequence / blockRecords * blockRecords
	return first, min(first+blockRecords-1, uint64(len(b.whole))*blockRecords+uint64(len(b.open))-1)
}

// Check returns an error unless these are the hashes of the records of the block that begins
// with a record.
func (b *blocks) Check(first uint64, hashes []string) error {
	same := false
	if n := first / blockRecords; n < uint64(len(b.whole)) {
		same = len(hashes) == blockRecords && blockHash(hashes) == b.whole[n]
	} else if n == uint64(len(b.whole)) && len(hashes) == len(b.open) {
		same = blockHash(hashes) == blockHash(b.open)
	}
	if !same {
		return fmt.Errorf("records %d to %d: %w", first, first+uint64(max(len(hashes), 1))-1, errOther)
	}
	return nil
}

var errOther = errors.New("they are not those of the chain that the ledger ends with")
