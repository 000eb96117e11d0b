package testtrino

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
)

// ManyDrivers is what a statement that groups by person says of how many drivers work at a stage on
// each node: as many as are good for millions of people. A table of a test has some dozens, and
// half of the work of a cluster was to begin, count and end drivers that had nothing to do. With
// fewer, on two nodes, people are still spread and put together again.
const ManyDrivers = "task_concurrency = 32"

const fewDrivers = "task_concurrency = 4"

// withFewDrivers returns the address of a listener that passes everything on to a cluster, and
// statements with fewer drivers. It ends with the process. Only the shared cluster has it, and not
// where everything is to be run: what asks a secure one, or one of its own, asks as everybody does.
func withFewDrivers(cluster string) (string, error) {
	to, err := url.Parse(cluster)
	if err != nil {
		return "", err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host // Trino says under this name where the rest of an answer is
		},
		Transport:    &http.Transport{MaxIdleConnsPerHost: 32, DisableCompression: true},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { panic(http.ErrAbortHandler) }, // as if nobody listened
	}
	pass := func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			text, err := io.ReadAll(r.Body)
			if err != nil {
				panic(http.ErrAbortHandler)
			}
			if bytes.HasPrefix(text, []byte("WITH SESSION ")) {
				text = bytes.Replace(text, []byte(ManyDrivers), []byte(fewDrivers), 1)
			}
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		}
		proxy.ServeHTTP(w, r)
	}
	go func() { _ = http.Serve(l, http.HandlerFunc(pass)) }() // for as long as there is somebody to ask
	return "http://" + l.Addr().String(), nil
}
