package policy

import (
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
)

// Stream is a table's columns over which very many questions are answered on one budget. What it
// means is for package stream to say. All of it is public.
type Stream struct {
	Name string
	// Table is a private table in which a person has one row.
	Table   string
	Columns []StreamColumn
	// Size is the number of people that Alpha is a share of: all there are, under substitution, and
	// about as many otherwise.
	Size int64
	// Alpha is how far an answer may be off, as a share of Size, and Beta the probability that any
	// of Queries different ones is further off.
	Alpha, Beta float64
	Queries     int
	// Budget is the epsilon that the stream may take of the dataset's, or 0 for all of it; see
	// [Dataset.StreamQuota]. It is given once, for all versions of the data: what is renewed is the
	// dataset's.
	Budget dp.Amount
	// Predictor is spelled as in package stream, where the empty text leaves it to the stream.
	Predictor string
}

// Cells returns how many combinations of values there are.
func (s *Stream) Cells() int {
	n := 1
	for _, c := range s.Columns {
		n *= c.Cells()
	}
	return n
}

const (
	// MaxStreamCells is how many combinations of values a stream may have. Each of them takes
	// memory; see package stream/linear.
	MaxStreamCells = 1 << 26
	// maxBins is how many values a column of a stream may have, and maxAllBins all columns of all
	// streams of a policy. They bound the work of reading one.
	maxBins    = 10_000
	maxAllBins = 1_000_000
	// maxSize is beyond all people that there ever were.
	maxSize = 1_000_000_000_000
	// maxQueries is beyond what a server answers in a year.
	maxQueries     = 1_000_000_000
	defaultQueries = 100_000
)

const (
	sizeMeans    = "the number of people that alpha is a share of, which everybody may know"
	queriesMeans = "for how many different questions beta holds"
)

var (
	defaultBeta = big.NewRat(1, 1000)
	leastBeta   = big.NewRat(1, 1_000_000_000_000)
)

// predictors are the words of a policy, and what package stream calls them.
var predictors = map[string]string{"auto": "", "halving": "halving", "ensemble": "ensemble", "weights": "weights"}

// StreamNames returns the names of the streams in the order of the file; sorted, where the dataset
// does not come from a file.
func (d *Dataset) StreamNames() []string { return inOrder(d.streamOrder, d.Streams) }

// StreamQuota returns the part of the dataset's filter, that of one window where it is renewed,
// that a stream may use. With a delta, its budget is the rho that is worth it at the dataset's
// delta.
func (d *Dataset) StreamQuota(stream string) (account.Filter, bool) {
	s, ok := d.Streams[stream]
	if !ok {
		return account.Filter{}, false
	}
	return d.quotaOf(nil, s.Budget), true
}

// readStreams reads the streams, after the tables and the budget that they are parts of.
func (in datasetReader) readStreams(f fields) {
	v, ok := f.get("streams")
	if !ok {
		return
	}
	entries, ok := in.r.entries(v, "streams", "stream", checkShortName)
	if !ok {
		return
	}
	in.d.Streams = map[string]*Stream{}
	for _, e := range entries {
		s := &Stream{Name: e.name}
		if f, ok := in.r.fields(e.element, e.node, "a stream", streamKeys); ok {
			s.read(in.r, f, in.d)
		}
		in.d.Streams[e.name] = s
		in.d.streamOrder = append(in.d.streamOrder, e.name)
	}
}

func (s *Stream) read(r *reader, f fields, d *Dataset) {
	table := datasetReader{r, d}.readPersonal(f, "a stream")
	if table != nil {
		s.Table = table.Name
	}
	s.readColumns(r, f, table)
	s.readAccuracy(r, f)
	s.Queries = defaultQueries
	if v, ok := f.get("queries"); ok {
		n, _ := r.whole(v, "queries", maxQueries, queriesMeans)
		s.Queries = int(n)
	}
	if v, ok := f.get("budget"); ok {
		s.readBudget(r, v, d)
	}
	if v, ok := f.get("predictor"); ok {
		const want = "auto, halving, ensemble or weights"
		if text, ok := r.text(v, "predictor", want); ok {
			if s.Predictor, ok = predictors[text]; !ok {
				r.at(v, "there is no predictor %s; write %s%s", quote(text), want,
					didYouMean(text, "auto", "halving", "ensemble", "weights"))
			}
		}
	}
}

// readPersonal reads a table in which a person has one row, and returns nil where there is none.
func (in datasetReader) readPersonal(f fields, noun string) *Table {
	v, ok := f.need(in.r, "table", "name a table in which a person has one row")
	if !ok {
		return nil
	}
	text, ok := in.r.text(v, "table", "the name of a table in which a person has one row")
	if !ok || in.d.Tables == nil {
		return nil
	}
	t := in.d.Tables[text]
	switch {
	case t == nil:
		in.r.at(v, "there is no table %s; %s is over a table that is listed under 'tables' of the dataset%s", quote(text), noun,
			in.d.similarTable(text))
		return nil
	case t.Public:
		in.r.at(v, "the table %s is public, so questions about it cost nothing; name a private one", quote(text))
		return nil
	case t.UnitKind == Many:
		in.r.at(v, "a person can have many rows in the table %s, and %s needs one in which everybody has one; name a table with "+
			"unique, or make one", quote(text), noun)
		return nil
	}
	return t
}

// readAccuracy reads size, alpha and beta, which have a meaning together.
func (s *Stream) readAccuracy(r *reader, f fields) {
	s.Beta, _ = defaultBeta.Float64()
	sizeOK := false
	if v, ok := f.need(r, "size", "write "+sizeMeans); ok {
		s.Size, sizeOK = r.whole(v, "size", maxSize, sizeMeans)
	}
	if v, ok := f.get("beta"); ok {
		n, ok := r.number(v, "beta")
		switch {
		case !ok:
		case n.Cmp(leastBeta) < 0 || n.Cmp(one) >= 0:
			r.at(v, "beta %s is not between 1e-12 and 1; it is the probability that any answer is further off than alpha, "+
				"such as 0.001", v.node.Value)
		default:
			s.Beta, _ = n.Float64()
		}
	}
	v, ok := f.need(r, "alpha", "write how far an answer may be off, as a share of size, such as 0.01")
	if !ok {
		return
	}
	n, ok := r.number(v, "alpha")
	switch {
	case !ok:
	case n.Sign() <= 0 || n.Cmp(one) >= 0:
		r.at(v, "alpha %s is not between 0 and 1; it is how far an answer may be off, as a share of size, such as 0.01", v.node.Value)
	case sizeOK && new(big.Rat).Mul(n, new(big.Rat).SetInt64(s.Size)).Cmp(one) < 0:
		r.at(v, "alpha %s of %d people is less than one of them, and no answer is that close; write a larger alpha", v.node.Value, s.Size)
	default:
		s.Alpha, _ = n.Float64()
	}
}

var one = big.NewRat(1, 1)

func (s *Stream) readBudget(r *reader, v element, d *Dataset) {
	n, ok := r.amount(v, "budget")
	if !ok || !d.hasFilter() {
		return
	}
	if n > d.Budget.Epsilon {
		r.at(v, "budget %s is above the dataset's epsilon, %v; a stream takes a part of the dataset's budget, so write at most that",
			v.node.Value, d.Budget.Epsilon)
		return
	}
	d.rememberRho(n)
	if isNothing(d.quotaOf(nil, n)) {
		r.at(v, "budget %s is too little to spend any of it; write a larger one", v.node.Value)
	}
	s.Budget = n
}

// readColumns reads the columns, and counts their combinations before any is made.
func (s *Stream) readColumns(r *reader, f fields, table *Table) {
	v, ok := f.need(r, "columns", "list the columns that questions are about, for example columns: {sex: , age: {width: 10}}")
	if !ok {
		return
	}
	entries, ok := r.entries(v, "columns", "column", checkName)
	if !ok || table == nil || table.Columns == nil {
		return
	}
	if len(entries) == 0 {
		r.at(v, "the stream has no columns; list those that questions are about, for example columns: {sex: , age: {width: 10}}")
		return
	}
	cells, factors, complete := big.NewInt(1), []string(nil), true
	var cuts []binning
	for _, e := range entries {
		c := table.Columns[e.name]
		if c == nil {
			r.at(element{node: e.key, where: v.where}, "the table %s has no column %s; a stream is over columns that are listed there%s",
				quote(table.Name), quote(e.name), didYouMean(e.name, table.order...))
			complete = false
			continue
		}
		b, ok := readBinning(r, e.element, c)
		if !ok {
			complete = false
			continue
		}
		cells.Mul(cells, big.NewInt(b.cells()))
		factors = append(factors, big.NewInt(b.cells()).String())
		cuts = append(cuts, b)
	}
	if cells.Cmp(big.NewInt(MaxStreamCells)) > 0 {
		product := strings.Join(factors, " x ")
		if len(factors) > 8 {
			product = strings.Join(factors[:8], " x ") + " x ..."
		}
		r.at(v, "there are %v combinations of values, %s, and a stream has at most %d; list fewer columns, or cut them into fewer ranges",
			cells, product, MaxStreamCells)
		return
	}
	if !complete {
		return
	}
	for _, b := range cuts {
		if r.bins += b.cells(); r.bins > maxAllBins {
			r.at(v, "the columns of all streams together have more than %d values; list fewer columns, or cut them into "+
				"fewer ranges", maxAllBins)
			return
		}
		s.Columns = append(s.Columns, b.column())
	}
}

// StreamColumn is a column of a stream, cut into bins. Every row falls into one of them, or is
// NULL, by the value that a question sees in it: cast, rounded to the lattice and moved into the
// bounds.
//
//   - A value below the bounds is the lowest to every question, also in WHERE, so it falls into the
//     first range; and one above them into the last.
//   - A listed key has a bin of its own. All values that are not listed fall into one bin, which is
//     Other, so that a total counts everybody. A question that tells one of them from another
//     cannot be answered from bins.
//   - What cannot be read as the column's type is NULL. Where the column is not nullable there is
//     no cell for it, and a row that breaks this promise of the owner's falls into no cell.
type StreamColumn struct {
	Name string
	// Bins are at least one, without NULL.
	Bins []Bin
	// Null says that there is a cell for NULL, which comes after all bins.
	Null bool
}

// Bin is some values of a column, which a stream does not tell apart.
type Bin struct {
	// Label is different in all bins of a column.
	Label string
	// Range says that the bin holds the lattice points from Lo to Hi, both included. They are what
	// Value.Int holds: steps, days or microseconds.
	Range  bool
	Lo, Hi int64
	// Value is the only value, where the bin is neither a range nor Other.
	Value Value
	// Other says that the bin holds all values that are in no other bin of the column.
	Other bool
}

// Cells returns how many cells the column has: its bins, and one for NULL.
func (c StreamColumn) Cells() int {
	if c.Null {
		return len(c.Bins) + 1
	}
	return len(c.Bins)
}

// Labels returns the labels of all cells in order. The last is that of NULL, where there is one.
func (c StreamColumn) Labels() []string {
	labels := make([]string, 0, c.Cells())
	for _, b := range c.Bins {
		labels = append(labels, b.Label)
	}
	if c.Null {
		labels = append(labels, unusedLabel("(null)", c.Bins))
	}
	return labels
}

// unusedLabel puts a label into brackets until no bin has it.
func unusedLabel(label string, bins []Bin) string {
	taken := map[string]bool{}
	for _, b := range bins {
		taken[b.Label] = true
	}
	for taken[label] {
		label = "(" + label + ")"
	}
	return label
}

// Cell returns the place of the cell that a value falls into, as a question sees the value, or -1
// where there is none.
func (c StreamColumn) Cell(v Value) int {
	if v.Null {
		if c.Null {
			return len(c.Bins)
		}
		return -1
	}
	other := -1
	for i, b := range c.Bins {
		switch {
		case b.Other:
			other = i
		case b.Range && b.Lo <= v.Int && v.Int <= b.Hi:
			return i
		case !b.Range && b.Value == v:
			return i
		}
	}
	return other
}

// rangeLabel names a range as a reader writes it.
func rangeLabel(c *Column, lo, hi int64) string {
	if lo == hi {
		return c.Show(lo)
	}
	return strings.Join([]string{c.Show(lo), c.Show(hi)}, "..")
}
