package server

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// The soak of the documentation is -soak 10m. With -hostile one finds out which kind does it.
var (
	soak     = flag.Duration("soak", 0, "for how long hostile clients are there; 0 means some seconds, without a look at the clock")
	someKind = flag.String("hostile", "", "only the kinds of hostile clients that this expression finds")
)

const (
	soakMemory = 2 << 30 // bytes that the server may take
	honestMany = 20
	// Honest clients wait no longer, for 99 of 100 requests, than this many times what they wait
	// where they are alone. Of each kind there are too few to hold it against that.
	mostSlower = 3
)

// TestHostile runs the server as a process of its own, in 2 GB, and lets hostile clients of every
// kind in beside 20 honest ones. Nobody honest is refused or waits for long, memory comes back, and
// nothing is left. The hostile clients are a process too, of the lowest priority: it stands for
// other machines, and what it works itself must not be taken for what it does to the server.
func TestHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes half a minute")
	}
	if runtime.GOOS != "linux" {
		t.Skip("the memory of a process is read from /proc")
	}
	if *soak == 0 {
		t.Parallel() // it waits, and looks at no clock
	}
	p := startProcess(t)
	alone, beside, after := time.Second, 2*time.Second, time.Second
	if *soak > 0 {
		alone, beside, after = max(*soak/3, 15*time.Second), *soak, 20*time.Second
	}
	crowd := newCrowd(t, &p.target)
	crowd.spend(t, min(alone, 10*time.Second)) // what is made once is made
	crowd.forget()
	quiet := crowd.spend(t, alone)
	before := p.usage(t)

	p.Lasting, p.Only, p.Share = beside, *someKind, 100
	if *soak == 0 {
		p.Share = 20
	}
	hostile := p.target.elsewhere(t)
	loud := crowd.spend(t, beside)
	tallies := hostile()
	crowd.spend(t, after) // who was there before is served as before

	left := p.settle(t, before)
	t.Logf("\n%s\n%s\n%s", compare(t, quiet, loud), printTallies(t, tallies), printUsage(before, left))
	crowd.check(t)
	p.check(t, crowd, before, left)
	crowd.close()
	p.end(t)
}

// elsewhere runs the hostile clients in another process; what it returns waits for what they tell.
func (x *target) elsewhere(t *testing.T) func() []hostileTally {
	t.Helper()
	plan, err := json.Marshal(x)
	must(t, err)
	c := exec.Command("nice", "-n", "19", os.Args[0], "-test.run=^TestHostileClients$", "-test.timeout=0")
	c.Env = append(os.Environ(), "DISCREET_HOSTILE="+string(plan), "GOMAXPROCS=2")
	c.Stderr = os.Stderr
	var out strings.Builder
	c.Stdout = &out
	must(t, c.Start())
	t.Cleanup(func() { c.Process.Kill() })
	return func() (told []hostileTally) {
		err := c.Wait()
		text, _, _ := strings.Cut(out.String(), "\n")
		if err != nil || json.Unmarshal([]byte(text), &told) != nil {
			t.Fatalf("%v: %.2000s", err, out.String())
		}
		return told
	}
}

// times are how long each kind of request took.
type times map[string][]time.Duration

// percentile is the time that so many of a hundred are within.
func percentile(all []time.Duration, percent int) time.Duration {
	if len(all) == 0 {
		return 0
	}
	all = slices.Sorted(slices.Values(all))
	return all[max(0, (len(all)*percent+99)/100-1)]
}

// compare prints what honest clients waited for, and holds it against what they wait for alone.
func compare(t *testing.T, quiet, loud times) string {
	t.Helper()
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "honest request\tn\tp50\tp99\tbeside: n\tp50\tp99\tp99 ratio\t")
	row := func(name string, q, l []time.Duration) {
		a, z := percentile(q, 99), percentile(l, 99)
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%d\t%s\t%s\t%.1f\t\n", name, len(q), ms(percentile(q, 50)), ms(a), len(l),
			ms(percentile(l, 50)), ms(z), float64(z)/float64(max(a, 1)))
		if *soak > 0 && (len(q) == 0 || len(l) == 0) {
			t.Errorf("nobody did %s", name)
		}
	}
	var allQuiet, allLoud []time.Duration
	for _, k := range honestKinds {
		row(k.name, quiet[k.name], loud[k.name])
		allQuiet, allLoud = append(allQuiet, quiet[k.name]...), append(allLoud, loud[k.name]...)
	}
	row("all", allQuiet, allLoud)
	if a, z := percentile(allQuiet, 99), percentile(allLoud, 99); *soak > 0 && z > mostSlower*a {
		t.Errorf("honest requests take %s, and %s where honest clients are alone", ms(z), ms(a))
	}
	w.Flush()
	return b.String()
}

func ms(d time.Duration) string { return fmt.Sprintf("%.0f ms", float64(d)/1e6) }

func printTallies(t *testing.T, all []hostileTally) string {
	t.Helper()
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "hostile\tattempts\trefused\thow")
	for _, x := range all {
		var how []string
		attempts, refused := 0, 0
		for outcome, n := range x.Outcomes {
			attempts += n
			if outcome != done && outcome != atEnd {
				refused += n
			}
			how = append(how, fmt.Sprintf("%s %d", outcome, n))
		}
		slices.Sort(how)
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\n", x.Name, attempts, refused, strings.Join(how, ", "))
		if *soak > 0 && attempts == 0 {
			t.Errorf("nobody did %s", x.Name)
		}
	}
	w.Flush()
	return b.String()
}
