// Package holdoutcmd has the commands of discreet holdout: scores on a holdout, and what theorems
// promise about them.
package holdoutcmd

import (
	"math"
	"strconv"
)

// Cmd has a command in a line, each in a file of its own.
type Cmd struct {
	List    listCmd    `cmd:"" help:"List the holdouts of a policy, and what they cost."`
	Score   scoreCmd   `cmd:"" help:"Score predictions or an expression on a holdout."`
	Board   boardCmd   `cmd:"" help:"Show the scores that were put on the board of a holdout."`
	Plan    planCmd    `cmd:"" help:"Say what is promised for so many questions, in every way, and how many people it takes."`
	Maxinfo maxinfoCmd `cmd:"" help:"Say how many bits an analysis can have learned about its sample."`
	Pvalue  pvalueCmd  `cmd:"" help:"Correct a p-value of a test that was chosen by the data."`
	Demo    demoCmd    `cmd:"" help:"Overfit a plain holdout, and try the same with Thresholdout."`
	Lecture lectureCmd `cmd:"" help:"Choose the luckiest by exact means, and by noisy ones."`
}

func (Cmd) Help() string {
	return `See it first, then plan one, then score on one that a policy has:

  discreet holdout demo
  discreet holdout plan --n 10000 --queries 500 --tolerance 0.05 --confidence 0.95
  discreet holdout score --help`
}

// finite is a number for machines: null where it is not finite.
func finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}

// brief writes a number with three digits, and nothing for zero.
func brief(x float64) string {
	if x == 0 {
		return ""
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}
