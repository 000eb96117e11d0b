package pgdraft

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestConditions: what is read of a condition, and that nothing is of what means something else.
func TestConditions(t *testing.T) {
	for text, want := range map[string]string{
		"((age >= 0) AND (age <= 120))":                  "age 0..120",
		"((0 < age) AND (120 > age))":                    "age (0..120)",
		"((x >= '-5'::integer) AND (x <= (5)::numeric))": "x -5..5",
		"(x > (- 1.5))":                                  "x (-1.5..",
		"((sex)::text = ANY ((ARRAY['F'::character varying, 'M'::character varying])::text[]))": "sex F M",
		"(a IN (1, 2))": "a 1 2",
		"((k = 'in'::text) OR (k = 'out'::text))":  "k in out",
		"((k IS NULL) OR (k = ANY (ARRAY[1, 2])))": "k 1 2",
		"((x IS NULL) OR (x >= 3))":                "x 3..",
		"((y IS NULL) OR (x >= 3))":                "",
		"((x >= 3) OR (x <= 1))":                   "",
		"((x = 3) OR (y = 1))":                     "",
		"((x = 3) OR (x > y))":                     "",
		"(NOT (x >= 3))":                           "",
		"(x <> 3)":                                 "",
		"(upper(sex) = 'F'::text)":                 "",
		"((x)::integer >= 3)":                      "x rounded 3..",
		"((x)::integer = ANY (ARRAY[1, 2]))":       "x rounded 1 2",
		"(at)::date <= '2020-12-31'::date":         "",
		"(x <= now())":                             "",
		"(x >= y)":                                 "",
		"(x = ANY (ARRAY[1, y]))":                  "",
		"(t.x >= 1)":                               "",
		"((x + 1) >= 1)":                           "",
		"(x >= NULL::integer)":                     "",
		"not SQL (":                                "",
		"true; DROP TABLE x":                       "",
		strings.Repeat("(", 200) + "x > 1" + strings.Repeat(")", 200): "",
	} {
		var got []string
		for name, a := range conditions([]string{text}) {
			line := name
			if a.rounded {
				line += " rounded"
			}
			if a.lowest != "" || a.highest != "" {
				line += " " + map[bool]string{true: "("}[a.above] + a.lowest + ".." + a.highest + map[bool]string{true: ")"}[a.below]
			}
			for _, k := range a.keys {
				line += fmt.Sprintf(" %s", k)
			}
			if line != name {
				got = append(got, line)
			}
		}
		slices.Sort(got)
		if strings.Join(got, "; ") != want {
			t.Errorf("%s: %q; want %q", text, got, want)
		}
	}
}
