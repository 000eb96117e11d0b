package architecture

import (
	"slices"
	"strings"
)

// Shared returns the names that several packages have, and the packages. Commands are all main.
func Shared(all []*Package) map[string][]string {
	out := map[string][]string{}
	for _, p := range all {
		if p.Name != "" && p.Name != "main" {
			out[p.Name] = append(out[p.Name], p.Path)
		}
	}
	for name, paths := range out {
		if len(paths) == 1 {
			delete(out, name)
		}
	}
	return out
}

// OneImporter counts the packages that exactly one other imports, tests apart.
func OneImporter(all []*Package) int {
	importers := map[string]int{}
	for _, p := range all {
		for _, path := range p.Imports {
			importers[path]++
		}
	}
	n := 0
	for _, p := range all {
		if importers[p.Path] == 1 {
			n++
		}
	}
	return n
}

// Mirrored returns the names of structs that several packages declare with the same fields, and the
// packages: at least two, and at least half of those that the smaller one has.
func Mirrored(all []*Package) map[string][]string {
	out := map[string][]string{}
	for i, p := range all {
		for name, fields := range p.structs {
			key := strings.ToUpper(name[:1]) + name[1:]
			for _, q := range all[i+1:] {
				for other, theirs := range q.structs {
					if strings.EqualFold(other, name) && mirrors(fields, theirs) {
						out[key] = append(out[key], p.Path, q.Path)
					}
				}
			}
		}
	}
	for name, paths := range out {
		slices.Sort(paths)
		out[name] = slices.Compact(paths)
	}
	return out
}

func mirrors(a, b []string) bool {
	same := 0
	for _, f := range a {
		if slices.Contains(b, f) {
			same++
		}
	}
	return same >= 2 && 2*same >= min(len(a), len(b))
}
