package publictime

// constants are what things take, in nanoseconds of one thread.
type constants struct {
	// statement is a statement that does nothing: printing, planning, beginning and ending. node is
	// what each operation that is written adds to that, and relation each relation. begin is what
	// package bound takes before the first row.
	statement, node, relation, begin float64
	// gain is how much of another thread a question has.
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
	listed    float64 // a value of an IN list
	text      float64 // to make a text, beside its bytes
	compared  float64 // to compare texts, beside their bytes
	made      float64 // a byte of a text that is put together
	padded    float64 // each copy of what fills a text up
	changed   float64 // a byte that is put into another case
	trimmed   float64 // a byte of a text that is trimmed, split or replaced in
	searched  float64 // a byte in which a part is looked for
	match     float64 // of a regular expression, beside the bytes
	matched   float64 // a byte, by a regular expression
	wildcard  float64 // a byte, for each wildcard of a pattern
	parsed    float64 // a text that is read as a whole number or a time, beside its match
	decimal   float64 // a byte of a text that is read as a decimal number
	spelled   float64 // a whole number that is written as a text
	written   float64 // a decimal number or a time that is

	build, probe float64 // a row of a join
	pair         float64 // two rows that are held together without an equality
	group        float64 // a row that is grouped
	sort         float64 // a row that is sorted, times the logarithm of their number
	sorted       float64 // a byte of a text by which rows are sorted
	kept         float64 // a row that is kept aside, in WITH

	handed  float64 // a row that comes to package bound
	bounded float64 // to hold it by person there, and to add it up
	value   float64 // each of its values
	place   float64 // to find the place of a key
	chosen  float64 // a value among those of a person
	found   float64 // a private key, spelled and hashed
	noise   float64 // to release one number
	ranked  float64 // a value of which quantiles are released, times the logarithm of their number
	result  float64 // a row of a result that comes out of SQL
}

// embedded is DuckDB in this process.
var embedded = constants{
	statement: 2e6, node: 20e3, relation: 150e3, begin: 4e6, gain: 0.6,
	cell: 2, byte: 0.15, stored: 1.2,
	operation: 3, wide: 15, divided: 400, real: 20, calendar: 25, branch: 6, listed: 2,
	text: 30, compared: 15, made: 1, padded: 6, changed: 5, trimmed: 7, searched: 0.5,
	match: 120, matched: 4.5, wildcard: 2, parsed: 250, decimal: 800, spelled: 60, written: 350,
	build: 110, probe: 70, pair: 3, group: 100, sort: 8, sorted: 5, kept: 20,
	handed: 15, bounded: 75, value: 12, place: 25, chosen: 60, found: 70, noise: 300, ranked: 25, result: 1000,
}

// cluster is Trino. Its times are those of a small cluster, and begin with what it takes to plan a
// statement there and to start its stages.
var cluster = func() constants {
	c := embedded
	for _, f := range c.ofRows() {
		*f *= 3
	}
	c.statement, c.relation, c.node, c.begin, c.result = 500e6, 50e6, 100e3, 0, 5000
	return c
}()

// ofRows are the constants of what the database does with a row.
func (c *constants) ofRows() []*float64 {
	return []*float64{&c.cell, &c.byte, &c.stored, &c.operation, &c.wide, &c.divided, &c.real, &c.calendar, &c.branch, &c.listed,
		&c.text, &c.compared,
		&c.made, &c.padded, &c.changed, &c.trimmed, &c.searched, &c.match, &c.matched, &c.wildcard, &c.parsed, &c.decimal, &c.spelled,
		&c.written, &c.build, &c.probe, &c.pair, &c.group, &c.sort, &c.sorted, &c.kept, &c.handed, &c.bounded,
		&c.value, &c.place, &c.chosen, &c.found}
}
