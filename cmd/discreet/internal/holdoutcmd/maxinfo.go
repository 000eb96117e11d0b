package holdoutcmd

import (
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/holdout"
)

// informationFlags say how much an analysis can have learned.
type informationFlags struct {
	N       float64 `help:"How many people the sample has." placeholder:"N" name:"n"`
	Epsilon float64 `help:"The pure epsilon of all that was seen of the sample; 2B/(noise x n) for Thresholdout." placeholder:"E" default:"-1"`
	Beta    float64 `help:"The probability that more was learned; 0 for never." placeholder:"B" default:"0"`
}

// bits returns the bound in bits.
func (f informationFlags) bits() (float64, error) {
	switch {
	case !(f.N >= 1 && f.N <= 1e15):
		return 0, console.Misuse(errors.New("say with --n how many people the sample has, from 1 to 1e15"))
	case !(f.Epsilon >= 0 && f.Epsilon <= 1e6):
		return 0, console.Misuse(errors.New("say with --epsilon what was spent, a number from 0 such as 0.01"))
	}
	if err := f.checkBeta(); err != nil {
		return 0, err
	}
	return holdout.ApproximateMaxInformation(f.N, f.Epsilon, f.Beta), nil
}

func (f informationFlags) checkBeta() error {
	if !(f.Beta >= 0 && f.Beta < 1) {
		return console.Misuse(errors.New("--beta is a probability from 0 and below 1, such as 0.01"))
	}
	return nil
}

type holdoutMaxinfoCmd struct {
	informationFlags
	JSON bool `help:"Print JSON." name:"json"`
}

func (holdoutMaxinfoCmd) Help() string {
	return `Bounds the max-information, in bits, that a purely epsilon-private analysis has about its sample: what has probability p
when it is fixed in advance has at most 2^bits p + beta when it was chosen by the analysis. Without --beta the bound holds for any sample; with it,
for people who were drawn independently, and is far smaller.

  discreet holdout maxinfo --n 10000 --epsilon 0.01 --beta 0.01
  discreet holdout maxinfo --n 10000 --epsilon 0.01`
}

func (c *holdoutMaxinfoCmd) Run(s console.Screen) error {
	bits, err := c.bits()
	if err != nil {
		return err
	}
	level := holdout.TestLevel(0.05, bits, c.Beta)
	if c.JSON {
		return console.PrintJSON(s.Out, struct {
			People      float64 `json:"people"`
			Epsilon     float64 `json:"epsilon"`
			Beta        float64 `json:"beta"`
			Bits        float64 `json:"bits"`
			Pure        float64 `json:"pure_bits"`
			TestFor0_05 float64 `json:"level_for_0.05"`
		}{c.N, c.Epsilon, c.Beta, bits, holdout.MaxInformation(c.N, c.Epsilon), level})
	}
	fmt.Fprintf(s.Out, "max-information  %s bits", console.RoundOutward(bits, 4, true))
	if c.Beta > 0 {
		fmt.Fprintf(s.Out, ", but with probability %v; without that exception %s bits", c.Beta,
			console.RoundOutward(holdout.MaxInformation(c.N, c.Epsilon), 4, true))
	}
	fmt.Fprintln(s.Out)
	if level < 1e-300 {
		fmt.Fprintln(s.Out, "vacuous          no p-value is small enough to survive that")
	} else {
		fmt.Fprintf(s.Out, "so               a test that it chose is right at level 0.05 where p is at most %s\n",
			console.RoundOutward(level, 3, false))
	}
	return nil
}
