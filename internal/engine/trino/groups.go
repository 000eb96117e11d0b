package trino

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/dialect"
)

// How people are cut to what counts, so that a cluster does it well. Rows are exchanged once, by
// person: what is grouped by a person and a group, and then by the person, stays where it is. Of a
// person there is a list of no more than what is kept, however much they have. A window would sort
// all of it, and take twice as long; docs/scale.md has the figures.

// byPerson are settings of statements that group by person. Hardly two rows of a file are of one
// person and group, so that to aggregate them before they are exchanged is in vain; and the more
// tables a worker has to group in, the smaller they are, and the faster.
const byPerson = "WITH SESSION prefer_partial_aggregation = false, task_concurrency = 32 "

// groups keeps the partials of a person that have the smallest rank.
func groups(g dialect.Groups) (b, keep, number string) {
	names := strings.Join(append([]string{"u"}, dialect.Names(g.Keys, g.Rest)...), ", ")
	if g.Max == 0 {
		return "SELECT " + names + " FROM " + g.From, "", "u"
	}
	l := newTaken(g)
	people := "SELECT u, " + l.of + " AS r FROM " + g.From + " GROUP BY u"
	columns := append([]string{"u"}, l.columns...)
	if g.Number {
		people, columns = "SELECT u, r, row_number() OVER () AS n FROM ("+people+")", append(columns, "n")
	}
	return fmt.Sprintf("SELECT %s FROM (%s) CROSS JOIN UNNEST(r) AS t (%s)", strings.Join(columns, ", "), people, l.elements), "", "n"
}

// taken is how the partials that a person keeps are put into a list, and taken out again.
type taken struct {
	of       string   // the aggregate
	elements string   // what the elements are called
	columns  []string // what is made of them
}

// A number of 64 bits has room for a rank and the place of a group, which is what the order is by,
// and for what is kept where that is small. Lists of numbers are half the work that lists of rows
// are. It is as many bits of the rank wherever there are places, so that all statements of a query
// keep the same groups.
const numberBits, rankBits = 62, 24

func newTaken(g dialect.Groups) taken {
	order := g.Rank
	if places := room(g.Keys); places <= numberBits-rankBits {
		if places+room(g.Rest) <= numberBits-rankBits {
			return packed(g)
		}
		order = number(g.Rank, g.Keys)
	}
	var l taken
	var fields, elements []string
	add := func(field, element string) { fields, elements = append(fields, field), append(elements, element) }
	for _, c := range slices.Concat(g.Keys, g.Rest) {
		field := "coalesce(" + c.Name + ", " + nothing[c.Type] + ")"
		if c.Hi != nil || c.Type == arrayType {
			add(field, c.Name)
			l.columns = append(l.columns, c.Name)
			continue
		}
		null := c.Name + "_null"
		add(c.Name+" IS NULL", null)
		add(field, c.Name)
		l.columns = append(l.columns, fmt.Sprintf("CASE WHEN %s THEN NULL ELSE %s END AS %s", null, c.Name, c.Name))
	}
	l.of = fmt.Sprintf("min_by(ROW(%s), %s, %d)", strings.Join(fields, ", "), order, g.Max)
	l.elements = strings.Join(elements, ", ")
	return l
}

// nothing stands for NULL in a list, by type. Trino 476 loses what takes the place of a NULL in
// one: min_by(x, y, n) is NULL where a smaller y came after an x that was. So there are none in
// ours.
var nothing = map[string]string{bigint: "0", varchar: "''", "boolean": "false", double: "0E0", arrayType: "ARRAY[]"}

// arrayType is the type of lists, which are as good empty as NULL.
const arrayType = "array"

// packed is a list of numbers. They are different, because no two groups of a person are equal.
func packed(g dialect.Groups) taken {
	all := slices.Concat(g.Keys, g.Rest)
	bits := room(all)
	l := taken{of: fmt.Sprintf("min(%s, %d)", number(g.Rank, all), g.Max), elements: "x"}
	for _, c := range all {
		bits -= width(c)
		l.columns = append(l.columns, fmt.Sprintf("bitwise_and(bitwise_right_shift(x, %d), %d) + (%v) AS %s", bits,
			int64(1)<<width(c)-1, c.Lo, c.Name))
	}
	return l
}

// number prints some bits of a rank, and what follows it.
func number(rank string, after []dialect.Kept) string {
	text := fmt.Sprintf("bitwise_and(%s, %d)", rank, int64(1)<<rankBits-1)
	for _, c := range after {
		text = fmt.Sprintf("(%s * %d + CAST(%s AS bigint))", text, int64(1)<<width(c), c.Steps)
	}
	return text
}

// room is how many bits columns take: more than there are, where one is no integer.
func room(columns []dialect.Kept) int {
	bits := 0
	for _, c := range columns {
		if c.Hi == nil {
			return numberBits + 1
		}
		bits += width(c)
	}
	return bits
}

func width(c dialect.Kept) int { return new(big.Int).Sub(c.Hi, c.Lo).BitLen() }

// values keeps of each person and group a list of the values with the smallest rank, and then
// groups as above. Values of equal ranks are equal, but for one chance in 2^64.
func values(v dialect.Values) string {
	unit := strings.Join(append([]string{"u"}, dialect.Names(v.Keys)...), ", ")
	lists := fmt.Sprintf("SELECT %s, min_by(v, %s, %d) FILTER (WHERE v IS NOT NULL) AS l FROM %s GROUP BY %s", unit, v.Of, v.Rows,
		v.From, unit)
	g := v.Groups
	g.From, g.Rest = "c", []dialect.Kept{{Name: "l", Type: arrayType}}
	b, _, _ := groups(g)
	return fmt.Sprintf("c AS (%s), b AS (%s), s AS (SELECT %s, v FROM b CROSS JOIN UNNEST(l) AS t (v))", lists, b, unit)
}

// rank is a number of 64 bits: xxhash64 of who it is, the salt, and one part after the other. The
// place of a group is spread, so that no two people of neighbouring numbers have the same ranks in
// another order.
func rank(salt string, parts ...dialect.Ranked) string {
	h := "bitwise_xor(" + bits(parts[0]) + ", " + bits(dialect.Ranked{Text: salt, Type: varchar}) + ")"
	for _, p := range parts[1:] {
		h = mixed("bitwise_xor(" + h + ", " + bits(p) + ")")
	}
	if len(parts) == 1 {
		return mixed(h)
	}
	return h
}

func mixed(x string) string { return "from_big_endian_64(xxhash64(to_big_endian_64(" + x + ")))" }

// bits are 64 bits of a value.
func bits(p dialect.Ranked) string {
	switch base(p.Type) {
	case dialect.PlaceType:
		return "(" + p.Text + " * 1099511627689)"
	case bigint:
		return "coalesce(" + p.Text + ", 7046029254386353131)"
	case varchar:
		return "coalesce(from_big_endian_64(xxhash64(to_utf8(" + p.Text + "))), 7046029254386353131)"
	}
	return bits(dialect.Ranked{Text: "CAST(" + p.Text + " AS varchar)", Type: varchar})
}

// place is a difference where values follow each other, and looked up in a table elsewhere.
func place(x string, values any) string {
	n := 0
	switch values := values.(type) {
	case []int64:
		n = len(values)
		if n > 0 && successive(values) {
			lo, hi := constant(values[0]), constant(values[n-1])
			return fmt.Sprintf("CASE WHEN %s BETWEEN %s AND %s THEN %s - %s END", x, lo, hi, x, lo)
		}
	case []string:
		n = len(values)
	}
	if n == 0 {
		return "CAST(NULL AS bigint)"
	}
	places := make([]int64, n)
	for i := range places {
		places[i] = int64(i)
	}
	return "element_at(map(ARRAY[" + constant(values) + "], ARRAY[" + constant(places) + "]), " + x + ")"
}

func successive(values []int64) bool {
	for i, v := range values {
		if uint64(v) != uint64(values[0])+uint64(i) {
			return false
		}
	}
	return true
}
