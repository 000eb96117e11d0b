package accountcmd

import (
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/account/workload"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/table"
	"github.com/discreet-dp/discreet/internal/workbench"
)

type accountComposeCmd struct {
	mechanismFlags
	Delta     string `help:"The delta at which to say epsilon." placeholder:"D" xor:"at"`
	Epsilon   string `help:"The epsilon at which to say delta." placeholder:"E" xor:"at"`
	Direction string `help:"The neighbours that are compared under sampling: ${enum}." enum:"both,remove,add" default:"both"`
	JSON      bool   `help:"Print JSON." name:"json"`
}

func (accountComposeCmd) Help() string {
	return `Prints what every accountant that applies says. Lower and upper enclose the value of its theorem;
upper is a guarantee. The mechanisms and their noise are fixed in advance, and may be chosen in any
order; for parameters that depend on answers see docs/accounting.md.

  discreet account compose --mechanism laplace:epsilon=0.1 --times 100 --delta 1e-6
  discreet account compose --mechanism gaussian:sigma=4 --times 40 --epsilon 10
  discreet account compose -m gaussian:sigma=1,sample=0.01 -k 1000 -m laplace:scale=20 -k 3 --delta 1e-6 --json
` + mechanismHelp
}

// theorems say where each method is from.
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
		return console.Misuse(errors.New("say --delta to be told epsilon, or --epsilon to be told delta"))
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
		return console.PrintJSON(s.Out, workbench.Composed(given, at, w, answer))
	}
	fmt.Fprintf(s.Out, "%s at %s %s\n\n", namesInText(w.Uses()), given, text)
	t := &table.Table{Header: []string{"method", asked + " at least", asked + " at most", "", "theorem"}, Right: []bool{false, true, true}}
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
