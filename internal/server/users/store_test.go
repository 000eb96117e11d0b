package users

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestStore(t *testing.T) {
	f := setUp(t)
	if !regexp.MustCompile(`^([0-9a-z]{4}-){7}[0-9a-z]{4}$`).MatchString(f.password) {
		t.Errorf("drew %q", f.password)
	}
	if p, err := f.Add(ctx, "boss", Owner, "correct horse battery"); err != nil || p != "" {
		t.Errorf("got %q, %v", p, err)
	}
	if u, err := f.Password(ctx, from("boss", home), "correct horse battery"); err != nil || u.Role != Owner {
		t.Errorf("got %+v, %v", u, err)
	}
	denied(t, second(f.Password(ctx, from("boss", home), "correct horse batterz")))
	denied(t, second(f.Password(ctx, from("bob", home), "correct horse battery")))
	denied(t, second(f.Password(ctx, from("boss", home), strings.Repeat("x", 1<<20))))
	denied(t, second(f.Password(ctx, from("boss", home), "")))
	if p, err := f.Add(ctx, "ana", Owner, ""); err != ErrExists || p != "" {
		t.Errorf("got %q, %v", p, err)
	}
	if p, err := f.SetPassword(ctx, "bob", ""); err != ErrUnknown || p != "" {
		t.Errorf("got %q, %v", p, err)
	}
	if err := f.Revoke(ctx, "bob"); err != ErrUnknown {
		t.Error(err)
	}
	must(t, f.Revoke(ctx, "ana"))
	if err := f.Revoke(ctx, "ana"); err != ErrRevoked {
		t.Error(err)
	}
	all, err := f.List(ctx)
	if err != nil || len(all) != 2 || all[0].Name != "ana" || !all[0].Revoked.Equal(f.at) || all[1].Name != "boss" ||
		!all[1].Revoked.IsZero() {
		t.Errorf("got %+v, %v", all, err)
	}
	denied(t, second(f.Password(ctx, from("ana", home), f.password)))
	p, err := f.SetPassword(ctx, "ana", "")
	must(t, err)
	denied(t, second(f.Password(ctx, from("ana", home), f.password)))
	must(t, second(f.Password(ctx, from("ana", home), p)))
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for _, err := range []error{second(f.Add(ended, "carl", Analyst, "")), f.Revoke(ended, "boss"),
		second(f.Exchange(ended, from("boss", home))), second(f.epoch(ended, "boss"))} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
}

func TestPasswordsRefused(t *testing.T) {
	f := setUp(t)
	for password, says := range map[string]string{
		"short":                      "fewer than 12 characters",
		"elevenchars":                "fewer than 12 characters",
		"ääääääääääü":                "fewer than 12 characters",
		"somebody.with.a.name":       "is the same as the name",
		"Somebody.With.A.Name":       "is the same as the name",
		"aaaaaaaaaaaaaaaa":           "5 different",
		strings.Repeat("ab", 129):    "longer than 256",
		"correct horse\x00battery":   "encode differently",
		"correct\u00a0horse battery": "encode differently",
		"ﬁve correct horses":         "encode differently",
		"cafe\u0301 correct horse":   "encode differently",
		"correct horse \xff\xfe\xfd": "not UTF-8",
	} {
		var invalid *InvalidError
		_, err := f.Add(ctx, "somebody.with.a.name", Analyst, password)
		if !errors.As(err, &invalid) || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), PasswordRule) ||
			strings.Contains(err.Error(), "horse") {
			t.Errorf("%q: %v", password, err)
		}
		if _, err := f.SetPassword(ctx, "ana", password); password != "somebody.with.a.name" && password != "Somebody.With.A.Name" &&
			!errors.As(err, &invalid) {
			t.Errorf("%q: %v", password, err)
		}
	}
	for _, password := range []string{"twelve chars", "drei größere Bäume", "'; DROP TABLE users; --", "пароль подлиннее"} {
		_, err := f.SetPassword(ctx, "ana", password)
		must(t, err)
		must(t, second(login(f.Store, from("ana", home), password)))
		must(t, second(f.Password(ctx, from("ana", home), password)))
	}
}

func TestNamesRefused(t *testing.T) {
	f := setUp(t)
	for _, name := range []string{"", " ", "a b", "a/b", "ä b", "a\x00", "a\n", "'", strings.Repeat("x", 65)} {
		var invalid *InvalidError
		if _, err := f.Add(ctx, name, Analyst, ""); !errors.As(err, &invalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := f.Add(ctx, "bob", "king", ""); err == nil || !strings.Contains(err.Error(), "owner or analyst") {
		t.Error(err)
	}
	if _, err := f.Add(ctx, strings.Repeat("x", 64), Analyst, ""); err != nil {
		t.Error(err)
	}
}

// What is stored of a password, and what is said of a name that nobody has, costs whoever guesses
// as much as it should.
func TestCosts(t *testing.T) {
	s, err := Open(nowhere(t))
	require(t, err)
	defer s.Close()
	must(t, second(s.Add(ctx, "ana", Analyst, "correct horse battery")))
	r, err := s.findUser(ctx, "ana")
	require(t, err)
	for what, hash := range map[string]string{"ana's": r.argon2, "nobody's": s.keys.fakeHash("nobody")} {
		if !strings.HasPrefix(hash, "$argon2id$v=19$m=32768,t=2,p=1$") {
			t.Errorf("%s hash is %s", what, hash)
		}
	}
	must(t, second(s.Password(ctx, from("ana", home), "correct horse battery")))
	must(t, second(login(s, from("ana", home), "correct horse battery")))
	for _, name := range []string{"ana", "nobody"} {
		e, err := s.Exchange(ctx, from(name, home))
		require(t, err)
		if reply, _, err := e.Step(ctx, "n,,n=,r=clientnonce"); err != nil || !strings.HasSuffix(reply, ",i=65536") {
			t.Errorf("%s: %s, %v", name, reply, err)
		}
		e.Close()
	}
}

// A hash says what it cost, so that the cost can grow; one that cannot be read matches nothing.
func TestHashes(t *testing.T) {
	setUp(t)
	old := newHash(argonCost{64, 1, 2}, []byte("0123456789abcdef"), "password")
	if !strings.HasPrefix(old, "$argon2id$v=19$m=64,t=1,p=2$MDEyMzQ1Njc4OWFiY2RlZg$") || !hashMatches(old, "password") ||
		hashMatches(old, "Password") {
		t.Error(old)
	}
	// From the reference implementation: echo -n password | argon2 somesalt -id -t 2 -m 16 -p 1 -l
	// 32
	if !hashMatches("$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc", "password") {
		t.Error("the reference hash does not match")
	}
	for _, bad := range []string{"", "$", strings.Replace(old, "argon2id", "argon2i", 1), strings.Replace(old, "m=64", "m=4000000000", 1),
		strings.Replace(old, "m=64", "m=0", 1),
		strings.Replace(old, "t=1", "t=0", 1), strings.Replace(old, "p=2", "p=0", 1), strings.Replace(old, "m=64", "m=-1", 1),
		strings.Replace(old, "$MDEy", "$!!!!", 1), old + "$"} {
		if hashMatches(bad, "password") {
			t.Error(bad)
		}
	}
}

func TestStill(t *testing.T) {
	f := setUp(t)
	server := f.again(t)
	u, err := login(server, from("ana", home), f.password)
	must(t, err)
	must(t, second(server.epoch(ctx, "ana")))
	must(t, server.CheckAgain(ctx, u))
	denied(t, second(server.epoch(ctx, "bob")))
	p, err := f.SetPassword(ctx, "ana", "")
	must(t, err)
	must(t, second(server.epoch(ctx, "ana")))
	denied(t, server.CheckAgain(ctx, u))
	u, err = login(server, from("ana", home), p)
	must(t, err)
	must(t, server.CheckAgain(ctx, u))
	must(t, f.Revoke(ctx, "ana"))
	denied(t, second(server.epoch(ctx, "ana")))
	denied(t, server.CheckAgain(ctx, u))
}

// Several processes make the users, change it and read it at once.
func TestTogether(t *testing.T) {
	f := setUp(t)
	path := nowhere(t)
	var wait sync.WaitGroup
	for i := range 6 {
		wait.Go(func() {
			s, err := openAt(path, true, f.hand.now)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			for j := range 5 {
				name := fmt.Sprint("user", i, ".", j)
				p, err := s.Add(ctx, name, Analyst, "")
				must(t, err)
				must(t, second(s.Password(ctx, from(name, fmt.Sprint("10.0.0.", i)), p)))
				must(t, s.Revoke(ctx, name))
				denied(t, second(s.epoch(ctx, name)))
			}
		})
	}
	wait.Wait()
	s, err := Open(path)
	require(t, err)
	defer s.Close()
	if all, err := s.List(ctx); err != nil || len(all) != 30 {
		t.Errorf("%d users, %v", len(all), err)
	}
}

// TestKilled kills processes that add users: whoever was told of a user finds them.
func TestKilled(t *testing.T) {
	if path := os.Getenv("DISCREET_TEST_USERS"); path != "" {
		cheap(t)
		s, err := Open(path)
		if err != nil {
			fmt.Println("failed", err)
			os.Exit(1)
		}
		for i := 0; ; i++ {
			name := fmt.Sprint(os.Getpid(), ".", i)
			if _, err := s.Add(ctx, name, Analyst, ""); err != nil {
				fmt.Println("failed", err)
				os.Exit(1)
			}
			fmt.Println("added", name)
		}
	}
	path := nowhere(t)
	told := 0
	for round := range 6 {
		c := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		c.Env = append(os.Environ(), "DISCREET_TEST_USERS="+path)
		out, err := c.StdoutPipe()
		must(t, err)
		must(t, c.Start())
		var names []string
		for len(names) <= round {
			var verb, name string
			if _, err := fmt.Fscanln(out, &verb, &name); err != nil || verb != "added" {
				t.Fatalf("%s %s, %v", verb, name, err)
			}
			names = append(names, name)
		}
		must(t, c.Process.Kill())
		c.Wait()
		s, err := Open(path)
		require(t, err)
		for _, name := range names {
			must(t, second(s.epoch(ctx, name)))
			told++
		}
		check := "ok"
		if !inDatabase {
			must(t, s.db.QueryRow("PRAGMA integrity_check").Scan(&check))
		}
		if check != "ok" {
			t.Error(check)
		}
		must(t, s.Close())
	}
	if told != 21 {
		t.Errorf("%d were told", told)
	}
}

// What is not a file of users, or not ours alone, is refused in words and not changed.
func TestFilesRefused(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		require(t, os.WriteFile(path, []byte(text), mode))
		return path
	}
	database := func(name string, statements ...string) string {
		path := file(name, "", 0o600)
		db, err := sql.Open("sqlite", path)
		must(t, err)
		for _, s := range statements {
			_, err := db.Exec(s)
			must(t, err)
		}
		must(t, db.Close())
		return path
	}
	for _, c := range []struct{ path, says string }{
		{"", "is missing"},
		{dir, "not a regular file"},
		{filepath.Join(dir, "nowhere", "x.users"), "cannot be created"},
		{file("text", "datasets:\n", 0o600), "is not a user file"},
		{file("short", "SQLite", 0o600), "is not a user file"},
		{file("garbage", "SQLite format 3\x00"+strings.Repeat("x", 5000), 0o600), "is not a user file"},
		{database("ledger", "CREATE TABLE records (x)", "PRAGMA application_id = 5"), "is not a user file"},
		{database("tables", "CREATE TABLE users (x)"), "is not a user file"},
		{database("newer", fmt.Sprintf("PRAGMA application_id = %d", applicationID), "PRAGMA user_version = 3"), "has the format 3."},
		{database("named", fmt.Sprintf("PRAGMA application_id = %d", applicationID), "PRAGMA user_version = 4",
			"CREATE TABLE program (version TEXT)", "INSERT INTO program VALUES ('0.9.1')"),
			"has the format 4, as Discreet 0.9.1 writes it."},
	} {
		before, _ := os.ReadFile(c.path)
		s, err := Open(c.path)
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.path, err)
		}
		if after, _ := os.ReadFile(c.path); string(after) != string(before) {
			t.Errorf("%s was changed", c.path)
		}
	}
	// Another's log stays, which SQLite would put into the file.
	left := database("left")
	db, err := sql.Open("sqlite", left)
	must(t, err)
	for _, s := range []string{"PRAGMA journal_mode = wal", "PRAGMA wal_autocheckpoint = 0", "CREATE TABLE records (x)"} {
		_, err := db.Exec(s)
		must(t, err)
	}
	log, err := os.ReadFile(left + "-wal")
	must(t, err)
	body, err := os.ReadFile(left)
	must(t, err)
	must(t, db.Close())
	dead := file("dead", string(body), 0o600)
	file("dead-wal", string(log), 0o600)
	if _, err := Open(dead); err == nil || !strings.Contains(err.Error(), "is not a user file") {
		t.Error(err)
	}
	if after, err := os.ReadFile(dead + "-wal"); err != nil || len(log) == 0 || string(after) != string(log) {
		t.Errorf("the log of another program was changed: %d bytes and then %d, %v", len(log), len(after), err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	path := file("open", "", 0o600)
	for _, mode := range []os.FileMode{0o644, 0o640, 0o604, 0o602, 0o620} {
		must(t, os.Chmod(path, mode))
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("%v: %v", mode, err)
		}
	}
	must(t, os.Chmod(path, 0o600))
	s, err := Open(path) // an empty file is what a process leaves that died at once
	require(t, err)
	_, err = s.Add(ctx, "ana", Analyst, "")
	must(t, err)
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	must(t, s.Close())
}

func BenchmarkStill(b *testing.B) {
	for _, place := range []string{"file", "database"} {
		b.Run(place, func(b *testing.B) {
			inDatabase = place == "database"
			defer func() { inDatabase = false }()
			f := setUp(b)
			for b.Loop() {
				if err := second(f.epoch(ctx, "ana")); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkToken(b *testing.B) {
	f := setUp(b)
	secret, _, err := f.NewToken(ctx, "ana", "", time.Time{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := f.Token(ctx, Attempt{Address: home, Listener: "http"}, secret); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPassword is with the cost of today.
func BenchmarkPassword(b *testing.B) {
	memory := hashCost.memory
	f := setUp(b)
	hashCost.memory = memory
	p, err := f.SetPassword(ctx, "ana", "")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := f.Password(ctx, from("ana", home), p); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkExchange has the client's work in it, with the cost of today.
func BenchmarkExchange(b *testing.B) {
	rounds := scramRounds
	f := setUp(b)
	scramRounds = rounds
	var err error
	if f.password, err = f.SetPassword(ctx, "ana", ""); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		drivers.Clear()
		if _, err := login(f.Store, from("ana", home), f.password); err != nil {
			b.Fatal(err)
		}
	}
}
