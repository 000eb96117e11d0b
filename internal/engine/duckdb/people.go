package duckdb

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/internal/engine/contribution"
	"github.com/discreet-dp/discreet/internal/engine/duckdb/chunks"
	"github.com/discreet-dp/discreet/internal/engine/sqlengine"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/policy"
)

// runPeople computes a question about people with many rows in package contribution. It returns
// errNotBulk where that has to be done in SQL, which follows from the question and the types of its
// columns, and never from rows: the two ways keep other groups of a person.
func (s *snapshot) runPeople(ctx context.Context, q *tree.Query) (*sqlengine.Known, error) {
	found, err := s.findGroups(ctx, q)
	if err != nil {
		return nil, err
	}
	r := &peopleResult{Known: &sqlengine.Known{Sums: map[int][]int64{}, Values: map[int][][]int64{}}}
	b, p, err := s.newKeyed(q, found)
	if err != nil {
		return nil, err
	}
	defer b.close()
	jobs := r.jobs(q, b, p)
	if jobs == nil {
		return nil, errNotBulk
	}
	b.from(p, q.Where)
	if err := b.runJobs(ctx, s.source, jobs); err != nil {
		return nil, err
	}
	if found != nil {
		found.placeResults(r.Known, r.persons, r.members, q.Groups())
	}
	return r.Known, nil
}

// peopleResult is what the jobs of a question have computed.
type peopleResult struct {
	*sqlengine.Known
	mu      sync.Mutex
	persons []int64 // by combination of private keys
	members *contribution.Members
}

// jobs prints what is computed, and returns nil where something is of a type that is left to SQL.
func (r *peopleResult) jobs(q *tree.Query, b *boundedQuery, p *sqlgen.Printer) []*job {
	var out []*job
	var totals []int
	values := map[string][]int{} // by what quantiles are of: the ends of an interval are of the same
	for i, m := range q.Measures {
		var run computation
		carried := carrier(nil)
		switch m.Kind {
		case tree.CountDistinct:
			carried = b.newCarrier(p, m)
			run = r.countDifferent(i)
		case tree.Quantile:
			of := tree.Format(m.Arg)
			if values[of] = append(values[of], i); len(values[of]) > 1 {
				continue
			}
			carried = b.newCarrier(p, m)
			run = r.collectValues(carried, func() []int { return values[of] })
		default:
			totals = append(totals, i)
			continue
		}
		if carried == nil {
			return nil
		}
		j := &job{spec: b.spec, carried: carried, run: run}
		j.spec.Measures, j.spec.Pick = carried.measures(), &contribution.Pick{MaxRows: q.MaxRows()}
		out = append(out, j)
	}
	if len(totals) == 0 && b.private == nil {
		return out
	}
	b.addMeasures(p, q, totals)
	all := &job{spec: b.spec, run: r.addTotals(totals)}
	if q.Weighs() {
		r.members = &contribution.Members{}
		private := *b.spec.Private
		private.Members, all.spec.Private = r.members, &private
	}
	return append(out, all)
}

// addTotals computes counts and sums, and how many people are in each combination of private keys.
func (r *peopleResult) addTotals(totals []int) computation {
	return func(ctx context.Context, s contribution.Spec, source contribution.BatchReader) error {
		sums, err := contribution.Run(ctx, s, source)
		if err != nil {
			return err
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for k, m := range totals {
			r.Sums[m] = sums[k]
		}
		if s.Private != nil {
			r.persons = sums[len(sums)-1]
		}
		return nil
	}
}

// countDifferent counts the different values of each group.
func (r *peopleResult) countDifferent(m int) computation {
	return func(ctx context.Context, s contribution.Spec, source contribution.BatchReader) error {
		counts, err := contribution.CountDistinct(ctx, s, source)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.Sums[m] = counts
		return err
	}
}

// collectValues collects the values of each group, in steps, for some measures.
func (r *peopleResult) collectValues(from carrier, measures func() []int) computation {
	return func(ctx context.Context, s contribution.Spec, source contribution.BatchReader) error {
		values, err := contribution.Collect(ctx, s, source)
		if n, ok := from.(*narrowNumbers); ok {
			for _, group := range values {
				for i := range group {
					group[i] += n.lo - 1
				}
			}
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, m := range measures() {
			r.Values[m] = values
		}
		return err
	}
}

// withoutSort leaves out a cut that was made for SQL, which puts all rows of a person into an
// order.
func withoutSort(from tree.Relation) tree.Relation {
	if c, ok := from.(*tree.Cut); ok && c.Sorted {
		return c.From
	}
	return from
}

// placeResults puts what is known of groups to the combinations in which somebody is, each of which
// has all groups of public keys.
func (f *foundGroups) placeResults(known *sqlengine.Known, persons []int64, members *contribution.Members, public int) {
	places := make([]int, len(persons)) // of the first group, or -1
	for c, n := range persons {
		if places[c] = -1; n > 0 {
			places[c] = len(known.Combos) * public
			known.Combos, known.Persons = append(known.Combos, f.values(int32(c))), append(known.Persons, n)
		}
	}
	if members != nil {
		for i, c := range members.Combos {
			members.Combos[i] = int32(places[c] / public)
		}
		known.Members, known.Ends = members.Combos, members.Ends
	}
	at := make([]int, f.len())
	for g := range at {
		if at[g] = places[f.of[g]]; at[g] >= 0 {
			at[g] += f.public(int32(g))
		}
	}
	for m, sums := range known.Sums {
		known.Sums[m] = scatterTo(sums, at, len(known.Combos)*public)
	}
	for m, values := range known.Values {
		known.Values[m] = scatterTo(values, at, len(known.Combos)*public)
	}
}

// scatterTo puts values to places among n, and leaves out those whose place is -1.
func scatterTo[T any](values []T, at []int, n int) []T {
	out := make([]T, n)
	for i, place := range at {
		if place >= 0 {
			out[place] = values[i]
		}
	}
	return out
}

// foundGroups are the groups of a question with private keys that somebody keeps. They are found
// before anything is added up, so that there is a number for each. Nothing but which rows are in
// one group may follow from a number, which is about everybody: which groups somebody keeps follows
// from how they are spelled.
//
// People are cut first, by the hashes of their groups alone, so that one person with a million keys
// takes no more of it than MaxGroups. There is one way for few groups and for many, because how
// many there are is about people too.
type foundGroups struct {
	keys   []tree.Key // the private ones
	hash   *contribution.Hash
	kept   *hashSet  // the hashes of groups that somebody keeps; nil where they are being found
	groups spellings // the number of the public keys, and then the private ones
	combos spellings // the private ones alone
	of     []int32   // by group, the combination
}

// publicBytes is how many bytes the number of the public keys takes.
const publicBytes = 4

// findGroups reads the groups. It returns nil where a question has no private keys.
func (s *snapshot) findGroups(ctx context.Context, q *tree.Query) (*foundGroups, error) {
	if len(q.PrivateKeys()) == 0 {
		return nil, nil
	}
	f := &foundGroups{keys: q.PrivateKeys()}
	if err := s.findNames(ctx, q, f); err != nil {
		return nil, err
	}
	b, p, err := s.newKeyed(q, nil)
	if err != nil {
		return nil, err
	}
	defer b.close()
	b.from(p, q.Where)
	b.query.Columns = b.query.Columns[1:] // the first is whose a row is
	return f, f.read(ctx, s.source, b.query, b.keys)
}

// findNames finds the hashes of the groups that somebody keeps.
func (s *snapshot) findNames(ctx context.Context, q *tree.Query, f *foundGroups) error {
	b, p, err := s.newKeyed(q, nil)
	if err != nil {
		return err
	}
	defer b.close()
	b.from(p, q.Where)
	f.hash = contribution.NewHash(b.spec.Salt)
	b.private, b.carried = f, f
	kept := &hashSet{}
	b.spec.Groups, b.spec.MaxGroups, b.spec.Measures = 1, 1, f.measures()
	b.spec.Pick = &contribution.Pick{MaxRows: q.MaxGroups(), Distinct: true, Flag: -1,
		Sink: func() contribution.Sink { kept = &hashSet{}; return kept }}
	_, err = contribution.Run(ctx, b.spec, b.readRows(ctx, s.source, func() {}))
	f.kept = kept
	return err
}

// A row carries the hash of its group, where groups are being found.
func (f *foundGroups) measures() []contribution.Measure {
	return []contribution.Measure{{Kind: contribution.Carried, Reach: math.MaxInt64}}
}

func (f *foundGroups) carry(w *batch, _ *chunks.Chunk, out [][]int64) bool {
	copy(out[0], w.found.names)
	return true
}

// read reads the groups, of which these are the public keys.
func (f *foundGroups) read(ctx context.Context, source chunks.Database, query chunks.Query, public []keyColumn) error {
	numbered := &boundedQuery{keys: public}
	pool := sync.Pool{New: func() any { return &batch{} }}
	var mu sync.RWMutex
	err := source.Each(ctx, query, func(c *chunks.Chunk) error {
		w := pool.Get().(*batch)
		defer pool.Put(w)
		if !w.number(numbered, c, 0, nil) || !w.found.read(c, len(public), len(f.keys)) {
			return errNotBulk
		}
		fresh := func() bool {
			mu.RLock()
			defer mu.RUnlock()
			return w.freshGroups(f)
		}
		if fresh() {
			mu.Lock()
			defer mu.Unlock()
			w.addGroups(f)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if f.len() == 0 {
		// A group that nobody is in: where the first row is somebody's, it must not take one more
		// reading of all rows than where there is none.
		f.groups.add(0, make([]byte, publicBytes))
	}
	f.of = make([]int32, f.len())
	for g := range f.of {
		text := f.groups.of(int32(g))[publicBytes:]
		f.of[g] = f.combos.add(f.hash.Name(text), text)
	}
	return nil
}

// freshGroups leaves the rows whose groups somebody keeps and nobody has added. It reports whether
// there are any.
func (w *batch) freshGroups(f *foundGroups) (some bool) {
	for i, g := range w.groups {
		if g < 0 {
			continue
		}
		text := w.found.spell(g, i)
		if hash := f.hash.Name(text); !f.kept.has(hash) || f.groups.find(hash, text) >= 0 {
			w.groups[i] = -1
		} else {
			some = true
		}
	}
	return some
}

// addGroups adds the groups of rows that are left.
func (w *batch) addGroups(f *foundGroups) {
	for i, g := range w.groups {
		if g >= 0 {
			text := w.found.spell(g, i)
			f.groups.add(f.hash.Name(text), text)
		}
	}
}

func (f *foundGroups) len() int { return f.groups.len() }

// spec says what package contribution has to know about the groups.
func (f *foundGroups) spec() *contribution.Private {
	out := &contribution.Private{Names: f.groups.hashes, Of: f.of, Combos: f.combos.len()}
	if f.groups.shared {
		out.Compare = func(a, b int32) int { return bytes.Compare(f.groups.of(a), f.groups.of(b)) }
	}
	return out
}

// values reads the private keys of a combination.
func (f *foundGroups) values(combo int32) []policy.Value {
	text := f.combos.of(combo)
	out := make([]policy.Value, len(f.keys))
	for i, k := range f.keys {
		var cell any
		cell, text = readCell(text)
		out[i] = sqlengine.KeyValue(cell, k.Expr.Type())
	}
	return out
}

// How a key is spelled: what it is, and then an integer, or the length of a text and the text.
const (
	nullCell = iota
	intCell
	textCell
)

func readCell(text []byte) (cell any, rest []byte) {
	if text[0] == nullCell {
		return nil, text[1:]
	}
	n := binary.LittleEndian.Uint64(text[1:])
	rest = text[9:]
	if text[0] == intCell {
		return int64(n), rest
	}
	return string(rest[:n]), rest[n:]
}

// foundRow is room to spell the groups of a chunk's rows.
type foundRow struct {
	cells []foundCell
	text  []byte
	names []int64 // where groups are being found
}

// foundCell is a column of keys: integers, or texts.
type foundCell struct {
	ints  []int64
	texts [][]byte
	text  bool
	valid []uint64
}

// read reads so many keys from a column on. It reports whether they can be read.
func (r *foundRow) read(c *chunks.Chunk, col, keys int) bool {
	r.cells = slices.Grow(r.cells[:0], keys)[:keys]
	for i := range r.cells {
		cell := &r.cells[i]
		cell.valid, cell.text = c.Valid(col+i), c.Kind(col+i) == chunks.Text
		if cell.text {
			cell.texts, _ = c.Texts(col+i, cell.texts[:0])
			continue
		}
		cell.ints = slices.Grow(cell.ints[:0], c.Len())[:c.Len()]
		if !c.Clamped(col+i, cell.ints, math.MinInt64, math.MaxInt64) {
			return false
		}
	}
	return true
}

func (r *foundRow) spell(public int32, row int) []byte {
	text := binary.LittleEndian.AppendUint32(r.text[:0], uint32(public))
	for i := range r.cells {
		cell := &r.cells[i]
		switch {
		case cell.valid != nil && cell.valid[row/64]>>(row%64)&1 == 0:
			text = append(text, nullCell)
		case cell.text:
			text = binary.LittleEndian.AppendUint64(append(text, textCell), uint64(len(cell.texts[row])))
			text = append(text, cell.texts[row]...)
		default:
			text = binary.LittleEndian.AppendUint64(append(text, intCell), uint64(cell.ints[row]))
		}
	}
	r.text = text
	return text
}

// findGroups replaces the numbers of public keys by those of groups; col is the first private key.
// A group that nobody keeps has none. Where groups are being found there is one, and a row has the
// hash of its own.
func (w *batch) findGroups(b *boundedQuery, c *chunks.Chunk, col int) bool {
	f := b.private
	if !w.found.read(c, col, len(f.keys)) {
		return false
	}
	w.found.names = slices.Grow(w.found.names[:0], len(w.groups))[:len(w.groups)]
	for i, g := range w.groups {
		if g < 0 {
			continue
		}
		text := w.found.spell(g, i)
		hash := f.hash.Name(text)
		if f.kept == nil {
			w.groups[i], w.found.names[i] = 0, int64(hash)
		} else {
			w.groups[i] = f.groups.find(hash, text)
		}
	}
	return true
}

// public returns the number of a group's public keys.
func (f *foundGroups) public(g int32) int { return int(binary.LittleEndian.Uint32(f.groups.of(g))) }
