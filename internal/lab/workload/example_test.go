package workload_test

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/lab/workload"
)

// A hundred answers with Laplace noise, by every accountant, and then the noise that
// would keep them within epsilon 1.
func Example() {
	laplace, _ := workload.ParseMechanism("laplace:epsilon=0.1", false)
	w, _ := workload.New(workload.Use{Mechanism: laplace, Times: 100})
	answer, _ := w.Epsilon(1e-6, workload.Both)
	for _, r := range answer.Results {
		fmt.Printf("%-8s %.4f\n", r.Method, r.Upper)
	}
	fmt.Println("tightest:", answer.Tightest().Method)

	open, _ := workload.ParseMechanism("gaussian", true)
	c, _ := workload.Calibrate([]workload.Use{{Mechanism: open, Times: 40}}, 1, 1e-6, workload.Both)
	fmt.Printf("%s %.6f\n", c.Parameter, c.Value())
	// Output:
	// basic    10.0000
	// advanced 6.3082
	// optimal  4.7746
	// zcdp     5.1249
	// rdp      4.9842
	// pld      4.6927
	// tightest: pld
	// sigma 26.719215
}
