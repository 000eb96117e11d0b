// Command concurrent prints the arguments of go test for the tests of some packages that do several
// things at once, which are what the race detector is for.
//
//	go test -race $(go run ./internal/architecture/concurrent ./internal/server/... ./dp/...)
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/architecture"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(packages []string) error {
	if len(packages) == 0 || strings.HasPrefix(packages[0], "-") {
		return errors.New("name packages, such as ./internal/server/... for all below it")
	}
	c := exec.Command("go", append([]string{"list", "-f", "{{.ImportPath}} {{.Dir}}"}, packages...)...)
	c.Stderr = os.Stderr
	list, err := c.Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	var names, found []string
	for line := range bytes.Lines(list) {
		path, dir, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		tests, err := architecture.ConcurrentTests(dir)
		if err != nil {
			return err
		}
		if len(tests) > 0 {
			found, names = append(found, path), append(names, tests...)
		}
	}
	if len(names) == 0 {
		return fmt.Errorf("no test there does several things at once")
	}
	slices.Sort(names)
	fmt.Printf("-run ^(%s)$ %s\n", strings.Join(slices.Compact(names), "|"), strings.Join(found, " "))
	return nil
}
