package web

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
)

// Policy is what a browser may load for the page: what is here, and nothing else. There are no
// inline scripts and no inline styles.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// views are the first words of the paths at which the page is, whatever follows. What it shows
// there it decides itself.
var views = []string{"ask", "saved", "dashboards", "streams", "holdouts", "models", "owner", "playground", "account", "signin"}

// file is something to serve, also as it is sent to those who can unpack it.
type file struct {
	kind          string
	plain, packed []byte
	forever       bool // its name changes with what is in it
}

var kinds = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8",
}

// Handler puts the page before a handler, which has every other address. Where the page was left
// out of the binary it is the handler.
func Handler(next http.Handler) http.Handler {
	files, err := page()
	if !Built || err != nil { // what is in the binary can be read
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, ok := files[at(r.URL.EscapedPath())]
		if !ok || r.Method != http.MethodGet && r.Method != http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		f.send(w, r)
	})
}

// at is the name of the file at a path: that of the page itself for all of its views.
func at(p string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(p, "/"), "/")
	if p == "/" {
		return "index.html"
	}
	for _, v := range views {
		if first == v && path.Clean(p) == p {
			return "index.html"
		}
	}
	if name := strings.TrimPrefix(p, "/"); name != "index.html" {
		return name
	}
	return ""
}

// page is what is in the binary, packed once.
var page = sync.OnceValues(func() (map[string]*file, error) { return load(Files()) })

func load(from fs.FS) (map[string]*file, error) {
	out := map[string]*file{}
	err := fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		f := &file{kind: kinds[path.Ext(name)], plain: data, forever: strings.HasPrefix(name, "assets/")}
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write(data); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		f.packed = b.Bytes()
		out[name] = f
		return nil
	})
	return out, err
}

func (f *file) send(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Content-Security-Policy", Policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "no-cache")
	if f.forever {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	body := f.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = f.packed
	}
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodGet {
		w.Write(body) // who hung up wants none of it
	}
}
