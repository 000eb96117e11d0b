package ownercmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/ledger"
)

// openIncidents are those of a dataset that a release would take back.
func openIncidents(ctx context.Context, db *discreet.DB, dataset string) ([]ledger.Case, error) {
	if dataset == "" { // then there is one, or opening its door has said so
		dataset = db.Policy().Names()[0]
	}
	var book ledger.Casebook
	for r, err := range db.Records(ctx, 0) {
		if err != nil {
			return nil, err
		}
		book.Add(r)
	}
	return slices.DeleteFunc(book.Incidents, func(c ledger.Case) bool { return c.Dataset != dataset || !c.Told || c.Released > 0 }), nil
}

// refuseEmptyRelease refuses a release that would take nothing back: as a record it would say that somebody
// looked at what is not there.
func refuseEmptyRelease(open []ledger.Case, analyst string) error {
	if len(open) == 0 {
		return console.Misuse(errors.New("there is nothing to release: 'discreet incidents' lists what failed"))
	}
	if analyst == "" || slices.ContainsFunc(open, func(c ledger.Case) bool { return c.Analyst == analyst }) {
		return nil
	}
	var whose []string
	crashes := 0
	for _, c := range open {
		if c.Analyst == "" {
			crashes++
			continue
		}
		whose = append(whose, fmt.Sprintf("%s's (record %d)", c.Analyst, c.Sequence))
	}
	text := fmt.Sprintf("there is nothing of %q to release", analyst)
	if len(whose) > 0 {
		text += "; open incidents are " + joinWords(whose)
	}
	if crashes > 0 {
		text += "; a crash that names nobody is released without --analyst"
	}
	return console.Misuse(errors.New(text))
}

// joinWords puts commas and an 'and' between words.
func joinWords(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
