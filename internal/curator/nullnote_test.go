package curator_test

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
)

// A constant that is compared with a column and is none of its listed keys is named before anything
// is paid and after it; nothing is said where rows may rightly have other values, or where only an
// order is asked for.
func TestNoteAboutUnlisted(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	for sql, want := range map[string]string{
		"SELECT COUNT(*) FROM patients WHERE sex = 'Female'":                                             "'Female'",
		"SELECT COUNT(*) FROM patients WHERE sex IN ('F', 'W', NULL)":                                    "'W'",
		"SELECT COUNT(*) FROM patients WHERE NOT 'f' IS DISTINCT FROM sex":                               "'f'",
		"SELECT COUNT(*) FILTER (WHERE sex = 'U') FROM (SELECT sex FROM patients) AS t":                  "'U'",
		"SELECT COUNT(*) FROM visits v JOIN patients p ON v.pid = p.pid AND p.sex <> 'Q'":                "'Q'",
		"SELECT COUNT(*) FROM visits WHERE pid IN (SELECT pid FROM patients WHERE sex = 'Z')":            "'Z'",
		"SELECT SUM(CASE sex WHEN 'V' THEN 1 ELSE 0 END) FROM patients":                                  "'V'",
		"SELECT COUNT(*) FROM patients WHERE sex IN ('F', 'M')":                                          "",
		"SELECT COUNT(*) FROM patients WHERE sex < 'G'":                                                  "",
		"SELECT COUNT(*) FROM patients WHERE lower(sex) = 'f'":                                           "",
		"SELECT COUNT(*) FROM patients WHERE age = 100":                                                  "",
		"SELECT COUNT(*) FROM visits WHERE pid IN (SELECT pid FROM patients WHERE sex = 'M' AND smoker)": "",
	} {
		e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: sql})
		w.Check(err)
		said := strings.Join(e.Notes, "\n")
		if want != "" {
			want += " is none of the keys that the policy lists for sex; is it spelt as they are?"
		}
		if said != want {
			t.Errorf("%s: %q, want %s", sql, said, want)
		}
		a, err := w.Ask(ctx, api.Question{Analyst: "ana", SQL: sql, Request: curatortest.FreshID()})
		w.Check(err)
		if got := strings.Contains(strings.Join(a.Notes, "\n"), "none of the keys"); got != (want != "") {
			t.Errorf("%s: the answer's notes are %q", sql, a.Notes)
		}
	}
}

// The note that rows without a value are in no group is there where that is so, names what is
// grouped by as the answer does, and quotes nothing that the analyst has not written.
func TestNoteAboutNull(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT n / 5 AS g, COUNT(*) FROM small GROUP BY 1":                                          "g",
		"SELECT n / 5, COUNT(*) FROM small GROUP BY 1":                                               "column 1",
		"SELECT COUNT(*) FROM small GROUP BY n / 5":                                                  "the expression in GROUP BY",
		"SELECT f, SUM(COUNT(*)) OVER (ORDER BY f) FROM small GROUP BY f":                            "f",
		"SELECT f, COUNT(*) FROM small GROUP BY f":                                                   "f",
		"SELECT COUNT(*) FROM small GROUP BY f":                                                      "f",
		"SELECT n > 4 AS much, COUNT(*) FROM small GROUP BY 1":                                       "much",
		"SELECT n / m AS g, COUNT(*) FROM small WHERE n > 0 GROUP BY 1":                              "g", // m may be 0
		"SELECT g, COUNT(*) FROM (SELECT n / 5 AS g FROM small) AS t GROUP BY g":                     "g",
		"SELECT n / 5 AS g, COUNT(*) FROM small WHERE n > 3 OR f GROUP BY 1":                         "g",
		"SELECT n / 5 AS g, COUNT(*) FROM small WHERE n IS NULL GROUP BY 1":                          "g",
		"SELECT coalesce(n / 5, NULL) AS g, COUNT(*) FROM small GROUP BY 1":                          "g",
		"SELECT n / 5 AS g, COUNT(*) FROM small WHERE n IS NOT NULL GROUP BY 1":                      "",
		"SELECT n / 5 AS g, COUNT(*) FROM small WHERE n > 3 GROUP BY 1":                              "",
		"SELECT n / 5 AS g, COUNT(*) FROM small WHERE n BETWEEN 1 AND 3 AND f GROUP BY 1":            "",
		"SELECT n / 5 AS g, COUNT(*) FROM small WHERE n IN (1, 2, 3) GROUP BY 1":                     "",
		"SELECT n / 5 AS g, COUNT(*) FROM small WHERE NOT n = 3 GROUP BY 1":                          "",
		"SELECT n / 5 AS g, COUNT(*) FROM small WHERE n + 1 > 3 GROUP BY 1":                          "",
		"SELECT f, COUNT(*) FROM small WHERE f GROUP BY f":                                           "",
		"SELECT CASE WHEN n > 4 THEN 'much' ELSE 'little' END AS g, COUNT(*) FROM small GROUP BY 1":  "",
		"SELECT coalesce(n / 5, -1) AS g, COUNT(*) FROM small GROUP BY 1":                            "",
		"SELECT k, COUNT(*) FROM small GROUP BY k":                                                   "",
		"SELECT m, COUNT(*) FROM small GROUP BY m":                                                   "",
		"SELECT n IS NULL AS missing, COUNT(*) FROM small GROUP BY 1":                                "",
		"SELECT upper(k) AS g, COUNT(*) FROM small WHERE upper(k) IN ('A', 'B') GROUP BY 1":          "",
		"SELECT date_trunc('month', d) AS g, COUNT(*) FROM small WHERE d >= '2020-02-28' GROUP BY 1": "",
		"SELECT date_trunc('year', e), COUNT(*) FROM small WHERE e BETWEEN '2020-02-28' AND " +
			"'2020-05-01' GROUP BY 1": "",
		"SELECT floor(n / 2.0) * 2 AS g, COUNT(*) FROM small WHERE n < 9 GROUP BY 1": "",
	} {
		p, err := asked(t, sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		q := p.Purchases[0].Query
		noisy := make([][]int64, len(q.Measures))
		for i := range noisy {
			noisy[i] = make([]int64, q.Groups())
		}
		notes := strings.Join(made(t, p, noisy).Notes, "\n")
		if want == "" && strings.Contains(notes, "is NULL are in no group") ||
			want != "" && !strings.Contains(notes, "rows where "+want+" is NULL are in no group; group by coalesce(...)") {
			t.Errorf("%s: %s", sql, notes)
		}
	}
}
