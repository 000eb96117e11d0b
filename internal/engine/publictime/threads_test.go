package publictime_test

import (
	"flag"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/engine/publictime"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

var threads = flag.Int("threads", 0, "how many threads questions have, where what they gain by them is measured")

// readShare is for how long the threads of this process worked, and for how long they waited for a
// processor.
func readShare(t testing.TB) (worked, waited float64) {
	t.Helper()
	all, err := filepath.Glob("/proc/self/task/*/schedstat")
	if err != nil || len(all) == 0 {
		t.Skip("how long threads wait is not told here")
	}
	for _, path := range all {
		text, err := os.ReadFile(path)
		fields := strings.Fields(string(text))
		if err != nil || len(fields) < 2 {
			continue // it has ended
		}
		w, _ := strconv.ParseFloat(fields[0], 64)
		d, _ := strconv.ParseFloat(fields[1], 64)
		worked, waited = worked+w, waited+d
	}
	return worked, waited
}

// elapsed is how long a run takes by the clock, without what others on the machine take of it: what
// a server judges by. It is the shortest of some runs.
func elapsed(t testing.TB, run func() error) (best time.Duration) {
	t.Helper()
	for i := range 3 {
		worked, waited := readShare(t)
		began := time.Now()
		if err := run(); err != nil {
			t.Log(err)
			return 0
		}
		took := time.Since(began)
		w, d := readShare(t)
		own := time.Duration(float64(took) * (w - worked) / (w - worked + d - waited))
		if i == 0 || own < best {
			best = own
		}
	}
	return best
}

// TestThreads compares what questions take with several threads, by the clock, with the processor
// time that they take with one, and with what is public for several.
func TestThreads(t *testing.T) {
	if *measured == 0 || *threads == 0 {
		t.Skip("this is measured with -threads, -measure and a number of people")
	}
	c := corpora(t)[0]
	storeCorpus(t, c.Dataset, filepath.Join(t.TempDir(), "d.duckdb"))
	one, several := open(t, c.Dataset, duckdb.Limits{}), open(t, c.Dataset, duckdb.Limits{Threads: *threads})
	sizes, err := one.Sizes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m := publictime.Machine{Threads: *threads, Factor: machineOf(t, one).Factor}
	var gains []float64
	late := 0
	for i, a := range c.Asked {
		if i%*every != 0 || a.Query == nil || asksNoEngine(a) {
			continue
		}
		alone := fastestTime(t, 2, func() error { return answer(t.Context(), one, a.Query) })
		if alone < 20*time.Millisecond || alone > 2*time.Second { // where threads have something to share
			continue
		}
		own, public := elapsed(t, func() error { return answer(t.Context(), several, a.Query) }), m.Query(a.Query, sizes)
		gains = append(gains, float64(alone)/float64(own))
		if own > public {
			late++
		}
		t.Logf("  %8.1f ms public, %8.1f ms taken, %8.1f ms with one thread: %s", ms(public), ms(own), ms(alone),
			fmt.Sprint(a.Of, " ", a.Number))
	}
	slices.Sort(gains)
	if len(gains) == 0 {
		t.Fatal("no question takes long enough; there have to be more people")
	}
	t.Logf("%d threads, %d questions: %.2f times as fast at least, %.2f in the middle; %d take longer than is public", *threads,
		len(gains), gains[0], gains[len(gains)/2], late)
}

// Releases of which noise on each number is the least take no longer than their steps may.
func TestSteps(t *testing.T) {
	machine := publictime.Machine{Threads: 1, Factor: 1}
	releaser := mech.NewReleaser(noise.NewSource())
	check := func(name string, public time.Duration, release func()) {
		worked := fastestTime(t, 1, func() error { release(); return nil })
		for i := 0; i < 30 && worked > public; i++ { // where others keep the processors busy it fits later
			time.Sleep(time.Duration(i) * 20 * time.Millisecond)
			worked = fastestTime(t, 1, func() error { release(); return nil })
		}
		t.Logf("%s: %v of %v", name, worked, public)
		if worked > public {
			t.Errorf("%s takes %v, and its public time is %v", name, worked, public)
		}
	}
	for _, n := range daily.Sample(t, []int{256, 1024}, 1) {
		m, err := mech.NewRunningTotals(mech.RunningTotalsConfig{Len: n, Groups: 3, Low: new(big.Int), High: big.NewInt(1 << 10)}, dp.One)
		if err != nil {
			t.Fatal(err)
		}
		exact := mech.Seal(make([]int64, n)...)
		check("running totals", machine.Steps(float64(n*(n+1))), func() { releaser.ReleaseRunningTotals(exact, m) })
	}
	for _, sizes := range daily.Sample(t, [][]int{{16, 16, 16, 16}, {256, 256}, {2, 2, 2, 2, 2, 2, 2, 2}, {8, 8, 8, 8, 8}}, 1) {
		var sets [][]int
		for mask := range 1 << len(sizes) {
			var set []int
			for axis := range sizes {
				if mask>>axis&1 == 1 {
					set = append(set, axis)
				}
			}
			sets = append(sets, set)
		}
		m, err := mech.NewResiduals(mech.ResidualsConfig{Sizes: sizes, Hidden: make([]bool, len(sizes)), Sets: sets, Low: new(big.Int),
			High: big.NewInt(1 << 10)}, dp.One)
		if err != nil {
			t.Fatal(err)
		}
		exact := mech.Seal(make([]int64, m.Len())...)
		check("a cube", machine.Steps(5*float64(m.Len()*(m.PartCount()+len(sets)))), func() { releaser.ReleaseMarginals(exact, m) })
	}
}
