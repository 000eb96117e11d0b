package httpapi

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/lab/hospital"
)

// attacks are questions of somebody who is after one person.
var attacks = []string{
	"SELECT COUNT(*) FROM patients WHERE zip = '1003A' AND diagnosis = 'HIV'",
	"SELECT diagnosis, COUNT(*) FROM patients WHERE zip = '1003A' GROUP BY diagnosis",
	"SELECT SUM(1 / (age - 37)) FROM patients",
	"SELECT SUM(CASE WHEN pid = 37 THEN 1/0 ELSE 0 END) FROM patients",
	"SELECT COUNT(*) FROM patients WHERE pid = 37",
	"SELECT SUM(cost) FROM patients WHERE CAST(zip AS INTEGER) > 0",
	"SELECT SUM(age * 9223372036854775807) FROM patients",
	"SELECT MAX(age) FROM patients",
	"SELECT COUNT(*) FROM patients WHERE pg_sleep(5) IS NULL",
	"SELECT COUNT(*) FROM patients HAVING COUNT(*) > 100000",
	"SELECT COUNT(*) FROM patients ORDER BY error('x')",
	"SELECT day, COUNT(*) FROM visits GROUP BY day",
	"SELECT COUNT(*) FROM information_schema.tables",
	"SELECT * FROM read_csv('data/patients.csv')",
	"SELECT AVG(age) FROM patients",
}

// blur hides what noise may change, the numbers of rows, of what they are made of and of their
// errors, and what is random, as the name of a ledger. Keys, nulls, the shape and how many rows
// there are stay.
func blur(text string) string {
	text = regexp.MustCompile(`"rows":\[.*\],"errors":.*,"cost"`).ReplaceAllStringFunc(text, func(part string) string {
		return regexp.MustCompile(`([\[,])-?[0-9.e+-]+`).ReplaceAllString(part, "${1}n")
	})
	return regexp.MustCompile(`"(hash|source)":"[0-9a-f]{64}"|"time":"[^"]*"|"value":-?[0-9]+`).ReplaceAllString(text, "…")
}

// TestNeighbours: on two databases that differ in one person everything but the noisy values is the
// same, to the last byte: codes, headers, problems, prices, budgets, receipts and metrics.
func TestNeighbours(t *testing.T) {
	t.Parallel()
	with := hospital.New(people, 1)
	a, b := newWorldOf(t, with, "{epsilon: 2}"), newWorldOf(t, with.Without(hospital.Target), "{epsilon: 2}")
	codes := map[int]int{}
	both := func(method, path, user, body string, headers ...string) {
		t.Helper()
		x, y := a.call(method, path, user, body, headers...), b.call(method, path, user, body, headers...)
		for _, r := range []*reply{&x, &y} {
			if r.status == 200 && strings.HasPrefix(path, "/v1/query") {
				r.header.Del("Content-Length")
			}
			r.body = blur(r.body)
		}
		if strings.HasPrefix(path, "/v1/receipts") {
			x.header.Del("Content-Length") // a time can end in zeros, which are not written
			y.header.Del("Content-Length")
		}
		same(t, method+" "+path+" "+body, x, y)
		codes[x.status]++
	}
	for i, sql := range attacks {
		q := fmt.Sprintf(`{"dataset":"hospital","sql":%q,"epsilon":0.3}`, sql)
		both("POST", "/v1/explain", "ana", q)
		both("POST", "/v1/query", "ana", q[:len(q)-1]+`,"free":true}`)
		both("POST", "/v1/query", "ana", q, "Idempotency-Key", fmt.Sprint("q", i))
		both("POST", "/v1/query", "ben", q, "Idempotency-Key", fmt.Sprint("q", i))
		both("POST", "/v1/query", "ana", q, "Idempotency-Key", fmt.Sprint("q", i))
		both("POST", "/v1/query", "ben", q[:len(q)-1]+`,"free":true}`)
		both("POST", "/v1/explain", "ana", q[:len(q)-1]+`,"parts":true}`)
		both("POST", "/v1/query", "ana", q[:len(q)-1]+`,"parts":true}`, "Idempotency-Key", fmt.Sprint("q", i))
	}
	for _, path := range []string{"/v1/datasets/hospital", "/v1/datasets/hospital/budget", "/v1/receipts", "/v1/me", "/v1/sessions",
		"/v1/version"} {
		both("GET", path, "ana", "")
	}
	both("GET", "/v1/datasets/hospital/budget", "olga", "")
	both("GET", "/metrics", "olga", "")
	if codes[200] < 20 || codes[422] < 10 || codes[402] < 2 || codes[500] > 0 {
		t.Errorf("the questions are not what they should be: %v", codes)
	}
	got := a.call("GET", "/metrics", "olga", "").body
	if !strings.Contains(got, `discreet_questions_declined_total{outcome="exhausted"}`) ||
		!strings.Contains(got, `discreet_budget_spent{account="hospital",claim="epsilon",dataset="hospital",kind="dataset"} `) {
		t.Error(got)
	}
}

// TestMetricsAreTheseOnly: a new metric is a decision. See the comment of metrics for what may be
// one.
func TestMetricsAreTheseOnly(t *testing.T) {
	w := newWorld(t)
	w.call("POST", "/v1/query", "ana", count)
	w.call("GET", "/v1/me", "", "", "Authorization", "Bearer x")
	allowed := map[string]bool{
		"discreet_info": true, "discreet_http_requests_total": true, "discreet_http_logins_total": true, "discreet_questions_total": true,
		"discreet_questions_declined_total": true, "discreet_sessions": true, "discreet_wire_connections": true,
		"discreet_turned_away_total": true, "discreet_budget_spent_ratio": true, "discreet_budget_spent": true,
		// what an analyst was told, and the owner must know
		"discreet_incidents": true, "discreet_closed": true, "discreet_analysts_shut_out": true,
	}
	seen := 0
	outcomes := map[string]bool{"refused": true, "disputed": true, "exhausted": true, "closed": true, "limited": true, "in": true,
		"denied": true, "locked": true}
	for _, line := range strings.Split(w.want(w.call("GET", "/metrics", "olga", ""), 200).body, "\n") {
		if _, outcome, found := strings.Cut(line, `outcome="`); found {
			if outcome, _, _ = strings.Cut(outcome, `"`); !outcomes[outcome] {
				t.Errorf("nobody has decided that there is %s", line)
			}
		}
		if name, found := strings.CutPrefix(line, "# TYPE "); found {
			name, kind, _ := strings.Cut(name, " ")
			if seen++; !allowed[name] || kind != "counter" && kind != "gauge" {
				t.Errorf("%s is a %s, and nobody has decided that it may be there", name, kind)
			}
		}
	}
	if seen != len(allowed) {
		t.Errorf("%d of %d are there", seen, len(allowed))
	}
}
