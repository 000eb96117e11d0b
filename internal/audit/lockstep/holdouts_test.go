package lockstep

import (
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/sessiontest"
)

// heldOut is a dataset with a table that is a holdout.
const heldOut = `  clinic:
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
          weight: {type: decimal, bounds: [40, 160], granularity: 0.5}
    holdouts:
      trial: {table: patients, size: 30, threshold: 0.1, noise: 0.05, answers: 4, steps: STEPS}
`

func holding(unit, neighbours, budget string, steps int) string {
	unique := "unique: id"
	if unit == "row" {
		unique = ""
	}
	return strings.NewReplacer("UNIT", unit, "NEIGHBOURS", neighbours, "BUDGET", budget, "UNIQUE", unique, "STEPS",
		fmt.Sprint(steps)).Replace(heldOut)
}

// scores are expressions from 0 to 1, and some that are not.
var scores = []string{
	"CASE WHEN sex = 'F' THEN 1 ELSE 0 END", "CASE WHEN smoker THEN 1 ELSE 0 END", "CASE WHEN age < 50 THEN 1 ELSE 0 END",
	"CASE WHEN sex = 'M' AND age >= 30 THEN 1 ELSE 0 END",
	"CASE WHEN weight > 100 THEN 1 ELSE 0 END", "CASE WHEN sex IS NULL THEN 1 ELSE 0 END",
	"CASE WHEN smoker = (age > 40) THEN 1 ELSE 0 END", "age", "1", "0", "CASE WHEN age > 10 THEN 0.5 ELSE 0 END",
	"CASE WHEN weight / age > 2 THEN 1 ELSE 0 END",
}

// On made-up neighbours the whole path of a holdout that is a table does the same until a
// comparison or an answer makes the difference.
func TestHoldoutsOnNeighbours(t *testing.T) {
	var all conversationTally
	pairs := 5
	if *full {
		pairs = 50
	}
	for i, world := range []string{
		holding("patients.id", "add-remove", "{epsilon: 99}", 1),
		holding("patients.id", "substitute", "{epsilon: 99}", 2),
		holding("row", "add-remove", "{epsilon: 99, delta: 1e-6}", 4),
		holding("row", "substitute", "{epsilon: 5}", 1),
	} {
		ds := onlyDataset(t, world)
		for number := range pairs {
			p, err := Neighbours(ctx, ds, t.TempDir(), uint64(i), number)
			if err != nil {
				t.Fatal(err)
			}
			d := newDice(fmt.Sprint("scores ", i), uint64(number))
			now, history := newRecordingLedger(&outcome{}), []sessiontest.Event(nil)
			for step := range 16 {
				expression, training := scores[d.Below(len(scores))], fmt.Sprint("0.", d.Below(100))
				ask := func(c *curator.Curator) (any, error) {
					return c.Holdouts.Ask(ctx, api.HoldoutQuestion{Analyst: "ana", SQL: expression, Training: training})
				}
				if d.One(3) {
					ask = func(c *curator.Curator) (any, error) {
						return c.Ask(ctx, api.Question{Analyst: "ana", SQL: "SELECT holdout_mean(" + expression + ", " + training +
							") FROM patients", Request: fmt.Sprint("step ", step)})
					}
				}
				where := fmt.Sprintf("world %d, %s, step %d, %s", i, p.Name, step, expression)
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
