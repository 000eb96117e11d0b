package budgets

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

// What a promise means follows from the policy: who a person is, whose each row is, and which
// databases are neighbours. A charge protects whom the policy of then said, so all charges of a
// dataset are under one such reading, or no sentence about all of them is true. It is written into
// the ledger with the first charge, and a policy that says something else is refused from then on.
//
// What may change: budgets, bounds, columns, keys, max_rows and max_groups, which each answer is
// calibrated to by itself; the data and its source, because a person's rows may be others in every
// state, and charges add up over all of them; and tables may come and go. Under substitution one
// table may tell exactly how many people there are ([policy.Dataset.Everybody]): from then on it
// has to go on to, since neighbours would differ in that number otherwise.

// protection is what is said about whom a dataset protects, by what it is said about.
type protection map[string]string

func protectionOf(ds *policy.Dataset) protection {
	p := protection{"neighbours": ds.Neighbours.String(), "unit": ds.Unit.String()}
	for name, t := range ds.Tables {
		p[tablePrefix+name] = whose(t)
	}
	if everybody := ds.CountsEverybody(); everybody != nil {
		p[everybodyIn] = everybody.Name
	}
	return p
}

const (
	everybodyIn = "number of people"
	tablePrefix = "table "
)

// whose says to whom the rows of a table belong.
func whose(t *policy.Table) string {
	switch {
	case t.Public:
		return "public"
	case len(t.Path) > 0:
		steps := make([]string, len(t.Path))
		for i, s := range t.Path {
			steps[i] = s.String()
		}
		return strings.Join(steps, ", ")
	case t.UnitColumn != "":
		return t.UnitColumn
	}
	return "row"
}

// ChangedError is returned when a policy protects others than those whom charges of the dataset
// protect.
type ChangedError struct {
	Dataset, What string
	Was, Is       string
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("the policy of %s says %s, and said %s when something was first charged. Earlier answers protect people as "+
		"the policy described them then, so nothing is answered and nothing is promised under another description. Put it back, or "+
		"begin a dataset under another name, with a budget of its own: what %s has told already comes on top of that",
		e.Dataset, said(e.What, e.Is), said(e.What, e.Was), e.Dataset)
}

// said writes what a policy says as the policy spells it, where it has a key for it.
func said(what, value string) string {
	table, isTable := strings.CutPrefix(what, tablePrefix)
	switch {
	case what == everybodyIn && value == "":
		return "that no table tells how many people there are"
	case what == everybodyIn:
		return fmt.Sprintf("that the table %s tells how many people there are", value)
	case !isTable:
		return what + ": " + value
	case value == "public":
		return fmt.Sprintf("that the table %s is public", table)
	case value == "row":
		return fmt.Sprintf("that each row of the table %s is a person", table)
	case strings.Contains(value, " -> "):
		return fmt.Sprintf("path: %s of the table %s", value, table)
	}
	return fmt.Sprintf("that each row of the table %s belongs to the person that %s names", table, value)
}

// compare returns a [*ChangedError] where a policy differs from what was recorded, and otherwise
// what was not recorded yet.
func (p protection) compare(dataset string, recorded map[string][]string) (protection, error) {
	missing := protection{}
	// The keys of the dataset first: another unit makes rows of tables another's, too, and is what
	// was changed.
	all := append([]string{"neighbours", "unit"}, slices.Sorted(maps.Keys(p))...)
	for _, what := range all {
		if len(recorded[what]) == 0 {
			missing[what] = p[what]
		}
		for _, was := range recorded[what] {
			if was != p[what] {
				return nil, &ChangedError{dataset, what, was, p[what]}
			}
		}
	}
	if was := recorded[everybodyIn]; len(was) > 0 && p[everybodyIn] == "" {
		return nil, &ChangedError{dataset, everybodyIn, was[0], ""}
	}
	return missing, nil
}

// recorded adds up notes. All of what was said counts: after a recovery that is what two histories
// of a ledger have said.
func recorded(notes [][]byte) (map[string][]string, error) {
	all := map[string][]string{}
	for _, note := range notes {
		var p protection
		if err := json.Unmarshal(note, &p); err != nil {
			return nil, fmt.Errorf("the ledger's note of whom a dataset protects cannot be read: %w", err)
		}
		for what, said := range p {
			all[what] = append(all[what], said)
		}
	}
	return all, nil
}

// CheckProtected returns a [*ChangedError] where the policy of a dataset protects others than the
// notes of its ledger say.
func CheckProtected(ds *policy.Dataset, notes [][]byte) error {
	all, err := recorded(notes)
	if err == nil {
		_, err = protectionOf(ds).compare(ds.Name, all)
	}
	return err
}

// protectionCheck remembers that everything is recorded as the policy says it, which stays so.
type protectionCheck struct {
	mu      sync.Mutex
	settled bool
}

// Protected returns a [*ChangedError] where the policy protects others than charges of the dataset
// did; and otherwise the notes that the next charge writes, of what was not recorded yet.
func (s *DatasetAccounts) Protected(ctx context.Context) ([]ledger.First, error) {
	s.check.mu.Lock()
	defer s.check.mu.Unlock()
	if s.check.settled {
		return nil, nil
	}
	var notes [][]byte
	for {
		// Each session has one note, so that of two servers that record something at once one is
		// first.
		more, err := s.ledger.Notes(ctx, ledger.ProtectsNotes(s.dataset.Name, len(notes)))
		if err != nil {
			return nil, err
		}
		if len(more) == 0 {
			break
		}
		notes = append(notes, more[0])
	}
	all, err := recorded(notes)
	if err != nil {
		return nil, err
	}
	missing, err := protectionOf(s.dataset).compare(s.dataset.Name, all)
	if err != nil {
		return nil, err
	}
	if s.check.settled = len(missing) == 0; s.check.settled {
		return nil, nil
	}
	entry, err := json.Marshal(missing)
	if err != nil {
		return nil, err
	}
	return []ledger.First{{Session: ledger.ProtectsNotes(s.dataset.Name, len(notes)), Entry: func(uint64) []byte { return entry }}}, nil
}
