package testtrino

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/test/daily"
)

func TestShared(t *testing.T) {
	c := Shared(t)
	if Shared(t) != c {
		t.Error("a second cluster")
	}
	var names []string
	t.Run("schemas", func(t *testing.T) {
		closed := daily.Sample(t, []string{"memory", "hive", "iceberg", "delta"}, 1)[0] // the rules are the same for all
		for _, catalog := range []string{"memory", "hive", "iceberg", "delta"} {
			schema := c.Schema(t, catalog)
			names = append(names, schema)
			table := catalog + "." + schema + ".a"
			c.Run(t, "CREATE TABLE "+table+" AS SELECT * FROM (VALUES (1, 'x'), (2, NULL)) AS t(n, s)")
			if got := c.Rows(t, Reader, "SELECT n, s FROM "+table+" ORDER BY n"); fmt.Sprint(got) != "[[1 x] [2 <nil>]]" {
				t.Errorf("%s: %v", catalog, got)
			}
			for _, denied := range []struct{ user, statement string }{
				{Reader, "INSERT INTO " + table + " VALUES (3, 'y')"}, {Reader, "DELETE FROM " + table}, {Reader, "DROP TABLE " + table},
				{Reader, "CREATE TABLE " + table + "2 (n bigint)"}, {Reader, "TRUNCATE TABLE " + table}, {Writer, "DROP TABLE " + table},
				{"nobody", "SELECT n FROM " + table}, {"nobody", "SELECT 1"},
			} {
				if catalog != closed && !daily.Full() {
					continue
				}
				_, err := c.ask(t, denied.user, denied.statement)
				if err == nil || !strings.Contains(err.Error(), "Access Denied") {
					t.Errorf("%s: %s: %v", denied.user, denied.statement, err)
				}
			}
			if catalog == "delta" { // which Trino does not write to local files but when it makes a table
				continue
			}
			c.Rows(t, Writer, "INSERT INTO "+table+" VALUES (3, 'y')")
			if got := c.Rows(t, Reader, "SELECT count(*) FROM "+table); got[0][0] != "3" {
				t.Errorf("%s: %v rows", catalog, got)
			}
		}
	})
	for i, catalog := range []string{"memory", "hive", "iceberg", "delta"} {
		for _, row := range c.Rows(t, Admin, "SHOW SCHEMAS FROM "+catalog) {
			if slices.Contains(names[i:i+1], row[0]) {
				t.Errorf("the schema %s.%s is still there", catalog, row[0])
			}
		}
	}
	// Two nodes work at a stage that reads a table: what they found has to be put together.
	mark := fmt.Sprintf("read by two at %d", time.Now().UnixNano())
	c.Rows(t, Reader, "SELECT count(*) FROM tpch.tiny.lineitem WHERE comment <> '"+mark+"'")
	if n := c.Rows(t, Admin, "SELECT max(n) FROM (SELECT count(DISTINCT node_id) AS n FROM system.runtime.tasks WHERE query_id IN (SELECT "+
		"query_id FROM system.runtime.queries WHERE query LIKE '%"+mark+"%') GROUP BY query_id, stage_id)"); n[0][0] != "2" {
		t.Errorf("%v nodes work", n)
	}
	if err := endOfTest(t, func(tb testing.TB) { c.Kill(tb, "worker1") }); !strings.Contains(err, "others use") {
		t.Errorf("a node of the shared cluster was killed: %s", err)
	}
}

// TestFewDrivers: statements with many drivers arrive with few, unless everything is to be run, and
// others as they were.
func TestFewDrivers(t *testing.T) {
	c := Shared(t)
	for _, x := range []struct{ before, after, want string }{
		{"WITH SESSION " + ManyDrivers + " ", "", map[bool]string{false: fewDrivers, true: ManyDrivers}[daily.Full()]},
		{"", ManyDrivers, ManyDrivers},
	} {
		mark := fmt.Sprintf("asked at %d with %s", time.Now().UnixNano(), x.after)
		c.Rows(t, Reader, x.before+"SELECT '"+mark+"'")
		got := c.Rows(t, Admin, "SELECT query FROM system.runtime.queries WHERE query LIKE '%"+mark+"%' AND query NOT LIKE '%runtime%'")
		if len(got) != 1 || !strings.Contains(got[0][0], x.want) || strings.Count(got[0][0], "task_concurrency") != 1 {
			t.Errorf("%v, and was to have %s", got, x.want)
		}
	}
}

// TestOwn does in one what takes long to start: TLS, passwords, tokens, nodes that are killed.
func TestOwn(t *testing.T) {
	if !daily.Full() {
		t.Skip("starts a cluster, as internal/source/trinotables does anyhow; go test ./internal/test/testtrino -run TestOwn -full -v")
	}
	c := Own(t, "--workers=1", "--heap=700M", "--secure", "--retry")
	schema := c.Schema(t, "hive")
	table := "hive." + schema + ".a"
	c.Run(t, "CREATE TABLE "+table+" AS SELECT orderkey FROM tpch.tiny.orders")
	count := func() string { return c.Rows(t, Reader, "SELECT count(*) FROM "+table)[0][0] }
	if n := count(); n != "15000" {
		t.Fatalf("%s rows", n)
	}
	for _, node := range []string{"worker1", "coordinator"} {
		c.Kill(t, node)
		if err := endOfTest(t, func(tb testing.TB) { c.Kill(tb, node) }); !strings.Contains(err, "does not run") {
			t.Errorf("%s was killed twice: %s", node, err)
		}
		c.Restart(t)
		if n := count(); n != "15000" {
			t.Errorf("%s rows after %s was killed", n, node)
		}
	}
	secured(t, c)
	inherited(t, c, count)
}

// inherited: who started a cluster that two run leaves, and the other still has it.
func inherited(t *testing.T, c *Cluster, count func() string) {
	t.Helper()
	address, life, end, err := startCluster(exec.Command(script(), "run", c.folder, "--discard"))
	if err != nil {
		t.Fatal(err)
	}
	if address != c.URL {
		t.Errorf("two clusters: %s, %s", c.URL, address)
	}
	c.leave()
	for range 3 { // a node that was told to end answers for some time
		time.Sleep(time.Second)
		if n := count(); n != "15000" {
			t.Errorf("%s rows after the first one left", n)
		}
	}
	life.Close()
	if err := end(); err != nil {
		t.Error(err)
	}
}

// secured looks at who is let in, and whether it ran as it should.
func secured(t *testing.T, c *Cluster) {
	t.Helper()
	encode := base64.RawURLEncoding.EncodeToString
	secret := func(name string) string {
		text, err := os.ReadFile(c.Secret(name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	key, err := base64.StdEncoding.DecodeString(secret("jwt.key"))
	if err != nil {
		t.Fatal(err)
	}
	token := encode([]byte(`{"alg":"HS256"}`)) + "." + encode(fmt.Appendf(nil, `{"sub":"discreet","exp":%d}`, time.Now().Add(time.Hour).Unix()))
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(token))
	config, err := c.config(Reader)
	if err != nil {
		t.Fatal(err)
	}
	tls, err := config.TLSConfig()
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: tls}}
	do := func(method, path string, set func(*http.Request)) (int, string) {
		request, err := http.NewRequest(method, c.URL+path, strings.NewReader("SELECT 1"))
		if err != nil {
			t.Fatal(err)
		}
		set(request)
		r, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return r.StatusCode, string(text)
	}
	basic := func(user, password string) func(*http.Request) {
		return func(r *http.Request) { r.SetBasicAuth(user, password) }
	}
	bearer := func(token string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
	}
	for name, want := range map[string]struct {
		set  func(*http.Request)
		code int
	}{
		"password":         {basic(Reader, secret("discreet.password")), 200},
		"wrong password":   {basic(Reader, "x"), 401},
		"other's password": {basic(Admin, secret("discreet.password")), 401},
		"token":            {bearer(token + "." + encode(mac.Sum(nil))), 200},
		"wrong token":      {bearer(token + "." + encode(mac.Sum([]byte("x")))), 401},
		"nothing":          {func(r *http.Request) { r.Header.Set("X-Trino-User", Reader) }, 401},
	} {
		if code, _ := do("POST", "/v1/statement", want.set); code != want.code {
			t.Errorf("%s: %d", name, code)
		}
	}
	if _, list := do("GET", "/v1/query", basic(Admin, secret("admin.password"))); !strings.Contains(list, `"retryPolicy":"TASK"`) {
		t.Errorf("tasks that fail do not run again: %.300s", list)
	}
}

func TestWithout(t *testing.T) {
	nowhere := t.TempDir()
	t.Setenv("DISCREET_TRINO", "")
	t.Setenv("DISCREET_NEED_TRINO", "")
	t.Setenv("DISCREET_TRINO_HOME", nowhere)
	_, err := startShared()
	if said := endOfTest(t, func(tb testing.TB) { skipOrFail(tb, err) }); !strings.HasPrefix(said, "skipped: NOT TESTED ON TRINO: ") ||
		!strings.Contains(said, "deploy/trino/cluster fetch") || !strings.Contains(said, nowhere) {
		t.Errorf("without a server: %s", said)
	}
	if said := endOfTest(t, func(tb testing.TB) { Own(tb) }); !strings.HasPrefix(said, "skipped: NOT TESTED ON TRINO: ") {
		t.Errorf("an own one without a server: %s", said)
	}
	t.Setenv("DISCREET_NEED_TRINO", "1")
	if said := endOfTest(t, func(tb testing.TB) { skipOrFail(tb, err) }); !strings.HasPrefix(said, "failed: ") {
		t.Errorf("without a server where one is needed: %s", said)
	}
	t.Setenv("DISCREET_NEED_TRINO", "")
	for _, address := range []string{"http://127.0.0.1:1", "127.0.0.1:18080", "ftp://127.0.0.1"} {
		t.Setenv("DISCREET_TRINO", address)
		_, err := startShared()
		if said := endOfTest(t, func(tb testing.TB) { skipOrFail(tb, err) }); !strings.HasPrefix(said, "failed: DISCREET_TRINO="+address) {
			t.Errorf("%s: %s", address, said)
		}
	}
}

// endOfTest returns how a test ends that does this.
func endOfTest(t *testing.T, do func(testing.TB)) string {
	t.Helper()
	said := make(chan string, 1)
	go func() { // as a test does: it ends by runtime.Goexit
		watched := &watched{TB: t}
		defer func() { said <- watched.said }()
		do(watched)
	}()
	return <-said
}

type watched struct {
	testing.TB
	said string
}

func (w *watched) end(how, text string) {
	w.said = how + ": " + text
	runtime.Goexit()
}
func (w *watched) Helper()                      {}
func (w *watched) Cleanup(func())               {}
func (w *watched) Fatal(args ...any)            { w.end("failed", fmt.Sprint(args...)) }
func (w *watched) Fatalf(f string, args ...any) { w.end("failed", fmt.Sprintf(f, args...)) }
func (w *watched) Skipf(f string, args ...any)  { w.end("skipped", fmt.Sprintf(f, args...)) }

// TestScript holds deploy/trino/cluster to what it says when it is asked for what it cannot do.
// None of these fetches or starts anything.
func TestScript(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("DISCREET_TRINO_HOME", t.TempDir())
	for want, args := range map[string][]string{
		"no command dance":                         {"dance", folder},
		"start: which folder?":                     {"start"},
		"fetch takes nothing":                      {"fetch", folder},
		"no option --wings":                        {"start", folder, "--wings"},
		"--workers needs a value":                  {"start", folder, "--workers"},
		"--workers is a number":                    {"start", folder, "--workers", "two"},
		"--heap is a size":                         {"start", folder, "--heap", "1 gigabyte"},
		"--port is a number":                       {"run", folder, "--port", "x"},
		"--resource-groups: /nowhere":              {"start", folder, "--resource-groups", "/nowhere"},
		"there is no Trino server in":              {"ready"},
		"has no node worker7":                      {"kill", folder, "worker7"},
		"has no cluster: cluster start makes one":  {"sql", folder, "SELECT 1"},
		"which node? coordinator, worker1, worker": {"kill", folder},
	} {
		out, err := exec.Command(script(), args...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%v: %v, %s", args, err, out)
		}
	}
	out, err := exec.Command(script(), "help").CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"fetch", "ready", "start", "run", "stop", "kill", "status", "sql", "--workers", "--heap", "--port",
		"--retry", "--secure", "--light", "--working-coordinator", "--resource-groups", "--set", "--linger", "--discard",
		"DISCREET_TRINO_HOME"} {
		if !strings.Contains(string(out), word) {
			t.Errorf("help does not say %s", word)
		}
	}
}
