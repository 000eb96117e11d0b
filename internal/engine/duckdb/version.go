package duckdb

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"

	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/store"
)

// identify names the state of the data: by the contents of its files, or, for a database whose
// owner has a query for it, by what that says.
//
// The name decides one thing: whether an answer that was given may be given again. A change that is
// missed makes such answers stale, and nothing less private: what is given again is a noisy number
// that everybody had already. A new question then runs on the changed data under the old name, and
// pays in full, with noise of its own. What is spent counts for a person over all versions and
// never begins anew with one, so it is no matter to which of them a charge is written.
//
// But an answer is sharpened of the same data, or it tells more than it costs. So it is where the
// contents name the data (store.Version.Whole), and not what an owner's query says, which may be
// late; and where they do so still after the question ran.
//
// Each file is looked at before it is read: what changes in between is found to have changed with
// the next question.
func (s *snapshot) identify(ctx context.Context, ds *policy.Dataset) error {
	database, rest := dataFiles(ds, s.tables)
	paths := append(rest, database...)
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		s.files = append(s.files, stateOf(path))
	}
	if len(database) > 0 {
		if _, err := os.Stat(ds.Source); err != nil {
			return fmt.Errorf("open the data: %w", err)
		}
	}
	var name string
	if ds.VersionQuery != "" && ds.SourceKind() == policy.Database {
		var err error
		if name, err = askVersion(ctx, ds, s.limits); err != nil {
			return err
		}
	}
	all, roles := sha256.New(), s.roles(ds)
	s.hashes = map[string][]byte{}
	for _, f := range s.files {
		if !f.exists || name != "" && slices.Contains(database, f.path) {
			continue
		}
		h, err := f.hash(hashedWhole)
		if err != nil {
			return fmt.Errorf("read the data: %w", err)
		}
		s.hashes[f.path] = h
		// The same bytes are other data when they are another table, or are read in another way.
		fmt.Fprintf(all, "%q %x\n", roles[f.path], h)
	}
	s.version = store.Version{Name: name, State: hex.EncodeToString(all.Sum(nil)), Whole: name == ""}
	// What is prepared is the same data once more, and has to be looked at when it changes.
	s.database = database
	for _, t := range s.tables {
		if t.prepared != "" {
			s.files = append(s.files, stateOf(t.prepared))
		}
	}
	return nil
}

// roles says of each file which table it is, and how it is read.
func (s *snapshot) roles(ds *policy.Dataset) map[string][]string {
	roles := map[string][]string{}
	for _, name := range ds.TableNames() {
		if t := s.tables[name]; t.file != "" {
			roles[t.file] = append(roles[t.file], t.role())
		}
	}
	return roles
}

// dataFiles returns the files of a dataset: the database with its log, where there is one, and all
// others.
func dataFiles(ds *policy.Dataset, tables map[string]*table) (database, rest []string) {
	if ds.SourceKind() == policy.Database {
		database = []string{ds.Source, ds.Source + ".wal"}
	}
	for _, t := range tables {
		if t.file != "" {
			rest = append(rest, t.file)
		}
	}
	return database, rest
}

// changed reports whether a file may not be what it was.
func (s *snapshot) changed() bool { return slices.ContainsFunc(s.files, fileState.changed) }

// moved is changed, of data that may be elsewhere.
func (s *snapshot) moved(ctx context.Context) (bool, error) {
	if s.changed() || s.origin == nil {
		return s.changed(), nil
	}
	return s.origin.moved(ctx)
}
