package neighbours_test

import (
	"flag"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/audit/generate"
	"github.com/discreet-dp/discreet/internal/audit/neighbours"
)

var (
	pairs = flag.Int("pairs", 4_000, "how many pairs of neighbours are compared")
	seed  = flag.Uint64("seed", 1, "which ones")
)

// openers are the engines that are put to the test.
var openers = map[string]func(*testing.T) neighbours.Opener{
	"reference": func(*testing.T) neighbours.Opener { return neighbours.Reference },
}

// TestNeighbours searches for a question with which one person moves more than the noise hides.
func TestNeighbours(t *testing.T) {
	worlds := generate.Worlds()
	for _, ds := range worlds {
		t.Run(ds.Name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			n := *pairs / len(worlds)
			if testing.Short() {
				n = min(n, 200)
			}
			r, err := neighbours.Replay(t.Context(), ds, neighbours.Options{Seed: *seed, Pairs: n})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d pairs, %d of them apart, %d refused, the farthest %.3g of what is allowed, %v", r.Pairs, r.Moved, r.Refused,
				r.Worst, time.Since(start))
			for _, f := range r.Findings {
				t.Errorf("%s\n%s", f.Subject, f.Detail)
			}
			if r.Moved < r.Pairs/10 || r.Worst < 1 {
				t.Errorf("the search is too soft: %d of %d pairs are apart, and the farthest is %v", r.Moved, r.Pairs, r.Worst)
			}
		})
	}
}
