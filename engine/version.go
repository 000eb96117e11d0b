package engine

import "strings"

// A version is in two parts where the owner names the state of the data: the name, which analysts may see, a line
// break, and the rest, which they may not.

// NamedVersion puts the owner's name for the state, which has no line break, before the rest of a version.
func NamedVersion(name, rest string) string { return name + "\n" + rest }

// VersionName returns the owner's name for the state, or nothing where there is none.
func VersionName(version string) string {
	name, _, named := strings.Cut(version, "\n")
	if !named {
		return ""
	}
	return name
}
