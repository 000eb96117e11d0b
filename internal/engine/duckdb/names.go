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

	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/internal/engine/duckdb/chunks"
	"github.com/discreet-dp/discreet/internal/plan/tree"
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

// isNamed reports whether package bound takes people of a type as texts, and not as integers.
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
		who := dialect.QuoteName(whoColumn)
		if typ := t.Stored[t.UnitColumn].Type; typ != kind {
			who = s.TryCast(who, kind)
		}
		who, ok := bulkUnit(who, kind)
		if !ok {
			continue
		}
		var err error
		t.names, err = s.readNames(ctx, chunks.Query{Columns: []string{dialect.QuoteName(numberColumn), who},
			From: dialect.QuoteName("prepared "+t.Name) + ".people"})
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

// some is some people whose numbers follow each other.
type some struct {
	first int64
	names
}

var errNames = errors.New("duckdb: people whose numbers do not follow each other")

// readNames reads people by their numbers, which are 0, 1 and so on.
func (s *snapshot) readNames(ctx context.Context, q chunks.Query) (*names, error) {
	var mu sync.Mutex
	var parts []some
	err := s.source.Each(ctx, q, func(c *chunks.Chunk) error {
		numbers := c.Int64s(0)
		texts, ok := c.Texts(1, nil)
		if !ok || len(numbers) == 0 || hasNull(c, 0) || hasNull(c, 1) {
			return errNames
		}
		p := some{first: numbers[0]}
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
	slices.SortFunc(parts, func(a, b some) int { return cmp.Compare(a.first, b.first) })
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
