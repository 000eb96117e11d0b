package profile

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/policy"
)

// Values is where people's largest values of a column lie between its bounds. It is a count like a
// [Profile]: each person is in one cell, whatever rows they have, so it has the noise and the price
// of one count.
type Values struct {
	Cells []ValueCell
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
	const cells = "SELECT width_bucket(%s, ARRAY[%s]) AS cell, COUNT(*) FROM %s GROUP BY 1 ORDER BY 1"
	if !Of(t) {
		return fmt.Sprintf(cells, quote(c.Name), strings.Join(edges[1:], ", "), quote(t.Name))
	}
	person := quote(t.UnitColumn)
	return fmt.Sprintf(cells, "v", strings.Join(edges[1:], ", "), fmt.Sprintf("(SELECT %s, MAX(%s) AS v FROM %s GROUP BY %s) AS person",
		person, quote(c.Name), quote(t.Name), person))
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
	edges := valueEdges(c)
	out := &Values{}
	for i := range edges {
		out.Cells = append(out.Cells, ValueCell{From: edges[i], To: edges[min(i+1, valueCells)]})
	}
	for i, row := range a.Rows {
		if len(row) != 2 || len(a.Errors) != len(a.Rows) || a.Errors[i][1] == nil {
			return nil, fmt.Errorf("the answer does not say where values lie")
		}
		at, err := strconv.Atoi(fmt.Sprint(row[0]))
		if err != nil { // people without a value
			continue
		}
		people, err := strconv.ParseFloat(fmt.Sprint(row[1]), 64)
		if err != nil || at < 0 || at >= len(out.Cells) {
			return nil, fmt.Errorf("the answer does not say where values lie")
		}
		out.Cells[at].People, out.Cells[at].Error = people, *a.Errors[i][1]
	}
	return out, nil
}
