package accountcmd

import (
	"fmt"

	"github.com/discreet-dp/discreet/account/workload"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/workbench"
)

type accountCalibrateCmd struct {
	mechanismFlags
	Epsilon   string `help:"The epsilon to keep." required:"" placeholder:"E"`
	Delta     string `help:"The delta to keep; 0 for pure mechanisms by simple composition." required:"" placeholder:"D"`
	Direction string `help:"The neighbours that are compared under sampling: ${enum}." enum:"both,remove,add" default:"both"`
	JSON      bool   `help:"Print JSON." name:"json"`
}

func (accountCalibrateCmd) Help() string {
	return `Finds the least noise with which all mechanisms together keep epsilon and delta, by the best accountant.
The noise is that of the mechanisms that are written without it; the others stay as they are.

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
		return console.PrintJSON(s.Out, workbench.Calibrated(epsilon, delta, found))
	}
	more, less := console.RoundOutward(found.Noise.Upper, 10, true), console.RoundOutward(found.Noise.Lower, 10, false)
	if found.Parameter == "epsilon" {
		more, less = console.RoundOutward(found.Noise.Lower, 10, false), console.RoundOutward(found.Noise.Upper, 10, true)
	}
	fmt.Fprintf(s.Out, "%s %s\n\n", found.Parameter, more)
	fmt.Fprintf(s.Out, "%s keeps epsilon %s at delta %s.\n", namesInText(uses), c.Epsilon, c.Delta)
	fmt.Fprintf(s.Out, "At %s %s it would not.\n", found.Parameter, less)
	if alpha, known := found.Error(0.05); known {
		fmt.Fprintf(s.Out, "The noise of one answer is within ±%.4g with a probability of 95 %%.\n", alpha)
	}
	return nil
}
