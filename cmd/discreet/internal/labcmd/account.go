package labcmd

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/lab/workbench"
	"github.com/discreet-dp/discreet/internal/lab/workload"
	"github.com/discreet-dp/discreet/internal/render"
)

type AccountCmd struct {
	Compose   accountComposeCmd   `cmd:"" help:"Compute what mechanisms cost together, with every accountant."`
	Calibrate accountCalibrateCmd `cmd:"" help:"Find the noise that a budget needs."`
	Plot      accountPlotCmd      `cmd:"" help:"Plot epsilon against the number of queries, or a privacy loss."`
}

func (AccountCmd) Help() string {
	return `Computes what mechanisms cost together. Needs neither data nor a policy.

  discreet account compose --mechanism laplace:epsilon=0.1 --times 100 --delta 1e-6
  discreet account plot --mechanism laplace:epsilon=0.1 --times 1000 --delta 1e-6`
}

type mechanismFlags struct {
	Mechanism []string `help:"A mechanism with its noise, such as laplace:epsilon=0.1; can be given again." required:"" placeholder:"M" short:"m" sep:"none"`
	Times     string   `help:"How often the preceding mechanism is used." placeholder:"K" short:"k"`
}

const mechanismHelp = `
Mechanisms:
  laplace:epsilon=0.1            or laplace:scale=10
  gaussian:sigma=4               or gaussian:rho=0.03
  discrete-laplace:scale=10
  discrete-gaussian:sigma2=16
  randomized-response:epsilon=1
  exponential:epsilon=0.1
  pure:epsilon=0.1
  approx:epsilon=0.1,delta=1e-9

Where they apply, sensitivity=2 says how much one person can change (1 if you leave it out), and
sample=0.01 says that the mechanism sees a Poisson sample: each person with that probability.
epsilon and rho are those of the mechanism, whatever the sensitivity; scale and sigma set its noise.`

func (f mechanismFlags) uses(free bool) ([]workload.Use, error) {
	if f.Times != "" {
		// Times that timesBehind did not place must not be lost.
		return nil, console.Misuse(errors.New("write --times " + f.Times + " after the --mechanism that it belongs to"))
	}
	var out []workload.Use
	for _, text := range f.Mechanism {
		u, err := workload.ParseUse(text, free)
		if err != nil {
			return nil, err
		}
		out = append(out, u)
	}
	return out, nil
}

// workload reads the mechanisms, all with their noise.
func (f mechanismFlags) workload() (*workload.Workload, error) {
	uses, err := f.uses(false)
	if err != nil {
		return nil, err
	}
	return workload.New(uses...)
}

// AttachTimes moves each --times into the mechanism before it, or behind it if
// there is none: flags that are given again are otherwise read without their order.
func AttachTimes(args []string) []string {
	var out, waiting []string
	last := -1
	attach := func(times string) {
		separator := ","
		if !strings.Contains(out[last], ":") {
			separator = ":"
		}
		// A comma would begin another parameter.
		out[last] += separator + "times=" + strings.ReplaceAll(times, ",", "_")
	}
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		if len(args[i]) > 2 && (args[i][:2] == "-m" || args[i][:2] == "-k") {
			// -k100 is -k 100, and so is -k=100.
			name, value, joined = args[i][:2], strings.TrimPrefix(args[i][2:], "="), true
		}
		known := map[string]string{"--mechanism": "m", "-m": "m", "--times": "k", "-k": "k"}[name]
		if known == "" || !joined && (i+1 == len(args) || strings.HasPrefix(args[i+1], "--")) {
			out = append(out, args[i])
			continue
		}
		if !joined {
			i++
			value = args[i]
		}
		if known == "m" {
			out = append(out, "--mechanism="+value)
			last = len(out) - 1
			for _, times := range waiting {
				attach(times)
			}
			waiting = nil
			continue
		}
		if last < 0 {
			waiting = append(waiting, value)
		} else {
			attach(value)
		}
	}
	for _, times := range waiting {
		out = append(out, "--times="+times)
	}
	return out
}

// readNumber reads an epsilon or a delta; what it may be is for the accountants to say.
func readNumber(name, text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		example := map[string]string{"epsilon": "0.5", "delta": "1e-6"}[name]
		return 0, console.Misuse(errors.New(name + " is " + strconv.Quote(text) + ": write a number such as " + example))
	}
	return x, nil
}

func namesInText(uses []workload.Use) string {
	var out []string
	for _, u := range uses {
		out = append(out, u.String())
	}
	return strings.Join(out, " and ")
}

type accountComposeCmd struct {
	mechanismFlags
	Delta     string `help:"The delta at which to compute epsilon." placeholder:"D" xor:"at"`
	Epsilon   string `help:"The epsilon at which to compute delta." placeholder:"E" xor:"at"`
	Direction string `help:"The neighbours to compare under sampling: ${enum}." enum:"both,remove,add" default:"both"`
	JSON      bool   `help:"Print JSON." name:"json"`
}

func (accountComposeCmd) Help() string {
	return `Prints the result of every accountant that applies. Lower and upper enclose the value of its theorem;
upper is a guarantee. The mechanisms and their noise are fixed in advance, and can be used in any
order; for parameters that depend on answers see docs/accounting.md.

  discreet account compose --mechanism laplace:epsilon=0.1 --times 100 --delta 1e-6
  discreet account compose --mechanism gaussian:sigma=4 --times 40 --epsilon 10
  discreet account compose -m gaussian:sigma=1,sample=0.01 -k 1000 -m laplace:scale=20 -k 3 --delta 1e-6 --json
` + mechanismHelp
}

var theorems = map[workload.Method]string{
	workload.Basic:    "the sums (Dwork et al. 2006)",
	workload.Advanced: "Dwork, Rothblum, Vadhan 2010",
	workload.Optimal:  "Kairouz, Oh, Viswanath 2015; Murtagh, Vadhan 2016",
	workload.ZCDP:     "Bun, Steinke 2016; Canonne, Kamath, Steinke 2020",
	workload.RDP:      "Mironov 2017; Canonne, Kamath, Steinke 2020",
	workload.Gaussian: "exact for Gaussian noise (Balle, Wang 2018)",
	workload.PLD:      "privacy-loss distributions, enclosed",
}

func (c *accountComposeCmd) Run(s console.Screen) error {
	w, err := c.workload()
	if err != nil {
		return err
	}
	if (c.Delta == "") == (c.Epsilon == "") {
		return console.Misuse(errors.New("give --delta to compute epsilon, or --epsilon to compute delta"))
	}
	given, asked, text := "delta", "epsilon", c.Delta
	ask := w.Epsilon
	if c.Epsilon != "" {
		given, asked, text = "epsilon", "delta", c.Epsilon
		ask = w.Delta
	}
	at, err := readNumber(given, text)
	if err != nil {
		return err
	}
	done := console.Waiting(s.Err, "composing")
	answer, err := ask(at, workbench.Directions[c.Direction])
	done()
	if err != nil {
		return err
	}
	best := answer.Tightest().Method
	if c.JSON {
		return console.PrintJSON(s.Out, workbench.ComposedDocument(given, at, w, answer))
	}
	fmt.Fprintf(s.Out, "%s at %s %s\n\n", namesInText(w.Uses()), given, text)
	t := &render.Table{Header: []string{"method", asked + " at least", asked + " at most", "", "theorem"}, Right: []bool{false, true, true}}
	for _, r := range answer.Results {
		mark := ""
		if r.Method == best {
			mark = "tightest"
		}
		t.Add(string(r.Method), console.RoundOutward(r.Lower, 8, false), console.RoundOutward(r.Upper, 8, true), mark, theorems[r.Method])
	}
	t.Write(s.Out)
	if len(answer.Skipped) > 0 {
		fmt.Fprintln(s.Out)
	}
	for _, k := range answer.Skipped {
		fmt.Fprintf(s.Out, "%s does not apply: %s\n", k.Method, k.Reason)
	}
	return nil
}

type accountCalibrateCmd struct {
	mechanismFlags
	Epsilon   string `help:"The epsilon to keep." required:"" placeholder:"E"`
	Delta     string `help:"The delta to keep; 0 for pure mechanisms by simple composition." required:"" placeholder:"D"`
	Direction string `help:"The neighbours to compare under sampling: ${enum}." enum:"both,remove,add" default:"both"`
	JSON      bool   `help:"Print JSON." name:"json"`
}

func (accountCalibrateCmd) Help() string {
	return `Finds the least noise with which all mechanisms together keep epsilon and delta, by the best accountant. It
chooses the noise of the mechanisms that you write without any; the others stay as they are.

  discreet account calibrate --mechanism gaussian --times 40 --epsilon 1 --delta 1e-6
  discreet account calibrate --mechanism laplace:sensitivity=2 --times 100 --epsilon 1 --delta 1e-6
  discreet account calibrate -m gaussian:sample=0.01 -k 1000 -m laplace:epsilon=0.1 --epsilon 1 --delta 1e-6
` + mechanismHelp
}

func (c *accountCalibrateCmd) Run(s console.Screen) error {
	uses, err := c.uses(true)
	if err != nil {
		return err
	}
	epsilon, err := readNumber("epsilon", c.Epsilon)
	if err != nil {
		return err
	}
	delta, err := readNumber("delta", c.Delta)
	if err != nil {
		return err
	}
	done := console.Waiting(s.Err, "calibrating")
	found, err := workload.Calibrate(uses, epsilon, delta, workbench.Directions[c.Direction])
	done()
	if err != nil {
		return err
	}
	if c.JSON {
		return console.PrintJSON(s.Out, workbench.CalibratedDocument(epsilon, delta, found))
	}
	more, less := console.RoundOutward(found.Noise.Upper, 10, true), console.RoundOutward(found.Noise.Lower, 10, false)
	if found.Parameter == "epsilon" {
		more, less = console.RoundOutward(found.Noise.Lower, 10, false), console.RoundOutward(found.Noise.Upper, 10, true)
	}
	fmt.Fprintf(s.Out, "%s %s\n\n", found.Parameter, more)
	fmt.Fprintf(s.Out, "%s keeps epsilon %s at delta %s.\n", namesInText(uses), c.Epsilon, c.Delta)
	fmt.Fprintf(s.Out, "At %s %s it would not.\n", found.Parameter, less)
	if alpha, known := found.Error(0.05); known {
		fmt.Fprintf(s.Out, "The noise of one answer is within ±%.4g with probability 95 %%.\n", alpha)
	}
	return nil
}
