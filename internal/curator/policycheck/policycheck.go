// Package policycheck says what is wrong with a policy that its text alone does not tell: views
// that no question can use, streams and holdouts that nobody could ask, and files that are one file
// under two names. It is for the owner, and charges nothing.
package policycheck

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/source/pgtables"
	"github.com/discreet-dp/discreet/internal/source/trinotables"
	"github.com/discreet-dp/discreet/policy"
)

// Views says what is wrong with each view that no question can use.
func Views(p *policy.Policy) error { return checkDatasets(p, planner.CheckViews) }

// Streams prices the streams, and says what is wrong with each that nobody could ask.
func Streams(p *policy.Policy) error {
	return checkDatasets(p, func(ds *policy.Dataset) error { return curator.New(ds, nil, nil, nil).Streams.Check() })
}

// Holdouts reads the labels of holdouts and prices them, and says what is wrong with each that
// nobody could ask.
func Holdouts(p *policy.Policy) error {
	return checkDatasets(p, func(ds *policy.Dataset) error { return curator.New(ds, nil, nil, nil).Holdouts.Check() })
}

// checkDatasets checks all datasets, in the order of their names.
func checkDatasets(p *policy.Policy, check func(*policy.Dataset) error) error {
	var all []error
	for _, name := range p.Names() {
		if err := check(p.Datasets[name]); err != nil {
			all = append(all, fmt.Errorf("dataset %s: %w", name, err))
		}
	}
	return errors.Join(all...)
}

// dataFile is where a table or the labels of a holdout are read from.
type dataFile struct {
	dataset, name string
	path          string
	info          os.FileInfo
	inside        string // the table of a database; empty where the file is the table
	public        bool
	labels        bool
}

// Files refuses a policy in which the same data has two names: in two datasets its people would
// have two budgets, in one a person would count as two, and what is public in one place is private
// in none. Package policy refuses that of paths, without opening anything; here it is asked of the
// files themselves, so that no symbolic or hard link hides it, and of PostgreSQL and Trino. A file
// that is missing has no other name.
func Files(p *policy.Policy) error {
	_, err := Apart(p)
	return err
}

// Apart is [Files], and what cannot be told of the policy's tables, in words for the owner.
func Apart(p *policy.Policy) (doubts []string, err error) {
	var all []dataFile
	for _, name := range p.Names() {
		for _, s := range dataFiles(p.Datasets[name]) {
			for _, first := range all {
				if err := s.refuseSame(first); err != nil {
					return nil, err
				}
			}
			all = append(all, s)
		}
	}
	if err := pgtables.CheckDistinctTables(context.Background(), p); err != nil {
		return nil, err
	}
	return trinotables.CheckDistinctTables(context.Background(), p)
}

// dataFiles lists what a dataset reads, as far as it is there.
func dataFiles(ds *policy.Dataset) (all []dataFile) {
	add := func(s dataFile) bool {
		info, err := os.Stat(s.path)
		if err == nil {
			s.dataset, s.info = ds.Name, info
			all = append(all, s)
		}
		return err == nil
	}
	for _, name := range ds.TableNames() {
		t := ds.Tables[name]
		files := ds.Files(t)
		if len(files) == 0 && ds.SourceKind() == policy.Database {
			add(dataFile{name: name, path: ds.Source, inside: strings.ToLower(name), public: t.Public})
		}
		for _, file := range files {
			if add(dataFile{name: name, path: file, public: t.Public}) {
				break // the first that is there is the one that is read
			}
		}
	}
	for _, name := range ds.HoldoutNames() {
		if labels := ds.Holdouts[name].Labels; labels != "" {
			add(dataFile{name: name, path: labels, labels: true})
		}
	}
	return all
}

// refuseSame returns an error where two that must not be the same are.
func (s dataFile) refuseSame(first dataFile) error {
	if s.inside != first.inside || !os.SameFile(s.info, first.info) || s.public && first.public ||
		s.labels && first.labels && s.dataset == first.dataset {
		return nil
	}
	instead := "their people would have two budgets; put both into one dataset, or give each a file of its own"
	switch {
	case s.public != first.public && !s.labels && !first.labels:
		instead = "only one of them is public, so its rows would be protected in one place and shown in the other; make both public, " +
			"or remove one of them"
	case s.labels != first.labels:
		instead = "write table: to hold out a table, or give the labels a file of their own"
	case s.dataset == first.dataset:
		instead = "a person must not appear under two names; remove one of them, or give it a file of its own"
	}
	return fmt.Errorf("%s, %s, and %s, %s, are the same file, through a link or under two paths: %s", s.words(), s.path, first.words(),
		first.path, instead)
}

func (s dataFile) words() string {
	what := "the table"
	if s.labels {
		what = "the labels of the holdout"
	}
	return fmt.Sprintf("%s %s of the dataset %s", what, s.name, s.dataset)
}
