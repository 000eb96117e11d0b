package ownercmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/curator/budgets"
	"github.com/discreet-dp/discreet/internal/curator/policycheck"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/engine/trino"
	"github.com/discreet-dp/discreet/internal/ledger/openledger"
	"github.com/discreet-dp/discreet/internal/policywords"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/source/policydraft"
	"github.com/discreet-dp/discreet/internal/source/trinotables"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

type CheckCmd struct {
	NoData bool   `help:"Check only the policy file, without opening the data." name:"no-data"`
	Sizes  bool   `help:"Count the data, and print a block 'sizes' to paste into the policy."`
	JSON   bool   `help:"Print JSON." name:"json"`
	Policy string `arg:"" help:"The policy file."`
}

func (CheckCmd) Help() string {
	return `Reads the policy and reports all problems with their lines. Then reads the data and reports what does not fit
the policy; this report is for the owner of the data. In a PostgreSQL database it reads the catalogue, and it
reads rows only for columns about which keys, references, checks and types do not say enough; it lists these.
In a Trino cluster it looks at the rights of the user, at catalogs and types, and at how to tell whether
tables have changed, before it reads their rows.

With --sizes it counts the data and prints the sizes to declare, rounded up to powers of two with room to grow.
Deadlines then follow from the policy, and from nothing that one person can change.

  discreet check hospital.yaml
  discreet check hospital.yaml --sizes`
}

// errDataBreaksPolicy ends a check that found something that breaks the guarantee.
var errDataBreaksPolicy = errors.New("the data breaks promises of the policy, and the guarantee does not hold; fix what is marked " +
	"BROKEN before anybody asks")

// errDataUnread ends a check of data that is not read as the policy says.
var errDataUnread = errors.New("most of a column, or a whole file, cannot be read as the policy says, so answers would mean nothing; " +
	"fix what is marked UNREAD before anybody asks")

func worstFinding(all map[string]*datasetCheck) (worst error) {
	for _, c := range all {
		for _, f := range c.findings {
			if f.Broken {
				return errDataBreaksPolicy
			}
			if f.Unread {
				worst = errDataUnread
			}
		}
	}
	return worst
}

func (c *CheckCmd) Run(ctx context.Context, s console.Screen) error {
	p, err := policy.Load(c.Policy)
	if err != nil {
		return err
	}
	if c.Sizes {
		return c.printSizes(ctx, s, p)
	}
	if err := policycheck.Views(p); err != nil {
		return err
	}
	if err := policycheck.Streams(p); err != nil {
		return err
	}
	doubts, err := checkAnchoring(p)
	if err != nil {
		return err
	}
	if !c.NoData {
		apart, err := policycheck.Apart(p)
		if err != nil {
			return err
		}
		doubts = append(doubts, apart...)
		if err := policycheck.Holdouts(p); err != nil {
			return err
		}
	}
	all := map[string]*datasetCheck{}
	for _, name := range p.Names() {
		if c.NoData {
			break
		}
		done := console.Waiting(s.Err, "reading "+name)
		all[name], err = checkDataset(ctx, p.Datasets[name])
		done()
		if err != nil {
			return err
		}
	}
	worst := worstFinding(all)
	if !c.JSON {
		printCheck(s, p, all)
		for _, text := range doubts {
			fmt.Fprintf(s.Out, "note: %s\n", text)
		}
	} else if err := console.PrintJSON(s.Out, checkJSON(p, all, doubts, worst)); err != nil {
		return err
	}
	if worst != nil {
		return console.AlreadyShown(worst)
	}
	return nil
}

// datasetCheck is what was found in the data of a dataset.
type datasetCheck struct {
	findings []engine.Finding
	// kept is what max_rows and max_groups keep, for the owner alone.
	kept    []engine.Finding
	version string
	tick    time.Duration
	// read are the columns whose rows were read, where the catalogue of a database says the rest.
	read map[string][]string
}

// checkDataset reads as much of the data as has to be read.
func checkDataset(ctx context.Context, ds *policy.Dataset) (*datasetCheck, error) {
	describe := duckdb.DescribeVersion
	if ds.SourceKind() == policy.TrinoDatabase {
		describe = trinotables.Describe
	}
	version, err := describe(ctx, ds)
	if err != nil {
		return nil, err
	}
	out := &datasetCheck{version: version}
	var magnitude int
	switch ds.SourceKind() {
	case policy.TrinoDatabase:
		if out.findings, magnitude, err = trino.Inspect(ctx, ds); err != nil {
			return nil, err
		}
	case policy.PostgresDatabase:
		doubts, err := policydraft.Doubts(ctx, ds)
		if err != nil {
			return nil, err
		}
		out.read = doubts.Read(ds)
		out.findings, magnitude, err = duckdb.InspectDoubts(ctx, ds, doubts)
		if err != nil {
			return nil, err
		}
	default:
		if out.findings, out.kept, magnitude, err = duckdb.InspectKept(ctx, ds); err != nil {
			return nil, err
		}
	}
	out.tick = ds.Release.For(magnitude)
	return out, nil
}

func checkJSON(p *policy.Policy, all map[string]*datasetCheck, doubts []string, worst error) any {
	datasets := map[string]any{}
	for _, name := range p.Names() {
		ds := p.Datasets[name]
		public := []string{}
		for _, tn := range ds.TableNames() {
			if ds.Tables[tn].Public {
				public = append(public, tn)
			}
		}
		about := map[string]any{"tables": ds.TableNames(), "public": public, "views": append([]string{}, ds.ViewNames()...),
			"findings": []engine.Finding{}, "max_fanout": ds.Fanout(), "max_joined": maxJoinedRows(ds),
			"failures": map[string]uint64{"analyst": ds.FailureLimits().Analyst, "dataset": ds.FailureLimits().Dataset},
			"warnings": policywords.Warnings(ds)}
		if c := all[name]; c != nil {
			about["findings"] = append([]engine.Finding{}, c.findings...)
			if len(c.kept) > 0 {
				about["kept"] = c.kept
			}
			about["data_version"] = c.version
			about["tick"] = c.tick.String()
			if c.read != nil {
				about["read"] = c.read
			}
		}
		datasets[name] = about
	}
	out := map[string]any{"ok": worst == nil, "ledger": p.Ledger, "datasets": datasets}
	if len(doubts) > 0 {
		out["doubts"] = doubts
	}
	if worst != nil {
		out["error"] = console.ErrorJSON(worst)
	}
	return out
}

func printCheck(s console.Screen, p *policy.Policy, all map[string]*datasetCheck) {
	for _, name := range p.Names() {
		ds := p.Datasets[name]
		fmt.Fprintf(s.Out, "dataset %s: unit %v, neighbours %v, budget %s\n\n", name, ds.Unit, ds.Neighbours,
			policywords.Budget(ds))
		rows := &render.Table{Header: []string{"table", "rows", "path"}}
		for _, tn := range ds.TableNames() {
			rows.Add(tn, policywords.Rows(ds.Tables[tn]), policywords.Path(ds.Tables[tn]))
		}
		rows.Write(s.Out)
		if slices.ContainsFunc(ds.TableNames(), func(n string) bool { return ds.Tables[n].Public }) {
			fmt.Fprintf(s.Out, "one row of a person joins at most %d rows of public tables in a question\n", ds.Fanout())
		}
		fmt.Fprintf(s.Out, "%s\n\n", policywords.Failures(ds))
		t := &render.Table{Header: []string{"table", "column", "type", "bounds", "keys", "sum and avg", "group by"}}
		for _, tn := range ds.TableNames() {
			for _, cn := range ds.Tables[tn].ColumnNames() {
				t.Add(console.DescribeColumn(ds.Tables[tn], ds.Tables[tn].Columns[cn])...)
			}
		}
		t.Write(s.Out)
		fmt.Fprintln(s.Out)
		if views := ds.ViewNames(); len(views) > 0 {
			fmt.Fprintf(s.Out, "views: %s\n\n", strings.Join(views, ", "))
		}
		printFound(s, ds, all[name])
	}
	if len(all) > 0 {
		fmt.Fprintln(s.Out, "the policy and the data were read")
	} else {
		fmt.Fprintln(s.Out, "the policy was read; the data was not opened")
	}
}

// printFound says what was found in the data, where it was opened.
func printFound(s console.Screen, ds *policy.Dataset, c *datasetCheck) {
	if c != nil {
		fmt.Fprintf(s.Out, "data version: %s\n", render.Clean(c.version))
		fmt.Fprintf(s.Out, "discreet serve: %s\n", policywords.Release(ds, c.tick))
		if c.read != nil {
			fmt.Fprintf(s.Out, "rows that were read: %s\n", describeRead(ds, c.read))
		}
	}
	for _, text := range policywords.Warnings(ds) {
		fmt.Fprintf(s.Out, "note: %s\n", text)
	}
	if c == nil {
		return
	}
	for _, f := range c.kept {
		fmt.Fprintf(s.Out, "kept: %s: %s\n", f.Table, f.Text)
	}
	for _, f := range c.findings {
		word := "note"
		if f.Unread {
			word = "UNREAD"
		}
		if f.Broken {
			word = "BROKEN"
		}
		fmt.Fprintf(s.Out, "%s: %s: %s\n", word, strings.TrimSuffix(f.Table+"."+f.Column, "."), f.Text)
	}
}

// describeRead says of which columns rows were read, and why not of the others.
func describeRead(ds *policy.Dataset, read map[string][]string) string {
	var out []string
	for _, name := range ds.TableNames() {
		if columns := read[name]; len(columns) > 0 {
			out = append(out, render.Clean(fmt.Sprintf("%s (%s)", name, strings.Join(columns, ", "))))
		}
	}
	if len(out) == 0 {
		return "none; the database's own keys, references, checks and types say enough"
	}
	return strings.Join(out, "; ") + ". The database's own keys, references, checks and types say the rest"
}

// maxJoinedRows is how many rows of a person are joined with each other, by the tables in which a
// person can have many.
func maxJoinedRows(ds *policy.Dataset) map[string]int64 {
	out := map[string]int64{}
	for name, t := range ds.Tables {
		if t.UnitKind == policy.Many {
			out[name] = t.Joined()
		}
	}
	return out
}

// checkAnchoring returns an error where the ledger of a policy, if there is one, says that it has
// an anchor and the policy names none, or that charges protected others than the policy does. A
// ledger that cannot be read now is a doubt.
func checkAnchoring(p *policy.Policy) (doubts []string, err error) {
	r, err := openledger.Read(p.Ledger)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return []string{fmt.Sprintf("the policy was not compared with its ledger: %v", err)}, nil
	}
	defer r.Close()
	anchored, was, notes := false, "", map[string][][]byte{}
	for line, err := range r.Lines() {
		if err != nil {
			return nil, err
		}
		if line.Record.Kind != ledger.KindNote {
			continue
		}
		said := line.Answer[min(ledger.NoteSalt, len(line.Answer)):]
		if has, says := ledger.NotesAnchor(line.Record.Session); says {
			anchored, was = has, string(said)
		}
		if dataset, ok := ledger.NotesProtected(line.Record.Session); ok && len(said) > 0 {
			notes[dataset] = append(notes[dataset], said)
		}
	}
	if anchored && p.Anchor == (policy.Anchor{}) {
		return nil, &ledger.UnanchoredError{Path: p.Ledger, Was: was}
	}
	for _, name := range p.Names() {
		if err := budgets.CheckProtected(p.Datasets[name], notes[name]); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// printSizes prints what to declare of how large the data of each dataset is.
func (c *CheckCmd) printSizes(ctx context.Context, s console.Screen, p *policy.Policy) error {
	if c.NoData {
		return console.Misuse(errors.New("--sizes counts the data, but --no-data leaves it closed; leave out one of the two"))
	}
	blocks, declared := map[string]string{}, map[string]*policy.Sizes{}
	for _, name := range p.Names() {
		var stage console.Stage
		done := console.WaitingFor(s.Err, stage.Or("counting "+name))
		sizes, err := proposeSizes(ctx, p.Datasets[name], stage.Tell)
		done()
		if err != nil {
			return err
		}
		blocks[name], declared[name] = sizes.Text(p.Datasets[name]), sizes
	}
	if c.JSON {
		return console.PrintJSON(s.Out, map[string]any{"ok": true, "datasets": declared})
	}
	for _, name := range p.Names() {
		fmt.Fprintf(s.Out, "    # Paste this into the dataset %s, in place of its 'sizes' if it has them. Everybody can know\n    # "+
			"it: the time at which answers leave tells it. Write larger numbers where the data will grow.\n%s", name, blocks[name])
	}
	return nil
}

func proposeSizes(ctx context.Context, ds *policy.Dataset, tell func(string, int64, int64)) (*policy.Sizes, error) {
	if ds.SourceKind() == policy.TrinoDatabase {
		return trino.ProposeSizes(ctx, ds)
	}
	return duckdb.ProposeSizes(ctx, ds, counting(tell))
}

// counted drafts again with what is counted in the files: how many rows of a person should count,
// and the sizes. The tables are the last thing in a draft, so that what belongs to its dataset can
// stand behind them.
func (c *InitCmd) counted(ctx context.Context, text string, schemas []policy.Schema, options policy.DraftOptions,
	tell func(string, int64, int64)) (string, error) {
	p, err := policy.Parse(filepath.Join(filepath.Dir(c.Output), "draft"), []byte(text))
	if err != nil {
		return "", err
	}
	for _, ds := range p.Datasets {
		countPrivateKeys(ds, schemas)
		sizes, limits, err := duckdb.ProposeLimits(ctx, ds, counting(tell))
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case err != nil: // what is wrong with the data is for 'discreet check' to say
			return text + "\n" + sizesUnknown, nil
		}
		for i := range schemas {
			if l, ok := limits[schemas[i].Table]; ok {
				schemas[i].MaxRows, schemas[i].MaxGroups, schemas[i].LimitsFromData = l.Rows, l.Groups, true
			}
		}
		if text, err = policy.Draft(schemas, options); err != nil {
			return "", err
		}
		text += "\n" + sizesNote + sizes.Text(ds)
	}
	return text, nil
}

// countPrivateKeys has the values counted of columns for which the draft proposes keys: private.
// Whoever follows it would otherwise have a policy whose sizes lack them, and which is refused.
func countPrivateKeys(ds *policy.Dataset, schemas []policy.Schema) {
	if ds.Budget.Pure() {
		return // it has no private keys
	}
	for _, s := range schemas {
		t := ds.Tables[s.Table]
		for _, c := range s.Columns {
			if t != nil && t.Columns[c.Name] != nil && c.GroupsPrivately() && t.Columns[c.Name].Keys == policy.NoKeys {
				t.Columns[c.Name].Keys = policy.PrivateKeys
			}
		}
	}
}

func counting(tell func(string, int64, int64)) func(string, int64, int64) {
	return func(file string, done, of int64) { tell("counting "+filepath.Base(file), done, of) }
}

// What a draft says where sizes are declared, and where they could not be counted.
const (
	sizesNote = `    # The largest size of the data, counted and rounded up when this was drafted. Deadlines of
    # answers follow from these numbers, so everybody can know them, and no person changes them.
    # Write larger ones before the data outgrows them; 'discreet check' says when it has.
`
	sizesUnknown = `    # Deadlines of answers follow from the size of the data, which one person can change. Declare
    # it: 'discreet check --sizes' with this file counts it, and prints a block to paste here.
`
)
