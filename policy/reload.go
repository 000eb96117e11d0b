package policy

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// RestartError is returned where policies differ in what is read when a server starts and not
// later.
type RestartError struct {
	Path string
	// Keys are the keys that differ, each with where it stands.
	Keys []string
}

func (e *RestartError) Error() string {
	return fmt.Sprintf("%s: what is read only when the server starts has changed (%s), so nothing was changed; put it back, or restart "+
		"the server", e.Path, strings.Join(e.Keys, ", "))
}

// LoadAgain is [Load] while a server runs. A pipe has nothing to say a second time, and whoever
// reads it may wait for ever.
func LoadAgain(path string) (*Policy, error) {
	if f, err := os.Stat(path); err == nil && !f.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: the policy is no regular file, and cannot be read again", path)
	}
	return Load(path)
}

// CheckReload returns a [*RestartError] unless one policy can follow another while questions are
// asked. Then they differ only in who may ask and how much of the budget each may use, in what one
// question takes, in views, and in limits and columns of tables. Each answer is calibrated to these
// by itself, and is paid for in accounts that stay.
//
// It lists what may change, and not what may not. So a key that is new needs a restart, until
// somebody has thought about it.
func CheckReload(was, is *Policy) error {
	keys := differences("", *was, *is, "Path", "Dir", "Datasets")
	for _, name := range either(was.Datasets, is.Datasets) {
		if old, next := was.Datasets[name], is.Datasets[name]; old == nil || next == nil {
			keys = append(keys, "datasets."+name)
		} else {
			keys = append(keys, fixedChanges(old, next)...)
		}
	}
	if len(keys) > 0 {
		return &RestartError{is.Path, keys}
	}
	return nil
}

// Same reports whether two policies say the same about a dataset.
func Same(was, is *Dataset) bool { return reflect.DeepEqual(was, is) }

// SameData reports whether two policies read the same data in the same way, and say the same about
// how long that may take, so that what one of them has opened does for the other. They can differ
// in who may ask, for how much, and with which views.
func SameData(was, is *Dataset) bool {
	return len(differences("", *was, *is, "Analysts", "Groups", "Views", "Existence", "Budget")) == 0
}

// fixedChanges returns the keys of a dataset that differ and need a restart.
func fixedChanges(was, is *Dataset) []string {
	keys := differences(is.Name, *was, *is, "Analysts", "Groups", "Tables", "Views", "MaxFanout", "Existence", "Sizes", "Budget")
	keys = append(keys, differences(is.Name+".budget", was.Budget, is.Budget, "DefaultDelta", "DefaultEpsilon", "MaxEpsilon",
		"MinEpsilon")...)
	for _, name := range either(was.Tables, is.Tables) {
		at, old, next := is.Name+".tables."+name, was.Tables[name], is.Tables[name]
		if old == nil || next == nil {
			keys = append(keys, at)
			continue
		}
		keys = append(keys, differences(at, *old, *next, "MaxRows", "MaxGroups", "AutoRows", "AutoGroups", "LimitsFromData", "MaxJoined",
			"Columns", "CSV")...)
		keys = append(keys, differences(at, old.CSV, next.CSV, "Columns")...) // those of columns go with the columns
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// differences returns the keys of the fields that differ, but for those that may.
func differences(at string, was, is any, may ...string) (keys []string) {
	a, b := reflect.ValueOf(was), reflect.ValueOf(is)
	for _, f := range reflect.VisibleFields(a.Type()) {
		if !f.IsExported() || slices.Contains(may, f.Name) ||
			reflect.DeepEqual(a.FieldByIndex(f.Index).Interface(), b.FieldByIndex(f.Index).Interface()) {
			continue
		}
		key := keyOfField(f.Name)
		if at != "" {
			key = at + "." + key
		}
		keys = append(keys, key)
	}
	return keys
}

// keyOfField is the key of the file that a field comes from.
func keyOfField(name string) string {
	if key, ok := map[string]string{"VersionQuery": "version", "Relation": "source", "UnitKind": "unique", "UnitColumn": "path",
		"UniqueColumn": "unique", "Unquoted": "quotes", "RefuseBadLines": "bad_lines"}[name]; ok {
		return key
	}
	var b strings.Builder
	for i, c := range name {
		if i > 0 && unicode.IsUpper(c) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// either returns the names that are in one of two maps, sorted.
func either[V any](a, b map[string]V) []string {
	names := slices.Collect(maps.Keys(a))
	return slices.Compact(slices.Sorted(slices.Values(slices.AppendSeq(names, maps.Keys(b)))))
}
