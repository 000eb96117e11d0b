package lockstep

import (
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/sessiontest"
)

// streamed is a dataset with a stream, that is so small that one person makes a difference.
const streamed = `  clinic:
    engine: duckdb
    source: clinic
    unit: UNIT
    neighbours: NEIGHBOURS
    budget: BUDGET
    analysts: {ana: {share: 1}}
    tables:
      patients:
        UNIQUE
        columns:
          id:     {type: integer}
          sex:    {type: text, keys: [F, M, null]}
          smoker: {type: boolean}
          age:    {type: integer, bounds: [0, 99]}
          born:   {type: date, bounds: [2000-01-01, 2001-12-31]}
          weight: {type: decimal, bounds: [40, 160], granularity: 0.5}
    streams:
      people:
        table: patients
        columns: {sex: , age: {width: 25}, born: {width: 200}}
        size: 30
        alpha: 0.3
        beta: 0.3
        queries: 40
        PREDICTOR
`

func streaming(unit, neighbours, budget, predictor string) string {
	unique := "unique: id"
	if unit == "row" {
		unique = ""
	}
	return strings.NewReplacer("UNIT", unit, "NEIGHBOURS", neighbours, "BUDGET", budget, "UNIQUE", unique, "PREDICTOR",
		predictor).Replace(streamed)
}

// conditions are on all kinds of columns and their ends, in and between cells.
var conditions = []string{
	"sex = 'F'", "sex = 'M'", "sex IS NULL", "sex <> 'F'", "sex IN ('F', 'M')", "NOT (sex = 'F')", "age < 25", "age < 50", "age >= 75",
	"age BETWEEN 25 AND 49", "age IS NULL", "age >= 50 AND sex = 'F'",
	"age < 25 OR sex IS NULL", "sex = 'F' AND age IS NULL", "age >= 0", "age < 99", "born IS NOT NULL", "born < DATE '2000-07-19'",
	"sex = 'X'", "age < 30", "smoker", "1 = 1",
	"age >= 25 AND born IS NULL", "sex = 'M' AND age >= 50 AND born IS NOT NULL",
}

// On made-up neighbours the whole path of a stream, from the table on, does the same until a
// comparison or an answer makes the difference.
func TestStreamsOnNeighbours(t *testing.T) {
	var all conversationTally
	pairs := 4
	if *full {
		pairs = 40
	}
	for i, world := range []string{
		streaming("patients.id", "add-remove", "{epsilon: 99}", ""),
		streaming("patients.id", "substitute", "{epsilon: 99}", "predictor: weights"),
		streaming("row", "add-remove", "{epsilon: 99, delta: 1e-6}", ""),
		streaming("row", "substitute", "{epsilon: 20}", "predictor: weights"),
	} {
		ds := onlyDataset(t, world)
		for number := range pairs {
			p, err := Neighbours(ctx, ds, t.TempDir(), uint64(i), number)
			if err != nil {
				t.Fatal(err)
			}
			d := newDice(fmt.Sprint("conversation ", i), uint64(number))
			now, history := newRecordingLedger(&outcome{}), []sessiontest.Event(nil)
			for step := range 16 {
				condition := conditions[d.Below(len(conditions))]
				ask := func(c *curator.Curator) (any, error) {
					return c.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: condition})
				}
				if d.One(3) {
					ask = func(c *curator.Curator) (any, error) {
						return c.Ask(ctx, api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients WHERE " + condition,
							Request: fmt.Sprint("step ", step), Settings: api.Settings{Stream: "on"}})
					}
				}
				where := fmt.Sprintf("world %d, %s, step %d, %s", i, p.Name, step, condition)
				now, history = all.step(t, where, p, now, history, uint64(i*100000+number*1000+step), ask)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	all.log(t)
	if all.moved < 20 || all.ratio != 1 {
		t.Error("too little was seen")
	}
}
