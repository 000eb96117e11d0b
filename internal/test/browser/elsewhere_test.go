package browser

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-rod/rod/lib/proto"
)

func read(t testing.TB, dir string, d *proto.PageDownloadWillBegin) string {
	t.Helper()
	if d == nil {
		t.Fatal("nothing was saved")
	}
	text, err := os.ReadFile(filepath.Join(dir, d.GUID))
	must(t, err)
	return string(text)
}

// elsewhere: what is copied for psql, curl, Python and R is run as it was copied, with whatever a
// question may have in it, and gives the same answer, for nothing.
func elsewhere(t *testing.T, w *world) {
	tb := w.open(t, "/ask?dataset=hospital&epsilon=0.05", "ana")
	tb.ask(`SELECT sex AS "it's $HOME \n", COUNT(*) AS n FROM patients WHERE diagnosis <> 'a''b\c"d' GROUP BY sex ORDER BY n`)
	a := tb.last()
	tb.click("button", "^Use elsewhere$")
	tb.reads("noise intervals hold with probability 0.95.*record [0-9]+ of the ledger")
	copied := map[string]string{}
	for _, e := range tb.page.MustElements("dialog div") {
		copied[e.MustElement("h3").MustText()] = e.MustElement("pre").MustText()
	}
	_, port, err := net.SplitHostPort(w.server.WireAddr().String())
	must(t, err)
	run := func(env []string, name string, args ...string) string {
		t.Helper()
		path, err := exec.LookPath(name)
		if err != nil {
			t.Logf("there is no %s", name)
			return ""
		}
		c := exec.Command(path, args...)
		c.Env = append(append(os.Environ(), "PGPASSWORD="+w.passwords["ana"], "PGPORT="+port), env...)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s\n%s", name, err, args, out)
		}
		return string(out)
	}
	if _, err := exec.LookPath("psql"); err == nil {
		out := run(nil, "sh", "-c", copied["psql"]+" -X -A -t")
		for _, row := range a.Rows {
			if want := fmt.Sprintf("%v|%v\n", row[0], row[1]); !strings.Contains(out, want) {
				t.Errorf("psql says %s, which has no %s", out, want)
			}
		}
	}
	if _, err := exec.LookPath("curl"); err == nil {
		token := tb.eval(`async () => (await (await fetch('/v1/tokens', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"label": "x"}' })).json()).secret`).Str()
		out := run([]string{"TOKEN=" + token}, "sh", "-c", strings.Replace(copied["curl"], "curl ", "curl -sS ", 1))
		if want := strings.ReplaceAll(fmt.Sprint(a.Rows[0][1]), " ", ""); !strings.Contains(out, `"free":true`) || !strings.Contains(out, want) {
			t.Errorf("curl says %s", out)
		}
	}
	run(nil, "python3", "-c", "import ast, sys; ast.parse(sys.argv[1])", copied["Python"])
	for name, want := range map[string]string{"R": `(?s)^library\(discreet\).*discreet_ask\(con, ".*", epsilon = 0.05\)$`,
		"Python": `(?s)^import discreet .*db\.ask\(".*", epsilon=0.05\)\)$`, "psql": ":" + port + "/"} {
		if !regexp.MustCompile(want).MatchString(copied[name]) {
			t.Errorf("%s has %s", name, copied[name])
		}
	}
}
