// Package holdoutcmd has the commands of discreet holdout: scores on a holdout, and what theorems
// promise about them.
package holdoutcmd

import (
	"math"
	"strconv"
)

// HoldoutCmd has a command in a line, each in a file of its own.
type HoldoutCmd struct {
	List    holdoutListCmd    `cmd:"" help:"List the holdouts of a policy, and what they cost."`
	Score   holdoutScoreCmd   `cmd:"" help:"Score predictions or an expression on a holdout."`
	Board   holdoutBoardCmd   `cmd:"" help:"Show the scores that were put on the board of a holdout."`
	Plan    holdoutPlanCmd    `cmd:"" help:"Say what is promised for so many questions, in every way, and how many people it takes."`
	Maxinfo holdoutMaxinfoCmd `cmd:"" help:"Say how many bits an analysis can have learned about its sample."`
	Pvalue  holdoutPvalueCmd  `cmd:"" help:"Correct a p-value of a test that was chosen by the data."`
	Demo    holdoutDemoCmd    `cmd:"" help:"Overfit a plain holdout, and try the same with Thresholdout."`
	Lecture holdoutLectureCmd `cmd:"" help:"Choose the luckiest by exact means, and by noisy ones."`
}

func (HoldoutCmd) Help() string {
	return `See it first, then plan one, then score on one that a policy has:

  discreet holdout demo
  discreet holdout plan --n 10000 --queries 500 --tolerance 0.05 --confidence 0.95
  discreet holdout score --help`
}

// finiteOrNull is a number for machines: null where it is not finite.
func finiteOrNull(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}

// threeDigits writes a number with three digits, and nothing for zero.
func threeDigits(x float64) string {
	if x == 0 {
		return ""
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}
