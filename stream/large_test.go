package stream

import (
	"context"
	"flag"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/exact"
	"github.com/discreet-dp/discreet/internal/stream/histogram"
	"github.com/discreet-dp/discreet/mech"
)

var largeAsked = flag.Int("large", 0, "how many questions TestLarge asks over 10 million cells")

// Ten million cells: at least 50 questions a second on one core, in under 200 MB.
func TestLarge(t *testing.T) {
	if *largeAsked == 0 {
		t.Skip("needs -large 2000")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	d := domain(t, 10, 10, 10, 10, 10, 10, 10)
	dice := detrand.New("large", 1)
	const people = 200_000
	cells := make([]int64, people)
	counts := make([]int64, people)
	for i := range cells {
		codes := make([]int, 7)
		mood := dice.Below(10)
		for k := range codes {
			codes[k] = min(dice.Below(10), dice.Below(10))
			if dice.One(3) {
				codes[k] = mood
			}
		}
		cells[i], counts[i] = int64(d.Cell(codes...)), 1
	}
	data, err := histogram.Sparse(d, exact.Seal(cells), exact.Seal(counts))
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Domain: d, Size: people, Alpha: 0.05, Beta: 0.001, Queries: 100_000, Steps: 1, Currency: mech.Pure,
		Budget: amountOf(t, "10")}
	for _, sets := range []bool{false, true} {
		s, _ := open(t, c, data, 1)
		var took, slowest time.Duration
		far := 0
		for range *largeAsked {
			q := conjunction(t, dice, d, 5, sets)
			before := time.Now()
			a, err := s.Ask(context.Background(), q)
			spent := time.Since(before)
			took, slowest = took+spent, max(slowest, spent)
			if err != nil {
				t.Fatal(err)
			}
			if truth := data.Answer(q).Open()[0]; max(a.Value-truth, truth-a.Value) > a.Error {
				far++
			}
		}
		r := s.Report()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		t.Logf("sets %v: %.0f questions a second, the slowest took %v; %d MB of the system; plain %d, paid %d, spent %v", sets,
			float64(*largeAsked)/took.Seconds(), slowest.Round(time.Millisecond), m.Sys>>20, r.Plain, r.Paid, r.Spent.Epsilon)
		if status, err := os.ReadFile("/proc/self/status"); err == nil {
			for _, line := range strings.Split(string(status), "\n") {
				if strings.HasPrefix(line, "VmHWM") {
					t.Log(line)
				}
			}
		}
		if far > 0 || r.Refused > 0 {
			t.Errorf("%d too far off, %d refused", far, r.Refused)
		}
		s = nil
		debug.FreeOSMemory()
	}
}
