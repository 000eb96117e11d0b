package publictime

import (
	"math"
	"time"

	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// Machine is what runs questions.
type Machine struct {
	Threads int     // of one question
	Factor  float64 // how many times as slow it is as the machine that the constants were measured on
	Cluster bool    // Trino, where there are other constants, and all of them are rougher
	// SQL says that all is done by SQL statements, and nothing in package contribution.
	SQL bool
	// Memory is how many bytes rows may take in package contribution; 0 is its default.
	Memory int64
}

// defaultMemory is that of package contribution.
const defaultMemory = 3 << 30

// margin is by how much a time is above what the constants say.
const margin = 2

// Query is how long a query takes alone, at most, in every honest case: what the engine does with
// it, and what is released of it.
func (m Machine) Query(q *tree.Query, s Sizes) time.Duration {
	w := m.work(s)
	w.addQuery(q)
	return m.time(w.constants, *w.cost)
}

// Fetch is the same for reading rows to train on.
func (m Machine) Fetch(t *tree.Table, s Sizes) time.Duration {
	w := m.work(s)
	w.addTable(t)
	return m.time(w.constants, *w.cost)
}

// Fit is how long it takes to train so many models on these rows, each on so many parts of them.
func (m Machine) Fit(t *tree.Table, s Sizes, models, parts int) time.Duration {
	numbers := 1.0
	for _, c := range t.Features() {
		numbers += max(1, float64(len(c.Values)))
	}
	w := m.work(s)
	from := w.rows.relation(t.From, make([]bool, len(t.From.Fields())))
	return m.fit(from.rows, numbers, models, parts)
}

// Steps is how long so many steps take that are done here with numbers of any size, to release what
// is more than noise on each number by itself.
func (m Machine) Steps(n float64) time.Duration {
	if m.Cluster {
		m.Factor = max(1, m.Factor)
	}
	return m.time(&embeddedConstants, cost{alone: n * bigStep})
}

// bigStep is a multiplication and an addition of numbers of some hundred bits, in ns.
const bigStep = 60

// fit is what all passes over the rows take. Most trainings need a tenth of it: how many passes
// there are, and whether some are in twice as many digits, depends on the rows and on the noise.
func (m Machine) fit(rows, numbers float64, models, parts int) time.Duration {
	if m.Cluster {
		m.Factor = max(1, m.Factor) // it is here that models are trained, and not there
	}
	each := fitAlone + numbers*numbers*numbers*fitCube
	c := cost{alone: float64(models*parts) * each, largest: rows,
		shared: float64(models) * rows * (fitRow + numbers*fitNumber)}
	return m.time(&embeddedConstants, c)
}

const (
	fitAlone  = 20e6 // ns
	fitCube   = 50   // to solve for the weights, times the cube of their number
	fitRow    = 500  // a row, in all passes
	fitNumber = 400  // each of its numbers
)

func (m Machine) work(s Sizes) *queryWork {
	memory := float64(m.Memory)
	if memory <= 0 {
		memory = defaultMemory
	}
	c := &embeddedConstants
	if m.Cluster {
		c = &clusterConstants
	}
	sum, sql := &cost{}, m.SQL || m.Cluster
	rows := &estimator{constants: c, cost: sum, sizes: s, cluster: m.Cluster, chooses: sql}
	return &queryWork{constants: c, cost: sum, sizes: s, rows: rows, memory: memory, cluster: m.Cluster, sql: sql}
}

// rowGroup is how many rows DuckDB gives to a thread at a time.
const rowGroup = 122_880

// time is how long work takes: threads share what is done for each row, where there are rows enough
// for them.
func (m Machine) time(c *constants, w cost) time.Duration {
	threads := max(1, min(float64(m.Threads), math.Floor(w.largest/rowGroup)))
	if c == &clusterConstants {
		threads = 1 // what was measured there is time and not work
	}
	ns := (w.alone + w.shared/math.Pow(threads, c.gain)) * margin * max(m.Factor, minFactor)
	return time.Duration(min(ns, float64(maxTime)))
}

const (
	// minFactor is the least factor: no machine is taken to be more than twice as fast.
	minFactor = 0.5
	maxTime   = time.Duration(math.MaxInt64 / 4)
)

// constants are what things take, in nanoseconds of one thread.
type constants struct {
	// statement is a statement that does nothing: printing, planning, beginning and ending. node is
	// what each operation that is written adds to that, and relation each relation. begin is what
	// package contribution takes before the first row.
	statement, node, relation, begin float64
	// equality is what comparisons of two values add to that, times the square of their number.
	equality float64
	// gain is the power of the number of threads by which a question is faster.
	gain float64

	cell   float64 // a value that is read, or carried through an operator
	byte   float64 // of a text that is carried
	stored float64 // of a text that is read where it is stored

	operation float64 // on numbers, times, truths
	wide      float64 // the same in 128 bits
	divided   float64 // a division in 128 bits
	real      float64 // a function of real numbers
	calendar  float64 // a field of a date, a step by months
	branch    float64 // of a CASE
	text      float64 // to make a text, beside its bytes
	compared  float64 // to compare texts, beside their bytes
	made      float64 // a byte of a text that is put together
	padded    float64 // each copy of what fills a text up
	changed   float64 // a byte that is put into another case
	trimmed   float64 // a byte of a text that is trimmed, split or replaced in
	searched  float64 // a byte in which a part is looked for
	match     float64 // of a regular expression, beside the bytes
	matched   float64 // a byte, by a regular expression
	stepped   float64 // a byte, by an automaton that is written out
	wildcard  float64 // a byte, for each wildcard of a pattern
	parsed    float64 // a text that is read as a whole number or a time, beside its match
	decimal   float64 // a byte of a text that is read as a decimal number
	// translated is a text whose letters are looked up one by one. It takes three times as long in
	// one process as in another, by where its memory is.
	translated float64
	spelled    float64 // a whole number that is written as a text
	written    float64 // a decimal number or a time that is

	build, probe float64 // a row of a join
	pair         float64 // two rows that are held together without an equality
	asked        float64 // two rows that EXISTS holds together, where more than columns are to be equal
	group        float64 // a row that is grouped
	sort         float64 // a row that is sorted, times the logarithm of their number
	sorted       float64 // a byte of a text by which rows are sorted
	taken        float64 // a row that is held against a list of those of a person that count

	handed  float64 // a row that comes to package contribution, or is kept aside in WITH
	bounded float64 // to hold it by person there, and to add it up
	value   float64 // each of its values and keys
	chosen  float64 // a value among those of a person
	found   float64 // a private key, spelled and hashed
	noise   float64 // to release one number
	ranked  float64 // a value of which quantiles are released, times the logarithm of their number
	drawn   float64 // a point among which a quantile is drawn
	result  float64 // a row of a result that comes out of SQL
}

// embeddedConstants is DuckDB in this process.
var embeddedConstants = constants{
	statement: 5e6, node: 8e3, relation: 50e3, begin: 4e6, equality: 300e3, gain: 0.68,
	cell: 1.5, byte: 0.1, stored: 0.5,
	operation: 1.2, wide: 12, divided: 310, real: 10, calendar: 10, branch: 4,
	text: 10, compared: 5, made: 0.6, padded: 7, changed: 2.5, trimmed: 4.5, searched: 0.25,
	match: 75, matched: 2.5, wildcard: 0.7, parsed: 200, decimal: 650, translated: 500, spelled: 28, written: 210,
	build: 95, probe: 47, pair: 5, group: 40, sort: 9.5, sorted: 6,
	handed: 13, bounded: 30, value: 10, chosen: 80, found: 60, noise: 220, ranked: 7, drawn: 130, result: 300,
}

// clusterConstants is Trino. What it takes to plan a statement there and to start its stages
// passes, and is hardly work. What is done with rows is twice the processor time of one thread, or
// more: when half of the time that is public was worked, a question that is late has failed.
var clusterConstants = func() constants {
	c := embeddedConstants
	for _, f := range c.ofRows() {
		*f *= 16
	}
	c.statement, c.relation, c.node, c.begin, c.result = 500e6, 50e6, 100e3, 0, 5000
	c.calendar, c.match, c.stepped, c.taken, c.asked = 2000, 1500, 500, 22000, 250
	return c
}()

// ofRows are the constants of what the database does with a row.
func (c *constants) ofRows() []*float64 {
	return []*float64{&c.cell, &c.byte, &c.stored, &c.operation, &c.wide, &c.divided, &c.real, &c.calendar, &c.branch, &c.text,
		&c.compared, &c.made, &c.padded, &c.changed, &c.trimmed, &c.searched, &c.match, &c.matched, &c.wildcard, &c.parsed, &c.decimal,
		&c.translated, &c.spelled, &c.written, &c.build, &c.probe, &c.pair, &c.group, &c.sort, &c.sorted, &c.handed, &c.bounded,
		&c.value, &c.chosen, &c.found}
}
