package ownercmd

import (
	"errors"
	"fmt"
	"os"

	"github.com/discreet-dp/discreet/internal/books"
	"github.com/discreet-dp/discreet/internal/ledger/anywhere"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

// checkAnchoring returns an error where the ledger of a policy, if there is one, says that it has an anchor
// and the policy names none, or that charges protected others than the policy does. A ledger that
// cannot be read now is a doubt.
func checkAnchoring(p *policy.Policy) (doubts []string, err error) {
	r, err := anywhere.Read(p.Ledger)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return []string{fmt.Sprintf("the policy was not compared with its ledger: %v", err)}, nil
	}
	defer r.Close()
	anchored, was, notes := false, "", map[string][][]byte{}
	for line, err := range r.Lines() {
		if err != nil {
			return nil, err
		}
		if line.Record.Kind != ledger.KindNote {
			continue
		}
		said := line.Answer[min(ledger.NoteSalt, len(line.Answer)):]
		if has, says := ledger.NotesAnchor(line.Record.Session); says {
			anchored, was = has, string(said)
		}
		if dataset, ok := ledger.NotesProtected(line.Record.Session); ok && len(said) > 0 {
			notes[dataset] = append(notes[dataset], said)
		}
	}
	if anchored && p.Anchor == (policy.Anchor{}) {
		return nil, &ledger.UnanchoredError{Path: p.Ledger, Was: was}
	}
	for _, name := range p.Names() {
		if err := books.CheckProtected(p.Datasets[name], notes[name]); err != nil {
			return nil, err
		}
	}
	return nil, nil
}
