package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is the release; what it was built from is read off the binary.
const version = "0.1.0"

type versionCmd struct {
	JSON bool `help:"Print JSON." name:"json"`
}

func (versionCmd) Help() string {
	return `Says which release this is, for which machine, and from which revision it was built.

  discreet version`
}

func (c *versionCmd) Run(s screen) error {
	revision := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, set := range info.Settings {
			if set.Key == "vcs.revision" {
				revision = set.Value
			}
		}
	}
	if c.JSON {
		return printJSON(s.out, map[string]string{"version": version, "revision": revision, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH})
	}
	fmt.Fprintf(s.out, "discreet %s (%s %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if revision != "" {
		fmt.Fprintln(s.out, "built from", revision)
	}
	return nil
}
