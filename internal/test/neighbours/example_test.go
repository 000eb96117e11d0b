package neighbours_test

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/neighbours"
	"github.com/discreet-dp/discreet/policy"
)

func ExampleReplay() {
	ds := generate.Worlds()[0]
	r, err := neighbours.Replay(context.Background(), ds, neighbours.Options{Pairs: 100})
	fmt.Println(len(r.Findings), r.Moved > 20, err)
	// The same with an engine that does not cut people's groups.
	r, err = neighbours.Replay(context.Background(), ds, neighbours.Options{Pairs: 300, Planted: func(ds *policy.Dataset) {
		for _, t := range ds.Tables {
			t.MaxGroups = 1000
		}
	}})
	fmt.Println(len(r.Findings) > 0, err)
	// Output:
	// 0 true <nil>
	// true <nil>
}
