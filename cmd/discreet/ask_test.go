//go:build unix

package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/lab/hospital"
)

// serverGroup are servers that run in processes of their own, and the file that names them.
type serverGroup struct {
	dir     string
	running map[string]*running
}

// port is one that is free now, so that a server comes back where it was.
func port(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().String()
}

// begin starts a server, or starts it again.
func (a *serverGroup) begin(t *testing.T, name, address string) {
	t.Helper()
	a.running[name] = starts(t, nil, "-p", filepath.Join(a.dir, name, "policy.yaml"), "--http", address, "--listen", "127.0.0.1:0")
}

// askable writes a hospital for each budget and starts a server for it: north, south and west.
func askable(t *testing.T, tick string, budgets ...string) (*serverGroup, map[string]string) {
	t.Helper()
	a, at := &serverGroup{t.TempDir(), map[string]*running{}}, map[string]string{}
	directory := "servers:\n"
	for i, budget := range budgets {
		name := []string{"north", "south", "west"}[i]
		must(t, hospital.New(200, uint64(i+1)).Write(filepath.Join(a.dir, name, "data")))
		policy := write(t, filepath.Join(a.dir, name, "policy.yaml"), "datasets:\n"+hospital.Dataset("hospital", "data", budget)+
			"    release: {tick: "+tick+"}\n")
		comes(t, filepath.Join(a.dir, name, "policy.users"), "ana")
		token := command("user", "token", "ana", "-p", policy, "--json").wants(t, 0).decode(t)["token"].(string)
		write(t, filepath.Join(a.dir, name+".token"), token+"\n")
		at[name] = port(t)
		a.begin(t, name, at[name])
		directory += fmt.Sprintf("  %s: {url: \"http://%s\", token_file: %s.token}\n", name, at[name], name)
	}
	write(t, filepath.Join(a.dir, "servers.yaml"), directory)
	return a, at
}

func (a *serverGroup) ask(args ...string) result {
	return command(append([]string{"ask", "--servers", filepath.Join(a.dir, "servers.yaml")}, args...)...)
}

const bySex = "SELECT sex, COUNT(*), AVG(age) FROM patients GROUP BY sex"

func TestAsk(t *testing.T) {
	t.Parallel()
	normal := "{epsilon: 9, delta: 1e-6, noise: gaussian, per_query: {default: 0.1, max: 0.5}}"
	a, at := askable(t, "100ms", tenQuestions, normal, tenQuestions)
	all := []string{"--at", "north,south,west"}
	a.ask(append(all, "--price", bySex)...).wants(t, 0, "±95% of the total", "known with the answer", "gaussian", "laplace", "epsilon 0.1")
	r := a.ask(append(all, bySex)...).wants(t, 0, "sex  count  ±95%", "counts twice", "south", "epsilon 0.1 (rho 0.0049958)", "receipt")
	again := a.ask(append(all, bySex)...).wants(t, 0, "free, already paid for")
	if first, _, _ := strings.Cut(r.out, "note:"); !strings.HasPrefix(again.out, first) {
		t.Errorf("asked again it is\n%s and it was\n%s", again.out, r.out)
	}
	v := a.ask(append(all, "--json", "--epsilon", "0.2", "--set", "dp.confidence=0.9", "SELECT SUM(cost) FROM visits")...).
		wants(t, 0).decode(t)
	if v["confidence"] != 0.9 || len(v["servers"].([]any)) != 3 || len(v["rows"].([]any)) != 1 {
		t.Errorf("it is %v", v)
	}
	fed(people, append([]string{"ask", "--servers", filepath.Join(a.dir, "servers.yaml"), "-"}, all...)...).wants(t, 0, "count")

	// What is misused or refused is said before anything is charged.
	urls := []string{"--at", "http://" + at["north"] + ",http://" + at["south"] + "/hospital"}
	tokens := filepath.Join(a.dir, "north.token") + "," + filepath.Join(a.dir, "south.token")
	left := func() string {
		return a.ask(append(all, "--price", "SELECT COUNT(*) FROM patients WHERE age = 3")...).out
	}
	before := left()
	a.ask(append(all, "SELECT MEDIAN(age) FROM patients")...).wants(t, 2, "cannot be combined", "quantile")
	a.ask(append(all, "SELECT nonsense FROM patients")...).wants(t, 2, "nobody was asked", "north, south, west: ")
	a.ask(append(all, "--epsilon", "0", people)...).wants(t, 2, "--epsilon")
	if left() != before {
		t.Error("what is refused was charged")
	}
	a.ask(append(all, "--epsilon", "0.49", "--json", "SELECT COUNT(*) FROM patients WHERE age > 2")...).wants(t, 0)
	before = left()
	a.ask(append(all, "--epsilon", "0.5", "SELECT COUNT(*) FROM patients WHERE age > 1")...).
		wants(t, 3, "nothing was charged", "more than what is left")
	a.ask(append(all, "--request", "", people)...).wants(t, 2, "--request is empty")
	a.ask("--at", "north", people).wants(t, 2, "nothing to combine")
	a.ask("--at", "north,east", people).wants(t, 2, "has no server")
	a.ask("--at", "north,north", people).wants(t, 2, "named twice")
	command(append([]string{"ask", people}, urls...)...).wants(t, 2, "there is no token for")
	command(append([]string{"ask", people, "--token-file", tokens + "," + tokens}, urls...)...).wants(t, 2, "more files of tokens")
	command("ask", people, "--at", "north,south").wants(t, 2, "--servers")
	if after := left(); after != before {
		t.Errorf("there was\n%s before, and after\n%s", before, after)
	}
	command(append([]string{"ask", bySex, "--token-file", tokens}, urls...)...).wants(t, 0, "free, already paid for")
	for _, r := range a.running {
		r.stops(t, syscall.SIGTERM)
	}
	for name := range at {
		command("ledger", "replay", "-p", filepath.Join(a.dir, name, "policy.yaml"), "--quiet").wants(t, 0)
	}
}

// TestAskKilled kills a server while it has the question, and before.
func TestAskKilled(t *testing.T) {
	t.Parallel()
	a, at := askable(t, "1s", tenQuestions, tenQuestions, tenQuestions)
	all := []string{"--at", "north,south,west"}
	south := a.running["south"]
	done := make(chan result)
	go func() { done <- a.ask(append(all, "--json", "--request", "tuesday", people)...) }()
	south.log.find(t, `kind=explain.*outcome=priced`) // the question comes next, and waits for its tick
	south.log.find(t, `route="POST /v1/explain" status=200`)
	time.Sleep(50 * time.Millisecond)
	must(t, south.Process.Kill())
	r := (<-done).wants(t, 1, "It is not known whether south has charged", "north has answered, for epsilon 0.1", "request tuesday")
	e, ok := r.decode(t)["error"].(map[string]any)
	if !ok || len(e["answered"].([]any)) != 2 || len(e["failed"].([]any)) != 1 || e["request"] != "tuesday" {
		t.Errorf("the error is %v", e)
	}

	// While it is away nobody is asked.
	a.ask(append(all, "SELECT COUNT(*) FROM visits")...).wants(t, 1, "nobody was asked, and nothing was charged: south: ", "refused")
	a.begin(t, "south", at["south"])
	got := a.ask(append(all, "--json", "--request", "tuesday", people)...)
	spent := func(name string) float64 {
		b := command("budget", "-p", filepath.Join(a.dir, name, "policy.yaml"), "--json").wants(t, 0).decode(t)
		return b["accounts"].([]any)[0].(map[string]any)["spent"].(map[string]any)["epsilon"].(float64)
	}
	if got.code != 0 { // it was charged, and died of it: there is nothing new before the owner has looked
		got.wants(t, 2, "closed")
	}
	for name := range at {
		if e := spent(name); e != 0.1 {
			t.Errorf("%s has charged %v", name, e)
		}
	}
	for _, r := range a.running {
		r.Process.Signal(os.Interrupt)
		<-r.ended
	}
	for name := range at {
		command("ledger", "verify", "-p", filepath.Join(a.dir, name, "policy.yaml")).wants(t, 0)
	}
}
