package discreet_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
)

// A model is priced, trained and paid for like a question, and predictions are free. The same
// question again is the same model.
func ExampleDB_Train() {
	dir, err := os.MkdirTemp("", "discreet-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path, err := schoolPolicy(dir)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	db, err := discreet.Open(ctx, path, discreet.WithMemory("256MB"), discreet.WithThreads(1))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	q := api.TrainingQuestion{Dataset: "hospital", Analyst: "ana", Features: "SELECT age, sex FROM patients", Target: "age >= 55"}
	q.Spec.Budget.Epsilon = 20 * dp.One
	price, err := db.QuoteTraining(ctx, q)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("price: epsilon", price.Pay.Epsilon, "method:", price.Method)
	for range 2 {
		trained, err := db.Train(ctx, q, nil)
		if err != nil {
			log.Fatal(err)
		}
		p, err := trained.Model.Predict(map[string]string{"age": "90", "sex": "F"})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("somebody of 90:", p.Class, "free:", trained.Receipt.Free)
	}
	// Output:
	// price: epsilon 20 method: objective
	// somebody of 90: true free: false
	// somebody of 90: true free: true
}
