package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
)

type versionCmd struct {
	JSON bool `help:"Print JSON." name:"json"`
}

func (versionCmd) Help() string {
	return `Says which release this is, for which machine, and from which revision it was built.

  discreet version`
}

func (c *versionCmd) Run(s console.Screen) error {
	revision := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, set := range info.Settings {
			if set.Key == "vcs.revision" {
				revision = set.Value
			}
		}
	}
	if c.JSON {
		return console.PrintJSON(s.Out, map[string]string{"version": console.Version, "revision": revision, "go": runtime.Version(),
			"platform": runtime.GOOS + "/" + runtime.GOARCH})
	}
	fmt.Fprintf(s.Out, "discreet %s (%s %s/%s)\n", console.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if revision != "" {
		fmt.Fprintln(s.Out, "built from", revision)
	}
	return nil
}
