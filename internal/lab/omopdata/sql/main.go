// Command sql prints the statements that make the made-up OMOP database of docs/omop.md:
//
//	go run ./internal/lab/omopdata/sql -people 2000 | psql cdm
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"

	"github.com/discreet-dp/discreet/internal/lab/omopdata"
)

func main() {
	people := flag.Int("people", 2000, "how many people to make up")
	seed := flag.Uint64("seed", 1, "a different seed makes different people")
	flag.Parse()
	out := bufio.NewWriter(os.Stdout)
	for _, s := range omopdata.SQL(*people, *seed) {
		fmt.Fprintf(out, "%s;\n", s)
	}
	if err := out.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
