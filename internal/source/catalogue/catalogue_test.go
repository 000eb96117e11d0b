package catalogue_test

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/source/catalogue"
)

// TestCheckDistinct: two names of one table are refused, unless everybody may know it under both.
func TestCheckDistinct(t *testing.T) {
	table := func(dataset, name string, public bool, parts ...string) catalogue.TableIdentity {
		out := catalogue.TableIdentity{Dataset: dataset, Name: name, Public: public, Parts: map[string]bool{}}
		for _, p := range parts {
			out.Parts[p] = true
		}
		return out
	}
	first := table("a", "people", false, "1", "2")
	for want, second := range map[string]catalogue.TableIdentity{
		"":                           table("b", "others", false, "3"),
		"would have two budgets":     table("b", "people", false, "2", "3"),
		"appear under two names":     table("a", "persons", false, "1"),
		"only one of them is public": table("b", "people", true, "1"),
	} {
		err := second.CheckDistinct(first, "are one table of one database")
		if got := err != nil; got != (want != "") || got && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	if err := table("b", "wards", true, "1").CheckDistinct(table("a", "wards", true, "1"), ""); err != nil {
		t.Error(err)
	}
}
