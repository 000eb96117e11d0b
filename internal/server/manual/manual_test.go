package manual

import (
	"context"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/docs"
)

func ask(t *testing.T, method, address string) (*http.Response, string) {
	t.Helper()
	w := httptest.NewRecorder()
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "next", http.StatusTeapot) })
	Handler(next).ServeHTTP(w, httptest.NewRequest(method, address, nil))
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Result(), string(body)
}

var (
	linked = regexp.MustCompile(`(?:href|src|action)="([^"]+)"`)
	named  = regexp.MustCompile(`id="([^"]+)"`)
)

// TestLinks: every page is shown, and every link inside of the manual leads somewhere.
func TestLinks(t *testing.T) {
	names, err := fs.Glob(docs.Files, "*.md")
	if err != nil || len(names) < 40 {
		t.Fatal(len(names), err)
	}
	ids, pages := map[string][]string{}, map[string]string{}
	for _, name := range names {
		address := "/docs/" + strings.TrimSuffix(name, ".md")
		r, body := ask(t, "GET", address)
		if r.StatusCode != 200 || !strings.Contains(body, "<h1") {
			t.Errorf("%s: %s", address, r.Status)
		}
		pages[address] = body
		for _, m := range named.FindAllStringSubmatch(body, -1) {
			ids[address] = append(ids[address], m[1])
		}
	}
	pages["/docs"], ids["/docs"] = pages["/docs/index"], ids["/docs/index"]
	links := 0
	for from, body := range pages {
		for _, m := range linked.FindAllStringSubmatch(body, -1) {
			u, err := url.Parse(m[1])
			if err != nil {
				t.Errorf("%s: %v", from, err)
				continue
			}
			to := u.Path
			if to == "" && u.Host == "" {
				to = from
			}
			if u.Host != "" || !strings.HasPrefix(to, "/docs") {
				continue
			}
			links++
			if r, _ := ask(t, "GET", to); r.StatusCode != 200 {
				t.Errorf("%s links to %s, which is not there", from, m[1])
			}
			if u.Fragment != "" && !slices.Contains(ids[to], u.Fragment) {
				t.Errorf("%s links to %s, which has no such heading", from, m[1])
			}
		}
	}
	// The page in the browser links to what explains a refusal.
	page, err := os.ReadFile("../web/src/ui/ui.tsx")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`'(/docs/[\w-]+)(?:#([\w-]+))?'`).FindAllStringSubmatch(string(page), -1) {
		links++
		if pages[m[1]] == "" || m[2] != "" && !slices.Contains(ids[m[1]], m[2]) {
			t.Errorf("the page links to %s, which is not there", m[0])
		}
	}
	if links < 300 {
		t.Errorf("only %d links were found", links)
	}
}

// TestSearch: what newcomers ask is answered by one of the first three that are found.
func TestSearch(t *testing.T) {
	for query, pages := range map[string]string{
		"how do I choose epsilon":                "budget",
		"why is my count wrong":                  "analyst sql-private",
		"what does left mean":                    "budget",
		"how do I add an analyst":                "users owner policy",
		"backup the ledger":                      "backup",
		"connect with psql":                      "tools analyst",
		"group by private keys":                  "sql-private",
		"question failed after its charge":       "backup errors ledger owner enforcement",
		"several servers on one ledger":          "high-availability many-servers",
		"train a model":                          "learning python",
		"what is delta":                          "budget promise policy",
		"restore a user's password":              "users",
		"max_groups":                             "policy-tables owner sql-private researcher",
		"can I use pandas":                       "python",
		"error bars":                             "sql-private analyst",
		"what does SQLSTATE 53400 mean":          "errors",
		"is this enough for GDPR":                "promise",
		"upgrade to a new version":               "upgrade",
		"when does my answer leave":              "time sql-private",
		"data in PostgreSQL":                     "postgres",
		`<script>alert(1)</script> "quotes" ' &`: "",
	} {
		all, err := read()
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		sections, err := all.search(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sections {
			found = append(found, s.Page)
		}
		best := found[:min(3, len(found))]
		if pages != "" && !slices.ContainsFunc(best, func(p string) bool { return slices.Contains(strings.Fields(pages), p) }) {
			t.Errorf("%q: %v, and not %s", query, found, pages)
		}
		_, body := ask(t, "GET", "/docs/search?q="+url.QueryEscape(query))
		if strings.Contains(body, "<script") {
			t.Errorf("%q is not quoted", query)
		}
	}
	if _, body := ask(t, "GET", "/docs/search?q="+strings.Repeat("%22", 2000)); len(body) > 3000 {
		t.Errorf("%d bytes are sent back", len(body))
	}
	all, _ := read()
	for _, query := range []string{"", "?!", strings.Repeat("epsilon ", 10_000), strings.Repeat("é", 1000), "the of and"} {
		if got, err := all.search(t.Context(), query); err != nil || len(got) > maxFound {
			t.Errorf("%.20q: %d, %v", query, len(got), err)
		}
	}
}

// TestSearchThatNobodyWaitsFor: searches go one by one, and those of clients that hung up do not
// stay in the line, or strangers could make it as long as they like.
func TestSearchThatNobodyWaitsFor(t *testing.T) {
	searching <- struct{}{} // somebody else's
	defer func() { <-searching }()
	ctx, hangUp := context.WithCancel(t.Context())
	w, gone := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(gone)
		Handler(http.NotFoundHandler()).ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "/docs/search?q=epsilon", nil))
	}()
	hangUp()
	select {
	case <-gone:
	case <-time.After(30 * time.Second):
		t.Fatal("a search of somebody who hung up waits for another one")
	}
	if w.Body.Len() > 0 {
		t.Errorf("%q was sent", w.Body)
	}
}

func TestAddresses(t *testing.T) {
	for address, status := range map[string]int{
		"/docs": 200, "/docs/": 200, "/docs/owner": 200, "/docs/search": 200, "/docs/style.css": 200, "/docs/img/stream.svg": 200,
		"/docs/nowhere": 404, "/docs/owner.md": 404, "/docs/img/../../go.mod": 404, "/docs/img/../owner.md": 404, "/docs/img/": 404,
		"/docsx": 418, "/v1/health": 418,
	} {
		r, body := ask(t, "GET", address)
		if r.StatusCode != status {
			t.Errorf("%s: %s", address, r.Status)
		}
		if status != 418 && !strings.HasPrefix(r.Header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: no policy", address)
		}
		if strings.Contains(body, "<script") || strings.Contains(body, "style=") && path.Ext(address) == "" {
			t.Errorf("%s has a script or a style, which browsers do not take", address)
		}
	}
	if r, _ := ask(t, "POST", "/docs/owner"); r.StatusCode != 418 {
		t.Error(r.Status)
	}
	if r, body := ask(t, "HEAD", "/docs/owner"); r.StatusCode != 200 || body != "" {
		t.Error(r.Status, len(body))
	}
}
