package learn_test

import (
	"context"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/mechanism/learn"
)

// Who comes back, by age and ward. The rows are made up, and so is the randomness, to have the same
// output each time; a real training has mech.NewReleaser(noise.NewSource()).
func Example() {
	encoding := &learn.Encoding{
		Features: []learn.Column{
			{Name: "age", Lo: 0, Hi: 100, Step: big.NewRat(1, 1)},
			{Name: "ward", Values: []string{"north", "south"}},
		},
		Target: learn.Column{Name: "back", Values: []string{"no", "yes"}},
	}
	epsilon, _ := dp.Parse("1")
	evaluate, _ := dp.Parse("0.1")
	plan, err := learn.Prepare(encoding, learn.Spec{Budget: learn.Budget{Epsilon: epsilon}, Evaluate: evaluate},
		learn.Group{Neighbours: dp.Substitute, MaxRows: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(plan.Method, plan.Loss(), "costs epsilon", plan.Cost.Epsilon)

	table, dice := plan.NewTable(), detrand.New("example", 1)
	for range 5000 {
		age, ward, back := int64(dice.Below(101)), int64(dice.Below(2)), int64(0)
		if dice.Below(100) < int(age) {
			back = 1
		}
		table.Add([]int64{age, ward, back})
	}
	fmt.Println("rows:", table)

	model, err := learn.Fit(context.Background(), plan, table, mech.NewReleaser(detrand.Noise("example", 1)), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(model.Guarantee.Words)
	for _, age := range []string{"20", "80", ""} {
		p, err := model.Predict(map[string]string{"age": age, "ward": "north"})
		fmt.Printf("%q: %s (%.1f) %v\n", age, p.Class, p.Scores["yes"], err)
	}
	fmt.Printf("wrong: from %.1f to %.1f of the training rows\n", model.Evaluation.Low, model.Evaluation.High)
	// Output:
	// objective logistic costs epsilon 1.1
	// rows: [rows]
	// Whether one person's row is replaced by any other changes the probability of every result of this training by a factor of at most e^1.1 (pure differential privacy).
	// "20": no (0.2) <nil>
	// "80": yes (0.8) <nil>
	// "": yes (0.5) <nil>
	// wrong: from 0.2 to 0.3 of the training rows
}
