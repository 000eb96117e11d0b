package client

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDirectory(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	write("north.token", "one\n")
	t.Setenv("SOUTH_TOKEN", "two")
	d, err := ReadDirectory(write("servers.yaml", `servers:
  north: {url: "https://north.example:8432", dataset: hospital, token_file: north.token}
  south: {url: "https://south.example/clinic", token_env: SOUTH_TOKEN}
  open: {url: "http://db.example", token_env: SOUTH_TOKEN}
  missing: {url: "https://db.example", token_file: none}
  empty: {url: "https://db.example", token_env: NOWHERE_TOKEN}
  both: {url: "https://db.example", token_file: north.token, token_env: SOUTH_TOKEN}
  nowhere: {token_env: SOUTH_TOKEN}
`))
	must(t, err)
	for name, want := range map[string]string{"north": "https://north.example:8432 hospital one",
		"north/other": "https://north.example:8432 other one",
		"south":       "https://south.example clinic two"} {
		s, err := d.Server(name)
		if err != nil || s.base+" "+s.Dataset+" "+s.token != want || s.Name != name {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
	for name, want := range map[string]string{"east": "has no server", "open": "does not use TLS", "missing": "no such file",
		"empty": "single line", "both": "token_file or a token_env", "nowhere": "is not an address"} {
		if _, err := d.Server(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	bad := write("bad.yaml", "servers:\n  north: {adress: x}\n")
	if _, err := ReadDirectory(bad); err == nil || !strings.Contains(err.Error(), "adress") {
		t.Errorf("a key that there is not: %v", err)
	}
	for _, address := range []string{"", "db.example", "ftp://db.example", "https://ana:x@db.example", "https://db.example/a/b",
		"https://db.example?x=1", "http://10.0.0.1:8432"} {
		if _, err := New(address, "x"); err == nil {
			t.Errorf("%q is taken", address)
		}
	}
}
