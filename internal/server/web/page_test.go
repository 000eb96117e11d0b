package web

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// behind is what has every address that the page has not.
var behind = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusTeapot) })

func get(method, path string, headers ...string) *http.Response {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	Handler(behind).ServeHTTP(w, r)
	return w.Result()
}

func text(t *testing.T, from io.Reader) string {
	t.Helper()
	data, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestAddresses: views are one page, files are themselves, and everything else goes on to what is
// behind, whatever it looks like.
func TestAddresses(t *testing.T) {
	for path, ours := range map[string]bool{
		"/": true, "/ask": true, "/ask?q=SELECT+1": true, "/dashboards/7": true, "/owner/people": true, "/icon.svg": true,
		"/licences.txt": true,
		"/v1/me":        false, "/openapi.json": false, "/metrics": false, "/healthz": false, "/index.html": false, "/assets": false,
		"/assets/": false,
		"/asked":   false, "/ask/../v1/me": false, "/ask//x": false, "/%61sk": false, "/assets/../index.html": false, "/nothing": false,
	} {
		got := get("GET", path).StatusCode
		if want := map[bool]int{true: 200, false: http.StatusTeapot}[ours && Built]; got != want {
			t.Errorf("%s: %d", path, got)
		}
	}
	if got := get("POST", "/ask").StatusCode; got != http.StatusTeapot {
		t.Errorf("POST /ask: %d", got)
	}
}

// TestHeaders: a browser may do with the page what the policy says, and no more; what never changes
// is kept for ever, and what names it is asked for again.
func TestHeaders(t *testing.T) {
	if !Built {
		t.Skip("the page was left out")
	}
	index := get("GET", "/ask")
	if strings.Contains(Policy, "unsafe") || index.Header.Get("Content-Security-Policy") != Policy {
		t.Errorf("the policy is %s", index.Header.Get("Content-Security-Policy"))
	}
	for name, want := range map[string]string{"Content-Type": "text/html; charset=utf-8", "X-Content-Type-Options": "nosniff",
		"Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		"Cache-Control": "no-cache"} {
		if got := index.Header.Get(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	page := text(t, index.Body)
	assets := regexp.MustCompile(`/assets/[^"]+`).FindAllString(page, -1)
	if len(assets) != 2 {
		t.Fatalf("the page names %v", assets)
	}
	for _, path := range assets {
		plain, packed := get("GET", path), get("GET", path, "Accept-Encoding", "gzip")
		if got := plain.Header.Get("Cache-Control"); !strings.Contains(got, "immutable") || plain.StatusCode != 200 {
			t.Errorf("%s: %d, kept %s", path, plain.StatusCode, got)
		}
		unpacked, err := gzip.NewReader(packed.Body)
		if err != nil {
			t.Fatal(err)
		}
		if text(t, unpacked) != text(t, plain.Body) || packed.Header.Get("Content-Encoding") != "gzip" {
			t.Errorf("%s is another one where it is packed", path)
		}
	}
	if head := get("HEAD", "/ask"); head.StatusCode != 200 || text(t, head.Body) != "" {
		t.Error("HEAD has a body")
	}
	// Nothing that a policy without unsafe-inline would forbid.
	if m := regexp.MustCompile(`(?i)<script>|<style|\son[a-z]+=|style=|javascript:`).FindString(page); m != "" {
		t.Errorf("the page has %s in it", m)
	}
}
