package address

import "testing"

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
