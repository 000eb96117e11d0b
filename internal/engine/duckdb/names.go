package duckdb

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/discreet-dp/discreet/internal/engine/duckdb/chunks"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/policy"
)

// names are who the people of a prepared table are, by their numbers. A number says that two rows
// are one person's, and nothing else may follow from it: somebody who is added changes the numbers
// of all who come after. Which groups a person keeps follows from the name.
type names struct {
	bytes []byte
	ends  []int64
}

// of returns who has a number, which is one of theirs.
func (n *names) of(number int64) []byte {
	from := int64(0)
	if number > 0 {
		from = n.ends[number-1]
	}
	return n.bytes[from:n.ends[number]:n.ends[number]]
}

// has reports whether all numbers are those of people.
func (n *names) has(numbers []int64) bool {
	most := uint64(0)
	for _, x := range numbers {
		most = max(most, uint64(x))
	}
	return most < uint64(len(n.ends))
}

// isNamed reports whether package contribution takes people of a type as texts, and not as
// integers.
func isNamed(typ string) bool {
	base, _, _ := strings.Cut(typ, "(")
	return slices.Contains([]string{"VARCHAR", "BLOB", "UUID", "HUGEINT", "UHUGEINT", "ENUM", "DECIMAL"}, base)
}

// loadNames reads who the people of prepared tables are.
func (s *snapshot) loadNames(ctx context.Context, ds *policy.Dataset) error {
	kind := s.Kinds[tree.IdentityName(ds.Unit.Table, ds.Unit.Column)]
	for _, t := range s.tables {
		if !t.numbered || !isNamed(kind) {
			continue
		}
		who := sqlgen.QuoteName(whoColumn)
		if typ := t.Stored[t.UnitColumn].Type; typ != kind {
			who = s.TryCast(who, kind)
		}
		who, ok := bulkUnit(who, kind)
		if !ok {
			continue
		}
		var err error
		t.names, err = s.readNames(ctx, chunks.Query{Columns: []string{sqlgen.QuoteName(numberColumn), who},
			From: sqlgen.QuoteName("prepared "+t.Name) + ".people"})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return fmt.Errorf("table %s: the people in %s cannot be read; run 'discreet prepare' again", t.Name, t.prepared)
		}
		t.Number = numberColumn
	}
	return nil
}

// nameRange is some people whose numbers follow each other.
type nameRange struct {
	first int64
	names
}

var errNames = errors.New("duckdb: the numbers of people are not consecutive")

// readNames reads people by their numbers, which are 0, 1 and so on.
func (s *snapshot) readNames(ctx context.Context, q chunks.Query) (*names, error) {
	var mu sync.Mutex
	var parts []nameRange
	err := s.source.Each(ctx, q, func(c *chunks.Chunk) error {
		numbers := c.Int64s(0)
		texts, ok := c.Texts(1, nil)
		if !ok || len(numbers) == 0 || hasNull(c, 0) || hasNull(c, 1) {
			return errNames
		}
		p := nameRange{first: numbers[0]}
		for i, text := range texts {
			if numbers[i] != p.first+int64(i) {
				return errNames
			}
			p.bytes = append(p.bytes, text...)
			p.ends = append(p.ends, int64(len(p.bytes)))
		}
		p.bytes = bytes.Clone(p.bytes) // without room to grow
		mu.Lock()
		defer mu.Unlock()
		parts = append(parts, p)
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(parts, func(a, b nameRange) int { return cmp.Compare(a.first, b.first) })
	out := &names{}
	for _, p := range parts {
		if p.first != int64(len(out.ends)) {
			return nil, errNames
		}
		start := int64(len(out.bytes))
		out.bytes = append(out.bytes, p.bytes...)
		for _, end := range p.ends {
			out.ends = append(out.ends, start+end)
		}
	}
	return out, nil
}

// hasNull reports whether a value of a column is NULL.
func hasNull(c *chunks.Chunk, col int) (found bool) {
	eachNull(c.Valid(col), c.Len(), func(int) { found = true })
	return found
}

// hashSet is a set of hashes. It takes them from package contribution, from several goroutines, and
// is read when all are there.
type hashSet struct {
	mu    sync.Mutex
	slots []uint64 // open addressing: 0 is free
	n     int
	zero  bool // whether 0 is among them
}

// Take adds hashes.
func (t *hashSet) Take(_ []int32, values [][]int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, h := range values[0] {
		t.add(uint64(h))
	}
}

func (t *hashSet) add(h uint64) {
	if h == 0 {
		t.zero = true
		return
	}
	if 2*(t.n+1) > len(t.slots) {
		old := t.slots
		t.slots = make([]uint64, max(64, 2*len(old)))
		for _, x := range old {
			if x != 0 {
				t.slots[t.find(x)] = x
			}
		}
	}
	if at := t.find(h); t.slots[at] == 0 {
		t.slots[at] = h
		t.n++
	}
}

// find returns where a hash is, or could be.
func (t *hashSet) find(h uint64) int {
	mask := uint64(len(t.slots) - 1)
	for at := h & mask; ; at = (at + 1) & mask {
		if x := t.slots[at]; x == 0 || x == h {
			return int(at)
		}
	}
}

func (t *hashSet) has(h uint64) bool {
	if h == 0 || len(t.slots) == 0 {
		return t.zero && h == 0
	}
	return t.slots[t.find(h)] == h
}

// spellings numbers texts, in the order in which they come. Whoever asks brings the hash, which
// says where to look; the bytes say whether it is the same.
type spellings struct {
	hashes []uint64
	ends   []int
	bytes  []byte
	slots  []int32 // open addressing: the number and 1; 0 is free
	shared bool    // whether two texts have one hash
}

func (t *spellings) len() int { return len(t.hashes) }

func (t *spellings) of(n int32) []byte {
	from := 0
	if n > 0 {
		from = t.ends[n-1]
	}
	return t.bytes[from:t.ends[n]]
}

// find returns the number of a text, or -1.
func (t *spellings) find(hash uint64, text []byte) int32 {
	if len(t.slots) == 0 {
		return -1
	}
	mask := uint64(len(t.slots) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		n := t.slots[at] - 1
		if n < 0 || t.hashes[n] == hash && bytes.Equal(t.of(n), text) {
			return n
		}
	}
}

// add returns the number of a text, which may be new.
func (t *spellings) add(hash uint64, text []byte) int32 {
	if n := t.find(hash, text); n >= 0 {
		return n
	}
	if 2*(len(t.hashes)+1) > len(t.slots) {
		t.slots = make([]int32, max(64, 2*len(t.slots)))
		for n, h := range t.hashes {
			t.place(h, int32(n))
		}
	}
	n := int32(len(t.hashes))
	t.hashes, t.bytes = append(t.hashes, hash), append(t.bytes, text...)
	t.ends = append(t.ends, len(t.bytes))
	t.place(hash, n)
	return n
}

func (t *spellings) place(hash uint64, n int32) {
	mask := uint64(len(t.slots) - 1)
	at := hash & mask
	for t.slots[at] != 0 {
		t.shared = t.shared || t.hashes[t.slots[at]-1] == hash
		at = (at + 1) & mask
	}
	t.slots[at] = n + 1
}
