package policy

import (
	"math/big"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"
)

// maxPlainBins is how many values a column may have between its bounds for each to be a bin without
// a word of the owner's.
const maxPlainBins = 1000

// binning is how a column is cut, before its bins are made.
type binning struct {
	c *Column
	// starts are where ranges begin, the lower bound first; or width is how many steps each of them
	// has; or both are nothing, and values are listed.
	starts []int64
	width  int64
	values []Value
	other  bool
}

// cells counts without making any. Bounds are at most 2^54 steps apart.
func (b binning) cells() int64 {
	n := int64(len(b.starts) + len(b.values))
	if b.width > 0 {
		n = (b.c.Bounds.HiSteps-b.c.Bounds.LoSteps)/b.width + 1
	}
	if b.other {
		n++
	}
	if b.c.Nullable {
		n++
	}
	return n
}

func (b binning) column() StreamColumn {
	out := StreamColumn{Name: b.c.Name, Null: b.c.Nullable, Bins: make([]Bin, 0, b.cells())}
	for _, v := range b.values {
		out.Bins = append(out.Bins, Bin{Label: b.c.ShowValue(v), Value: v})
	}
	if b.width > 0 {
		for at := b.c.Bounds.LoSteps; at <= b.c.Bounds.HiSteps; at += b.width {
			b.starts = append(b.starts, at)
		}
	}
	for i, lo := range b.starts {
		hi := b.c.Bounds.HiSteps
		if i+1 < len(b.starts) {
			hi = b.starts[i+1] - 1
		}
		out.Bins = append(out.Bins, Bin{Label: rangeLabel(b.c, lo, hi), Range: true, Lo: lo, Hi: hi})
	}
	if b.other {
		out.Bins = append(out.Bins, Bin{Label: unusedLabel("(other)", out.Bins), Other: true})
	}
	return out
}

const wantCut = "{width: 10}, or edges: the values at which a new range begins, such as {edges: [18, 65]}"

func readBinning(r *reader, at element, c *Column) (binning, bool) {
	b := binning{c: c}
	width, edges := element{}, element{}
	hasWidth, hasEdges := false, false
	if !r.isNull(at) {
		f, ok := r.fields(at, at.node, "a column of a stream", streamColumnKeys)
		if !ok {
			return b, false
		}
		width, hasWidth = f.get("width")
		edges, hasEdges = f.get("edges")
	}
	if r.broken[c] {
		return b, false // Where it is declared tells of it.
	}
	cut := hasWidth || hasEdges
	switch {
	case hasWidth && hasEdges:
		r.at(edges, "width and edges are two ways to cut the column; keep one")
		return b, false
	case cut && c.Keys == PublicKeys:
		r.at(at, "the column has keys, and each of them is a value of the stream; remove width and edges, or the keys where it is declared")
		return b, false
	case cut && (c.Type == Boolean || c.Type == Text):
		r.at(at, "a %s column has no ranges; remove width and edges", c.Type)
		return b, false
	case c.Type == Boolean:
		b.values = []Value{{Type: Boolean}, {Type: Boolean, Int: 1}}
	case c.Keys == PublicKeys:
		b.values = slices.DeleteFunc(slices.Clone(c.KeyValues), func(v Value) bool { return v.Null })
		b.other = c.Bounds == nil || c.Bounds.HiSteps-c.Bounds.LoSteps+1 > int64(len(b.values))
	case c.Type == Text:
		r.at(at, "the values of the column are not public; list them under 'keys' where it is declared, or leave it out")
		return b, false
	case c.Bounds == nil:
		r.at(at,
			"the column has no bounds, so it has no finite number of values; give it bounds or keys where it is declared, or leave it out")
		return b, false
	case hasWidth:
		if b.width, cut = c.readWidth(r, width); !cut {
			return b, false
		}
	case hasEdges:
		if b.starts, cut = c.readEdges(r, edges); !cut {
			return b, false
		}
	case c.Keys == PrivateKeys:
		r.at(at, "the values of the column are private; cut its bounds into ranges, with width: as in %s", wantCut)
		return b, false
	default:
		if n := c.Bounds.HiSteps - c.Bounds.LoSteps + 1; n > maxPlainBins {
			r.at(at, "the column has %d values between its bounds; say how wide its ranges are, as in %s", n, wantCut)
			return b, false
		}
		b.width = 1
	}
	switch n := b.cells(); {
	case n > maxBins:
		r.at(at, "the column has %d values, and a column of a stream has at most %d; cut it into fewer ranges", n, maxBins)
		return b, false
	case n < 2:
		r.at(at, "the column has only one range, so there is nothing to ask; cut it into more, or leave it out")
		return b, false
	}
	return b, true
}

// readWidth reads how many steps a range has. A width is a number in what the column counts; days
// for dates, and a time for timestamps.
func (c *Column) readWidth(r *reader, v element) (int64, bool) {
	if c.Type == Timestamp {
		text, ok := r.text(v, "width", "a time such as 1h or 24h")
		if !ok {
			return 0, false
		}
		d, err := time.ParseDuration(text)
		if err != nil || d < time.Microsecond || d%time.Microsecond != 0 {
			r.at(v, "the width of a timestamp's ranges is a time of whole microseconds, such as 1h or 24h; but this is %s", quote(text))
			return 0, false
		}
		return d.Microseconds(), true
	}
	n, ok := r.number(v, "width")
	if !ok {
		return 0, false
	}
	q := new(big.Rat).Quo(n, c.Granularity)
	switch {
	case n.Sign() <= 0:
		r.at(v, "width must be above 0; it is how wide a range of the column is, such as 10")
	case !q.IsInt() && c.Type == Date:
		r.at(v, "width %s is not a number of whole days", v.node.Value)
	case !q.IsInt():
		r.at(v, "width %s is not a whole multiple of the column's granularity %s, so a range would begin between two values", v.node.Value,
			decimal(c.Granularity))
	case q.Num().Cmp(big.NewInt(maxSteps)) > 0:
		return 2 * maxSteps, true // all there is, and far from overflowing
	default:
		return q.Num().Int64(), true
	}
	return 0, false
}

// readEdges reads where ranges begin. The first one begins at the lower bound, which is not an
// edge.
func (c *Column) readEdges(r *reader, v element) ([]int64, bool) {
	const want = "a list of the values at which a new range begins, rising, such as [18, 65]"
	n := v.node
	switch {
	case n.Kind == yaml.AliasNode:
		return nil, false // Refused already.
	case n.Kind != yaml.SequenceNode:
		r.at(v, "'edges' must be %s, but this is %s", want, kind(n))
		return nil, false
	case len(n.Content) == 0:
		r.at(v, "the list of edges is empty; write %s", want)
		return nil, false
	case len(n.Content) >= maxBins:
		r.at(v, "there are %d edges, and a column of a stream has at most %d values", len(n.Content), maxBins)
		return nil, false
	}
	starts := []int64{c.Bounds.LoSteps}
	for _, item := range n.Content {
		at := element{node: item, where: v.where}
		if item.Kind == yaml.AliasNode {
			return nil, false
		}
		exact, problem := c.parsePoint(item)
		var step int64
		if problem == "" {
			step, problem = c.steps(exact)
		}
		switch last := starts[len(starts)-1]; {
		case problem != "":
			r.at(at, "the edge %s", problem)
		case step == c.Bounds.LoSteps:
			r.at(at, "the edge %s is the lower bound, where the first range begins anyway; remove it", c.Show(step))
		case step < c.Bounds.LoSteps || step > c.Bounds.HiSteps:
			r.at(at, "the edge %s is outside the bounds %s; an edge is a value at which a new range begins, so write one above the lower "+
				"bound and up to the upper", c.Show(step), c.boundsText())
		case step <= last:
			r.at(at, "the edge %s does not come after %s; write the edges rising, each once", c.Show(step), c.Show(last))
		default:
			starts = append(starts, step)
			continue
		}
		return nil, false // The others may be wrong only because this one is.
	}
	return starts, true
}
