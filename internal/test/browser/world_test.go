package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-rod/rod/lib/proto"

	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/server"
	"github.com/discreet-dp/discreet/internal/server/users"
)

// world is a server of made-up people, and the passwords of those who may come in.
type world struct {
	server    *server.Server
	base      string // of HTTP
	users     string // the file of those who may come in
	passwords map[string]string
}

// visit is the secret of a session of somebody, begun without the form.
func (w *world) visit(t testing.TB, name string) string {
	t.Helper()
	store, err := users.Open(w.users)
	must(t, err)
	defer store.Close()
	all, err := store.List(t.Context())
	must(t, err)
	i := slices.IndexFunc(all, func(u users.User) bool { return u.Name == name })
	if i < 0 {
		t.Fatalf("there is no %s", name)
	}
	secret, err := store.Visits().Begin(t.Context(), all[i])
	must(t, err)
	return secret
}

// tab opens an empty tab of somebody who has signed in, or of nobody.
func (w *world) tab(t testing.TB, name string, expected ...string) *tab {
	t.Helper()
	tb := newTab(t, w.base, expected...)
	if name != "" {
		tb.must(tb.page.SetCookies([]*proto.NetworkCookieParam{{Name: "discreet_session", Value: w.visit(t, name), URL: w.base,
			HTTPOnly: true, SameSite: proto.NetworkCookieSameSiteStrict}}))
	}
	return tb
}

// spend asks questions in somebody's name, so that there is something to see.
func (w *world) spend(t testing.TB, name, dataset string, questions ...string) {
	t.Helper()
	visit := w.visit(t, name)
	for _, sql := range questions {
		body, err := json.Marshal(map[string]string{"dataset": dataset, "sql": sql})
		must(t, err)
		r, err := http.NewRequest("POST", w.base+"/v1/query", bytes.NewReader(body))
		must(t, err)
		r.Header.Set("Cookie", "discreet_session="+visit)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Header.Set("Content-Type", "application/json")
		a, err := http.DefaultClient.Do(r)
		must(t, err)
		a.Body.Close()
		if a.StatusCode != 200 {
			t.Fatalf("%s: %s", sql, a.Status)
		}
	}
}

// open opens a tab of somebody who has signed in, and goes to a path.
func (w *world) open(t testing.TB, path, name string, expected ...string) *tab {
	t.Helper()
	tb := w.tab(t, name, expected...)
	tb.open(path)
	return tb
}

// people are those who may come in, made once: to make a password takes its time. cara is in no
// policy.
var people = sync.OnceValues(func() (made struct {
	file      []byte
	passwords map[string]string
}, err error) {
	dir, err := os.MkdirTemp("", "users")
	if err != nil {
		return made, err
	}
	defer os.RemoveAll(dir)
	store, err := users.Open(filepath.Join(dir, "users"))
	if err != nil {
		return made, err
	}
	made.passwords = map[string]string{}
	for name, role := range map[string]users.Role{"ana": users.Analyst, "ben": users.Analyst, "cara": users.Analyst, "olga": users.Owner} {
		if made.passwords[name], err = store.Add(context.Background(), name, role, ""); err != nil {
			return made, err
		}
	}
	if err := store.Close(); err != nil {
		return made, err
	}
	made.file, err = os.ReadFile(filepath.Join(dir, "users"))
	return made, err
})

// newWorld starts a server on files in a new folder, of which one is policy.yaml. It ends with the
// test.
func newWorld(t testing.TB, files map[string]string) *world {
	t.Helper()
	theBrowser(t) // before anything is made for it
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	c := server.Config{Policy: filepath.Join(dir, "policy.yaml"), Users: filepath.Join(dir, "policy.users"),
		Listen: "127.0.0.1:0", HTTP: "127.0.0.1:0", Version: "test"}
	p, err := people()
	must(t, err)
	must(t, os.WriteFile(c.Users, p.file, 0o600))
	w := &world{users: c.Users, passwords: p.passwords}
	if w.server, err = server.Open(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	w.base = "http://" + w.server.HTTPAddr().String()
	served := make(chan error, 1)
	go func() { served <- w.server.Serve() }()
	t.Cleanup(func() {
		if err := w.server.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return w
}

// clinic is the hospital of the demonstrations as a dataset, in a folder of its name.
func clinic(t testing.TB, files map[string]string, h *hospital.Hospital, name, budget, more string) {
	t.Helper()
	dir := t.TempDir()
	must(t, h.Write(dir))
	for _, table := range []string{"patients.csv", "visits.csv"} {
		text, err := os.ReadFile(filepath.Join(dir, table))
		must(t, err)
		files[name+"/"+table] = string(text)
	}
	if !strings.Contains(more, "release:") {
		more += "    release: immediate\n"
	}
	if files["policy.yaml"] == "" {
		files["policy.yaml"] = "datasets:\n"
	}
	files["policy.yaml"] += hospital.Dataset(name, name, budget) + more
}

// ordinary is a server with the hospital alone.
func ordinary(t testing.TB) *world {
	t.Helper()
	files := map[string]string{}
	clinic(t, files, hospital.New(200, 1), "hospital", "{epsilon: 20, per_query: {default: 0.1, max: 2}}", elderly)
	clinic(t, files, hospital.New(20, 2), "small", "{epsilon: 1, per_query: {default: 0.6, max: 0.6}}", "")
	trips(files)
	return newWorld(t, files)
}

// trips is a dataset that is nothing like the hospital: it has a delta, people have more rows than
// count, and nothing is called as it is there.
func trips(files map[string]string) {
	rows := []string{"person,month,origin,carrier,dep_delay,distance,fee,late"}
	for i := range 600 {
		origin, carrier := []string{"ATL", "JFK", "LGA"}[i%3], []string{"AA", "UA"}[i%2]
		rows = append(rows, fmt.Sprintf("%d,%d,%s,%s,%d,%d,%d,%v", i%40, i%12+1, origin, carrier, i%100-20, 100+i, i%5, i%2 == 0))
	}
	files["trips/trips.csv"] = strings.Join(rows, "\n") + "\n"
	files["policy.yaml"] += `  trips:
    engine: duckdb
    source: trips
    unit: trips.person
    release: immediate
    budget: {epsilon: 5, delta: 1e-6, per_query: {default: 0.25, max: 3, min: 0.01}}
    analysts: {ana: {share: 1}, ben: {share: 1}}
    tables:
      trips:
        max_rows: 10
        max_groups: 2
        columns:
          month:     {type: integer, bounds: [1, 12]}
          origin:    {type: text, keys: [ATL, JFK, LGA]}
          carrier:   {type: text, keys: [AA, UA]}
          dep_delay: {type: integer, bounds: [-60, 300]}
          distance:  {type: integer, bounds: [0, 5000]}
          fee:       {type: decimal, granularity: 0.01}
          late:      {type: boolean}
`
}

// elderly is a view, which is shown among the tables.
const elderly = "    views: {elderly: SELECT sex FROM patients WHERE age >= 65}\n"

// long is a name that is nearly as long as one may be.
const long = "measurement_of_the_measurement_of_the_measurement_of_the_x"

// wide is a dataset with a thousand groups, names as long as they may be, and very large and very
// small numbers.
func wide(files map[string]string) {
	var rows, keys []string
	for i := range 1000 {
		keys = append(keys, fmt.Sprintf("district %04d of the northern and the southern province", i))
		rows = append(rows, fmt.Sprintf("%d,%s,%d,0.00000%d", i, keys[i], 1_000_000_000_000+i, i%9))
	}
	files["wide/people.csv"] = "id," + long + ",huge,tiny\n" + strings.Join(rows, "\n") + "\n"
	files["policy.yaml"] += fmt.Sprintf(`  wide:
    engine: duckdb
    source: wide
    unit: people.id
    release: immediate
    budget: {epsilon: 20, per_query: {default: 1, max: 4}}
    analysts: {ana: {share: 1}}
    tables:
      people:
        unique: id
        columns:
          %s: {type: text, keys: [%s]}
          huge: {type: decimal, bounds: [0, 1000000000000], granularity: 1}
          tiny: {type: decimal, bounds: [0, 0.00001], granularity: 0.00000001}
`, long, strings.Join(keys, ", "))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
