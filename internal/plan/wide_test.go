package plan_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/plan"
)

// A constant that no engine has a number for must be refused, wherever it stands
// and however it is spelled. One that were let through would fail on the first row
// that reaches it, and so tell, without noise, whether there is such a row.
func TestNumbersTooWide(t *testing.T) {
	ds := hospital(t)
	for _, n := range []string{"'1e39'", "'1e100'", "'1e250'", "'-1e250'", "1e39", "1e250", "'1e-250'", "1e-250"} {
		for _, question := range []string{
			"age + N > 0", "age - N > 0", "age * N > 0", "age / N > 0", "age % N > 0", "N / age > 0", "N % age > 0", "- N < age",
			"cost / 3.0 - N > 0", "cost / 3.0 + N > 0", "cost / 3.0 * N > 0", "cost / 3.0 / N > 0", "cost / 3.0 > N", "N < cost / 3.0",
			"age = N", "age IN (1, N)", "cost / 3.0 IN (1, N)", "age BETWEEN N AND 5", "cost / 3.0 BETWEEN 1 AND N",
			"age > 1 AND NOT (cost / 3.0 - N > 0)",
		} {
			text := "SELECT COUNT(*) FROM patients WHERE " + strings.ReplaceAll(question, "N", n)
			if _, err := plan.Prepare(ds, text, plan.Options{}); !errors.As(err, new(*api.Refusal)) {
				t.Errorf("%s: %v", text, err)
			}
		}
		for _, aggregate := range []string{"SUM(age * N)", "AVG(age + N)", "COUNT(cost / 3.0 - N)"} {
			text := "SELECT " + strings.ReplaceAll(aggregate, "N", n) + " FROM patients"
			if _, err := plan.Prepare(ds, text, plan.Options{}); !errors.As(err, new(*api.Refusal)) {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}

// BETWEEN and IN write their left side more than once. Nested, they must not
// make a short text into a tree that takes for ever to look at.
func TestTextThatGrows(t *testing.T) {
	ds := hospital(t)
	between := "smoker"
	for range 60 {
		between = "(" + between + " BETWEEN false AND true)"
	}
	sum := strings.TrimSuffix(strings.Repeat("cost / 3.0 + ", 50), " + ")
	for name, condition := range map[string]string{
		"between": between,
		"in":      "(" + sum + ") IN (" + strings.TrimSuffix(strings.Repeat("1.5, ", 600), ", ") + ")",
	} {
		if _, err := plan.Prepare(ds, "SELECT COUNT(*) FROM patients WHERE "+condition, plan.Options{}); !errors.As(err,
			new(*api.Refusal)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := plan.Prepare(ds, "SELECT COUNT(*) FROM patients WHERE ((smoker BETWEEN false AND true) BETWEEN false AND true)",
		plan.Options{}); err != nil {
		t.Errorf("what is small is refused: %v", err)
	}
}
