package audit_test

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/lab/audit"
)

func Example() {
	for f, err := range audit.Run(context.Background(), []string{"laplace"}, audit.Options{Samples: 100_000}) {
		if err != nil {
			panic(err)
		}
		fmt.Println(f.Subject, f.Check, f.Stands)
	}
	// Output:
	// laplace exact true
	// laplace statistical true
}
