package generate_test

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/test/generate"
)

func Example() {
	ds := generate.Worlds()[0]
	d := generate.NewDice("example", 3)
	text := generate.NewMaker(ds, planner.Options{}).Question(d)
	fmt.Println(strings.Contains(text, "SELECT"), strings.Contains(text, generate.Mark))
	db := generate.Make(d, ds)
	without, ok := db.Neighbour(d)
	fmt.Println(ok, without.Rows() < db.Rows())
	// Output:
	// true true
	// true true
}

// TestMain lets garbage lie longer: plans of thousands of questions are made and dropped, and a
// fifth of the time went into looking for what is still used.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
