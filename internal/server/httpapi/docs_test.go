package httpapi

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

// TestHTTPPage holds docs/http.md against the document.
func TestHTTPPage(t *testing.T) {
	const page = "../../../docs/http.md"
	w := newWorld(t)
	made := httpPage(w.api.router.api.OpenAPI().Paths)
	if flag.Lookup("rewrite").Value.String() == "true" {
		must(t, os.WriteFile(page, []byte(made), 0o644))
	}
	text, err := os.ReadFile(page)
	must(t, err)
	if string(text) != made {
		t.Errorf("%s is of other endpoints; go test ./internal/server/httpapi -run TestHTTPPage -rewrite writes it", page)
	}
	for _, pattern := range w.api.router.patterns {
		if !strings.Contains(made, "| `"+pattern+"` |") {
			t.Errorf("the page lacks %s", pattern)
		}
	}
}

// sections are the tags of operations in the order in which somebody meets them, with headings.
var sections = []struct{ tags, heading string }{
	{"signin signout me tokens logins", "Sign in"},
	{"query explain datasets receipts requests", "Ask, and see what is left"},
	{"sessions", "Sessions"},
	{"models", "Models"},
	{"saved dashboards", "Saved questions and dashboards"},
	{"users policy check ledger audit", "For the owner"},
	{"version operations", "The server"},
}

func httpPage(paths map[string]*huma.PathItem) string {
	var b strings.Builder
	b.WriteString("<!-- generated: do not edit; go test ./internal/server/httpapi -run TestHTTPPage -rewrite -->\n" +
		"# HTTP\n\nThis page is for programmers who talk to a server without a client library. It lists every endpoint with who\n" +
		"may use it; `GET /openapi.json` has the schemas of requests and answers.\n\n" +
		"Send a token as `Authorization: Bearer ...`, or name and password as `Basic`. JSON goes in and comes out. Every\n" +
		"error is a problem as in RFC 9457: [errors](errors.md#http) has the kinds. With an `Idempotency-Key`, a question\n" +
		"is charged once however often it is sent. `POST /mcp` has the tools of [language models](mcp.md), and is not in\n" +
		"the document.\n")
	done := map[string]bool{}
	for _, s := range sections {
		var rows []string
		for path, item := range paths {
			for _, o := range []*huma.Operation{item.Get, item.Post, item.Put, item.Delete} {
				if o == nil || !slices.Contains(strings.Fields(s.tags), o.Tags[0]) {
					continue
				}
				done[o.Method+" "+path] = true
				rows = append(rows, fmt.Sprintf("| `%s %s` | %s | %s |", o.Method, path, whoMay(o), operationText(o)))
			}
		}
		slices.SortFunc(rows, func(a, c string) int { return strings.Compare(pathOf(a), pathOf(c)) })
		fmt.Fprintf(&b, "\n## %s\n\n| request | who | does |\n|---|---|---|\n%s\n", s.heading, strings.Join(rows, "\n"))
	}
	for path, item := range paths {
		for _, o := range []*huma.Operation{item.Get, item.Post, item.Put, item.Delete} {
			if o != nil && !done[o.Method+" "+path] {
				fmt.Fprintf(&b, "no section for %s %s\n", o.Method, path)
			}
		}
	}
	return b.String()
}

// pathOf makes rows of one path stand together, in the order of their methods.
func pathOf(row string) string {
	method, path, _ := strings.Cut(strings.TrimPrefix(row, "| `"), " ")
	return path[:strings.Index(path, "`")] + " " + method
}

func whoMay(o *huma.Operation) string {
	switch o.Metadata["whom"] {
	case everybody:
		return "everybody"
	case ownerOnly:
		return "owner"
	}
	return "users"
}

func operationText(o *huma.Operation) string {
	text := "*" + o.Summary + ".* "
	if about, ok := strings.CutPrefix(o.Description, "For the owner"); ok { // as the column before it says
		about = strings.TrimLeft(about, "., :")
		text += strings.ToUpper(about[:min(1, len(about))]) + about[min(1, len(about)):]
	} else {
		text += o.Description
	}
	var query []string
	for _, p := range o.Parameters {
		if p.In == "query" {
			query = append(query, "`"+p.Name+"`")
		}
	}
	if len(query) > 0 {
		text += " Query: " + strings.Join(query, ", ")
	}
	return strings.Join(strings.Fields(strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(text)), " ")
}
