package sessioncmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/render"
)

type streamAskCmd struct {
	streamFlags
	As        string `help:"The analyst who asks, by the name in the policy." required:"" placeholder:"ANALYST"`
	Explain   bool   `help:"Only show how it would be answered, and the most that it can cost. Free."`
	Condition string `arg:"" help:"Whom to count: a condition, or a SELECT COUNT(*) with it; - reads standard input, with one on each line."`
}

func (streamAskCmd) Help() string {
	return `Prints how many people meet a condition, how far off that can be, whether it was free, and what is left. A question that
was asked before gets the same answer again, free.

  discreet stream ask --policy clinic.yaml --as ana "sex = 'F' AND age >= 30"
  discreet stream ask --policy clinic.yaml --as ana --explain "diagnosis IN ('flu', 'asthma')"
  discreet stream ask --policy clinic.yaml --as ana - < questions.txt

Questions on standard input are asked in order. Refused questions cost nothing, and the others are still
asked.`
}

func (c *streamAskCmd) Run(ctx context.Context, s console.Screen) error {
	asked := &questionFile{texts: []string{c.Condition}}
	var err error
	if c.Condition == "" {
		return errNoCondition
	}
	if c.Condition == "-" {
		if asked, err = readWorkload(s.In, "-", 0); err != nil {
			return err
		}
	}
	db, info, err := c.openOne(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	q := api.StreamQuestion{Dataset: info.Dataset, Stream: info.Name, Analyst: c.As}
	if c.Explain {
		return c.explain(ctx, s, db, q, asked)
	}
	return c.ask(ctx, s, db, q, asked)
}

// ask asks one question, or one after the other.
func (c *streamAskCmd) ask(ctx context.Context, s console.Screen, db *discreet.DB, q api.StreamQuestion, asked *questionFile) error {
	if c.Condition == "-" {
		return c.askAll(ctx, s, db, q, asked)
	}
	q.SQL = c.Condition
	done := console.Waiting(s.Err, "asking")
	a, err := db.AskStream(ctx, q)
	done()
	if err != nil {
		return asked.locateQuestion(0, err)
	}
	printAlerts(s, a)
	if c.JSON {
		return console.PrintJSON(s.Out, a)
	}
	fmt.Fprintf(s.Out, "%s people\n%s\n", render.StreamValue(a), render.StreamPrice(a))
	return nil
}

func printAlerts(s console.Screen, a *api.StreamAnswer) {
	for _, alert := range a.Alerts {
		fmt.Fprintln(s.Err, "notice: "+alert.String())
	}
}

// answeredLine and quotedLine say which question of a list they are about: others may be refused.
type answeredLine struct {
	Line int `json:"line"`
	*api.StreamAnswer
}

type quotedLine struct {
	Line int `json:"line,omitempty"` // none where there is one question
	*api.StreamQuote
}

// refusedLine is a question that has no answer.
type refusedLine struct {
	Line    int    `json:"line"`
	Kind    string `json:"kind"`
	Message string `json:"message"`
}

// askAll asks all questions of a list. One that is refused keeps nobody from asking the next: easy
// ones have answers when the budget is gone. Whatever else goes wrong ends it, and what was
// answered until then is printed, because it may be paid for.
func (c *streamAskCmd) askAll(ctx context.Context, s console.Screen, db *discreet.DB, q api.StreamQuestion, asked *questionFile) error {
	answers, refused := []answeredLine{}, []refusedLine{}
	t := &render.Table{Header: []string{"people", "±", "way", "price", "condition"}, Right: []bool{true, true, false, true}}
	left := ""
	var first, failure error
	tell, done := console.Progress(s.Err, "asking")
	for i, text := range asked.texts {
		tell(i, len(asked.texts))
		q.SQL = text
		a, err := db.AskStream(ctx, q)
		if err != nil {
			err = asked.locateQuestion(i, err)
			code := console.ExitCode(err)
			if code != console.ExitRefused && code != console.ExitBudget || ctx.Err() != nil {
				failure = err
				break
			}
			if first == nil {
				first = err
			}
			refused = append(refused, refusedLine{asked.lines[i], console.ErrorKind(err), err.Error()})
			t.Add("", "", "refused", "", text)
			continue
		}
		printAlerts(s, a)
		answers, left = append(answers, answeredLine{asked.lines[i], a}), render.Left(a.Remaining)
		around, price := "?", "free"
		if a.Error != nil {
			around = fmt.Sprint(*a.Error)
		}
		if !a.Free {
			price = render.Cost(a.Cost)
		}
		t.Add(fmt.Sprint(a.Value), around, string(a.Way), price, text)
	}
	done()
	if failure == nil && len(refused) > 0 {
		failure = first
		if n := len(refused) - 1; n > 0 {
			failure = &firstOfErrors{first, n}
		}
	}
	if len(answers) == 0 && failure != nil {
		return failure
	}
	if !c.JSON {
		t.Write(s.Out)
		fmt.Fprintf(s.Out, "left: %s\n", left)
		return failure
	}
	out := map[string]any{"answers": answers, "refused": refused}
	if failure != nil {
		out["error"] = console.ErrorJSON(failure)
		failure = console.AlreadyShown(failure)
	}
	if err := console.PrintJSON(s.Out, out); err != nil {
		return err
	}
	return failure
}

type firstOfErrors struct {
	error
	more int
}

func (e *firstOfErrors) Error() string {
	return fmt.Sprintf("%v; and %s refused too", e.error, console.Plural(e.more, "other question is", "other questions are"))
}
func (e *firstOfErrors) Unwrap() error { return e.error }

// explain prices all questions, which is free.
func (c *streamAskCmd) explain(ctx context.Context, s console.Screen, db *discreet.DB, q api.StreamQuestion, asked *questionFile) error {
	quotes := []quotedLine{}
	t := &render.Table{Header: []string{"±", "way", "at most", "condition"}, Right: []bool{true, false, true}}
	for i, text := range asked.texts {
		q.SQL = text
		done := console.Waiting(s.Err, "pricing")
		x, err := db.QuoteStream(ctx, q)
		done()
		if err != nil {
			return asked.locateQuestion(i, err)
		}
		one := quotedLine{StreamQuote: x}
		if asked.lines != nil {
			one.Line = asked.lines[i]
		}
		quotes = append(quotes, one)
		around := "?"
		if x.Error != nil {
			around = fmt.Sprint(*x.Error)
		}
		t.Add(around, string(x.Way), render.Cost(x.Cost), text)
		if c.Condition != "-" && !c.JSON {
			fmt.Fprintln(s.Out, render.StreamQuoteWords(x))
			if x.Error != nil {
				fmt.Fprintf(s.Out, "the answer would be off by at most %s\n", around)
			}
			return nil
		}
	}
	switch {
	case c.JSON && c.Condition != "-":
		return console.PrintJSON(s.Out, quotes[0])
	case c.JSON:
		return console.PrintJSON(s.Out, map[string]any{"quotes": quotes})
	}
	t.Write(s.Out)
	return nil
}

func (w *questionFile) locateQuestion(i int, err error) error {
	err = console.Locate(err, w.texts[i])
	if w.lines == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return w.atLine(w.lines[i], err)
}

// questionFile is a file of questions, one a line.
type questionFile struct {
	file  string
	texts []string
	lines []int // where each stands
}

const (
	// maxQuestionBytes is how long a line may be: as long as a question.
	maxQuestionBytes = 64 << 10
	// maxQuestions is what fits into memory without thinking about it.
	maxQuestions = 10_000_000
)

// readWorkload reads the questions of a file, or of standard input: at most limit of them, where
// that is above 0. Empty lines and those that begin with # are none.
func readWorkload(in io.Reader, file string, limit int) (*questionFile, error) {
	w := &questionFile{file: console.ShellQuote(file)}
	if file == "-" {
		w.file = "standard input"
	} else {
		f, err := os.Open(file)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, console.Misuse(fmt.Errorf("%s: this file does not exist", w.file))
		} else if err != nil {
			return nil, console.Misuse(fmt.Errorf("%s: %w", w.file, errors.Unwrap(err)))
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return nil, console.Misuse(fmt.Errorf("%s is a folder: name a file of questions, one on each line", w.file))
		}
		in = f
	}
	scan := bufio.NewScanner(in)
	scan.Buffer(nil, maxQuestionBytes)
	for n := 1; scan.Scan(); n++ {
		text := scan.Text()
		if n == 1 {
			text = strings.TrimPrefix(text, "\ufeff")
		}
		text = strings.TrimSpace(text)
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		if !utf8.ValidString(text) {
			return nil, w.atLine(n, console.Misuse(errors.New("this is not UTF-8; store the file as UTF-8")))
		}
		if len(w.texts) == maxQuestions {
			return nil, console.Misuse(fmt.Errorf("%s: the file has more than %d questions; replay the first of them with --limit",
				w.file, maxQuestions))
		}
		w.texts, w.lines = append(w.texts, text), append(w.lines, n)
		if len(w.texts) == limit {
			break
		}
	}
	if err := scan.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, console.Misuse(fmt.Errorf("%s: the line after the first %d questions is longer than %d bytes; write one "+
			"condition on each line", w.file, len(w.texts), maxQuestionBytes))
	} else if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", w.file, err)
	}
	if len(w.texts) == 0 {
		return nil, console.Misuse(fmt.Errorf("%s: the file has no questions; write one condition on each line, such as sex = 'F' "+
			"AND age >= 30", w.file))
	}
	return w, nil
}

// lineError says which line of a file is wrong.
type lineError struct {
	file string
	line int
	error
}

func (e *lineError) Error() string { return fmt.Sprintf("%s, line %d: %v", e.file, e.line, e.error) }
func (e *lineError) Unwrap() error { return e.error }

func (w *questionFile) atLine(line int, err error) error { return &lineError{w.file, line, err} }

// locate says on which line a question stands that cannot be asked.
func (w *questionFile) locate(err error) error {
	var bad *api.WorkloadError
	if !errors.As(err, &bad) || bad.Index < 0 || bad.Index >= len(w.texts) {
		return err
	}
	return w.atLine(w.lines[bad.Index], console.Locate(bad.Err, w.texts[bad.Index]))
}
