package pgdial

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/test/testpg"
)

// Nothing is waited for longer than the limit of silence, nor longer than a deadline that is
// earlier.
func TestNothingWaitsForEver(t *testing.T) {
	for name, c := range map[string]struct {
		silence, deadline time.Duration
	}{
		"silence":  {50 * time.Millisecond, time.Hour},
		"none set": {50 * time.Millisecond, 0},
		"deadline": {time.Hour, 50 * time.Millisecond},
		"passed":   {time.Hour, -time.Second},
	} {
		near, far := net.Pipe()
		defer near.Close()
		defer far.Close()
		b := &bounded{Conn: near, silence: c.silence}
		if c.deadline != 0 {
			if err := b.SetDeadline(time.Now().Add(c.deadline)); err != nil {
				t.Fatal(err)
			}
		}
		for what, wait := range map[string]func([]byte) (int, error){"read": b.Read, "write": b.Write} {
			begun := time.Now()
			if _, err := wait(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(begun) > 10*time.Second {
				t.Errorf("%s, %s: %v after %v", name, what, err, time.Since(begun))
			}
		}
	}
}

// A context ends a statement, also one that began before.
func TestContextEndsStatements(t *testing.T) {
	p, err := Parse(testpg.Shared(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer HangUp(c)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	begun := time.Now()
	if _, err := c.Exec(ctx, "SELECT pg_sleep(20)"); err == nil || time.Since(begun) > 10*time.Second {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
}

// Several who make a schema at once make it once, and one who may not make schemas can use one that
// is there.
func TestMake(t *testing.T) {
	address := testpg.Shared(t).URL() + "&schema=made"
	made := make(chan error, 4)
	for range cap(made) {
		go func() { made <- makes(t, address, "CREATE TABLE IF NOT EXISTS made.things ()") }()
	}
	for range cap(made) {
		if err := <-made; err != nil {
			t.Error(err)
		}
	}
	if err := makes(t, address, "CREATE ROLE plain LOGIN; GRANT CREATE, USAGE ON SCHEMA made TO plain"); err != nil {
		t.Fatal(err)
	}
	plain := strings.Replace(address, "postgres@", "plain@", 1)
	if err := makes(t, plain, "CREATE TABLE made.more ()"); err != nil {
		t.Error(err)
	}
	if err := makes(t, strings.Replace(plain, "=made", "=unmade", 1), "CREATE TABLE unmade.more ()"); err == nil {
		t.Error("a role without rights made a schema")
	}
}

func makes(t *testing.T, address, sql string) error {
	p, err := Parse(address)
	if err != nil {
		return err
	}
	c, err := p.Dial(t.Context())
	if err != nil {
		return err
	}
	defer HangUp(c)
	return p.Make(t.Context(), c, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
		return err
	})
}

// An address says one thing: the driver would take the last of two options, and what is looked at
// for TLS is the first.
func TestAddressSaysOneThing(t *testing.T) {
	const far = "postgres://me@db.example.org/x?"
	if p, err := Parse(far + "sslmode=verify-full"); err != nil || p.Config.TLSConfig == nil || p.Config.TLSConfig.InsecureSkipVerify {
		t.Errorf("%+v, %v", p, err)
	}
	for _, options := range []string{"sslmode=verify-full&sslmode=disable", "ssl=true", "host=a&host=b", "sslpassword=secret",
		"schema=a&schema=b"} {
		if _, err := Parse(far + options); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", options, err)
		}
	}
}
