package trino

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/source/trinotables"
	"github.com/discreet-dp/discreet/internal/sqlgen"
)

// How people are cut to what counts, so that a cluster does it well. Rows are exchanged once, by
// person: what is grouped by a person and a group, and then by the person, stays where it is. Of a
// person there is a list of no more than what is kept, however much they have. A window would sort
// all of it, and take two to three times as long. docs/scale.md has figures of the lists.

// byPerson are settings of statements that group by person. Hardly two rows of a file are of one
// person and group, so that to aggregate them before they are exchanged is in vain; and the more
// tables a worker has to group in, the smaller they are, and the faster.
const byPerson = "WITH SESSION " + trinotables.ByPerson + " "

// printGroups keeps the partials of a person that have the smallest rank.
func printGroups(g sqlgen.Groups) (b, keep, number string) {
	names := strings.Join(append([]string{"u"}, sqlgen.Names(g.Keys, g.Rest)...), ", ")
	switch {
	case g.Max == 0:
		return "SELECT " + names + " FROM " + g.From, "", "u"
	case g.Max > longestList:
		return sqlgen.GroupsByWindow(orderedAsList(g))
	}
	l := newKeptList(g)
	people := "SELECT u, " + l.of + " AS r FROM " + g.From + " GROUP BY u"
	columns := append([]string{"u"}, l.columns...)
	if g.Number {
		people, columns = "SELECT u, r, row_number() OVER () AS n FROM ("+people+")", append(columns, "n")
	}
	return fmt.Sprintf("SELECT %s FROM (%s) CROSS JOIN UNNEST(r) AS t (%s)", strings.Join(columns, ", "), people, l.elements), "", "n"
}

// longestList is how many elements a list can have: min(x, n) fails where there are to be more, and
// does so when it meets a row, so that the failure would tell that there is one. A window takes
// longer, and knows no such limit.
var longestList int64 = 10_000 // a test makes it smaller

// orderedAsList makes a window keep what a list keeps: where there are places, that is decided by
// as many bits of the rank as are in a list.
func orderedAsList(g sqlgen.Groups) sqlgen.Groups {
	if bitsOf(g.Keys) <= numberBits-rankBits {
		g.Rank = printNumber(g.Rank, nil)
	}
	return g
}

// keptList is how the partials that a person keeps are put into a list, and taken out again.
type keptList struct {
	of       string   // the aggregate
	elements string   // what the elements are called
	columns  []string // what is made of them
}

// A number of 64 bits has room for a rank and the place of a group, which is what the order is by,
// and for what is kept where that is small. Lists of numbers are half the work that lists of rows
// are. It is as many bits of the rank wherever there are places, so that all statements of a query
// keep the same groups.
const numberBits, rankBits = 62, 24

func newKeptList(g sqlgen.Groups) keptList {
	order := g.Rank
	if places := bitsOf(g.Keys); places <= numberBits-rankBits {
		if places+bitsOf(g.Rest) <= numberBits-rankBits {
			return packNumbers(g)
		}
		order = printNumber(g.Rank, g.Keys)
	}
	var l keptList
	var fields, elements []string
	add := func(field, element string) { fields, elements = append(fields, field), append(elements, element) }
	add(order, "rank")
	for _, c := range slices.Concat(g.Keys, g.Rest) {
		field := "coalesce(" + c.Name + ", " + nullStandIn[c.Type] + ")"
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
	l.of = fmt.Sprintf("min(ROW(%s), %d)", strings.Join(fields, ", "), g.Max)
	l.elements = strings.Join(elements, ", ")
	return l
}

// nullStandIn stands for NULL in a list, by type: Trino compares no rows with a NULL in them.
var nullStandIn = map[string]string{bigint: "0", varchar: "''", "boolean": "false", double: "0E0", arrayType: "ARRAY[]"}

// arrayType is the type of lists, which are as good empty as NULL.
const arrayType = "array"

// packNumbers is a list of numbers. They are different, because no two groups of a person are
// equal.
func packNumbers(g sqlgen.Groups) keptList {
	all := slices.Concat(g.Keys, g.Rest)
	bits := bitsOf(all)
	l := keptList{of: fmt.Sprintf("min(%s, %d)", printNumber(g.Rank, all), g.Max), elements: "x"}
	for _, c := range all {
		bits -= bitWidth(c)
		l.columns = append(l.columns, fmt.Sprintf("bitwise_and(bitwise_right_shift(x, %d), %d) + (%v) AS %s", bits,
			int64(1)<<bitWidth(c)-1, c.Lo, c.Name))
	}
	return l
}

// printNumber prints some bits of a rank, and what follows it.
func printNumber(rank string, after []sqlgen.Kept) string {
	text := fmt.Sprintf("bitwise_and(%s, %d)", rank, int64(1)<<rankBits-1)
	for _, c := range after {
		text = fmt.Sprintf("(%s * %d + CAST(%s AS bigint))", text, int64(1)<<bitWidth(c), c.Steps)
	}
	return text
}

// bitsOf is how many bits columns take: more than there are, where one is no integer.
func bitsOf(columns []sqlgen.Kept) int {
	bits := 0
	for _, c := range columns {
		if c.Hi == nil {
			return numberBits + 1
		}
		bits += bitWidth(c)
	}
	return bits
}

func bitWidth(c sqlgen.Kept) int { return new(big.Int).Sub(c.Hi, c.Lo).BitLen() }

// printValues keeps of each person and group a list of the values with the smallest rank, and then
// groups as above.
func printValues(v sqlgen.Values) string {
	if v.Rows > longestList || v.Max > longestList {
		v.Groups = orderedAsList(v.Groups)
		return sqlgen.ValuesByWindow(v)
	}
	unit := strings.Join(append([]string{"u"}, sqlgen.Names(v.Keys)...), ", ")
	lists := fmt.Sprintf("SELECT %s, min(ROW(%s, v), %d) FILTER (WHERE v IS NOT NULL) AS l FROM %s GROUP BY %s", unit, v.Of, v.Rows,
		v.From, unit)
	g := v.Groups
	g.From, g.Rest = "c", []sqlgen.Kept{{Name: "l", Type: arrayType}}
	b, _, _ := printGroups(g)
	return fmt.Sprintf("c AS (%s), b AS (%s), s AS (SELECT %s, v FROM b CROSS JOIN UNNEST(l) AS t (rank, v))", lists, b, unit)
}

// printRank is a number of 64 bits: xxhash64 of who it is, the salt, and one part after the other.
// The place of a group is spread, so that no two people of neighbouring numbers have the same ranks
// in another order.
func printRank(salt string, parts ...sqlgen.Ranked) string {
	h := "bitwise_xor(" + printBits(parts[0]) + ", " + printBits(sqlgen.Ranked{Text: salt, Type: varchar}) + ")"
	for _, p := range parts[1:] {
		h = printHash64("bitwise_xor(" + h + ", " + printBits(p) + ")")
	}
	if len(parts) == 1 {
		return printHash64(h)
	}
	return h
}

func printHash64(x string) string { return "from_big_endian_64(xxhash64(to_big_endian_64(" + x + ")))" }

// printBits are 64 bits of a value. A number may have been computed in more; one that does not fit
// ranks as NULL does.
func printBits(p sqlgen.Ranked) string {
	switch baseType(p.Type) {
	case sqlgen.PlaceType:
		return "(" + p.Text + " * 1099511627689)"
	case bigint:
		return "coalesce(" + tryCast(p.Text, bigint) + ", 7046029254386353131)"
	case varchar:
		return "coalesce(from_big_endian_64(xxhash64(to_utf8(" + p.Text + "))), 7046029254386353131)"
	case double, "real": // 0 and -0 are one person, and are spelled in two ways
		p.Text = "CASE WHEN " + p.Text + " = 0 THEN 0 ELSE " + p.Text + " END"
	}
	return printBits(sqlgen.Ranked{Text: "CAST(" + p.Text + " AS varchar)", Type: varchar})
}

// printPosition is a quotient where values lie one step apart, such as days or hours, and looked up
// in a table elsewhere.
func printPosition(x string, values any) string {
	n := 0
	switch values := values.(type) {
	case []int64:
		n = len(values)
		if step := commonStep(values); step > 0 {
			lo, hi := constant(values[0]), constant(values[n-1])
			at := fmt.Sprintf("%s - %s", x, lo)
			if step > 1 {
				at = fmt.Sprintf("CASE WHEN (%s) %% %d = 0 THEN (%s) / %d END", at, step, at, step)
			}
			return fmt.Sprintf("CASE WHEN %s BETWEEN %s AND %s THEN %s END", x, lo, hi, at)
		}
	case []string:
		n = len(values)
	}
	if n == 0 {
		return "CAST(NULL AS bigint)"
	}
	var keys string
	var places []int64
	switch values := values.(type) {
	case []int64:
		values, places = distinctPositions(values)
		keys = numberList(values)
	case []string:
		values, places = distinctPositions(values)
		keys = textList(values)
	}
	return "element_at(map(" + keys + ", " + numberList(places) + "), " + x + ")"
}

// A list of constants is one text that Trino takes apart once, when it plans the statement: each
// constant of its own would be some kilobytes of plan, which the coordinator keeps for a while.

func numberList(all []int64) string {
	text := make([]string, len(all))
	for i, n := range all {
		text[i] = strconv.FormatInt(n, 10)
	}
	return "CAST(split('" + strings.Join(text, ",") + "', ',') AS array(bigint))"
}

func textList(all []string) string {
	between := rune(1) // it is in none of them
	for slices.ContainsFunc(all, func(text string) bool { return strings.ContainsRune(text, between) }) {
		between++
	}
	return "split(" + constant(strings.Join(all, string(between))) + ", " + constant(string(between)) + ")"
}

// distinctPositions are the values, and the place of each. One that is there again is left out:
// over a row, map fails where a key is there twice.
func distinctPositions[T comparable](values []T) (once []T, places []int64) {
	seen := map[T]bool{}
	for i, v := range values {
		if !seen[v] {
			once, places = append(once, v), append(places, int64(i))
		}
		seen[v] = true
	}
	return once, places
}

// commonStep is by how much each value is larger than the one before, or 0 where that is not always
// the same.
func commonStep(values []int64) int64 {
	if len(values) == 0 || values[len(values)-1]-values[0] < 0 { // which may be more than there are numbers
		return 0
	}
	step := int64(1)
	if len(values) > 1 {
		step = values[1] - values[0]
	}
	for i, v := range values[1:] {
		if step <= 0 || v <= values[i] || v-values[i] != step {
			return 0
		}
	}
	return step
}
