// Package home knows a table of a policy again under another name: two names of one table would be
// two budgets of its people.
package catalogue

import "fmt"

// Table is a table of a policy, and by what it is known wherever it is named: two are one where
// they have a part in common.
type TableIdentity struct {
	Dataset, Name string
	Public        bool
	Parts         map[string]bool
}

// Apart returns an error where two tables that must not be the same are. The last words say what
// they are then, such as "are one table of one database".
func (t TableIdentity) CheckDistinct(first TableIdentity, one string) error {
	shared := false
	for part := range t.Parts {
		shared = shared || first.Parts[part]
	}
	if !shared || t.Public && first.Public {
		return nil
	}
	instead := "their people would have two budgets; put both into one dataset"
	switch {
	case t.Public != first.Public:
		instead = "only one of them is public, so that its rows would be protected in one place and told in the other; make both public, " +
			"or remove one of them"
	case t.Dataset == first.Dataset:
		instead = "a person must not appear under two names; remove one of them"
	}
	return fmt.Errorf("the table %s of the dataset %s and the table %s of the dataset %s %s: %s", t.Name, t.Dataset, first.Name,
		first.Dataset, one, instead)
}
