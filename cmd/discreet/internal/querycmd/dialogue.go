package querycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/peterh/liner"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/prompt"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/version"
	"github.com/discreet-dp/discreet/policy"
)

// dialogue is a session with a person: lines in, answers out, until they leave. What
// fails is shown, and the dialogue goes on.
type dialogue struct {
	*analystConsole
	prompt.LineReader
	history *prompt.History
	buffer  string // the lines of a statement that has not ended
	sigs    chan os.Signal
}

var errTerminated = errors.New("terminated. What was charged stays charged, as 'discreet budget' shows")

// errStopped is Ctrl-C of a question in a dialogue.
var errStopped = errors.New(`interrupted. What was charged stays charged, as \budget shows, and asking again is a new charge`)

// errLeave is not an error: the analyst is done.
var errLeave = errors.New("leave")

func interact(ctx context.Context, s *analystConsole, keep bool) error {
	if s.datasetPolicy() == nil && s.dataset != "" { // the library refuses with the names that there are
		_, err := s.db.Budget(ctx, s.dataset)
		return err
	}
	d := &dialogue{analystConsole: s, sigs: make(chan os.Signal, 2)}
	// Ctrl-C ends a question here and not the command, so it is not the context of the command that
	// counts.
	ctx = context.WithoutCancel(ctx)
	signal.Notify(d.sigs, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(d.sigs)
	if s.In == io.Reader(os.Stdin) && console.IsTerminal(s.In) && console.IsTerminal(s.Out) && liner.TerminalSupported() {
		var old []string
		if keep {
			var err error
			if d.history, old, err = prompt.OpenHistory(); err != nil {
				fmt.Fprintf(s.Err, "note: your input is not saved: %s\n", console.CleanLines(err.Error()))
			}
		}
		e := prompt.NewEditorReader(d.completeLine)
		for _, line := range old {
			e.Remember(line)
		}
		d.LineReader = e
	} else {
		d.LineReader = prompt.NewPlainReader(s.In, s.Out)
	}
	defer func() { d.LineReader.Close(); d.history.Close() }()
	d.greet()
	return d.loop(ctx)
}

func (d *dialogue) greet() {
	fmt.Fprintf(d.Out, "discreet %s. Statements end with a semicolon; \\? shows help, \\q leaves.\n", version.Version)
	switch ds := d.datasetPolicy(); {
	case ds == nil:
		fmt.Fprintf(d.Out, "The policy has several datasets; choose one with \\c: %s\n", strings.Join(d.db.Policy().Names(), ", "))
	case ds.Analysts[d.analyst] == nil:
		fmt.Fprintf(d.Err, "note: the dataset %s does not list this analyst, so it will refuse to answer\n", ds.Name)
	}
}

func (d *dialogue) loop(ctx context.Context) error {
	for {
		shown := d.prompt(ctx)
		if d.buffer != "" {
			shown = strings.Repeat(" ", max(0, len(shown)-5)) + "...> "
		}
		line, err := d.nextLine(ctx, shown)
		switch {
		case errors.Is(err, prompt.ErrLineAborted):
			d.buffer = ""
			continue
		case errors.Is(err, io.EOF):
			fmt.Fprintln(d.Out)
			return nil
		case err != nil:
			return err
		}
		if err := d.runLine(ctx, line); errors.Is(err, errLeave) {
			return nil
		} else if err != nil {
			return err
		}
		if err := d.Failed(); err != nil {
			return err // nobody would see the next answers
		}
	}
}

// nextLine waits for a line, or for the end of the process.
func (d *dialogue) nextLine(ctx context.Context, prompt string) (string, error) {
	type input struct {
		line string
		err  error
	}
	got := make(chan input, 1)
	go func() {
		in := input{err: console.ErrInternal}
		defer func() {
			if recover() != nil { // what a panic would print could hold data
				in = input{err: console.ErrInternal}
			}
			got <- in
		}()
		in.line, in.err = d.Read(prompt)
	}()
	for {
		select {
		case in := <-got:
			return in.line, in.err
		case s := <-d.sigs:
			if s == syscall.SIGTERM {
				return "", errTerminated
			}
			// Without an editor Ctrl-C arrives here, while the line is still being read; with
			// one, in the moment between its prompt and its taking the keys.
			d.buffer = ""
			fmt.Fprint(d.Out, "\n"+d.prompt(ctx))
		}
	}
}

// runLine takes a line: a backslash command, or a piece of a statement.
func (d *dialogue) runLine(ctx context.Context, line string) error {
	_, _, open := prompt.SplitStatements(d.buffer)
	if command := strings.TrimSpace(line); strings.HasPrefix(command, `\`) && !open {
		d.keep(line, command)
		return d.report(d.runStoppable(ctx, func(ctx context.Context) error { return d.runBackslash(ctx, command) }))
	}
	if d.buffer == "" && wantsToLeave(line) {
		return errLeave
	}
	if d.buffer != "" {
		d.buffer += "\n"
	}
	d.buffer += line
	if len(d.buffer) > prompt.MaxLineBytes {
		d.buffer = ""
		return d.report(console.Misuse(fmt.Errorf("a statement is longer than %d bytes; begin again", prompt.MaxLineBytes)))
	}
	done, rest, _ := prompt.SplitStatements(d.buffer)
	typed := d.buffer
	d.buffer = strings.TrimLeft(rest, " \t\n")
	if len(done) > 0 {
		d.keepStatement(strings.TrimSuffix(typed, rest))
	}
	for _, text := range done {
		err := d.runStoppable(ctx, func(ctx context.Context) error { return d.run(ctx, strings.TrimLeft(text, " \t\n")) })
		if d.Failed() != nil {
			return nil
		}
		if ended := d.report(err); ended != nil {
			return ended
		}
		if err != nil {
			d.buffer = "" // what stands behind a failure on the same line is not run
			return nil
		}
	}
	return nil
}

// wantsToLeave knows what people type who want to leave.
func wantsToLeave(line string) bool {
	switch strings.ToLower(strings.Trim(line, " \t;")) {
	case "quit", "exit":
		return true
	}
	return false
}

// report shows what failed. It returns an error only where the dialogue ends.
func (d *dialogue) report(err error) error {
	if errors.Is(err, errLeave) || errors.Is(err, errTerminated) {
		return err
	}
	console.Report(d.Screen, d.json, err)
	return nil
}

// runStoppable runs something that Ctrl-C ends. A second Ctrl-C ends the command at once.
func (d *dialogue) runStoppable(ctx context.Context, f func(context.Context) error) error {
	for len(d.sigs) > 0 { // of the time at the prompt
		if <-d.sigs == syscall.SIGTERM {
			return errTerminated
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	ended, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		for n := 0; ; n++ {
			select {
			case s := <-d.sigs:
				if n > 0 {
					d.LineReader.Close()
					os.Exit(console.ExitFailed)
				}
				cause := errStopped
				if s == syscall.SIGTERM {
					cause = errTerminated
				}
				cancel(cause)
			case <-ended:
				return
			}
		}
	}()
	defer func() { close(ended); <-watched; cancel(nil) }()
	err := f(ctx)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// completeLine completes the line up to the cursor, behind the lines before it.
func (d *dialogue) completeLine(line string) (int, []string) {
	before := d.buffer
	if before != "" {
		before += "\n"
	}
	start, words := prompt.Completer{Policy: d.db.Policy(), Dataset: d.datasetPolicy()}.Complete(before+line, len(before))
	return max(0, start-len(before)), words
}

// keepStatement keeps a statement in one line where that can be, and as it was typed otherwise.
func (d *dialogue) keepStatement(typed string) {
	if one, ok := prompt.OneLine(typed); ok {
		d.keep(typed, one)
		return
	}
	for line := range strings.Lines(typed) {
		d.keep(typed, strings.TrimSpace(line))
	}
}

// keep writes a line to the history, unless it was typed behind a space.
func (d *dialogue) keep(typed, line string) {
	if strings.HasPrefix(typed, " ") || line == "" {
		return
	}
	d.Remember(line)
	if err := d.history.Add(line); err != nil {
		fmt.Fprintf(d.Err, "note: your input is no longer saved: %s\n", console.CleanLines(err.Error()))
		d.history.Close()
		d.history = nil
	}
}

const dialogueHelp = `
SELECT ...;                  ask, and pay for the answer
EXPLAIN SELECT ...;          what it would cost, and how exact it would be; free
SET dp.epsilon = 0.5;        what questions pay from now on
SET dp.error = 50;           or the error to have, at the lowest price; averages also need SET dp.values = 1000
SET dp.confidence = 0.99;    also dp.delta, dp.mechanism, dp.max_rows, dp.max_groups, dp.max_sum, dp.values, dp.stream, dp.errors, dp.counts: SHOW ALL explains them
RESET dp.epsilon;            the policy's default again; RESET ALL for all settings
SHOW dp.epsilon;             also SHOW dp.budget and SHOW ALL

A statement can have many lines and ends with a semicolon. Tab completes, the up key brings
back earlier input, Ctrl-C drops a line or stops a question. Anything that a stopped question
was charged stays charged.
`

func (d *dialogue) runBackslash(ctx context.Context, line string) error {
	name, argument, _ := strings.Cut(line, " ")
	argument = strings.TrimSpace(strings.TrimRight(argument, " ;"))
	name = strings.TrimRight(name, ";")
	needs := map[string]bool{`\c`: true, `\explain`: true, `\json`: true, `\d`: argument != ""}
	switch {
	case argument == "" && needs[name]:
		return refuseCommand("%s needs something after it; \\? shows how to write it", name)
	case argument != "" && !needs[name]:
		return refuseCommand("%s takes nothing after it; \\? shows how to write it", name)
	}
	switch name {
	case `\q`:
		return errLeave
	case `\?`, `\h`:
		t := &render.Table{Header: []string{"command", "what it does"}}
		for _, b := range prompt.Backslashes {
			t.Add(b[0], b[1])
		}
		t.Write(d.Out)
		fmt.Fprint(d.Out, dialogueHelp)
	case `\d`:
		return d.describe(argument)
	case `\l`:
		printDatasets(d.Out, d.db.Policy(), d.datasetPolicy())
	case `\c`:
		if d.db.Policy().Datasets[argument] == nil {
			return refuseCommand("there is no dataset %q; the datasets are %s", argument, strings.Join(d.db.Policy().Names(), ", "))
		}
		d.dataset = argument
	case `\budget`:
		return d.showBudget(ctx)
	case `\explain`:
		return d.explain(ctx, argument)
	case `\set`:
		return d.showSettings(prompt.KnownSettings)
	case `\json`:
		switch argument {
		case "on", "off":
			d.json = argument == "on"
		default:
			return refuseCommand(`write \json on or \json off`)
		}
	default:
		return refuseCommand(`there is no command %s; \? shows the commands`, name)
	}
	return nil
}

func refuseCommand(format string, a ...any) error {
	return &api.Refusal{Reason: fmt.Sprintf(format, a...), Position: -1}
}

// describe shows the tables, or the columns of one.
func (d *dialogue) describe(name string) error {
	ds := d.datasetPolicy()
	if ds == nil {
		return refuseCommand(`no dataset is chosen; \c DATASET chooses one of %s`, strings.Join(d.db.Policy().Names(), ", "))
	}
	if name == "" {
		printTables(d.Out, ds)
		return nil
	}
	name = strings.Trim(name, `"`)
	t := prompt.Completer{Policy: d.db.Policy(), Dataset: ds}.Table(name)
	if t == nil {
		for _, view := range ds.ViewNames() {
			if strings.EqualFold(view, name) {
				fmt.Fprintf(d.Out, "a view: %s\n", render.Clean(ds.Views[view]))
				return nil
			}
		}
		return refuseCommand("there is no table %q; the tables are %s", name, strings.Join(ds.TableNames(), ", "))
	}
	printColumns(d.Out, ds, t)
	return nil
}

// ownerOfRows says whom the rows of a table belong to.
func ownerOfRows(t *policy.Table) string {
	switch t.UnitKind {
	case policy.Unique:
		return "at most one row, by " + t.UnitColumn
	case policy.Many:
		by := t.UnitColumn
		if by == "" {
			by = "its path to " + t.Path[0].Table
		}
		return fmt.Sprintf("many rows, by %s; %s in each of %s count", by, render.Count(t.MaxRows, "row"),
			render.Count(t.MaxGroups, "group"))
	}
	if t.Public {
		return "nothing: it is public"
	}
	return "is one row"
}

// What is shown here is in the policy. Nothing is read from the data.

func printDatasets(w io.Writer, p *policy.Policy, current *policy.Dataset) {
	t := &render.Table{Header: []string{"", "dataset", "unit", "budget", "tables"}}
	for _, name := range p.Names() {
		ds := p.Datasets[name]
		mark := ""
		if ds == current {
			mark = "*"
		}
		budget := "epsilon " + ds.Budget.Epsilon.String()
		if !ds.Budget.Pure() {
			budget += " at delta " + ds.Budget.Delta.String()
		}
		t.Add(mark, name, ds.Unit.String(), budget, strings.Join(ds.TableNames(), ", "))
	}
	t.Write(w)
}

func printTables(w io.Writer, ds *policy.Dataset) {
	t := &render.Table{Header: []string{"table", "columns", "a person has"}, Right: []bool{false, true}}
	for _, name := range ds.TableNames() {
		t.Add(name, strconv.Itoa(len(ds.Tables[name].Columns)), ownerOfRows(ds.Tables[name]))
	}
	for _, name := range ds.ViewNames() {
		t.Add(name, "-", "a view: "+ds.Views[name])
	}
	t.Write(w)
}

func printColumns(w io.Writer, ds *policy.Dataset, of *policy.Table) {
	t := &render.Table{Header: []string{"column", "type", "null", "bounds", "step", "sum and avg", "group by", "keys"}}
	for _, name := range of.ColumnNames() {
		c := of.Columns[name]
		cells := console.DescribeColumn(of, c)
		null, step := "yes", "-"
		if !c.Nullable {
			null = "no"
		}
		if c.Bounds != nil && c.Granularity != nil && c.Type != policy.Date {
			step = c.Show(1)
		}
		t.Add(name, cells[2], null, cells[3], step, cells[5], cells[6], keyList(c))
	}
	t.Write(w)
	fmt.Fprintf(w, "unit: %v; a person %s\n", ds.Unit, strings.Replace("has "+ownerOfRows(of), "has is", "is", 1))
}

// keyList shows the first keys and says how many there are.
func keyList(c *policy.Column) string {
	if c.Keys == policy.PrivateKeys {
		return "private"
	}
	keys := c.PublicValues()
	if c.Keys != policy.PublicKeys && len(keys) > 2 {
		return fmt.Sprintf("all %d between the bounds", len(keys))
	}
	var shown []string
	length := 0
	for i, v := range keys {
		text := c.ShowValue(v)
		if length += len(text) + 2; length > 60 && i > 0 {
			return fmt.Sprintf("%s, ... (%d)", strings.Join(shown, ", "), len(keys))
		}
		shown = append(shown, text)
	}
	if len(shown) == 0 {
		return "-"
	}
	return strings.Join(shown, ", ")
}
