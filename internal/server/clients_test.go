package server

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/test/userstest"
)

// inn is a server on a hospital, and who may ask it.
type inn struct {
	*Server
	port     int
	password string
	token    string
}

func host(t *testing.T) inn {
	t.Helper()
	return hostOf(t, "{epsilon: 20, per_query: {default: 1}}", 2000)
}

// hostOf is a server on a hospital of some people, with a budget.
func hostOf(t testing.TB, budget string, people int) inn {
	t.Helper()
	return hostWith(t, budget, people, Config{Rate: 1_000_000})
}

// hostWith is such a server with limits of its own.
func hostWith(t testing.TB, budget string, people int, c Config) inn {
	t.Helper()
	dir := t.TempDir()
	must(t, hospital.New(people, 1).Write(filepath.Join(dir, "data")))
	c.Policy, c.Users = filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "users")
	c.Listen, c.HTTP, c.Version = "127.0.0.1:0", "127.0.0.1:0", "test"
	text := "datasets:\n" + hospital.Dataset("hospital", "data", budget) +
		"    release: immediate\n    views:\n      elderly: SELECT sex, cost FROM patients WHERE age >= 65\n"
	must(t, os.WriteFile(c.Policy, []byte(text), 0o600))
	password, token := addAna(t, c)
	s := opened(t, c)
	return inn{s, s.WireAddr().(*net.TCPAddr).Port, password, token}
}

// said compares what a program printed with a file.
func said(t *testing.T, file string, c *exec.Cmd) {
	t.Helper()
	out, err := c.CombinedOutput()
	want, readErr := os.ReadFile(file)
	if err != nil || readErr != nil || string(out) != string(want) {
		t.Errorf("%v %v\nprinted\n%s\nand not\n%s", err, readErr, out, want)
	}
}

// TestJDBC is PostgreSQL's own JDBC driver, where Java and the driver are at hand.
func TestJDBC(t *testing.T) {
	const driver = "/usr/share/java/postgresql.jar" // Debian's libpostgresql-jdbc-java
	java, err := exec.LookPath("java")
	if _, missing := os.Stat(driver); err != nil || missing != nil {
		t.Skip("there is no Java, or no JDBC driver of PostgreSQL: install default-jdk-headless and libpostgresql-jdbc-java")
	}
	if modules, err := exec.Command(java, "--list-modules").Output(); err != nil || !strings.Contains(string(modules), "jdk.compiler") {
		t.Skip("this Java cannot compile: install default-jdk-headless")
	}
	before := userstest.Rounds
	userstest.Rounds = 4096 // it takes no fewer
	g := host(t)
	userstest.Rounds = before
	said(t, "testdata/jdbc.txt", exec.Command(java, "-cp", driver, "testdata/Client.java",
		fmt.Sprintf("jdbc:postgresql://127.0.0.1:%d/hospital", g.port), "ana", g.password))
}

// TestPsycopg is Python's driver, and SQLAlchemy where that is at hand too.
func TestPsycopg(t *testing.T) {
	python := os.Getenv("DISCREET_PYTHON") // one with psycopg, such as of a virtual environment
	if python == "" {
		python = "python3"
	}
	if err := exec.Command(python, "-c", "import psycopg").Run(); err != nil {
		t.Skip("there is no Python with psycopg: install python3-psycopg, or name one in DISCREET_PYTHON")
	}
	g := host(t)
	want := "testdata/psycopg.txt"
	if exec.Command(python, "-c", "import sqlalchemy").Run() == nil {
		want = "testdata/sqlalchemy.txt"
	}
	said(t, want, exec.Command(python, "testdata/client.py", fmt.Sprintf("127.0.0.1/%d/hospital", g.port), "ana", g.password))
}
