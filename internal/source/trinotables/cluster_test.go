package trinotables

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/test/testtrino"
)

func at(t *testing.T, address string, tags ...string) (*Cluster, *sql.DB) {
	t.Helper()
	p, err := Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	db, err := p.Open(tags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return p, db
}

func ask(ctx context.Context, db *sql.DB, text string) error {
	rows, err := db.QueryContext(ctx, text)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
	}
	return rows.Err()
}

// TestAsk: an administrator sees who asks, statements run with what we say, and what goes wrong has
// words for the owner and one text for everybody else.
func TestAsk(t *testing.T) {
	c := testtrino.Shared(t)
	p, db := at(t, c.Address(testtrino.Reader, "tpch", "tiny"), "dataset-clinic")
	var source, user, zone string
	if err := db.QueryRow("SELECT source, \"user\", current_timezone() FROM system.runtime.queries WHERE query LIKE '%whoasks'||'%' AND "+
		"'whoasks' <> ''").Scan(&source, &user, &zone); err != nil || source != ClientName || user != testtrino.Reader || zone != "UTC" {
		t.Errorf("%s, %s, %s, %v", source, user, zone, err)
	}
	for text, says := range map[string]string{
		"SELECT * FROM nowhere.a.b":                    "Catalog 'nowhere' not found",
		"SELECT * FROM memory.nowhere.b":               "Schema 'nowhere' does not exist",
		"SELECT * FROM nosuch":                         "Table 'tpch.tiny.nosuch' does not exist",
		"DELETE FROM orders":                           "the user discreet is not allowed to do what is needed",
		"SELECT 1 / (orderkey - orderkey) FROM orders": "Division by zero",
	} {
		err := ask(t.Context(), db, text)
		if err == nil || !strings.Contains(p.Why(err), says) {
			t.Errorf("%s: %v", text, err)
			continue
		}
		failure := p.Fail(t.Context(), "clinic", err)
		var explained interface{ Explain() string }
		if !errors.As(failure, &explained) || !strings.Contains(explained.Explain(), says) ||
			failure.Error() != "the Trino cluster of the dataset clinic cannot be asked; ask the owner to run 'discreet check', "+
				"which says why" {
			t.Errorf("%s: %v", text, failure)
		}
	}
	// What one statement sets is not what the next one runs with.
	if err := ask(t.Context(), db, "SET SESSION optimize_metadata_queries = true"); err != nil {
		t.Error(err)
	}
	var property [5]string
	if err := db.QueryRow("SHOW SESSION LIKE 'optimize_metadata_queries'").Scan(&property[0], &property[1], &property[2], &property[3],
		&property[4]); err != nil || property[1] != "false" {
		t.Errorf("%v, %v", property, err)
	}
}

// TestCancel: a context that ends, ends the statement on the cluster, too.
func TestCancel(t *testing.T) {
	c := testtrino.Shared(t)
	_, db := at(t, c.Address(testtrino.Reader, "tpch", "sf1000"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	mark := fmt.Sprintf("canceled at %d", time.Now().UnixNano())
	err := ask(ctx, db, "SELECT sum(length(comment)) FROM lineitem WHERE comment <> '"+mark+"'")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		rows := c.Rows(t, testtrino.Admin, "SELECT state, error_code FROM system.runtime.queries WHERE query LIKE '%"+mark+"%' AND "+
			"source = 'discreet'")
		if len(rows) == 1 && rows[0][0] == "FAILED" && rows[0][1] == "USER_CANCELED" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("it runs on: %v", rows)
		}
	}
}

// TestNobody: where nobody listens, or somebody who is no Trino, it is said at once.
func TestNobody(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	closed := httptest.NewServer(nil)
	closed.Close()
	tls := httptest.NewTLSServer(http.NotFoundHandler())
	defer tls.Close()
	at1 := func(s *httptest.Server, options string) string {
		u, _ := url.Parse(s.URL)
		return "trino://ana@" + u.Host + "/c/s" + options
	}
	for address, says := range map[string]string{
		at1(closed, "?sslmode=disable"): "nothing is listening there (connection refused)",
		"trino://a@nowhere.invalid/c/s": "nothing is listening there (no such host)",
		at1(other, "?sslmode=disable"):  "the program listening there is not Trino",
		at1(other, ""):                  "it has no TLS on this port",
		at1(tls, "?sslmode=disable"):    "the program listening there is not Trino",
		at1(tls, ""):                    "from an authority that is unknown here",
	} {
		p, db := at(t, address)
		begun := time.Now()
		if err := ask(t.Context(), db, "SELECT 1"); err == nil || !strings.Contains(p.Why(err), says) ||
			time.Since(begun) > 10*time.Second {
			t.Errorf("%s: %v after %v", address, p.Why(err), time.Since(begun))
		}
	}
}

// TestWall: a server that sends us elsewhere for the rest of an answer learns nothing there of who
// we are, and gets no request that is not encrypted.
func TestWall(t *testing.T) {
	var heard []string
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		heard = append(heard, fmt.Sprint(r.URL, r.Header))
	}))
	defer elsewhere.Close()
	trino := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"id": "q", "nextUri": elsewhere.URL + "/v1/next",
			"stats": map[string]any{"state": "QUEUED"}})
	}))
	defer trino.Close()
	u, _ := url.Parse(trino.URL)
	p, db := at(t, "trino://ana@"+u.Host+"/c/s?sslmode=disable")
	err := ask(t.Context(), db, "SELECT 1")
	if err == nil || !strings.Contains(p.Why(err), "an address that is not its own") || len(heard) > 0 {
		t.Errorf("%v, %v", err, heard)
	}
	secure, err := Parse("trino://ana@trino.example.org/c/s")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, address, header string
		passes                  bool
	}{
		{"GET", "https://storage.example.org/segment", "", true},
		{"GET", "https://storage.example.org/segment", "X-Trino-User", false},
		{"GET", "https://storage.example.org/segment", "Authorization", false},
		{"GET", "http://storage.example.org/segment", "", false},
		{"GET", "http://trino.example.org/segment", "", false},
		{"POST", "https://storage.example.org/segment", "", false},
		{"DELETE", "https://storage.example.org/segment", "", false},
	} {
		r, _ := http.NewRequest(c.method, c.address, nil)
		if c.header != "" {
			r.Header.Set(c.header, "ana")
		}
		if err := secure.transport.apart(r); (err == nil) != c.passes {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestSecure: certificates, passwords and tokens, at a cluster that wants them.
func TestSecure(t *testing.T) {
	c := testtrino.Secure(t)
	good := c.Address(testtrino.Reader, "tpch", "tiny")
	p, db := at(t, good)
	if err := ask(t.Context(), db, "SELECT count(*) FROM orders"); err != nil {
		t.Fatal(p.Why(err))
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	with := func(options map[string]string) string {
		u, _ := url.Parse(good)
		q := url.Values{"sslrootcert": u.Query()["sslrootcert"]}
		for name, value := range options {
			q.Set(name, value)
			if value == "" {
				q.Del(name)
			}
		}
		u.RawQuery = q.Encode()
		return u.String()
	}
	for _, x := range []struct {
		options map[string]string
		says    string
	}{
		{map[string]string{"passwordfile": write("wrong", "not the password")}, "does not accept the password"},
		{map[string]string{}, "no password was given"},
		{map[string]string{"tokenfile": write("bad.jwt", "a.b.c")}, "does not accept the token"},
		{map[string]string{"sslrootcert": ""}, "authority that is unknown here"},
	} {
		p, db := at(t, with(x.options))
		if err := ask(t.Context(), db, "SELECT 1"); err == nil || !strings.Contains(p.Why(err), x.says) {
			t.Errorf("%v: %v", x.options, p.Why(err))
		}
	}
	file := write("token", token(t, c, testtrino.Reader, time.Minute))
	p, db = at(t, with(map[string]string{"tokenfile": file}))
	if err := ask(t.Context(), db, "SELECT 1"); err != nil {
		t.Error(p.Why(err))
	}
	// It expires, and is replaced while the handle is open.
	write("token", token(t, c, testtrino.Reader, -time.Hour))
	if err := ask(t.Context(), db, "SELECT 1"); err == nil || !strings.Contains(p.Why(err), "does not accept the token") {
		t.Error(err)
	}
	write("token", token(t, c, testtrino.Reader, time.Minute))
	if err := ask(t.Context(), db, "SELECT 1"); err != nil {
		t.Error(p.Why(err))
	}
	write("token", "")
	if err := ask(t.Context(), db, "SELECT 1"); err == nil || !strings.Contains(p.Why(err), "cannot be read, is empty") {
		t.Error(err)
	}
}

// token signs a JWT with the key of a cluster.
func token(t *testing.T, c *testtrino.Cluster, user string, valid time.Duration) string {
	t.Helper()
	text, err := os.ReadFile(c.Secret("jwt.key"))
	if err != nil {
		t.Fatal(err)
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	head := encode([]byte(`{"alg":"HS256"}`)) + "." + encode(fmt.Appendf(nil, `{"sub":%q,"exp":%d}`, user, time.Now().Add(valid).Unix()))
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(head))
	return head + "." + encode(mac.Sum(nil))
}
