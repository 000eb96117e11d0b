package sessioncmd

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/lab/chart"
	"github.com/discreet-dp/discreet/internal/mechanism/holdout"
	"github.com/discreet-dp/discreet/internal/render"
)

type holdoutPlanCmd struct {
	N          float64 `help:"How many people the holdout has; leave it out to see only how many each way needs." placeholder:"N" name:"n"`
	Queries    float64 `help:"How many questions will be asked." required:"" placeholder:"K"`
	Answers    float64 `help:"How many of them Thresholdout may answer from the holdout; a hundredth of them if left out." placeholder:"B"`
	Tolerance  float64 `help:"How far an answer may be from the truth." placeholder:"T" default:"0.05"`
	Confidence float64 `help:"The probability that all answers are within the tolerance." placeholder:"P" default:"0.95"`
	Noise      float64 `help:"The noise of Thresholdout; searched for if left out." placeholder:"S"`
	Threshold  float64 `help:"The threshold of Thresholdout; searched for if left out." placeholder:"T"`
	Plot       string  `help:"Plot the tolerance against the number of questions to a file, .svg or .png." placeholder:"FILE"`
	JSON       bool    `help:"Print JSON." name:"json"`
}

func (holdoutPlanCmd) Help() string {
	return `Compares ways of answering questions about the same people: what is promised for all answers at once, by which
theorem, with which noise and at which price. The truth is the mean over everybody from whom the people were drawn.
"vacuous" means that a theorem promises 1 or more, which is nothing, because no score is farther off than 1. "people
needed" is how many it takes to promise the tolerance.

  discreet holdout plan --n 10000 --queries 500 --tolerance 0.05 --confidence 0.95
  discreet holdout plan --queries 10000 --answers 20 --tolerance 0.02
  discreet holdout plan --n 10000 --queries 500 --answers 500 --noise 0.01 --threshold 0.04
  discreet holdout plan --n 1000000 --queries 100000 --answers 50 --plot plan.svg

Nothing is read and nothing is charged. Noise and threshold are in units of a score, which is from 0 to 1.`
}

func (c *holdoutPlanCmd) readWish() (holdout.PlanRequest, error) {
	w := holdout.PlanRequest{
		Size: c.N, Queries: c.Queries, Answers: c.Answers, Tolerance: c.Tolerance, Beta: 1 - c.Confidence,
		Noise: c.Noise, Threshold: c.Threshold,
	}
	for name, x := range map[string]float64{"--n": c.N, "--queries": c.Queries, "--answers": c.Answers} {
		if x != math.Trunc(x) {
			return w, console.Misuse(fmt.Errorf("%s is %v: write a whole number", name, x))
		}
	}
	if w.Size == 0 {
		w.Size = 1
	}
	if w.Answers == 0 {
		w.Answers = math.Max(1, math.Round(w.Queries/100))
	}
	return w, nil
}

func (c *holdoutPlanCmd) Run(s console.Screen) error {
	if c.Plot != "" {
		if err := console.CanSave(c.Plot); err != nil {
			return err
		}
		if c.N == 0 {
			return console.Misuse(errors.New("a plot needs a number of people: give it with --n"))
		}
	}
	w, err := c.readWish()
	if err != nil {
		return err
	}
	ways, err := holdout.Plan(w)
	if err != nil {
		return console.Misuse(err)
	}
	if c.JSON {
		err = c.printJSON(s, w, ways)
	} else {
		c.print(s, w, ways)
	}
	if err != nil || c.Plot == "" {
		return err
	}
	drawn, err := c.picture(w)
	if err != nil {
		return err
	}
	return console.DrawChart(s, c.Plot, drawn, c.JSON)
}

func (c *holdoutPlanCmd) print(s console.Screen, w holdout.PlanRequest, ways []holdout.PlannedWay) {
	fmt.Fprintf(s.Out, "%s questions", console.Thousands(w.Queries))
	if c.N > 0 {
		fmt.Fprintf(s.Out, " about %s people", console.Thousands(c.N))
	}
	fmt.Fprintf(s.Out, ", all within %v with probability %v; Thresholdout answers %s from the holdout\n\n", w.Tolerance, c.Confidence,
		console.Thousands(w.Answers))
	t := &render.Table{Header: []string{"way", "theorem", "people needed"}, Right: []bool{false, false, true}}
	if c.N > 0 {
		t.Header = []string{"way", "theorem", "promised", "verdict", "people needed", "noise", "threshold", "epsilon", "delta", "composed"}
		t.Right = []bool{false, false, true, false, true, true, true, true, true}
	}
	for _, way := range ways {
		needs := "no number"
		if !math.IsInf(way.Needs, 1) {
			needs = console.Thousands(way.Needs)
		}
		if c.N == 0 {
			t.Add(way.Name, way.By, needs)
			continue
		}
		promised := "nothing"
		if !math.IsInf(way.Tolerance, 1) {
			promised = console.RoundOutward(way.Tolerance, 3, true)
		}
		t.Add(way.Name, way.By, promised, string(way.Verdict), needs,
			threeDigits(way.Noise), threeDigits(way.Threshold), threeDigits(way.Epsilon),
			threeDigits(way.Delta), way.Composed)
	}
	t.Write(s.Out)
	fmt.Fprintln(s.Out)
	for _, line := range c.advice(w, ways) {
		fmt.Fprintln(s.Out, line)
	}
}

// advice says in words what the table means.
func (c *holdoutPlanCmd) advice(w holdout.PlanRequest, ways []holdout.PlannedWay) (out []string) {
	adaptive := slices.DeleteFunc(slices.Clone(ways), func(way holdout.PlannedWay) bool { return !way.Adaptive })
	least := slices.MinFunc(adaptive, func(a, b holdout.PlannedWay) int { return cmp.Compare(a.Needs, b.Needs) })
	best := slices.MinFunc(adaptive, func(a, b holdout.PlannedWay) int { return cmp.Compare(a.Tolerance, b.Tolerance) })
	if c.N > 0 {
		switch best.Verdict {
		case holdout.Holds:
			out = append(out, fmt.Sprintf("If earlier answers decide which questions are asked, the best promise is %s: "+
				"%s, by %s. It is within %v.", console.RoundOutward(best.Tolerance, 3, true), best.Name, best.By, w.Tolerance))
		case holdout.Misses:
			out = append(out, fmt.Sprintf("If earlier answers decide which questions are asked, the best promise is %s: %s, by "+
				"%s. It is NOT within %v.", console.RoundOutward(best.Tolerance, 3, true), best.Name, best.By, w.Tolerance))
		default:
			out = append(out, "If earlier answers decide which questions are asked, every theorem is vacuous here: nothing is promised, "+
				"whatever happens in practice.")
		}
	}
	if math.IsInf(least.Needs, 1) {
		out = append(out, fmt.Sprintf("No number of people up to 1e15 makes any of them promise %v.", w.Tolerance))
	} else {
		out = append(out, fmt.Sprintf("The way that promises %v with the fewest people needs %s: %s, by %s.", w.Tolerance,
			console.Thousands(least.Needs), least.Name, least.By))
	}
	return append(out, "Hoeffding's bound for questions fixed in advance does not hold if earlier answers decide which questions are "+
		"asked.")
}

func (c *holdoutPlanCmd) printJSON(s console.Screen, w holdout.PlanRequest, ways []holdout.PlannedWay) error {
	type wayJSON struct {
		Way       string   `json:"way"`
		Theorem   string   `json:"theorem"`
		Adaptive  bool     `json:"adaptive"`
		Tolerance *float64 `json:"tolerance,omitempty"`
		Verdict   string   `json:"verdict,omitempty"`
		Needs     *float64 `json:"people_needed"`
		Noise     float64  `json:"noise,omitempty"`
		Threshold float64  `json:"threshold,omitempty"`
		Epsilon   *float64 `json:"epsilon,omitempty"`
		Delta     float64  `json:"delta,omitempty"`
		Composed  string   `json:"composed,omitempty"`
	}
	list := []wayJSON{}
	for _, way := range ways {
		line := wayJSON{Way: way.Name, Theorem: way.By, Adaptive: way.Adaptive, Needs: finiteOrNull(way.Needs)}
		if c.N > 0 {
			line.Tolerance, line.Verdict = finiteOrNull(way.Tolerance), string(way.Verdict)
			line.Noise, line.Threshold, line.Delta, line.Composed = way.Noise, way.Threshold, way.Delta, way.Composed
			if way.Noise > 0 {
				line.Epsilon = finiteOrNull(way.Epsilon)
			}
		}
		list = append(list, line)
	}
	return console.PrintJSON(s.Out, struct {
		People     float64   `json:"people,omitempty"`
		Queries    float64   `json:"queries"`
		Answers    float64   `json:"answers"`
		Tolerance  float64   `json:"tolerance"`
		Confidence float64   `json:"confidence"`
		Ways       []wayJSON `json:"ways"`
	}{c.N, w.Queries, w.Answers, w.Tolerance, c.Confidence, list})
}

// picture draws what is promised against the number of questions, each way by its best theorem. A
// curve ends where it is vacuous.
func (c *holdoutPlanCmd) picture(w holdout.PlanRequest) (chart.Chart, error) {
	out := chart.Chart{
		Title: fmt.Sprintf("What is promised for questions about %s people", console.Thousands(w.Size)),
		Subtitle: fmt.Sprintf("with probability %v; Thresholdout answers up to %s from the holdout; a curve ends where it is vacuous",
			c.Confidence, console.Thousands(w.Answers)),
		X: "number of questions", Y: "tolerance", LogX: true, LogY: true,
	}
	names := []string{holdout.FixedWay, holdout.SplitWay, holdout.NoisyWay, holdout.ThresholdWay}
	points := map[string][]chart.Point{}
	for _, k := range console.CurvePoints(int(math.Min(w.Queries, 1e12)), true) {
		at := w
		at.Queries, at.Answers = float64(k), math.Min(w.Answers, float64(k))
		ways, err := holdout.PlanTolerances(at)
		if err != nil {
			return out, err
		}
		best := map[string]float64{}
		for _, way := range ways {
			if old, ok := best[way.Name]; !ok || way.Tolerance < old {
				best[way.Name] = way.Tolerance
			}
		}
		for _, name := range names {
			if !holdout.IsVacuous(best[name]) {
				points[name] = append(points[name], chart.Point{X: float64(k), Y: best[name]})
			}
		}
	}
	labels := map[string]string{
		holdout.FixedWay: "fixed in advance", holdout.SplitWay: "fresh people for each", holdout.NoisyWay: "all with noise",
		holdout.ThresholdWay: "Thresholdout",
	}
	for _, name := range names {
		if len(points[name]) > 0 {
			out.Curves = append(out.Curves, chart.Curve{Name: labels[name], Points: points[name]})
		}
	}
	if len(out.Curves) == 0 {
		return out, errors.New("no way promises anything, so there is nothing to draw; take more people")
	}
	return out, nil
}

// informationFlags say how much an analysis can have learned.
type informationFlags struct {
	N       float64 `help:"How many people the sample has." placeholder:"N" name:"n"`
	Epsilon float64 `help:"The pure epsilon of everything that was seen of the sample; 2B/(noise x n) for Thresholdout." placeholder:"E" default:"-1"`
	Beta    float64 `help:"The probability that more was learned; 0 for never." placeholder:"B" default:"0"`
}

func (f informationFlags) bits() (float64, error) {
	switch {
	case !(f.N >= 1 && f.N <= 1e15):
		return 0, console.Misuse(errors.New("give --n, the number of people in the sample, from 1 to 1e15"))
	case !(f.Epsilon >= 0 && f.Epsilon <= 1e6):
		return 0, console.Misuse(errors.New("give --epsilon, what was spent, 0 or more, such as 0.01"))
	}
	if err := f.checkBeta(); err != nil {
		return 0, err
	}
	return holdout.ApproximateMaxInformation(f.N, f.Epsilon, f.Beta), nil
}

func (f informationFlags) checkBeta() error {
	if !(f.Beta >= 0 && f.Beta < 1) {
		return console.Misuse(errors.New("--beta must be a probability from 0 to below 1, such as 0.01"))
	}
	return nil
}

type holdoutMaxinfoCmd struct {
	informationFlags
	JSON bool `help:"Print JSON." name:"json"`
}

func (holdoutMaxinfoCmd) Help() string {
	return `Bounds the max-information, in bits, that a purely epsilon-private analysis has about its sample: an event that has
probability p when it is fixed in advance has at most 2^bits p + beta when the analysis chose it. Without --beta the
bound holds for any sample; with it, only for people who were drawn independently, and is then far smaller.

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
		fmt.Fprintf(s.Out, "so               a test that it chose is valid at level 0.05 if p is at most %s\n",
			console.RoundOutward(level, 3, false))
	}
	return nil
}

type holdoutPvalueCmd struct {
	P     float64 `help:"The p-value that was found." placeholder:"P" name:"p" default:"-1"`
	Alpha float64 `help:"The probability of a false discovery to allow." placeholder:"A" default:"-1"`
	Bits  float64 `help:"The max-information of the analysis that chose the test; or give --n and --epsilon." placeholder:"K" default:"-1"`
	informationFlags
	JSON bool `help:"Print JSON." name:"json"`
}

func (holdoutPvalueCmd) Help() string {
	return `Corrects a p-value for choosing the test by looking at the data, if the choice was differentially private: p becomes
2^bits p + beta. Conversely, --alpha gives the level to test at, (alpha - beta)/2^bits.

  discreet holdout pvalue --p 0.0001 --n 10000 --epsilon 0.01 --beta 0.001
  discreet holdout pvalue --alpha 0.05 --n 10000 --epsilon 0.01 --beta 0.001
  discreet holdout pvalue --p 0.001 --bits 3`
}

func (c *holdoutPvalueCmd) Run(s console.Screen) error {
	has := func(x float64) bool { return x != -1 }
	bits, err := c.Bits, c.checkBeta()
	switch {
	case !has(c.P) && !has(c.Alpha):
		err = console.Misuse(errors.New("give the p-value with --p, or the probability of a false discovery to allow with --alpha"))
	case has(c.P) && !(c.P >= 0 && c.P <= 1):
		err = console.Misuse(errors.New("--p must be a probability, from 0 to 1"))
	case has(c.Alpha) && !(c.Alpha > 0 && c.Alpha < 1):
		err = console.Misuse(errors.New("--alpha must be a probability above 0 and below 1, such as 0.05"))
	case has(c.Bits) && (c.N != 0 || has(c.Epsilon)):
		err = console.Misuse(errors.New("give --bits, or --n and --epsilon, not both"))
	case has(c.Bits) && !(c.Bits >= 0):
		err = console.Misuse(errors.New("--bits must be a number, 0 or more"))
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
	case p != nil && holdout.IsVacuous(*p):
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
