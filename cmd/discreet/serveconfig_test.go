package main

import (
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/ownercmd"
)

// understands returns what serve understands of flags, the environment and a file, without serving.
func understands(args ...string) (ownercmd.ServeCmd, error) {
	var c cli
	parser, err := kong.New(&c, kong.Writers(io.Discard, io.Discard), kong.Exit(func(int) {}), kong.Vars{"listen": ownercmd.DefaultListen,
		"http": ownercmd.DefaultHTTP})
	if err == nil {
		_, err = parser.Parse(append([]string{"serve"}, args...))
	}
	return c.Serve, err
}

// Flags have precedence over the environment, and that over the file, and that over what is usual.
func TestServePrecedence(t *testing.T) {
	file := write(t, filepath.Join(t.TempDir(), "server.yaml"),
		"rate: 3\nrunning: 3\nconnections: 3\nplaintext: true\nlog-texts: false\nlisten: ''\nhttp:\ntimeout: 3m\npolicy: p.yaml\nusers: "+
			"/u.users\nlog-format: json\n")
	t.Setenv("DISCREET_RATE", "2")
	t.Setenv("DISCREET_RUNNING", "2")
	t.Setenv("DISCREET_LOG_TEXTS", "true")
	t.Setenv("DISCREET_THREADS", "2")
	for _, by := range []string{"flag", "environment"} {
		args := []string{"--rate", "1"}
		if by == "flag" {
			args = append(args, "--config", file)
			t.Setenv("DISCREET_CONFIG", "nowhere.yaml")
		} else {
			t.Setenv("DISCREET_CONFIG", file)
		}
		c, err := understands(args...)
		must(t, err)
		want := ownercmd.ServeCmd{
			Config: file, Policy: filepath.Join(filepath.Dir(file), "p.yaml"), Users: "/u.users", Plaintext: true, Running: 2,
			Waiting: 200, Timeout: 3 * time.Minute, Rate: 1, Patience: 10 * time.Second,
			Connections: 3, SessionIdle: 30 * time.Minute, SessionLength: 12 * time.Hour, OpenIDClaim: "email",
			Threads: 2, LogFormat: "json", LogLevel: "info", LogTexts: true,
			ShutdownTimeout: 30 * time.Second,
		}
		if c != want {
			t.Errorf("by %s:\n got %+v\nwant %+v", by, c, want)
		}
	}
}

// The address of a database is no file of the folder.
func TestServeUsersInDatabase(t *testing.T) {
	t.Parallel()
	for _, users := range []string{"postgres://u@h/d", "postgresql://u@h/d?schema=s"} {
		file := write(t, filepath.Join(t.TempDir(), "server.yaml"), "users: "+users+"\n")
		if c, err := understands("--config", file); err != nil || c.Users != users {
			t.Errorf("got %q, %v", c.Users, err)
		}
	}
}

// What is wrong in the file is said with its place.
func TestServeFileSays(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"policy: a\nrat: 3\n":                 "server.yaml:2:1: there is no key \"rat\"; the keys are policy, users, listen",
		"config: a\n":                         "server.yaml:1:1: there is no key \"config\"",
		"demo: true\n":                        "server.yaml:1:1: there is no key \"demo\"",
		"help: true\n":                        "server.yaml:1:1: there is no key \"help\"",
		"rate: 1\n\nrate: 2\n":                "server.yaml:3:1: rate is given twice, first in line 1",
		"rate: [1]\n":                         "server.yaml:1:7: rate must be a single value",
		"a: 1\nb: 2\n":                        "server.yaml:2:1: there is no key \"b\"",
		"rate: many\n":                        "server.yaml:1:7: ",
		"\ntimeout: 5\n":                      "server.yaml:2:10: ",
		"log-format: xml\n":                   "server.yaml:1:13: must be one of text, json",
		"plaintext: perhaps\n":                "server.yaml:1:12: ",
		"- policy\n":                          "server.yaml:1:1: write keys and values, such as policy: hospital.yaml",
		"policy: a\n---\npolicy: b\n":         "more than one document",
		"policy: {\n":                         "server.yaml: ",
		"policy: &a x\nusers: *a\n":           "server.yaml:2:8: users must be a single value",
		"policy: \xff\n":                      "server.yaml: ",
		strings.Repeat("#\n", 1<<20) + "a: 1": "", // what is behind a mebibyte is not read
	} {
		file := write(t, filepath.Join(t.TempDir(), "server.yaml"), text)
		if _, err := understands("--config", file); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: got %v", text, err)
		}
	}
	for _, text := range []string{"", "# nothing\n", "---\n"} {
		if _, err := understands("--config", write(t, filepath.Join(t.TempDir(), "server.yaml"), text)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// The example has every key, and says what is usual.
func TestServeExample(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "deploy", "server.yaml")
	got, err := understands("--config", path)
	must(t, err)
	usual, err := understands()
	must(t, err)
	usual.Config, usual.Policy, usual.Memory, usual.LogFormat = got.Config, got.Policy, "2GB", "json"
	if got != usual || got.Policy != filepath.Join(filepath.Dir(path), "hospital.yaml") {
		t.Errorf("it says %+v\nusual is %+v", got, usual)
	}
	text := contents(t, path)
	help := command("serve", "--help").wants(t, 0).out
	for _, m := range regexp.MustCompile(`(?m)^ +(?:-\w, |    )--([a-z-]+)`).FindAllStringSubmatch(help, -1) {
		if key := m[1]; key != "help" && key != "config" && key != "demo" && !regexp.MustCompile(`(?m)^(# )?`+key+`: `).MatchString(text) {
			t.Errorf("the example has no key %s", key)
		}
	}
}

// The unit is one that systemd understands, with little in its reach.
func TestServiceUnit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("there is no systemd-analyze")
	}
	unit := contents(t, filepath.Join("..", "..", "deploy", "discreet.service"))
	// The program has to be there for the check.
	file := write(t, filepath.Join(t.TempDir(), "discreet.service"), strings.Replace(unit, "/usr/local/bin/discreet",
		"/bin/true", 1))
	if out, err := exec.Command("systemd-analyze", "verify", "--man=no", file).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := exec.Command("systemd-analyze", "security", "--offline=yes", "--threshold=20", file).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	for _, want := range []string{"Type=notify", "serve --config /etc/discreet/server.yaml", "LimitCORE=0"} {
		if !strings.Contains(unit, want) {
			t.Errorf("the unit has no %s", want)
		}
	}
}

// The image runs as nobody in particular, and its variables are those that serve reads.
func TestDockerfile(t *testing.T) {
	text := contents(t, filepath.Join("..", "..", "deploy", "Dockerfile"))
	for _, m := range regexp.MustCompile(`(DISCREET_[A-Z_]+)=(\S+)`).FindAllStringSubmatch(text, -1) {
		t.Setenv(m[1], m[2])
	}
	c, err := understands()
	must(t, err)
	if c.Policy == "" || c.TLSCert == "" || c.TLSKey == "" || c.Listen != "0.0.0.0:5432" || c.HTTP != "0.0.0.0:8432" ||
		c.LogFormat != "json" {
		t.Errorf("it says %+v", c)
	}
	images := regexp.MustCompile(`(?m)^FROM (\S+)`).FindAllStringSubmatch(text, -1)
	if len(images) != 2 || strings.Contains(images[0][1]+images[1][1], "/") || !strings.Contains(text, "\nUSER 65532") {
		t.Errorf("the images are %v", images)
	}
}
