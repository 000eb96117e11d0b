package discreet

import (
	"fmt"
	"os"
	"strings"

	"github.com/discreet-dp/discreet/policy"
)

// home is where a table or the labels of a holdout are read from.
type home struct {
	dataset, name string
	path          string
	info          os.FileInfo
	inside        string // the table of a database; empty where the file is the table
	public        bool
	labels        bool
}

// CheckHomes refuses a policy in which the same data has two names: in two datasets its people would have two budgets, in one a person would count as two, and what is public in one place is private
// in none. Package policy refuses that of paths, without opening anything; here it is asked of the files themselves, so that no symbolic or hard link hides it. A file that is missing has no
// other name.
func CheckHomes(p *policy.Policy) error {
	var all []home
	for _, name := range p.Names() {
		for _, h := range homesOf(p.Datasets[name]) {
			for _, first := range all {
				if err := h.apart(first); err != nil {
					return err
				}
			}
			all = append(all, h)
		}
	}
	return nil
}

// homesOf lists what a dataset reads, as far as it is there.
func homesOf(ds *policy.Dataset) (all []home) {
	add := func(h home) bool {
		info, err := os.Stat(h.path)
		if err == nil {
			h.dataset, h.info = ds.Name, info
			all = append(all, h)
		}
		return err == nil
	}
	for _, name := range ds.TableNames() {
		t := ds.Tables[name]
		files := ds.Files(t)
		if len(files) == 0 && ds.SourceKind() == policy.Database {
			add(home{name: name, path: ds.Source, inside: strings.ToLower(name), public: t.Public})
		}
		for _, file := range files {
			if add(home{name: name, path: file, public: t.Public}) {
				break // the first that is there is the one that is read
			}
		}
	}
	for _, name := range ds.HoldoutNames() {
		if labels := ds.Holdouts[name].Labels; labels != "" {
			add(home{name: name, path: labels, labels: true})
		}
	}
	return all
}

// apart returns an error where two that must not be the same are.
func (h home) apart(first home) error {
	if h.inside != first.inside || !os.SameFile(h.info, first.info) || h.public && first.public || h.labels && first.labels && h.dataset == first.dataset {
		return nil
	}
	instead := "their people would have two budgets; put both into one dataset, or give each a file of its own"
	switch {
	case h.public != first.public && !h.labels && !first.labels:
		instead = "only one of them is public, so that its rows would be protected in one place and told in the other; make both public, or remove one of them"
	case h.labels != first.labels:
		instead = "write table: to hold out a table, or give the labels a file of their own"
	case h.dataset == first.dataset:
		instead = "a person must not appear under two names; remove one of them, or give it a file of its own"
	}
	return fmt.Errorf("%s, %s, and %s, %s, are one file, through a link or under two paths: %s", h.words(), h.path, first.words(), first.path, instead)
}

func (h home) words() string {
	what := "the table"
	if h.labels {
		what = "the labels of the holdout"
	}
	return fmt.Sprintf("%s %s of the dataset %s", what, h.name, h.dataset)
}
