// Package accountcmd has the commands of discreet account: what mechanisms cost together, the noise
// that a budget needs, and pictures of both.
package accountcmd

import (
	"errors"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/account/workload"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
)

// AccountCmd is discreet account.
type AccountCmd struct {
	Compose   accountComposeCmd   `cmd:"" help:"Say what mechanisms cost together, by every accountant."`
	Calibrate accountCalibrateCmd `cmd:"" help:"Find the noise that a budget needs."`
	Plot      accountPlotCmd      `cmd:"" help:"Draw epsilon against the number of queries, or a privacy loss."`
}

func (AccountCmd) Help() string {
	return `What mechanisms cost together, without data and without a policy.

  discreet account compose --mechanism laplace:epsilon=0.1 --times 100 --delta 1e-6
  discreet account plot --mechanism laplace:epsilon=0.1 --times 1000 --delta 1e-6`
}

// mechanismFlags say what is composed.
type mechanismFlags struct {
	Mechanism []string `help:"A mechanism with its noise, such as laplace:epsilon=0.1; can be given again." required:"" placeholder:"M" short:"m" sep:"none"`
	Times     string   `help:"How often the mechanism before it is used." placeholder:"K" short:"k"`
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

Where it applies, sensitivity=2 says how much one person can change (1 if it is left out), and
sample=0.01 that the mechanism sees a Poisson sample, every person with that probability.
An epsilon or a rho is that of the mechanism, whatever the sensitivity; scale and sigma are its noise.`

// uses reads the mechanisms.
func (f mechanismFlags) uses(free bool) ([]workload.Use, error) {
	if f.Times != "" {
		// Times that timesBehind did not place must not be lost.
		return nil, console.Misuse(errors.New("write --times " + f.Times + " behind the --mechanism that it is about"))
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

// namesInText writes the mechanisms in one line.
func namesInText(uses []workload.Use) string {
	var out []string
	for _, u := range uses {
		out = append(out, u.String())
	}
	return strings.Join(out, " and ")
}
