package sessioncmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/mechanism/holdout/labels"
	"github.com/discreet-dp/discreet/internal/render"
)

// HoldoutCmd has a command in a line, each in a file of its own.
type HoldoutCmd struct {
	List    holdoutListCmd    `cmd:"" help:"List the holdouts of a policy, and what they cost."`
	Score   holdoutScoreCmd   `cmd:"" help:"Score predictions or an expression on a holdout."`
	Board   holdoutBoardCmd   `cmd:"" help:"Show the board of a holdout, with its scores."`
	Plan    holdoutPlanCmd    `cmd:"" charges:"never" help:"Compare what is promised for a number of questions, in every way, and how many people it takes."`
	Maxinfo holdoutMaxinfoCmd `cmd:"" charges:"never" help:"Bound how many bits an analysis can have learned about its sample."`
	Pvalue  holdoutPvalueCmd  `cmd:"" charges:"never" help:"Correct the p-value of a test that was chosen by looking at the data."`
	Demo    holdoutDemoCmd    `cmd:"" charges:"never" help:"Overfit a plain holdout, and try the same with Thresholdout."`
	Lecture holdoutLectureCmd `cmd:"" charges:"never" help:"Choose the luckiest subsets by exact means, and by noisy ones."`
}

func (HoldoutCmd) Help() string {
	return `See a demonstration first, then plan a holdout, then score on one that a policy has:

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

type holdoutListCmd struct {
	Policy  string `help:"The policy file." required:"" placeholder:"FILE" short:"p"`
	Dataset string `help:"Only this dataset." placeholder:"NAME"`
	JSON    bool   `help:"Print JSON." name:"json"`
}

func (holdoutListCmd) Help() string {
	return `Shows what is public about the holdouts: what each can be asked, over how many people, what a round costs, how
exact its answers are with probability 0.95, how many answers from the holdout are left, and how far scores can
be from the truth, however often you try. It is free.

  discreet holdout list --policy trial.yaml`
}

// holdoutWithStatus is a holdout, and how far it is.
type holdoutWithStatus struct {
	api.HoldoutInfo
	IDs *bool `json:"ids,omitempty"` // hides that of the info: id says more
	*api.HoldoutStatus
}

func (c *holdoutListCmd) Run(ctx context.Context, s console.Screen) error {
	db, err := discreet.Open(ctx, c.Policy)
	if err != nil {
		return err
	}
	defer db.Close()
	names := []string{c.Dataset}
	if c.Dataset == "" {
		names = db.Policy().Names()
	}
	all := []holdoutWithStatus{}
	for _, name := range names {
		infos, err := db.Holdouts(name)
		if err != nil {
			return err
		}
		for _, i := range infos {
			status, err := db.HoldoutStatus(ctx, name, i.Name)
			if err != nil {
				return err
			}
			all = append(all, holdoutWithStatus{HoldoutInfo: i, HoldoutStatus: &status})
		}
	}
	if c.JSON {
		return console.PrintJSON(s.Out, map[string]any{"holdouts": all})
	}
	if len(all) == 0 {
		fmt.Fprintln(s.Out, "the policy has no holdouts")
		return nil
	}
	t := &render.Table{
		Header: []string{"dataset", "holdout", "asked with", "people", "threshold", "noise", "left", "of", "a round, epsilon", "rho",
			"confirmed within", "answered within"},
		Right: []bool{false, false, false, true, true, true, true, true, true, true, true, true},
	}
	for _, h := range all {
		with := "predictions of " + h.Column
		if h.ID != "" {
			with += " by " + h.ID
		}
		if !h.Labels {
			with = "SQL over " + h.Table
		}
		t.Add(h.Dataset, h.Name, with, fmt.Sprint(h.Size), h.Threshold, h.Noise, fmt.Sprint(h.Left), fmt.Sprint(h.Answers),
			h.Round.Epsilon.Short(), h.Round.Rho.Short(),
			fmt.Sprintf("%.4f", h.Confirmed), fmt.Sprintf("%.4f", h.Answered))
	}
	t.Write(s.Out)
	fmt.Fprintln(s.Out, "a round is all scores up to and including the next one that the holdout contradicts; the first question of "+
		"a round pays for it")
	for _, h := range all {
		fmt.Fprintln(s.Out, promiseWords(h.HoldoutInfo))
	}
	return nil
}

// promiseWords says what theorems promise about a holdout.
func promiseWords(h api.HoldoutInfo) string {
	if h.Promised == nil {
		return h.Name + ": NOTHING is promised about how far scores are from those on new data, and anybody who tries often enough " +
			"can fit this holdout: plan fewer answers, more noise or more people with discreet holdout plan"
	}
	truth := "the mean over everybody from whom its people were drawn"
	if h.Labels {
		truth = "what the same predictions would score on average if the labels were drawn anew"
	}
	return fmt.Sprintf("%s: with probability %v no score that it tells, however many, is farther than %s from %s, as long as nothing "+
		"else was or is told about these people", h.Name, api.Confidence, console.RoundOutward(*h.Promised, 3, true), truth)
}

// holdoutFlags says which holdout a command is about.
type holdoutFlags struct {
	Policy  string `help:"The policy file." required:"" placeholder:"FILE" short:"p"`
	Dataset string `help:"The dataset, if the policy has several." placeholder:"NAME"`
	Holdout string `help:"The holdout, if the dataset has several." placeholder:"NAME"`
	JSON    bool   `help:"Print JSON." name:"json"`
}

// info returns what is public about the holdout.
func (h *holdoutFlags) info(db *discreet.DB) (api.HoldoutInfo, error) {
	all, err := db.Holdouts(h.Dataset)
	if err != nil {
		return api.HoldoutInfo{}, err
	}
	for _, i := range all {
		if i.Name == h.Holdout || h.Holdout == "" && len(all) == 1 {
			return i, nil
		}
	}
	names := ""
	for n, i := range all {
		if n > 0 {
			names += ", "
		}
		names += i.Name
	}
	switch {
	case len(all) == 0:
		return api.HoldoutInfo{}, console.Misuse(errors.New("the dataset has no holdout; the owner adds one to the policy, " +
			"under the key holdouts"))
	case h.Holdout == "":
		return api.HoldoutInfo{}, console.Misuse(fmt.Errorf("the dataset has several holdouts; write --holdout with one of %s", names))
	}
	return api.HoldoutInfo{}, console.Misuse(fmt.Errorf("there is no holdout %q; write --holdout with one of %s", h.Holdout, names))
}

type holdoutScoreCmd struct {
	holdoutFlags `embed:""`
	As           string `help:"The analyst who asks, by the name in the policy." required:"" placeholder:"ANALYST"`
	Predictions  string `help:"A CSV file with a prediction for each row, for a holdout of labels; - reads standard input." placeholder:"FILE"`
	Training     string `help:"How well the same does on your training data, from 0 to 1. If you leave it out and the policy has a training table, it is computed." placeholder:"SCORE"`
	Name         string `help:"Put the score on the board under this name. All analysts of the dataset see it." placeholder:"NAME"`
	Price        bool   `help:"Show what the next score costs, and ask nothing."`
	Expression   string `arg:"" optional:"" help:"For a holdout that is a table: a condition or a number from 0 to 1 over its columns, or the SELECT holdout_mean(...) around it."`
}

func (holdoutScoreCmd) Help() string {
	return `Prints a score; discreet holdout list says how far scores can be from the truth, however often you try. If the
holdout confirms the training value, that value is the score. If it does not, the score comes from the holdout,
with noise, and uses up one of its answers.

A round is paid for once, by whoever asks its first question. It is all scores up to and including the next one
that the holdout contradicts. So confirmed scores are free while a round is open, and a score that was told
before is told again, free. --price shows what the next one costs.

  discreet holdout score --policy trial.yaml --as ana --predictions model7.csv --training 0.81 --name "model 7"
  discreet holdout score --policy trial.yaml --as ana --holdout rows --training 0.81 'predicted = outcome'
  discreet holdout score --policy trial.yaml --as ana --holdout rows 'age >= 40 AND predicted = outcome'
  discreet holdout score --policy trial.yaml --as ana --price

Write one prediction on each line, in the order of the rows. If the rows have identifiers, the first line names two
columns, as in id,prediction, and the order does not matter.`
}

func (c *holdoutScoreCmd) Run(ctx context.Context, s console.Screen) error {
	if !c.Price && (c.Predictions == "") == (c.Expression == "") {
		return console.Misuse(errors.New("give --predictions with a file for a holdout of labels, or an expression for a holdout " +
			"that is a table; see discreet holdout score --help"))
	}
	db, err := discreet.Open(ctx, c.Policy)
	if err != nil {
		return err
	}
	defer db.Close()
	info, err := c.info(db)
	if err != nil {
		return err
	}
	if c.Price {
		return c.price(ctx, s, db, info)
	}
	q := api.HoldoutQuestion{Dataset: c.Dataset, Holdout: info.Name, Analyst: c.As, SQL: c.Expression,
		Training: c.Training, Name: c.Name}
	if c.Predictions != "" {
		if q.Predictions, q.IDs, err = readPredictions(s.In, c.Predictions, info); err != nil {
			return err
		}
	}
	done := console.Waiting(s.Err, "scoring")
	a, err := db.AskHoldout(ctx, q)
	done()
	if err != nil {
		return console.Locate(err, c.Expression)
	}
	for _, alert := range a.Alerts {
		fmt.Fprintln(s.Err, "notice: "+alert.String())
	}
	if c.JSON {
		return console.PrintJSON(s.Out, console.Ordered{Object: a, Keys: scoreKeys})
	}
	what := "confirmed by the holdout"
	if a.Spent {
		what = "from the holdout, with noise"
	}
	fmt.Fprintf(s.Out, "score: %s, %s; %s %.4f\n", a.Score, what, render.PlusMinus(a.Confidence), a.Error)
	for _, n := range a.Notes {
		fmt.Fprintln(s.Out, "note: "+render.Clean(n))
	}
	price := "free"
	if !a.Free {
		price = roundPriceWords(a.Cost, a.Remaining)
	}
	fmt.Fprintf(s.Out, "price: %s; left: %s\n", price, render.Left(a.Remaining))
	return nil
}

var scoreKeys = []string{"dataset", "holdout", "score", "spent", "training", "error", "confidence", "left", "free", "again", "cost",
	"remaining", "alerts", "notes", "data_version", "receipt"}

// roundPriceWords shows a price; rho too, where that is what is counted.
func roundPriceWords(cost dp.Cost, r api.Remaining) string {
	if r.Rho == dp.Unbounded {
		return "epsilon " + cost.Epsilon.Short()
	}
	return "epsilon " + cost.Epsilon.Short() + " (rho " + cost.Rho.Short() + ")"
}

func (c *holdoutScoreCmd) price(ctx context.Context, s console.Screen, db *discreet.DB, info api.HoldoutInfo) error {
	status, err := db.HoldoutStatus(ctx, c.Dataset, info.Name)
	if err != nil {
		return err
	}
	left, err := db.Remaining(ctx, c.Dataset, c.As)
	if err != nil {
		return err
	}
	if c.JSON {
		return console.PrintJSON(s.Out, map[string]any{"holdout": holdoutWithStatus{HoldoutInfo: info}, "left": status.Left,
			"open": status.Open, "remaining": left})
	}
	switch {
	case status.Left == 0:
		fmt.Fprintf(s.Out, "the holdout is used up: all its %d answers have been given. Scores that were told before are free\n",
			info.Answers)
	case status.Open:
		fmt.Fprintln(s.Out, "the next score is free: a round is open. The one after a score that the holdout contradicts "+
			"begins a new round, for "+roundPriceWords(info.Round, left))
	default:
		fmt.Fprintln(s.Out, "the next score begins a round, for "+roundPriceWords(info.Round, left)+
			". After it, scores that the holdout confirms are free")
	}
	fmt.Fprintf(s.Out, "answers left: %d of %d; left: %s\n", status.Left, info.Answers, render.Left(left))
	return nil
}

// readPredictions reads predictions from a file or standard input.
func readPredictions(in io.Reader, path string, info api.HoldoutInfo) (values, ids []string, err error) {
	if path != "-" {
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil, console.Misuse(fmt.Errorf("--predictions: %s: this file does not exist; name a CSV file with a "+
				"prediction for each row", path))
		}
		if err != nil {
			return nil, nil, console.Misuse(fmt.Errorf("--predictions: %w", err))
		}
		if i, err := f.Stat(); err == nil && i.IsDir() {
			f.Close()
			return nil, nil, console.Misuse(fmt.Errorf("--predictions: %s is a folder; name a CSV file with a prediction for each row",
				path))
		}
		defer f.Close()
		in = f
	}
	if !info.Labels {
		return nil, nil, api.Refuse("ask with an expression over its columns", "the holdout %s is the table %s, and takes no predictions",
			strconv.Quote(info.Name), strconv.Quote(info.Table))
	}
	p, err := labels.ReadPredictions(in, info.Column, info.ID)
	var wrong *labels.PredictionsError
	if errors.As(err, &wrong) {
		return nil, nil, api.Refuse(wrong.Instead, "%s", wrong.Problem)
	}
	return p.Values, p.IDs, err
}

type holdoutBoardCmd struct {
	holdoutFlags `embed:""`
}

func (holdoutBoardCmd) Help() string {
	return `Prints the scores that analysts have put on the board of a holdout with --name, the best first. Of several
scores under one name, the last counts. A confirmed score is what its analyst claimed, and the holdout does not
contradict it by more than the error next to it; a score from the holdout has noise. All analysts of the dataset
can see the board. It is for the current version of the data.

  discreet holdout board --policy trial.yaml
  discreet holdout board --policy trial.yaml --holdout rows --json`
}

var boardKeys = []string{"rank", "name", "analyst", "score", "spent", "error", "time"}

func (c *holdoutBoardCmd) Run(ctx context.Context, s console.Screen) error {
	db, err := discreet.Open(ctx, c.Policy)
	if err != nil {
		return err
	}
	defer db.Close()
	info, err := c.info(db)
	if err != nil {
		return err
	}
	lines, err := db.Board(ctx, c.Dataset, info.Name)
	if err != nil {
		return err
	}
	if c.JSON {
		board := []console.Ordered{}
		for _, l := range lines {
			board = append(board, console.Ordered{Object: l, Keys: boardKeys})
		}
		return console.PrintJSON(s.Out, map[string]any{"dataset": info.Dataset, "holdout": info.Name, "board": board})
	}
	if len(lines) == 0 {
		fmt.Fprintln(s.Out, "the board has no scores yet; put one there with discreet holdout score --name")
		return nil
	}
	t := &render.Table{Header: []string{"", "name", "analyst", "score", render.PlusMinus(0), "", "time"},
		Right: []bool{true, false, false, true, true}}
	for _, l := range lines {
		what := "confirmed"
		if l.Spent {
			what = "from the holdout"
		}
		t.Add(fmt.Sprint(l.Rank), l.Name, l.Analyst, l.Score, fmt.Sprintf("%.4f", l.Error), what, l.Time.Format(time.DateTime))
	}
	t.Write(s.Out)
	return nil
}
