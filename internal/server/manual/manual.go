// Package manual shows the pages of docs/ at /docs of a server, with a search, to everybody who
// reaches it: refusals and the page in the browser link there. It needs no script and nothing from
// elsewhere. The build tag nodocs leaves the pages out of the binary.
package manual

import (
	"bytes"
	_ "embed"
	"html/template"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/discreet-dp/discreet/docs"
)

// contentPolicy is what a browser may load for a page of the manual: what is here, and no script.
const contentPolicy = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

//go:embed style.css
var style []byte

//go:embed page.html
var layout string

var shape = template.Must(template.New("page").Parse(layout))

// shown is what the layout is filled with.
type shown struct {
	Title    string
	Contents []heading
	Body     template.HTML
	Query    string // of a search
	Searched bool
	Found    []section
}

// manual is all pages, made once: none depends on who asks.
type manual struct {
	pages    map[string][]byte // as they are sent, by name without .md
	sections []section
}

var read = sync.OnceValues(func() (*manual, error) { return readAll(docs.Files) })

func readAll(files fs.FS) (*manual, error) {
	names, err := fs.Glob(files, "*.md")
	if err != nil {
		return nil, err
	}
	m := &manual{pages: map[string][]byte{}}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		name = strings.TrimSuffix(name, ".md")
		p, err := newPage(name, text)
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		if err := shape.Execute(&out, shown{Title: p.title, Contents: p.contents, Body: p.body}); err != nil {
			return nil, err
		}
		m.pages[name] = out.Bytes()
		m.sections = append(m.sections, p.sections...)
	}
	return m, nil
}

// Handler puts the manual before a handler, which has every other address. Where the pages were
// left out of the binary it is the handler.
func Handler(next http.Handler) http.Handler {
	if _, err := fs.Stat(docs.Files, "index.md"); err != nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		inside := r.URL.Path == "/docs" || strings.HasPrefix(r.URL.Path, "/docs/")
		if !inside || r.Method != http.MethodGet && r.Method != http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		all, err := read()
		if err != nil { // what is in the binary can be read
			next.ServeHTTP(w, r)
			return
		}
		all.serve(w, r)
	})
}

func (m *manual) serve(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/docs"), "/")
	page, known := m.pages[name]
	switch {
	case name == "":
		send(w, r, http.StatusOK, "text/html; charset=utf-8", m.pages["index"])
	case known:
		send(w, r, http.StatusOK, "text/html; charset=utf-8", page)
	case name == "style.css":
		send(w, r, http.StatusOK, "text/css; charset=utf-8", style)
	case name == "search":
		query := cut(r.URL.Query().Get("q"))
		found, err := m.search(r.Context(), query)
		if err != nil {
			return // nobody is there any more
		}
		m.show(w, r, http.StatusOK, shown{Title: "Search", Query: query, Searched: true, Found: found})
	case strings.HasPrefix(name, "img/"):
		picture, err := fs.ReadFile(docs.Files, name) // which takes no path with .. in it
		if err != nil {
			m.miss(w, r)
			return
		}
		send(w, r, http.StatusOK, mime.TypeByExtension(path.Ext(name)), picture)
	default:
		m.miss(w, r)
	}
}

func (m *manual) miss(w http.ResponseWriter, r *http.Request) {
	m.show(w, r, http.StatusNotFound, shown{Title: "There is no such page",
		Body: `<p>Search for it, or begin with <a href="/docs">the first page</a>.</p>`})
}

func (m *manual) show(w http.ResponseWriter, r *http.Request, status int, s shown) {
	var out bytes.Buffer
	if err := shape.Execute(&out, s); err != nil {
		http.Error(w, "this page cannot be shown", http.StatusInternalServerError)
		return
	}
	send(w, r, status, "text/html; charset=utf-8", out.Bytes())
}

func send(w http.ResponseWriter, r *http.Request, status int, kind string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "public, max-age=300")
	w.WriteHeader(status)
	if r.Method == http.MethodGet {
		_, _ = w.Write(body) // somebody who hung up wants none of it
	}
}
