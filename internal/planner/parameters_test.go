package planner_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
)

// TestBindViews shows that a parameter in a view of the owner's is a mistake of the view and takes
// no value.
func TestBindViews(t *testing.T) {
	ds := *hospital(t)
	ds.Views = map[string]string{"v": "SELECT pid FROM patients WHERE age > $1"}
	bound, err := syntax.Open("SELECT COUNT(*) FROM v JOIN patients p ON p.pid = v.pid WHERE p.age < $1",
		nil).Bind([]api.Parameter{{Kind: "integer", Text: "5"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := planner.PrepareText(&ds, bound, planner.Options{}); err == nil || !strings.Contains(err.Error(), `view "v"`) {
		t.Errorf("a view with a parameter: %v", err)
	}
	if planner.CheckViews(&ds) == nil {
		t.Error("the owner is not told")
	}
}

// TestBindPlaces checks that refusals of the text with values are shown where they are in the
// question.
func TestBindPlaces(t *testing.T) {
	ds := hospital(t)
	long := api.Parameter{Text: strings.Repeat("é'", 500)}
	for _, question := range []string{
		"SELECT COUNT(*) FROM patients WHERE zip = $1 AND nobody > $2",
		"SELECT nobody, COUNT(*) FROM patients WHERE zip = $1 AND sex = $2",
		"SELECT COUNT(*) FROM patients WHERE zip = $1 AND sex = $2 AND é = 1",
	} {
		b, err := syntax.Open(question, nil).Bind([]api.Parameter{long, long})
		if err != nil {
			t.Fatal(err)
		}
		_, err = planner.PrepareText(ds, b, planner.Options{})
		var r *api.Refusal
		if !errors.As(err, &r) || r.Position < 0 {
			t.Fatalf("%s: %v", question, err)
		}
		if at := question[r.Position:]; !strings.HasPrefix(at, "nobody") && !strings.HasPrefix(at, "é") {
			t.Errorf("%s: refused at %q", question, at)
		}
	}
	// What is wrong with a value is wrong at its parameter.
	b, err := syntax.Open("SELECT COUNT(*) FROM patients WHERE zip = $1 AND age > $2::integer",
		nil).Bind([]api.Parameter{long, {Text: "no number"}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = planner.PrepareText(ds, b, planner.Options{})
	var r *api.Refusal
	if !errors.As(err, &r) || r.Position != 57 {
		t.Errorf("%#v", err)
	}
}

func TestParameters(t *testing.T) {
	ds := hospital(t)
	for question, want := range map[string]string{
		"SELECT COUNT(*) FROM patients WHERE age > $1":                                         "integer",
		"SELECT COUNT(*) FROM patients p WHERE $1 <= p.cost":                                   "decimal",
		"SELECT COUNT(*) FROM patients WHERE born BETWEEN $1 AND $2 AND zip IN ($3, $4)":       "date date text text",
		"SELECT COUNT(*) FROM patients WHERE zip LIKE $1 AND smoker = $2 AND $3":               "text boolean boolean",
		"SELECT COUNT(*) FROM patients WHERE $1::integer = 1 AND CAST($2 AS timestamp) > born": "integer timestamp",
		"SELECT sex, COUNT(*) FROM patients GROUP BY sex LIMIT $1 OFFSET $2":                   "integer integer",
		"SELECT SUM(cost * $1), SUM(age + $2) FROM patients":                                   "decimal integer",
		"SELECT COUNT(*) FROM patients WHERE CASE WHEN $1 THEN age ELSE $2 END > $3":           "boolean integer integer",
		"SELECT COUNT(*) FROM patients WHERE COALESCE(born, $1) < $2":                          "date date",
		"SELECT COUNT(*) FROM patients WHERE $1 = $2":                                          "text text",
		"SELECT COUNT(*) FROM patients WHERE age = $2":                                         "text integer",
		"SELECT sex FROM patients GROUP BY sex HAVING COUNT(*) > $1 AND AVG(cost) < $2":        "integer decimal",
		"SELECT * FROM (SELECT sex, COUNT(*) AS n, SUM(cost) AS c FROM patients GROUP BY sex) AS t WHERE t.n > " +
			"$1 OR c < $2": "integer decimal",
		"SELECT COUNT(*) FROM elderly WHERE total > $1": "decimal",
		"SELECT COUNT(*) FROM patients WHERE age > -$1": "integer",
		"SELECT COUNT(*) FROM patients":                 "",
		"SELECT date_trunc($1, born) AS m, COUNT(*) FROM patients WHERE born >= '2000-01-01' AND " +
			"born < '2001-01-01' GROUP BY m": "text",
		"SELECT date_part($1::varchar, born) AS m, COUNT(*) FROM patients GROUP BY m": "text",
	} {
		text := syntax.Open(question, nil)
		got, samples, err := planner.Parameters(ds, text)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v, %v; want %s", question, got, err, want)
		}
		// Samples of these kinds make a question that can be asked, where it can be at all.
		bound, err := text.Bind(samples)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := planner.PrepareText(ds, bound, planner.Options{}); err != nil {
			t.Errorf("%s: %v", question, err)
		}
	}
}
