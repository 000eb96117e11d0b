package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
)

type attached struct {
	hello map[string]string
	in    io.Closer
	ended chan int
	err   *strings.Builder
}

// attach starts it and reads its first line; hello is nil where it ended at once.
func attach(t *testing.T, args ...string) *attached {
	t.Helper()
	in, out := io.Pipe()
	lines, says := io.Pipe()
	a := &attached{in: out, ended: make(chan int, 1), err: &strings.Builder{}}
	go func() {
		code := run(context.Background(), append([]string{"attach"}, args...), console.Screen{In: in, Out: says, Err: a.err, Now: time.Now})
		says.Close()
		a.ended <- code
	}()
	line, err := bufio.NewReader(lines).ReadString('\n')
	if err != nil {
		return a
	}
	if err := json.Unmarshal([]byte(line), &a.hello); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return a
}

func (a *attached) post(t *testing.T, token, path, body string) (int, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		if path, ok := strings.CutPrefix(a.hello["address"], "unix:"); ok {
			return net.Dial("unix", path)
		}
		return net.Dial("tcp", strings.TrimPrefix(a.hello["address"], "http://"))
	}, DisableKeepAlives: true}}
	request, err := http.NewRequest(http.MethodPost, "http://discreet"+path, strings.NewReader(body))
	must(t, err)
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	answer, err := client.Do(request)
	must(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must(t, err)
	return answer.StatusCode, string(text)
}

// end closes its input, after which it ends and leaves nothing.
func (a *attached) end(t *testing.T) {
	t.Helper()
	a.in.Close()
	select {
	case code := <-a.ended:
		if code != 0 {
			t.Errorf("exit code %d, %s", code, a.err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
	}
	if _, err := os.Stat(a.hello["folder"]); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
}

func TestAttachPolicy(t *testing.T) {
	policy := deploy(t, tenQuestions)
	a := attach(t, "--policy", policy, "--as", "ana")
	if a.hello == nil {
		t.Fatalf("exit code %d: %s", <-a.ended, a.err)
	}
	question := `{"sql": "` + people + `"}`
	if status, text := a.post(t, a.hello["token"], "/v1/query", question); status != http.StatusOK || !strings.Contains(text, `"rows"`) {
		t.Errorf("%d %s", status, text)
	}
	if status, text := a.post(t, "wrong", "/v1/query", question); status != http.StatusUnauthorized {
		t.Errorf("without the token: %d %s", status, text)
	}
	// It does not wait for a tick that the policy does not name: the folder has its answers anyway.
	begun := time.Now()
	for range 20 {
		a.post(t, a.hello["token"], "/v1/query", question)
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("20 answers that were paid for took %v", took)
	}
	a.end(t)
	// Its charge is in the ledger.
	command("budget", "-p", policy).wants(t, 0, "0.1")
}

// Ticks that the policy names are kept.
func TestAttachTicks(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	change(t, policy, func(text string) string {
		return strings.Replace(text, "    unit:", "    release: {tick: 300ms}\n    unit:", 1)
	})
	a := attach(t, "--policy", policy, "--as", "ana")
	if a.hello == nil {
		t.Fatalf("exit code %d: %s", <-a.ended, a.err)
	}
	begun := time.Now()
	for range 5 { // the first is there at once, and the others are paid for: it is the tick that takes time
		a.post(t, a.hello["token"], "/v1/query", `{"sql": "`+people+`"}`)
	}
	if took := time.Since(begun); took < 4*300*time.Millisecond {
		t.Errorf("5 answers took %v", took)
	}
	a.end(t)
}

func TestAttachWithoutPolicy(t *testing.T) {
	t.Parallel()
	a := attach(t)
	if status, text := a.post(t, a.hello["token"], "/noise", `{"kind": "laplace", "parameter": "10", "count": 3}`); status != http.StatusOK ||
		len(text) != len("{}\n")+24 {
		t.Errorf("%d %q", status, text)
	}
	if status, _ := a.post(t, "wrong", "/noise", `{"kind": "laplace", "parameter": "10", "count": 3}`); status != http.StatusUnauthorized {
		t.Errorf("without the token: %d", status)
	}
	a.end(t)
}

// Two policies that are open, asked together by the one that has no data.
func TestAttachTogether(t *testing.T) {
	t.Parallel()
	bench := attach(t)
	var servers []string
	for _, name := range []string{"north", "south"} {
		a := attach(t, "--policy", deploy(t, tenQuestions), "--as", "ana")
		if a.hello == nil {
			t.Fatalf("exit code %d: %s", <-a.ended, a.err)
		}
		defer a.end(t)
		servers = append(servers, fmt.Sprintf(`{"name": %q, "address": %q, "token": %q}`, name, a.hello["address"], a.hello["token"]))
	}
	defer bench.end(t)
	send := func(path, sql string) (int, string) {
		return bench.post(t, bench.hello["token"], path, fmt.Sprintf(`{"servers": [%s], "sql": %q, "epsilon": "0.5", "request": "of-%d"}`,
			strings.Join(servers, ", "), sql, len(sql)))
	}
	if status, text := send("/together/quote", people); status != http.StatusOK || strings.Count(text, `"epsilon":0.5`) < 2 {
		t.Errorf("%d %s", status, text)
	}
	status, text := send("/together", people)
	var answer struct {
		Columns []struct{ Kind string }
		Rows    [][]float64
		Errors  [][]float64
		Request string
		Servers []struct{ Server string }
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil || status != http.StatusOK || len(answer.Servers) != 2 ||
		answer.Request != "of-29" || answer.Columns[0].Kind != "integer" || math.Abs(answer.Rows[0][0]-200) > 60 ||
		answer.Errors[0][0] < 6 {
		t.Errorf("%d %s, %v", status, text, err)
	}
	if _, again := send("/together", people); !strings.Contains(again, fmt.Sprintf(`"rows":[[%v]]`, answer.Rows[0][0])) {
		t.Errorf("again: %s", again)
	}
	if status, text := send("/together", "SELECT MEDIAN(age) FROM patients"); status != http.StatusUnprocessableEntity ||
		!strings.Contains(text, `"kind":"refused"`) || !strings.Contains(text, `"spent":false`) {
		t.Errorf("%d %s", status, text)
	}
	if status, text := send("/together", people+" WHERE age > 30 AND age < 70"); status != http.StatusOK {
		t.Errorf("%d %s", status, text)
	}
	status, text = send("/together", people+" WHERE age > 50")
	if status != http.StatusConflict || !strings.Contains(text, `"kind":"budget"`) {
		t.Errorf("with nothing left: %d %s", status, text)
	}
}

func TestAttachRefusals(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	for says, args := range map[string][]string{
		"lists no analyst \"zoe\"": {"--policy", policy, "--as", "zoe"},
		"no such file":             {"--policy", policy + ".not"},
		"--as needs a policy":      {"--as", "ana"},
	} {
		a := attach(t, args...)
		if a.hello != nil {
			t.Errorf("%v: it began", args)
			a.end(t)
			continue
		}
		if code := <-a.ended; code == 0 || !strings.Contains(a.err.String(), says) {
			t.Errorf("%v: exit code %d, %s", args, code, a.err)
		}
	}
}
