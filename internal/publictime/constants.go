package publictime

// constants are what things take, in nanoseconds of one thread.
type constants struct {
	// statement is a statement that does nothing: printing, planning, beginning and ending. node is
	// what each operation that is written adds to that, and relation each relation.
	statement, node, relation float64
	// gain is how much of another thread a question has.
	gain float64

	cell float64 // a value that is read, or carried through an operator
	byte float64 // of a text, the same

	operation float64 // on numbers, times, truths
	wide      float64 // the same in 128 bits
	real      float64 // a function of real numbers
	calendar  float64 // a field of a date, a step by months
	branch    float64 // of a CASE
	listed    float64 // a value of an IN list
	text      float64 // to make a text, beside its bytes
	compared  float64 // to compare texts, beside their bytes
	made      float64 // a byte of a text that is made
	changed   float64 // a byte that is replaced, or put into another case
	searched  float64 // a byte in which a part is looked for
	match     float64 // of a regular expression, beside the bytes
	matched   float64 // a byte, by a regular expression
	parsed    float64 // a text that is read as a number or a time, beside its match
	spelled   float64 // a number or a time that is written as a text

	build, probe float64 // a row of a join
	pair         float64 // two rows that are held together without an equality
	group        float64 // a row that is grouped
	sort         float64 // a row that is sorted, times the logarithm of their number
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
	statement: 3e6, node: 20e3, relation: 200e3, gain: 0.6,
	cell: 3, byte: 0.15,
	operation: 4, wide: 20, real: 20, calendar: 25, branch: 8, listed: 3,
	text: 25, compared: 8, made: 1, changed: 4, searched: 1, match: 150, matched: 10, parsed: 250, spelled: 80,
	build: 80, probe: 60, pair: 3, group: 80, sort: 12, kept: 20,
	handed: 15, bounded: 60, value: 10, place: 40, chosen: 150, found: 200, noise: 3000, ranked: 8, result: 1000,
}

// cluster is Trino. Its times are those of a small cluster, and begin with what it takes to plan a
// statement there and to start its stages.
var cluster = scaled(embedded, 3, constants{statement: 500e6, relation: 50e6, node: 100e3, noise: 3000, ranked: 8, result: 5000})

// scaled is constants that are some times others, but those that are given.
func scaled(c constants, by float64, but constants) constants {
	out := c
	for _, f := range []*float64{&out.cell, &out.byte, &out.operation, &out.wide, &out.real, &out.calendar, &out.branch, &out.listed,
		&out.text, &out.compared, &out.made, &out.changed, &out.searched, &out.match, &out.matched, &out.parsed, &out.spelled, &out.build,
		&out.probe, &out.pair, &out.group, &out.sort, &out.kept, &out.handed, &out.bounded, &out.value, &out.place, &out.chosen, &out.found} {
		*f *= by
	}
	out.statement, out.node, out.relation, out.noise, out.ranked, out.result = but.statement, but.node, but.relation, but.noise, but.ranked,
		but.result
	return out
}
