// Package version says which release of Discreet this is, and puts the refusal of what a newer one
// wrote into words.
package version

import (
	"fmt"
	"runtime/debug"
	"strings"
)

// Version and Commit are stamped into releases, by
//
//	go build -ldflags "-X github.com/discreet-dp/discreet/internal/version.Version=0.1.0"
//
// Whatever else is built says "development", and the commit that Go found in the working tree.
var (
	Version = "development"
	Commit  = ""
)

// Revision is the commit that this program was built from, with "+" where files had been changed,
// or nothing where nobody knows.
func Revision() string {
	if Commit != "" {
		return Commit
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	revision, changed := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = "+"
		}
	}
	if revision == "" {
		return ""
	}
	return revision + changed
}

// Newer says that something has a format that only newer versions read: what it has, what this
// program reads, which version wrote it where that is known, and what to do.
func Newer(what, has, reads, by string) string {
	wrote := ""
	if by = Clean(by); by != "" {
		wrote = ", as Discreet " + by + " writes it"
	}
	return fmt.Sprintf("%s has the format %s%s. This is Discreet %s, which reads the format %s. Nothing was changed. Use the version that "+
		"wrote it, or a newer one; docs/upgrade.md says how to go back. If no newer version was ever used here, the text that names "+
		"the format was damaged: restore it from a copy", what, Clean(has), wrote, Version, reads)
}

// Clean returns a version or format that a file or a database claims to have, as far as it can be
// shown: short, and of characters that versions have.
func Clean(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > 64 {
		text = text[:64]
	}
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', strings.ContainsRune("._+- ", r):
			return r
		}
		return -1
	}, text)
}
