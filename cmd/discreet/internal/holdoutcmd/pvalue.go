package holdoutcmd

import (
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/holdout"
)

type holdoutPvalueCmd struct {
	P     float64 `help:"The p-value that was found." placeholder:"P" name:"p" default:"-1"`
	Alpha float64 `help:"The probability of a false discovery that is wanted." placeholder:"A" default:"-1"`
	Bits  float64 `help:"The max-information of the analysis that chose the test; or give --n and --epsilon." placeholder:"K" default:"-1"`
	informationFlags
	JSON bool `help:"Print JSON." name:"json"`
}

func (holdoutPvalueCmd) Help() string {
	return `Corrects a p-value for having chosen the test by the data, where the choice was differentially private: p becomes
2^bits p + beta. The other way round, --alpha gives the level to test at, (alpha - beta)/2^bits.

  discreet holdout pvalue --p 0.0001 --n 10000 --epsilon 0.01 --beta 0.001
  discreet holdout pvalue --alpha 0.05 --n 10000 --epsilon 0.01 --beta 0.001
  discreet holdout pvalue --p 0.001 --bits 3`
}

func (c *holdoutPvalueCmd) Run(s console.Screen) error {
	has := func(x float64) bool { return x != -1 }
	bits, err := c.Bits, c.checkBeta()
	switch {
	case !has(c.P) && !has(c.Alpha):
		err = console.Misuse(errors.New("give the p-value with --p, or the probability of a false discovery that is wanted with --alpha"))
	case has(c.P) && !(c.P >= 0 && c.P <= 1):
		err = console.Misuse(errors.New("--p is a probability, from 0 to 1"))
	case has(c.Alpha) && !(c.Alpha > 0 && c.Alpha < 1):
		err = console.Misuse(errors.New("--alpha is a probability above 0 and below 1, such as 0.05"))
	case has(c.Bits) && (c.N != 0 || has(c.Epsilon)):
		err = console.Misuse(errors.New("give --bits, or --n and --epsilon, not both"))
	case has(c.Bits) && !(c.Bits >= 0):
		err = console.Misuse(errors.New("--bits is a number from 0"))
	case !has(c.Bits):
		bits, err = c.bits()
	}
	if err != nil {
		return err
	}
	var p, level *float64
	if has(c.P) {
		p = finiteOrNull(holdout.CorrectedP(c.P, bits, c.Beta))
	}
	if has(c.Alpha) {
		level = finiteOrNull(holdout.TestLevel(c.Alpha, bits, c.Beta))
	}
	if c.JSON {
		return console.PrintJSON(s.Out, struct {
			Bits  *float64 `json:"bits"`
			Beta  float64  `json:"beta"`
			P     *float64 `json:"corrected_p,omitempty"`
			Level *float64 `json:"level,omitempty"`
		}{finiteOrNull(bits), c.Beta, p, level})
	}
	fmt.Fprintf(s.Out, "max-information  %s bits, beta %v\n", console.RoundOutward(bits, 4, true), c.Beta)
	switch {
	case p != nil && holdout.Vacuous(*p):
		fmt.Fprintf(s.Out, "p-value          1: nothing is left of %v (vacuous)\n", c.P)
	case p != nil:
		fmt.Fprintf(s.Out, "p-value          %s instead of %v\n", console.RoundOutward(*p, 4, true), c.P)
	}
	switch {
	case level != nil && *level == 0:
		fmt.Fprintf(s.Out, "level            0: no test keeps false discoveries at %v (vacuous)\n", c.Alpha)
	case level != nil:
		fmt.Fprintf(s.Out, "level            %s keeps false discoveries at %v\n", console.RoundOutward(*level, 4, false), c.Alpha)
	}
	return nil
}
