package policycheck

import (
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"testing"
)

// forwardPort listens on another port and hands everything on, as a proxy before a coordinator does:
// what is answered has the proxy's address in it.
func forwardPort(t *testing.T, host string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	to := &url.URL{Scheme: "http", Host: host}
	s := &http.Server{Handler: &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host
	}}}
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	return l.Addr().String()
}
