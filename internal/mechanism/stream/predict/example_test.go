package predict_test

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/mechanism/stream/linear"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/predict"
)

func Example() {
	d, err := linear.NewDomain(
		linear.Attribute{Name: "sex", Values: []string{"f", "m"}},
		linear.Attribute{Name: "age", Values: []string{"0-29", "30-59", "60+"}},
	)
	if err != nil {
		panic(err)
	}
	p, err := predict.NewWeights(d, 1000)
	if err != nil {
		panic(err)
	}
	old, err := d.Where(map[string][]string{"age": {"60+"}})
	if err != nil {
		panic(err)
	}
	young, err := d.Where(map[string][]string{"age": {"0-29", "30-59"}})
	if err != nil {
		panic(err)
	}
	v, _ := p.Predict(old)
	fmt.Printf("%.0f of 1000 at first\n", v)
	// Somebody paid for an answer, and it is public.
	p.Learn(predict.Released{Query: old, Answer: 100, Scale: 1})
	v, _ = p.Predict(young)
	fmt.Printf("%.0f are not that old\n", v)
	// Output:
	// 333 of 1000 at first
	// 900 are not that old
}
