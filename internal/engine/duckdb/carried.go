package duckdb

import (
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/bound"
	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/internal/engine/duckdb/chunks"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// carrier reads what stays with a row on its way through package bound, for measures that pick rows
// and do not add them up.
type carrier interface {
	measures() []bound.Measure
	// carry fills a column for every measure. It reports whether the chunk's is what was asked for.
	carry(w *batch, c *chunks.Chunk, out [][]int64) bool
}

// newCarrier prints a value. It returns nil where it is of a type that is left to SQL.
func (b *bounded) newCarrier(p *dialect.Printer, m tree.Measure) carrier {
	col := len(b.query.Columns)
	t := m.Arg.Type()
	text, lo, hi := "", int64(0), int64(1)
	switch {
	case t.Kind == tree.Boolean:
		text = p.Row.Expr(m.Arg)
	case m.Kind == tree.CountDistinct && (t.Wide() || t.Kind == tree.Text):
		b.query.Columns = append(b.query.Columns, p.Row.Expr(m.Arg))
		return &hashes{col, bound.NewHash(b.spec.Salt)}
	case t.Kind != tree.Number && t.Kind != tree.Date && t.Kind != tree.Timestamp || t.Lo == nil || t.Hi == nil:
		return nil
	default:
		lo, hi = t.Lo.Int64(), t.Hi.Int64()
		var known bool
		if text, known = b.stored(p, m.Arg, lo, hi); !known {
			text = tryCast(p.Row.Expr(m.Arg), "BIGINT")
		}
	}
	b.query.Columns = append(b.query.Columns, text)
	if uint64(hi)-uint64(lo) < math.MaxInt32-1 {
		return &narrow{col, lo, hi}
	}
	return &broad{col, lo, hi}
}

// stored prints a column as it is stored, where nothing is left to do but to clamp it.
func (b *bounded) stored(p *dialect.Printer, arg tree.Expr, lo, hi int64) (string, bool) {
	text, bounds := p.Row.Unclamped(arg)
	return text, bounds != nil && bounds.LoSteps == lo && bounds.HiSteps == hi
}

// narrow are numbers of an interval of 31 bits. The lowest is 1, and 0 is NULL.
type narrow struct {
	col    int
	lo, hi int64
}

func (n *narrow) measures() []bound.Measure {
	return []bound.Measure{{Kind: bound.Carried, Reach: n.hi - n.lo + 1}}
}

func (n *narrow) carry(_ *batch, c *chunks.Chunk, out [][]int64) bool {
	if !c.Clamped(n.col, out[0], n.lo, n.hi) {
		return false
	}
	first := n.lo - 1
	for i := range out[0] {
		out[0][i] -= first
	}
	eachNull(c.Valid(n.col), c.Len(), func(i int) { out[0][i] = 0 })
	return true
}

// broad are numbers of 64 bits, with a flag.
type broad struct {
	col    int
	lo, hi int64
}

func (n *broad) measures() []bound.Measure {
	return []bound.Measure{{Kind: bound.Carried, Reach: 1}, {Kind: bound.Carried, Reach: math.MaxInt64}}
}

func (n *broad) carry(_ *batch, c *chunks.Chunk, out [][]int64) bool {
	if !c.Clamped(n.col, out[1], n.lo, n.hi) {
		return false
	}
	flagRows(c, n.col, out)
	return true
}

// flagRows marks rows that have a value. Without one all of its columns are 0.
func flagRows(c *chunks.Chunk, col int, out [][]int64) {
	for i := range out[0] {
		out[0][i] = 1
	}
	eachNull(c.Valid(col), c.Len(), func(i int) {
		for _, values := range out {
			values[i] = 0
		}
	})
}

// hashes are of texts, and integers of 128 bits.
type hashes struct {
	col  int
	hash *bound.Hash
}

func (n *hashes) measures() []bound.Measure {
	whole := bound.Measure{Kind: bound.Carried, Reach: math.MaxInt64}
	return []bound.Measure{{Kind: bound.Carried, Reach: 1}, whole, whole}
}

func (n *hashes) carry(_ *batch, c *chunks.Chunk, out [][]int64) bool {
	texts, ok := c.Texts(n.col, nil)
	if !ok {
		return false
	}
	for i, text := range texts {
		out[1][i], out[2][i] = n.hash.Of(text)
	}
	flagRows(c, n.col, out)
	return true
}

// carry reads the values of a chunk, with room that is returned. There are none where the chunk is
// not what was asked for.
func (w *batch) carry(c *chunks.Chunk, from carrier, room [][]int64) [][]int64 {
	n, width := c.Len(), len(from.measures())
	room = slices.Grow(room[:0], width)[:width]
	for m := range room {
		room[m] = slices.Grow(room[m][:0], n)[:n]
	}
	if w.Values = room; !from.carry(w, c, room) {
		w.Values = nil
	}
	return room
}
