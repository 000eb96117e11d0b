package lockstep

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/audit/finding"
)

// Honest code raises no alarm, on thousands of replays, and people move most
// answers as far as they may: a search that moves nothing would find nothing.
func TestHonest(t *testing.T) {
	pairs := 6 // all kinds of people; with fewer, nobody moves some of the questions
	if *full {
		pairs = 7 // and of those who replace them
	}
	for name, datasets := range map[string]string{
		"hospital":             clinic(pure),
		"hospital, substitute": bySubstitution(clinic(concentrated)),
		"shop":                 shop("add-remove", concentrated),
		"shop, substitute":     shop("substitute", pure),
		"rows":                 rowsAndDates,
		"people alone":         strings.Replace(rowsAndDates, "      other:\n        columns: {}\n", "", 1),
		"shop alone":           strings.Replace(shop("substitute", pure), "source: shop", "source: shop.duckdb", 1),
	} {
		if testing.Short() && strings.HasPrefix(name, "hospital") {
			continue // which has most questions; the other datasets have all kinds of tables and both relations
		}
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			findings, err := Policy(ctx, writePolicy(t, datasets), Options{Seed: 1, Pairs: pairs})
			if err != nil {
				t.Fatal(err)
			}
			replays, moved, far := 0, 0, 0
			for _, f := range findings {
				replays += f.Samples
				if !f.Stands {
					t.Errorf("%s: %s", f.Subject, f.Detail)
				}
				if f.Lower > 0 {
					moved++
				}
				if f.Lower > 0.99 {
					far++
				}
				if f.Check != "replay" || f.Claim != 1 || f.Unit != "" || strings.Contains(f.Detail, "refused") {
					t.Errorf("%+v", f)
				}
				t.Logf("%.3f %s: %s", f.Lower, f.Subject, f.Detail)
			}
			if replays < 45*pairs || moved < len(findings)*3/4 || far < len(findings)/4 {
				t.Errorf("%d replays; of %d questions %d were moved, and %d as far as can be", replays, len(findings), moved, far)
			}
			t.Logf("%d questions, %d replays in %v, %d moved, %d as far as can be", len(findings), replays, time.Since(start), moved, far)
		})
	}
}

// The same seed finds the same, and nothing is left behind or opened: there is no data, and no
// ledger comes to be.
func TestPolicyRepeats(t *testing.T) {
	path := writePolicy(t, shop("add-remove", pure))
	t.Setenv("TMPDIR", t.TempDir())
	var found [2][]finding.Finding
	for i := range found {
		var err error
		if found[i], err = Policy(ctx, path,
			Options{Seed: 4, Pairs: 2, Questions: []string{"SELECT STRING_AGG(shop, ',') FROM orders",
				"SELECT shop, MAX(amount), MEDIAN(items) FROM orders GROUP BY shop"}}); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(found[0], found[1]) {
		t.Error("the same seed found something else")
	}
	refused := func(f finding.Finding) bool { return strings.Contains(f.Detail, "refused alike on 2 pairs") }
	if !slices.ContainsFunc(found[0], refused) {
		t.Error("the question of one's own was not asked")
	}
	for _, folder := range []string{filepath.Dir(path), os.Getenv("TMPDIR")} {
		left, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range left {
			if f.Name() != "policy.yaml" && !strings.HasPrefix(f.Name(), "discreet-spill") {
				t.Errorf("%s was left in %s", f.Name(), folder)
			}
		}
	}
}

// Somebody who stops waiting gets an error and no findings.
func TestPolicyStops(t *testing.T) {
	stopped, stop := context.WithCancel(ctx)
	stop()
	if found, err := Policy(stopped, writePolicy(t, clinic(pure)), Options{}); err == nil || found != nil {
		t.Errorf("%v, %v", found, err)
	}
	if _, err := Policy(ctx, "no such policy.yaml", Options{}); err == nil {
		t.Error("no error without a policy")
	}
}

// Several datasets are told apart, and what is broken comes first.
func TestPrint(t *testing.T) {
	findings, err := Policy(ctx, writePolicy(t, shop("add-remove", pure)+rowsAndDates), Options{Pairs: 1, System: planted[1].system})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := Print(&b, findings); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"stands  1.000  shop: SELECT", "rows: SELECT", "questions, "} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}
