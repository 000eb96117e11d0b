package pgwire

import (
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/testpg"
)

// COPY, cursors and prepared statements are PostgreSQL's own to the byte, where no question is in
// them: psql prints the same of both servers.
func TestFetchLikePostgres(t *testing.T) {
	path := client(t)
	server := testpg.Start(t)
	p := open(t, nil)
	host, port, _ := net.SplitHostPort(p.address)
	ours := exec.Command(path, "-X", "-a", "-f", "testdata/fetch.sql", "-h", host, "-p", port, "-U", "ana", "hospital")
	ours.Env = append(os.Environ(), "PGPASSWORD="+p.passwords["ana"], "PGSSLMODE=prefer")
	theirs := exec.Command(path, "-X", "-a", "-f", "testdata/fetch.sql", server.URL())
	got, err := ours.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	want, err := theirs.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
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
