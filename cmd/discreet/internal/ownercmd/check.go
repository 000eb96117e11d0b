// Package ownercmd has what the owner of the data does with a policy: discreet init, check, prepare
// and incidents.
package ownercmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/policycheck"
	"github.com/discreet-dp/discreet/internal/policywords"
	"github.com/discreet-dp/discreet/internal/table"
	"github.com/discreet-dp/discreet/policy"
)

// Check is discreet check.
type Check struct {
	NoData bool   `help:"Check the file alone, and do not open the data." name:"no-data"`
	JSON   bool   `help:"Print JSON." name:"json"`
	Policy string `arg:"" help:"The policy file."`
}

func (Check) Help() string {
	return `Reads the policy and reports all problems with their lines. Then reads the data and reports what does not
fit the policy: this is for the owner, whose data it is.

  discreet check hospital.yaml`
}

// errBroken ends a check that found something that breaks the guarantee.
var errBroken = errors.New("the data breaks what the policy promises, and the guarantee does not hold; mend what is marked " +
	"BROKEN before anybody asks")

// errUnread ends a check of data that is not read as the policy says.
var errUnread = errors.New("most of a column, or a whole file, is not read as the policy says, so answers would be about nothing; mend " +
	"what is marked UNREAD before anybody asks")

// verdict is the worst that was found.
func verdict(found map[string][]duckdb.Finding) (worst error) {
	for _, all := range found {
		for _, f := range all {
			if f.Broken {
				return errBroken
			}
			if f.Unread {
				worst = errUnread
			}
		}
	}
	return worst
}

func (c *Check) Run(ctx context.Context, s console.Screen) error {
	p, err := policy.Load(c.Policy)
	if err != nil {
		return err
	}
	if err := policycheck.Views(p); err != nil {
		return err
	}
	if err := policycheck.Streams(p); err != nil {
		return err
	}
	if !c.NoData {
		if err := policycheck.Files(p); err != nil {
			return err
		}
		if err := policycheck.Holdouts(p); err != nil {
			return err
		}
	}
	found, versions, ticks := map[string][]duckdb.Finding{}, map[string]string{}, map[string]time.Duration{}
	for _, name := range p.Names() {
		if c.NoData {
			break
		}
		if versions[name], err = duckdb.DescribeVersion(ctx, p.Datasets[name]); err != nil {
			return err
		}
		done := console.Waiting(s.Err, "reading "+name)
		var magnitude int
		found[name], magnitude, err = duckdb.Inspect(ctx, p.Datasets[name])
		done()
		if err != nil {
			return err
		}
		ticks[name] = p.Datasets[name].Release.For(magnitude)
	}
	worst := verdict(found)
	if !c.JSON {
		printCheck(s, p, found, versions, ticks, !c.NoData)
	} else if err := console.PrintJSON(s.Out, checkJSON(p, found, versions, ticks, worst)); err != nil {
		return err
	}
	if worst != nil {
		return console.AlreadyShown(worst)
	}
	return nil
}

func checkJSON(p *policy.Policy, found map[string][]duckdb.Finding, versions map[string]string, ticks map[string]time.Duration,
	worst error) any {
	datasets := map[string]any{}
	for _, name := range p.Names() {
		f := found[name]
		if f == nil {
			f = []duckdb.Finding{}
		}
		ds := p.Datasets[name]
		public := []string{}
		for _, tn := range ds.TableNames() {
			if ds.Tables[tn].Public {
				public = append(public, tn)
			}
		}
		about := map[string]any{"tables": ds.TableNames(), "public": public, "views": append([]string{}, ds.ViewNames()...),
			"findings": f, "max_fanout": ds.Fanout(), "max_joined": maxJoined(ds),
			"failures": map[string]uint64{"analyst": ds.Borne().Analyst, "dataset": ds.Borne().Dataset},
			"warnings": policywords.Warnings(ds)}
		if v, ok := versions[name]; ok {
			about["data_version"] = v
			about["tick"] = ticks[name].String()
		}
		datasets[name] = about
	}
	out := map[string]any{"ok": worst == nil, "ledger": p.Ledger, "datasets": datasets}
	if worst != nil {
		out["error"] = console.ErrorJSON(worst)
	}
	return out
}

func printCheck(s console.Screen, p *policy.Policy, found map[string][]duckdb.Finding, versions map[string]string,
	ticks map[string]time.Duration, data bool) {
	for _, name := range p.Names() {
		ds := p.Datasets[name]
		fmt.Fprintf(s.Out, "dataset %s: unit %v, neighbours %v, budget %s\n\n", name, ds.Unit, ds.Neighbours,
			policywords.Budget(ds))
		rows := &table.Table{Header: []string{"table", "rows", "path"}}
		for _, tn := range ds.TableNames() {
			rows.Add(tn, policywords.Rows(ds.Tables[tn]), policywords.Path(ds.Tables[tn]))
		}
		rows.Write(s.Out)
		if slices.ContainsFunc(ds.TableNames(), func(n string) bool { return ds.Tables[n].Public }) {
			fmt.Fprintf(s.Out, "one row of a person meets at most %d rows of public tables in a question\n", ds.Fanout())
		}
		fmt.Fprintf(s.Out, "%s\n\n", policywords.Failures(ds))
		t := &table.Table{Header: []string{"table", "column", "type", "bounds", "keys", "sum and avg", "group by"}}
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
		if v, ok := versions[name]; ok {
			fmt.Fprintf(s.Out, "data version: %s\n", table.Clean(v))
			fmt.Fprintf(s.Out, "discreet serve: %s\n", policywords.Release(ds.Release, ticks[name]))
		}
		for _, text := range policywords.Warnings(ds) {
			fmt.Fprintf(s.Out, "note: %s\n", text)
		}
		for _, f := range found[name] {
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
	if data {
		fmt.Fprintln(s.Out, "the policy and the data were read")
	} else {
		fmt.Fprintln(s.Out, "the policy was read; the data was not opened")
	}
}
