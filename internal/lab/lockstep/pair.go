package lockstep

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"path/filepath"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/fakedata"
	"github.com/discreet-dp/discreet/policy"
)

// Pair is two neighbouring databases, and what is hard about them.
type Pair struct {
	Name string
	A, B Database

	close []func() error
}

// Close gives back what the databases hold. Their files are the caller's.
func (p Pair) Close() error {
	var errs []error
	for _, c := range p.close {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// commonPeople are the people who are in both databases.
var commonPeople = []struct {
	name string
	make func(s schema, d dice, turn int) []person
}{
	{"nobody else", func(schema, dice, int) []person { return nil }},
	{"one other", func(s schema, d dice, turn int) []person {
		return []person{s.makePerson(d, "1", anyValues, turn)}
	}},
	{"twins", func(s schema, d dice, turn int) []person {
		// The same rows over and over, of people who differ in their names alone.
		seed := uint64(d.Below(1 << 30))
		var out []person
		for i := range 8 {
			out = append(out, s.makePerson(detrand.New("twins", seed), fmt.Sprint(i+1), anyValues, turn))
		}
		return out
	}},
	{"a crowd", func(s schema, d dice, turn int) []person {
		var out []person
		for i := range 30 {
			out = append(out, s.makePerson(d, fmt.Sprint(i+1), manner(d.Below(int(everyGroup))), i))
		}
		return out
	}},
	{"rows that belong to nobody", func(s schema, d dice, turn int) []person {
		out := []person{s.makePerson(d, "1", everyGroup, turn)}
		for range 10 {
			out = append(out, s.makePerson(d, nullValue, anyValues, turn))
		}
		return out
	}},
}

// MakePair makes the pair of databases with this number, in a folder that it creates, under
// the relation of the dataset: one person is there or not, or is replaced. The same seed and
// number make the same pair. It looks at the policy and at nothing else. Successive numbers go
// through all kinds of people and of company.
func MakePair(ctx context.Context, ds *policy.Dataset, folder string, seed uint64, number int) (Pair, error) {
	name, made, err := writePair(ds, folder, seed, number)
	p := Pair{Name: name}
	if err != nil {
		return p, err
	}
	for i, d := range []*Database{&p.A, &p.B} {
		e, err := duckdb.Open(ctx, made[i])
		if err != nil {
			return p, errors.Join(err, p.Close())
		}
		p.close = append(p.close, e.Close)
		*d = Database{made[i], e}
	}
	return p, nil
}

// writePair makes the files of a pair, and says what is hard about it.
func writePair(ds *policy.Dataset, folder string, seed uint64, number int) (name string, made [2]*policy.Dataset, err error) {
	s := schemaOf(ds)
	d := detrand.New(fmt.Sprintf("pair %d", number), seed)
	// Five kinds of company, six of people and seven of those who replace them: numbers without a
	// common divisor, so that all combinations come up.
	manners := []manner{highValues, everyGroup, lowValues, anyValues, oddValues, missingValues}
	crowd, how := commonPeople[number%len(commonPeople)], manners[number%len(manners)]
	if tables := len(s.Schema); tables > 1 && ds.Unit.Row() {
		how = manners[number/tables%len(manners)]
	}
	both := crowd.make(s, d, number)
	one := append(both[:len(both):len(both)], s.makePerson(d, "1001", how, number))
	name = fmt.Sprintf("pair %d, somebody with %v and %s", number, how, crowd.name)
	other := both
	if ds.Neighbours == dp.Substitute {
		others := []manner{lowValues, everyGroup, highValues, noGroup, missingValues, anyValues, oddValues}
		instead := others[number%len(others)]
		if instead == noGroup && (ds.Unit.Row() || ds.CountsEverybody() != nil) {
			instead = anyValues // where rows are people, or one table has them all, who is replaced has a row
		}
		other = append(both[:len(both):len(both)], s.makePerson(d, "1002", instead, number))
		name += fmt.Sprintf(", or somebody else with %v", instead)
	}
	for i, people := range [][]person{one, other} {
		if made[i], err = s.write(ds, filepath.Join(folder, string(rune('a'+i))), d, people); err != nil {
			return name, made, err
		}
	}
	return name, made, nil
}

// person is somebody's rows in every table, in the order of the schema.
type person = fakedata.Person

// schema is the tables of a dataset with what their columns can hold.
type schema struct {
	fakedata.Schema
	values [][]values // of the columns of the policy, by table
}

func schemaOf(ds *policy.Dataset) schema {
	out := schema{Schema: fakedata.SchemaOf(ds)}
	for _, t := range out.Schema {
		var all []values
		for _, c := range t.ColumnNames() {
			all = append(all, valuesOf(t.Columns[c]))
		}
		out.values = append(out.values, all)
	}
	return out
}

// makePublicRows makes the rows of a public table, which are the same in all databases.
func (s schema) makePublicRows(table int) [][]string {
	t := s.Schema[table]
	d := detrand.New("public "+t.Name, 1)
	unique := slices.Index(t.Header, t.UniqueColumn)
	seen := map[string]bool{}
	var out [][]string
	for i := range 40 {
		row := s.makeRow(d, table, nullValue, []manner{anyValues, lowValues, highValues}[i%3])
		if unique >= 0 && (row[unique] == nullValue || seen[row[unique]]) {
			continue
		}
		if unique >= 0 {
			seen[row[unique]] = true
		}
		if out = append(out, row); len(out) == 8 || unique >= 0 && len(out) == 1 {
			break // of values that are moved to a bound two may become one
		}
	}
	return out
}

// maxPersonRows is how many rows a made-up person has at most in a table. A policy that allows more
// is tried with fewer, which shortens the search and raises no false alarm.
const maxPersonRows = 600

func (s schema) makeRow(d dice, table int, name string, m manner) []string {
	return s.Schema[table].Row(name, func(column int) string { return s.values[table][column].choose(d, m) })
}

// rowCount says how many rows somebody has in a table.
func rowCount(t fakedata.Sheet, d dice, m manner) int {
	most := int(min(t.MaxRows, maxPersonRows/4))
	switch {
	case m == noGroup:
		return 0
	case t.UnitKind != policy.Many:
		return 1
	case m == everyGroup:
		return maxPersonRows
	case m.alike():
		return 2*most + 2
	}
	return 1 + d.Below(3)
}

// makePerson makes a person. Where every row is a person of its own they have one row, in the
// table that turn names.
func (s schema) makePerson(d dice, name string, m manner, turn int) person {
	p := make(person, len(s.Schema))
	for i, t := range s.Schema {
		if t.Public || t.UnitKind == policy.Row && i != turn%len(s.Schema) {
			continue
		}
		n := rowCount(t, d, m)
		if m.alike() {
			// All in one group, so that the limit of rows in a group is reached.
			row := s.makeRow(d, i, name, m)
			for range n {
				p[i] = append(p[i], row)
			}
			continue
		}
		for range n {
			p[i] = append(p[i], s.makeRow(d, i, name, m))
		}
	}
	s.Connect(d, p, name)
	return p
}

// write writes people's rows, and returns the dataset with them as its only source.
func (s schema) write(ds *policy.Dataset, folder string, d dice, people []person) (*policy.Dataset, error) {
	return s.Write(ds, folder, d, people, s.makePublicRows)
}

const nullValue = fakedata.Null

// values are what a column of made-up data can hold, as text.
type values struct {
	public []string // the keys that answers show
	low    []string // as low as counts, then lower
	high   []string // as high as counts, then higher
	odd    []string // what is no value, or hardly one
}

// maxPublicValues is how many public values of a column are used. A person cannot be in more
// groups than they have rows anyway.
const maxPublicValues = 2000

// valuesOf collects the values at which a system may forget something: the ends and beyond, the
// ends of what a machine can hold, and what is spelled like a value and is another.
func valuesOf(c *policy.Column) values {
	var v values
	public := c.PublicValues()
	for _, k := range public[:min(len(public), maxPublicValues)] {
		if k.Null {
			v.public = append(v.public, nullValue)
			continue
		}
		v.public = append(v.public, c.ShowValue(k))
	}
	switch c.Type {
	case policy.Integer, policy.Decimal:
		v.numbers(c)
	case policy.Date, policy.Timestamp:
		v.dates(c)
	case policy.Boolean:
		v.low, v.high = []string{"false", "false", "f", "0"}, []string{"true", "true", "t", "1"}
		v.odd = []string{nullValue, "yes", "2", "TRUE", "maybe"}
	default:
		v.texts()
	}
	v.odd = append(v.odd, nullValue)
	return v
}

func (v *values) numbers(c *policy.Column) {
	step := big.NewRat(1, 1)
	if c.Granularity != nil {
		step = c.Granularity
	}
	lo, hi := new(big.Rat).Neg(big.NewRat(100, 1)), big.NewRat(100, 1)
	if c.Bounds != nil {
		lo, hi = c.Bounds.Lo, c.Bounds.Hi
	}
	show := func(r *big.Rat) string {
		if c.Type == policy.Integer {
			return new(big.Int).Quo(r.Num(), r.Denom()).String()
		}
		return r.FloatString(15)
	}
	// The ends themselves come most often: of what is too large for its type nothing is left.
	below, above := new(big.Rat).Sub(lo, step), new(big.Rat).Add(hi, step)
	far := new(big.Rat).Mul(big.NewRat(1000, 1), new(big.Rat).Add(step, new(big.Rat).Sub(hi, lo)))
	v.low = []string{show(lo), show(lo), show(below), show(new(big.Rat).Sub(lo, far))}
	v.high = []string{show(hi), show(hi), show(above), show(new(big.Rat).Add(hi, far))}
	middle := new(big.Rat).Add(lo, new(big.Rat).Quo(new(big.Rat).Sub(hi, lo), big.NewRat(2, 1)))
	v.odd = []string{show(middle), "0", "1", "-1", "-0", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
		"9007199254740993", "1e18", "1.5", "-0.5", "12abc", " 7", "0x10", "1_000"}
	if c.Type == policy.Decimal {
		half := new(big.Rat).Quo(step, big.NewRat(2, 1))
		v.odd = append(v.odd, show(new(big.Rat).Add(hi, half)), show(new(big.Rat).Sub(lo, half)), show(half),
			"nan", "NaN", "inf", "-inf", "Infinity", "-0.0", "1.7976931348623157e308", "-1.7976931348623157e308", "5e-324", "1e999")
	}
}

func (v *values) dates(c *policy.Column) {
	v.low, v.high = []string{"0001-01-01", "1969-12-31"}, []string{"9999-12-31", "2038-01-20"}
	if b := c.Bounds; b != nil {
		v.low = []string{c.Show(b.LoSteps), c.Show(b.LoSteps), c.Show(b.LoSteps - 1), "0001-01-01"}
		v.high = []string{c.Show(b.HiSteps), c.Show(b.HiSteps), c.Show(b.HiSteps + 1), "9999-12-31"}
	}
	v.odd = []string{"1970-01-01", "2024-02-29", "2023-02-29", "infinity", "-infinity", "5881580-07-10", "0001-01-01 (BC)",
		"5877642-06-25 (BC)", "epoch", "2024-01-01 23:59:59", "31.12.2024", "0"}
}

func (v *values) texts() {
	v.odd = []string{" ", "null", "NULL", "'", `"`, `""`, `\`, "a,b", "two\nlines", "é", "e\u0301", "\u200b", "ﬁ", "İ", "\U0001F600",
		"'; DROP TABLE t; --", "%", "_", "0", "1e3", strings.Repeat("long ", 1000)}
	for _, k := range v.public[:min(len(v.public), 5)] {
		// Other spellings of a key are other texts.
		v.odd = append(v.odd, k+" ", " "+k, strings.ToUpper(k), strings.ToLower(k))
	}
	v.low, v.high = slices.Clone(v.public), slices.Clone(v.public)
	if len(v.public) == 0 {
		v.low, v.high = []string{"a"}, []string{"z"}
	}
}

// manner is how somebody's values are chosen.
type manner int

const (
	lowValues     manner = iota // as low as they can be
	highValues                  // as high as they can be
	missingValues               // none at all
	oddValues                   // as strange as they can be
	anyValues                   // something of everything
	everyGroup                  // in every group, with the highest values
	noGroup                     // in none: they have no rows
)

func (m manner) String() string {
	return []string{"lowest values", "highest values", "no values", "odd values", "any values", "in every group", "no rows"}[m]
}

// alike reports whether all rows of somebody are the same row.
func (m manner) alike() bool { return m == lowValues || m == highValues || m == missingValues }

func (v *values) choose(d dice, m manner) string {
	from := [][]string{v.low, v.high, v.odd}[d.Below(3)]
	switch m {
	case lowValues:
		from = v.low
	case highValues:
		from = v.high
	case missingValues:
		return nullValue
	case oddValues:
		from = v.odd
	case everyGroup:
		from = v.high
		// A column that is both summed and grouped by gets both, by turns.
		if len(v.public) > 0 && d.Below(4) > 0 {
			from = v.public
		}
	case anyValues:
		if len(v.public) > 0 && d.Below(2) == 0 {
			from = v.public
		}
	}
	return detrand.Pick(d, from)
}

// dice makes choices, the same for the same seed.
type dice = detrand.Choices
