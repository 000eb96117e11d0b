package fakedata

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/policy"
)

// How large a town is: large enough that the noise of an ordinary question does not hide all of an
// answer, and small enough to be made while somebody waits.
const (
	townPersonCount = 1000
	townMaxRows     = 4 // of one person in a table that may have many
	townPublicRows  = 24
)

// MakeTown makes ordinary people in a folder, the same for the same policy, and returns the dataset
// with them: values within their bounds, keys that the policy lists, some that are missing.
func MakeTown(ds *policy.Dataset, folder string) (*policy.Dataset, error) {
	t := townMaker{schema: SchemaOf(ds), dice: detrand.New("town", 1), ordinary: map[string]*policy.Column{}}
	for _, s := range t.schema {
		for _, name := range s.ColumnNames() {
			t.noteColumn(s.Columns[name])
		}
	}
	people := make([]Person, townPersonCount)
	for i := range people {
		people[i] = t.makePerson(i)
	}
	return t.schema.Write(ds, folder, t.dice, people, t.makePublicRows)
}

type townMaker struct {
	schema   Schema
	dice     detrand.Choices
	ordinary map[string]*policy.Column // by name and type: the column that says most about its values
}

func columnNameAndType(c *policy.Column) string {
	return strings.ToLower(c.Name) + " " + c.Type.String()
}

// noteColumn remembers what a column says about its values. Columns of one name have the same ones,
// so that tables have something to be joined on.
func (t townMaker) noteColumn(c *policy.Column) {
	known := t.ordinary[columnNameAndType(c)]
	if known == nil || len(known.KeyValues) == 0 && (len(c.KeyValues) > 0 || known.Bounds == nil) {
		t.ordinary[columnNameAndType(c)] = c
	}
}

// makePerson makes a person. Where every row is a person of its own they have one row, in a table
// by turns.
func (t townMaker) makePerson(number int) Person {
	name := fmt.Sprint(number + 1)
	p := make(Person, len(t.schema))
	for i, s := range t.schema {
		if s.Public || s.UnitKind == policy.Row && i != number%len(t.schema) {
			continue
		}
		rows := 1
		if s.UnitKind == policy.Many {
			rows = 1 + t.dice.Below(int(min(s.MaxRows, townMaxRows)))
		}
		for range rows {
			p[i] = append(p[i], t.makeRow(s, name))
		}
	}
	t.schema.Connect(t.dice, p, name)
	return p
}

func (t townMaker) makeRow(s Sheet, name string) []string {
	names := s.ColumnNames()
	return s.Row(name, func(i int) string { return t.makeValue(s.Columns[names[i]]) })
}

// makePublicRows makes the rows of a public table.
func (t townMaker) makePublicRows(table int) [][]string {
	s := t.schema[table]
	unique := slices.Index(s.Header, s.UniqueColumn)
	seen := map[string]bool{}
	var out [][]string
	for range 10 * townPublicRows {
		row := t.makeRow(s, Null)
		if unique >= 0 && (row[unique] == Null || seen[row[unique]]) {
			continue
		}
		if unique >= 0 {
			seen[row[unique]] = true
		}
		if out = append(out, row); len(out) == townPublicRows {
			break
		}
	}
	return out
}

func (t townMaker) makeValue(of *policy.Column) string {
	if of.Nullable && t.dice.One(20) {
		return Null
	}
	c := t.ordinary[columnNameAndType(of)]
	if of.Bounds != nil || len(of.KeyValues) > 0 {
		c = of
	}
	switch {
	case len(c.KeyValues) > 0:
		v := c.KeyValues[t.smallBelow(len(c.KeyValues))]
		if v.Null {
			return Null
		}
		return c.ShowValue(v)
	case c.Bounds != nil:
		return c.Show(t.smallBetween(c.Bounds.LoSteps, c.Bounds.HiSteps))
	}
	switch c.Type {
	case policy.Integer, policy.Decimal:
		return fmt.Sprint(t.smallBelow(100))
	case policy.Boolean:
		return detrand.Pick(t.dice, []string{"true", "false"})
	case policy.Date:
		return policy.FormatDate(firstUnixDay + int64(t.dice.Below(366)))
	case policy.Timestamp:
		return policy.FormatTimestamp((firstUnixDay*24 + int64(t.dice.Below(366*24))) * 3_600_000_000)
	}
	return fmt.Sprintf("%s %d", c.Name, 1+t.smallBelow(12))
}

// firstUnixDay is the first of January of 2024, in days since 1970.
const firstUnixDay = 19723

// smallBelow is a number from 0 to n-1, and small ones come more often.
func (t townMaker) smallBelow(n int) int { return min(t.dice.Below(n), t.dice.Below(n)) }

// smallBetween is a number between two, both with it, and small ones come more often.
func (t townMaker) smallBetween(lo, hi int64) int64 { return lo + int64(t.smallBelow(int(hi-lo+1))) }

// EndlessBudget is a dataset for one who asks about data that is made up. What is left of whose
// budget is the owner's affair: they can pay for every question, at the price and with the noise
// that the policy gives it.
func EndlessBudget(ds *policy.Dataset, analyst string) *policy.Dataset {
	out := *ds
	out.Budget.Epsilon = max(out.Budget.Epsilon, 100*dp.One)
	out.Budget.Renewal = policy.Renewal{}
	out.Groups = nil
	out.Analysts = map[string]*policy.Analyst{analyst: {Name: analyst, Share: big.NewRat(1, 1)}}
	return &out
}
