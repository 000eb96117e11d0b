package querycmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/table"
	"github.com/discreet-dp/discreet/policy"
)

// backslashes are the commands of a dialogue that are not SQL. All are free.
var backslashes = [][2]string{
	{`\d`, "the tables"},
	{`\d TABLE`, "the columns of a table: types, bounds, keys"},
	{`\l`, "the datasets"},
	{`\c DATASET`, "ask another dataset"},
	{`\budget`, "what was spent and what is left"},
	{`\explain SELECT ...`, "what a question would cost, and how exact it would be"},
	{`\set`, "the settings"},
	{`\json on|off`, "print JSON, or tables"},
	{`\?`, "this help; also \\h"},
	{`\q`, "leave; so does Ctrl-D"},
}

const dialogueHelp = `
SELECT ...;                  ask, and pay for the answer
EXPLAIN SELECT ...;          what it would cost, and how exact it would be; free
SET dp.epsilon = 0.5;        what questions pay from now on
SET dp.error = 50;           or what error counts and sums should have, at the least price
SET dp.confidence = 0.99;    also dp.delta, dp.mechanism, dp.max_groups, dp.max_sum, dp.stream, dp.errors, dp.counts: SHOW ALL says what they are
RESET dp.epsilon;            the policy's default again; RESET ALL for all settings
SHOW dp.epsilon;             also SHOW dp.budget and SHOW ALL

A statement can have many lines and ends with a semicolon. Tab completes, the up key brings
back what was typed, Ctrl-C drops a line or stops a question. What a stopped question was
charged stays charged.
`

// backslashNames lists the commands without what follows them.
func backslashNames() []string {
	var out []string
	for _, b := range backslashes {
		if name, _, _ := strings.Cut(b[0], " "); len(out) == 0 || out[len(out)-1] != name {
			out = append(out, name)
		}
	}
	return out
}

// runBackslash runs a command.
func (d *dialogue) runBackslash(ctx context.Context, line string) error {
	name, argument, _ := strings.Cut(line, " ")
	argument = strings.TrimSpace(strings.TrimRight(argument, " ;"))
	name = strings.TrimRight(name, ";")
	needs := map[string]bool{`\c`: true, `\explain`: true, `\json`: true, `\d`: argument != ""}
	switch {
	case argument == "" && needs[name]:
		return refuseCommand("%s needs something behind it; \\? shows how it is written", name)
	case argument != "" && !needs[name]:
		return refuseCommand("%s stands alone; \\? shows how it is written", name)
	}
	switch name {
	case `\q`:
		return errLeave
	case `\?`, `\h`:
		t := &table.Table{Header: []string{"command", "what it does"}}
		for _, b := range backslashes {
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
		return d.showSettings(knownSettings)
	case `\json`:
		switch argument {
		case "on", "off":
			d.json = argument == "on"
		default:
			return refuseCommand(`write \json on or \json off`)
		}
	default:
		return refuseCommand(`there is no command %s; \? shows those that there are`, name)
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
	t := completer{d.db.Policy(), ds}.table(name)
	if t == nil {
		for _, view := range ds.ViewNames() {
			if strings.EqualFold(view, name) {
				fmt.Fprintf(d.Out, "a view: %s\n", table.Clean(ds.Views[view]))
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
