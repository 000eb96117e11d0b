package address

import (
	"strings"
	"testing"
)

func TestIsHere(t *testing.T) {
	for host, want := range map[string]bool{"/run/postgresql": true, "localhost": true, "127.0.0.1": true, "127.9.9.9": true, "::1": true,
		"": false, "db.example.org": false, "localhost.evil.org": false, "10.0.0.1": false, "@abstract": false, "0.0.0.0": false,
		"[::1]": false, "LOCALHOST": false, "127.0.0.1.evil.org": false} {
		if IsHere(host) != want {
			t.Errorf("%q: %v", host, !want)
		}
	}
	for text, want := range map[string]bool{"postgres://a/b": true, "postgresql://a/b": true, "Postgres://a": false, "a.duckdb": false,
		"host=a": false, "trino://a/b": false} {
		if IsPostgres(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
	for text, want := range map[string]bool{"trino://a/b": true, "Trino://a": false, "postgres://a/b": false, "jdbc:trino://a": false} {
		if IsTrino(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

func TestTrino(t *testing.T) {
	got, err := ParseTrino("trino://ana@Trino.Example.org:8443/Lake/hos%20pital?sslrootcert=/ca.pem&passwordfile=/p")
	want := Trino{User: "ana", Host: "Trino.Example.org", Port: "8443", Catalog: "lake", Schema: "hos pital", Root: "/ca.pem",
		PasswordFile: "/p"}
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if got.Where() != "trino://trino.example.org:8443" {
		t.Error(got.Where())
	}
	for _, c := range []struct{ text, port, where string }{
		{"trino://a@h.example/c", "443", "trino://h.example:443"},
		{"trino://a@127.0.0.1/c/s/?sslmode=disable", "8080", "trino://localhost:8080"},
		{"trino://a@[::1]:99/c/s?sslmode=verify-full", "99", "trino://localhost:99"},
	} {
		if got, err := ParseTrino(c.text); err != nil || got.Port != c.port || got.Where() != c.where {
			t.Errorf("%s: %+v, %v", c.text, got, err)
		}
	}
}

// TestTrinoRefused: nothing is asked without TLS on another machine, no secret is in an address,
// and nothing in it sets what statements run with. What is wrong is said without repeating it.
func TestTrinoRefused(t *testing.T) {
	for text, says := range map[string]string{
		"trino://a@h/c/s?sslmode=disable":                                     "another machine",
		"trino://a@localhost.evil.org/c/s?sslmode=disable":                    "another machine",
		"trino://a@h/c/s?sslmode=verify-ca":                                   "unknown sslmode",
		"trino://a@h/c/s?sslmode=require":                                     "unknown sslmode",
		"trino://a:secret@h/c/s":                                              "password",
		"trino://a@h/c/s?password=secret":                                     "password",
		"trino://a@h/c/s?accessToken=secret":                                  "password",
		"trino://a@h/c/s?session_properties=secret:1":                         "session properties",
		"trino://a@h/c/s?secret=1":                                            "option",
		"trino://a@h/c/s?sslmode=verify-full&sslmode=disable":                 "twice",
		"trino://a@h/c/s?tokenfile=":                                          "twice, or empty",
		"trino://a@h/c/s?tokenfile=/a&passwordfile=/b":                        "one of them",
		"trino://a@h/c/s?sslcert=/a":                                          "write both",
		"trino://a@localhost/c/s?sslmode=disable&tokenfile=/secret":           "no password",
		"trino://a@localhost/c/s?sslmode=disable&sslcert=/secret&sslkey=/key": "no password",
		"trino://h/c/s":         "user",
		"trino://a@/c/s":        "user and a host",
		"trino://a@h1,h2/c/s":   "more than one host",
		"trino://a@h/":          "catalog",
		"trino://a@h":           "catalog",
		"trino://a@h//s":        "catalog",
		"trino://a@h/c/s/t":     "catalog",
		"trino://a@h/c/s%22":    "catalog",
		"trino://a@h/c/s%0a":    "catalog",
		"trino://a%0d%0a@h/c/s": "user",
		"trino://a@h/c/s#x":     "not the address of a Trino",
		"trino://a@h/c/s?%zz":   "do not parse",
		"trino:a":               "not the address of a Trino",
		"http://a@h/c/s":        "not the address of a Trino",
	} {
		_, err := ParseTrino(text)
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
