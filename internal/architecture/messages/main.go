// Command messages lists every text in the source that a person may see, for those who write them.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/discreet-dp/discreet/internal/architecture"
)

const usage = `Usage: go run ./internal/architecture/messages [--json] [FOLDER]

Lists every text of three words or more that a person may see, with its file and line: refusals,
notes, help, lines of the log, the page, Python and R. FOLDER is the tree, by default this one.

  --json   as JSON

Example: how many are there, and which are about budgets?

  go run ./internal/architecture/messages | wc -l
  go run ./internal/architecture/messages | grep budget
`

func main() {
	asJSON := flag.Bool("json", false, "")
	flag.Usage = func() { fmt.Fprint(flag.CommandLine.Output(), usage) }
	flag.Parse()
	folder := "."
	if flag.NArg() > 0 {
		folder = flag.Arg(0)
	}
	all, err := architecture.Messages(folder)
	if err == nil && *asJSON {
		err = json.NewEncoder(os.Stdout).Encode(all)
	} else if err == nil {
		for _, m := range all {
			fmt.Printf("%s:%d: %s\n", m.File, m.Line, strings.ReplaceAll(m.Text, "\n", `\n`))
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "messages:", err)
		os.Exit(1)
	}
}
