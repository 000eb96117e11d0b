package httpapi

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/internal/version"
	"github.com/discreet-dp/discreet/policy"
)

// TestVersion: everybody who came in learns which program answers, the owner also what it was built
// from, and nobody about the datasets of others. Strangers learn nothing.
func TestVersion(t *testing.T) {
	defer func(was string) { version.Commit = was }(version.Commit)
	version.Commit = "0123abc"
	w := newWorld(t)
	for name, datasets := range map[string]string{"olga": `"clinic","hospital"`, "ana": `"hospital"`, "ben": `"clinic","hospital"`, "cy": ""} {
		engines := ""
		if datasets != "" {
			engines = fmt.Sprintf(`{"name":"duckdb","datasets":[%s]}`, datasets)
		}
		built := ""
		if name == "olga" { // the owner
			built = fmt.Sprintf(`"commit":"0123abc","go":%q,`, runtime.Version())
		}
		want := fmt.Sprintf(`{"version":"1.2.3",%s"engines":[%s]}`+"\n", built, engines)
		if got := w.want(w.call("GET", "/v1/version", name, ""), 200); got.body != want {
			t.Errorf("%s: %s, want %s", name, got.body, want)
		}
	}
	if stranger := w.want(w.call("GET", "/v1/version", "", ""), 401); strings.Contains(stranger.body, "1.2.3") {
		t.Error(stranger.body)
	}
	w.configure(func(o *Options) { o.Version = "" })
	if got := w.want(w.call("GET", "/v1/version", "cy", ""), 200); got.get("version") != "unknown" {
		t.Error(got.body)
	}
}

// TestEnginesAreOfOwnDatasets: an engine that runs only what is another's is not named.
func TestEnginesAreOfOwnDatasets(t *testing.T) {
	ana := map[string]*policy.Analyst{"ana": {}}
	p := &policy.Policy{Datasets: map[string]*policy.Dataset{
		"a": {Engine: "trino", Analysts: ana}, "b": {Engine: "duckdb", Analysts: ana}, "c": {Engine: "trino", Analysts: ana},
		"d": {Engine: "duckdb", Analysts: map[string]*policy.Analyst{"ben": {}}},
	}}
	for _, c := range []struct {
		user users.User
		want string
	}{
		{users.User{Name: "ana", Role: users.Analyst}, "[{duckdb [b]} {trino [a c]}]"},
		{users.User{Name: "ben", Role: users.Analyst}, "[{duckdb [d]}]"},
		{users.User{Name: "cy", Role: users.Analyst}, "[]"},
		{users.User{Name: "olga", Role: users.Owner}, "[{duckdb [b d]} {trino [a c]}]"},
	} {
		if got := fmt.Sprint(enginesFor(p, c.user)); got != c.want {
			t.Errorf("%s: %s, want %s", c.user.Name, got, c.want)
		}
	}
}
