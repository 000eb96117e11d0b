package lockstep

import (
	"context"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/internal/audit/finding"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/policy"
)

// reuseRounds is how often two questions are asked. Two draws of the same noise, whose
// parameter is at least 1, are equal with a probability below one half, and so all of
// them are with less than 2^-40.
const reuseRounds = 40

// findReusedNoise looks for noise that is used twice, which would take itself away in a difference of
// answers. In an empty database every exact value is 0, so an answer is its
// noise and nothing has to be opened to see it. Two questions that differ are
// asked one after the other, and their noise must not agree whatever the randomness.
func findReusedNoise(ctx context.Context, ds *policy.Dataset, folder string, o Options) ([]finding.Finding, error) {
	made, err := schemaOf(ds).write(ds, folder, newDice("empty", o.Seed), nil)
	if err != nil {
		return nil, err
	}
	e, err := duckdb.Open(ctx, made)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	d := Database{made, e}
	var out []finding.Finding
	for _, t := range made.TableNames() {
		columns := made.Tables[t].ColumnNames()
		if len(columns) == 0 {
			continue
		}
		first := "SELECT COUNT(*) FROM " + quoteName(t)
		second := first + " WHERE " + quoteName(columns[0]) + " IS NOT NULL"
		f := finding.Finding{Subject: first + " and then " + second, Check: "replay", Claim: 1, Stands: true,
			Detail: "the noise of one is not the noise of the other"}
		equal := 0
		for i := range reuseRounds {
			s := o.System.open(d, o.Seed+uint64(i))
			a, b := s.ask(ctx, d, first), s.ask(ctx, d, second)
			if a.answer == nil || b.answer == nil || !hasWideNoise(a) {
				break // refused or unable to be paid for, or with hardly any noise to compare
			}
			f.Samples++
			if shownAnswer(a.answer) == shownAnswer(b.answer) {
				equal++
			}
		}
		if f.Samples < reuseRounds {
			continue
		}
		if equal == reuseRounds {
			f.Stands, f.Detail = false, fmt.Sprintf("the noise of the two is equal in %d of %d attempts", equal, reuseRounds)
		}
		out = append(out, f)
	}
	return out, nil
}

// hasWideNoise reports whether all noise has a parameter of at least 1.
func hasWideNoise(o outcome) bool {
	for _, c := range o.calls {
		if c.Parameter.Cmp(big.NewRat(1, 1)) < 0 {
			return false
		}
	}
	return true
}
