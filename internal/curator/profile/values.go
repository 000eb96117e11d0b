package profile

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/policy"
)

// Values is where people's largest values of a column lie between its bounds, and how many people
// have one at the lower bound. It is a count like a [Profile]: each person is in one cell, whatever
// rows they have, so it has the noise and the price of one count.
type Values struct {
	Cells  []ValueCell
	Lowest ValueCell // people with a value at the lower bound, or below it
}

// ValueCell is people whose largest value is from From to below To. The last cell is the upper
// bound itself, where all larger values are too, and From and To are equal there.
type ValueCell struct {
	From   string  `json:"from"`
	To     string  `json:"to"`
	People float64 `json:"people"`
	Error  float64 `json:"error"`
}

// valueCells is into how many cells the space between two bounds is divided.
const valueCells = 10

// OfValues reports whether there is such a count of a column: of numbers between bounds, in a table
// that says whose a row is.
func OfValues(t *policy.Table, c *policy.Column) bool {
	number := c.Type == policy.Integer || c.Type == policy.Decimal
	return !t.Public && number && c.Bounds != nil && c.Granularity != nil && c.Bounds.HiSteps-c.Bounds.LoSteps >= valueCells &&
		(Of(t) || t.UnitKind == policy.Unique || t.UnitKind == policy.Row)
}

// ValuesQuestion is the SQL that the count is the answer to.
func ValuesQuestion(t *policy.Table, c *policy.Column) string {
	edges := valueEdges(c)
	const cells = "SELECT width_bucket(%s, ARRAY[%s]) AS cell, %s <= %s AS lowest, COUNT(*) FROM %s GROUP BY 1, 2 ORDER BY 1, 2"
	inner := strings.Join(edges[1:], ", ")
	if !Of(t) {
		return fmt.Sprintf(cells, quote(c.Name), inner, quote(c.Name), edges[0], quote(t.Name))
	}
	person, column := quote(t.UnitColumn), quote(c.Name)
	largest, least := unlike("v", t), unlike("w", t)
	return fmt.Sprintf(cells, largest, inner, least, edges[0], fmt.Sprintf("(SELECT %s, MAX(%s) AS %s, MIN(%s) AS %s FROM %s "+
		"GROUP BY %s) AS person", person, column, largest, column, least, quote(t.Name), person))
}

// valueEdges are where cells begin, and the upper bound.
func valueEdges(c *policy.Column) []string {
	width := c.Bounds.HiSteps - c.Bounds.LoSteps
	out := make([]string, valueCells+1)
	for i := range out {
		steps := new(big.Rat).SetInt64(c.Bounds.LoSteps + width/valueCells*int64(i) + width%valueCells*int64(i)/valueCells)
		text := steps.Mul(steps, c.Granularity).FloatString(12)
		out[i] = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return out
}

// ReadValues reads the answer to [ValuesQuestion].
func ReadValues(c *policy.Column, a *api.Answer) (*Values, error) {
	if a == nil {
		return nil, fmt.Errorf("nobody has paid for it")
	}
	edges := valueEdges(c)
	out := &Values{}
	for i := range edges {
		out.Cells = append(out.Cells, ValueCell{From: edges[i], To: edges[min(i+1, valueCells)]})
	}
	out.Lowest = ValueCell{From: edges[0], To: edges[0]}
	for i, row := range a.Rows {
		if len(row) != 3 || len(a.Errors) != len(a.Rows) || a.Errors[i][2] == nil {
			return nil, fmt.Errorf("the answer does not say where values lie")
		}
		at, err := strconv.Atoi(fmt.Sprint(row[0]))
		if err != nil { // people without a value
			continue
		}
		people, err := strconv.ParseFloat(fmt.Sprint(row[2]), 64)
		if err != nil || at < 0 || at >= len(out.Cells) {
			return nil, fmt.Errorf("the answer does not say where values lie")
		}
		out.Cells[at].add(people, *a.Errors[i][2])
		if row[1] == true {
			out.Lowest.add(people, *a.Errors[i][2])
		}
	}
	return out, nil
}

func (c *ValueCell) add(people, error float64) {
	c.People, c.Error = c.People+people, math.Hypot(c.Error, widened(error))
}

// Told reports whether anybody can be told to be in a cell.
func (c *ValueCell) Told() bool { return c.People > c.Error }

// AtBounds says of how many people bounds cut values, as far as anybody can tell.
func (v *Values) AtBounds(t *policy.Table, c *policy.Column) string {
	some := func(at ValueCell) string {
		if at.Told() {
			return fmt.Sprintf("about %.0f (±%.0f)", at.People, math.Ceil(at.Error))
		}
		return fmt.Sprintf("up to %.0f", max(0, math.Ceil(at.People+at.Error)))
	}
	last := v.Cells[len(v.Cells)-1]
	return fmt.Sprintf("of all people in %s, %s have a %s of %s or less, and %s of %s or more, which count as these bounds", t.Name,
		some(v.Lowest), c.Name, v.Lowest.To, some(last), last.To)
}

// Bounds says what bounds do, where nobody knows how many people they cut.
func Bounds(columns []*policy.Column) string {
	bounds := make([]string, len(columns))
	for i, c := range columns {
		bounds[i] = c.Name + " " + c.ShowBounds()
	}
	return "values beyond bounds count as the bound: " + strings.Join(bounds, ", ")
}
