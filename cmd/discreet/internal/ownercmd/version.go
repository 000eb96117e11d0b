package ownercmd

import (
	"fmt"
	"runtime"
	"strconv"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/ledger/anchor"
	"github.com/discreet-dp/discreet/internal/ledger/openledger"
	"github.com/discreet-dp/discreet/internal/mechanism/learn/model"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/internal/version"
	"github.com/discreet-dp/discreet/policy"
)

type VersionCmd struct {
	JSON bool `help:"Print JSON." name:"json"`
}

func (VersionCmd) Help() string {
	return `Shows which release this is, from which commit and with which DuckDB it was built, and which formats of ledgers, users,
policies and other files it writes and reads. docs/upgrade.md says what a new release may change.

  discreet version
  discreet version --json`
}

// fileFormat is what this program writes and reads of one kind of file. Those between the two that
// it reads are read too; what is older than what it writes is brought to that.
type fileFormat struct {
	Writes int `json:"writes"`
	Oldest int `json:"reads_from"`
	Newest int `json:"reads_to"`
}

func only(n int) fileFormat { return fileFormat{n, n, n} }

// formatNames are the kinds of files, in the order in which they are shown, with their names in
// JSON.
var formatNames = []struct{ key, name string }{
	{"ledger_file", "ledger in a file"}, {"ledger_postgres", "ledger in PostgreSQL"}, {"anchor", "anchor"}, {"users", "users"},
	{"policy", "policy"}, {"model", "model"}, {"duckdb", "DuckDB files"},
}

func formats() map[string]fileFormat {
	return map[string]fileFormat{
		"ledger_file": only(openledger.FileFormat), "ledger_postgres": only(openledger.PostgresFormat), "anchor": only(anchor.Format),
		"users": {users.Format, users.OldestFormat, users.Format}, "policy": only(policy.Format), "model": only(model.Version),
		"duckdb": {duckdb.OldestStorage, duckdb.OldestStorage, duckdb.NewestStorage},
	}
}

func (c *VersionCmd) Run(s console.Screen) error {
	platform := runtime.GOOS + "/" + runtime.GOARCH
	if c.JSON {
		return console.PrintJSON(s.Out, struct {
			Version  string                `json:"version"`
			Commit   string                `json:"commit"`
			Go       string                `json:"go"`
			Platform string                `json:"platform"`
			DuckDB   string                `json:"duckdb"`
			Formats  map[string]fileFormat `json:"formats"`
		}{version.Version, version.Revision(), runtime.Version(), platform, duckdb.LibraryVersion(), formats()})
	}
	commit := ""
	if r := version.Revision(); r != "" {
		commit = "commit " + r + ", "
	}
	fmt.Fprintf(s.Out, "discreet %s (%s%s, DuckDB %s, %s)\n\n", version.Version, commit, runtime.Version(), duckdb.LibraryVersion(),
		platform)
	table := &render.Table{Header: []string{"format of", "written", "read"}, Right: []bool{false, true, true}}
	all := formats()
	for _, f := range formatNames {
		table.Add(f.name, strconv.Itoa(all[f.key].Writes), all[f.key].span())
	}
	table.Write(s.Out)
	return nil
}

// span is what is read, as a range.
func (f fileFormat) span() string {
	if f.Oldest == f.Newest {
		return strconv.Itoa(f.Newest)
	}
	return fmt.Sprintf("%d to %d", f.Oldest, f.Newest)
}
