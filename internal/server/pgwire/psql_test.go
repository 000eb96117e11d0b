package pgwire

import (
	"crypto/tls"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/test/golden"
	"github.com/discreet-dp/discreet/internal/test/testpg"
)

// noisyLine are the rows of answers, which are different each time; what they cost and how far off
// they are is not.
var noisyLine = regexp.MustCompile(`(?m)^(?:[FMX]\|.*|-?[0-9]+)$`)

var digits = regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?`)

// psqlPath finds psql, which may be missing where nobody needs it.
func psqlPath(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("psql")
	if err != nil {
		if os.Getenv("DISCREET_NEED_POSTGRES") != "" {
			t.Fatal(err)
		}
		t.Skip("there is no psql")
	}
	return path
}

// With TLS, libpq binds its login to the certificate, and does not come in without TLS.
func TestPsqlTLS(t *testing.T) {
	path := psqlPath(t)
	fixed := newCertificate(t)
	renewed := &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		return &newCertificate(t).Certificates[0], nil // another one each time
	}}
	for _, config := range []*tls.Config{fixed, renewed} {
		psqlTLS(t, path, config)
	}
}

func psqlTLS(t *testing.T, path string, config *tls.Config) {
	p := startTestServer(t, func(o *Options) { o.TLS = config })
	host, port, _ := net.SplitHostPort(p.address)
	for settings, want := range map[string]string{
		"sslmode=require channel_binding=require": "0.5\n",
		"sslmode=prefer":  "0.5\n",
		"sslmode=disable": "the server takes connections with TLS only",
	} {
		cmd := exec.Command(path, "-X", "-A", "-t", "-c", "SHOW dp.epsilon",
			"host="+host+" port="+port+" user=ana dbname=hospital options='-c dp.epsilon=0.5' "+settings)
		cmd.Env = append(os.Environ(), "PGPASSWORD="+p.passwords["ana"])
		if out, err := cmd.CombinedOutput(); !strings.Contains(string(out), want) {
			t.Errorf("%s: %s %v", settings, out, err)
		}
	}
}

// psql, from its first query to its last: everything that it prints.
func TestPsql(t *testing.T) {
	path := psqlPath(t)
	p := startTestServer(t, nil)
	host, port, _ := net.SplitHostPort(p.address)
	cmd := exec.Command(path, "-X", "-f", "testdata/session.sql", "-h", host, "-p", port, "-U", "ana", "hospital")
	cmd.Env = append(os.Environ(), "PGPASSWORD="+p.passwords["ana"], "PGSSLMODE=prefer", "LC_ALL=C.UTF-8", "PSQL_PAGER=", "PAGER=",
		"PGOPTIONS=-c dp.confidence=0.9")
	out, err := cmd.CombinedOutput()
	got := strings.ReplaceAll(string(out), port, "PORT")
	got = noisyLine.ReplaceAllStringFunc(got, func(line string) string { return digits.ReplaceAllString(line, "#") })
	got = regexp.MustCompile(`[0-9a-f]{64}`).ReplaceAllString(got, "HASH")
	got = regexp.MustCompile(`\((psql|PostgreSQL|server)[^)]*\)|psql \([^)]*\)`).ReplaceAllString(got, "(...)")
	const file = "testdata/session.txt"
	if golden.Rewriting() {
		must(t, os.WriteFile(file, []byte(got), 0o644))
	}
	text, _ := os.ReadFile(file)
	want := string(text)
	if version, _ := exec.Command(path, "--version").Output(); !strings.Contains(string(version), " 15.") {
		// Another psql draws what there is in its own way. It must find it all the same.
		const question = "== a question"
		drawn, rest, _ := strings.Cut(got, question)
		if strings.Contains(drawn, "ERROR") || !strings.Contains(drawn, "patients") {
			t.Errorf("%s\n%s", version, drawn)
		}
		_, wanted, _ := strings.Cut(want, question)
		got, want = rest, wanted
	}
	if got == want {
		return
	}
	is, should := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(is), len(should)) {
		if i >= len(is) || i >= len(should) || is[i] != should[i] {
			t.Fatalf("psql ended with %v. From line %d of %s on it printed\n%s\nand not\n%s\nsee -rewrite", err, i+1, file,
				linesAround(is, i), linesAround(should, i))
		}
	}
}

// linesAround are some of the lines from a place on.
func linesAround(lines []string, from int) string {
	from = min(from, len(lines))
	return strings.Join(lines[from:min(len(lines), from+10)], "\n")
}

// COPY, cursors and prepared statements are PostgreSQL's own to the byte, where no question is in
// them: psql prints the same of both servers.
func TestFetchLikePostgres(t *testing.T) {
	path := psqlPath(t)
	server := testpg.Start(t)
	p := startTestServer(t, nil)
	host, port, _ := net.SplitHostPort(p.address)
	ours := exec.Command(path, "-X", "-a", "-f", "testdata/fetch.sql", "-h", host, "-p", port, "-U", "ana", "hospital")
	ours.Env = append(os.Environ(), "PGPASSWORD="+p.passwords["ana"], "PGSSLMODE=prefer")
	theirs := exec.Command(path, "-X", "-a", "-f", "testdata/fetch.sql", server.URL())
	got, err := ours.CombinedOutput()
	must(t, err)
	want, err := theirs.CombinedOutput()
	must(t, err)
	a, b := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	if len(b) < 300 {
		t.Fatalf("PostgreSQL said %d lines: %s", len(b), want)
	}
	last := ""
	for i := range b {
		if i >= len(a) || a[i] != b[i] {
			t.Fatalf("after %s\nline %d is %q and PostgreSQL has %q\n%s", last, i, a[min(i, len(a)-1)], b[i],
				strings.Join(a[max(0, i-5):min(len(a), i+5)], "\n"))
		}
		if strings.HasSuffix(b[i], ";") {
			last = b[i]
		}
	}
}
