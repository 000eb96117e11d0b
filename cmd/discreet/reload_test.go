//go:build unix

package main

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
)

// ask asks a server over HTTP, and returns the status and the body.
func (r *running) ask(t *testing.T, token, sql string) (int, string) {
	t.Helper()
	body, err := json.Marshal(map[string]string{"sql": sql})
	must(t, err)
	q, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+r.out.find(t, `HTTP on (\S+)`)+"/v1/query",
		strings.NewReader(string(body)))
	must(t, err)
	q.Header.Set("Authorization", "Bearer "+token)
	q.Header.Set("Content-Type", "application/json")
	a, err := http.DefaultClient.Do(q)
	must(t, err)
	defer a.Body.Close()
	var out strings.Builder
	var m any
	must(t, json.NewDecoder(a.Body).Decode(&m))
	must(t, json.NewEncoder(&out).Encode(m))
	return a.StatusCode, out.String()
}

// While a server runs, an analyst comes and one goes, by a command and by a signal; and a policy
// with a mistake, or one that needs a restart, changes nothing.
func TestReloadByCommand(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	tokens := map[string]string{}
	for _, name := range []string{"ana", "ben", "eve"} {
		command("user", "add", name, "-p", policy).wants(t, 0)
		tokens[name] = command("user", "token", name, "-p", policy, "--json").wants(t, 0).decode(t)["token"].(string)
	}
	reload := func(more ...string) result { return command(append([]string{"reload", "-p", policy}, more...)...) }
	reload().wants(t, 1, "no server can be asked")
	r := starts(t, nil, "-p", policy, "--listen", "", "--http", "127.0.0.1:0")
	may := func(name string, want bool) {
		t.Helper()
		if status, body := r.ask(t, tokens[name], people); (status == 200) != want {
			t.Errorf("%s: %d %s\n%s", name, status, body, r.log)
		}
	}
	may("ben", true)
	may("eve", false)
	reload().wants(t, 0, "says what it said before")
	replace(t, policy, "ben: {share: 0.5}", "eve: {share: 0.1}")
	draft := write(t, strings.Replace(policy, "policy.yaml", "draft.yaml", 1), "ledger: policy.ledger\n"+contents(t, policy))
	command("reload", "--dry-run", "-p", draft).wants(t, 1, "runs with the policy "+policy, draft).lacks(t, "analyst eve")
	link := strings.Replace(policy, "policy.yaml", "link.yaml", 1)
	must(t, os.Symlink(policy, link))
	write(t, policy, "ledger: policy.ledger\n"+contents(t, policy)) // as of the other name
	command("reload", "--dry-run", "-p", link).wants(t, 0, "analyst eve")
	reload("--dry-run").wants(t, 0, "analyst eve", "Nothing was changed")
	may("eve", false)
	reload().wants(t, 0, "dataset   what", "hospital  analyst ben  share 0.5", "promised what they were promised").lacks(t, "dry run")
	replace(t, policy, "max_rows: 6", "limits_from: data\n        max_rows: 6")
	reload("--dry-run").wants(t, 0, "limits_from of visits", "read off the data are not covered").lacks(t, "promised what they were")
	replace(t, policy, "limits_from: data\n        max_rows: 6", "max_rows: 6")
	may("eve", true)
	may("ben", false)
	if v := reload("--json").wants(t, 0).decode(t); v["applied"] != true || len(v["changes"].([]any)) != 0 {
		t.Errorf("%v", v)
	}

	before := contents(t, policy)
	replace(t, policy, "max_rows: 6", "max_rows: six")
	reload().wants(t, 1, "policy.yaml:21:19:", "max_rows")
	must(t, r.Process.Signal(syscall.SIGHUP))
	r.log.find(t, `the policy could not be read again.*max_rows`)
	write(t, policy, strings.Replace(before, "epsilon: 1,", "epsilon: 2,", 1))
	reload().wants(t, 1, "hospital.budget.epsilon", "restart the server")
	may("eve", true)
	may("ben", false)

	write(t, policy, strings.Replace(before, "eve: {share: 0.1}", "ben: {share: 0.5}", 1))
	must(t, r.Process.Signal(syscall.SIGHUP))
	r.log.find(t, `the policy has changed.*what="analyst eve" was="share 0.1"`)
	may("ben", true)
	may("eve", false)

	before = contents(t, policy)
	must(t, os.Remove(policy))
	must(t, syscall.Mkfifo(policy, 0o600)) // which nobody writes
	reload().wants(t, 1, "no regular file")
	must(t, r.Process.Signal(syscall.SIGHUP))
	r.log.find(t, `the policy could not be read again.*no regular file`)
	must(t, os.Remove(policy))
	write(t, policy, before)
	r.stops(t, syscall.SIGTERM)
	// Who came has an answer that was paid for before.
	if n := spent(t, policy); n.Charges != 1 {
		t.Errorf("the ledger has %+v", n)
	}
	command("ledger", "verify", "-p", policy).wants(t, 0, "is whole")
}
