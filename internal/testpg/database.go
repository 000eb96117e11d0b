package testpg

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Reader is the role that Database returns the address for. It may do what it is granted.
const Reader = "reader"

// Database makes a database of that name, runs statements in it as its administrator, and returns
// its address for Reader.
func (s *Server) Database(t testing.TB, name string, statements ...string) string {
	t.Helper()
	s.Run(t, "postgres", "CREATE DATABASE "+pgx.Identifier{name}.Sanitize()+" TEMPLATE template0")
	if err := s.run("postgres", "CREATE ROLE "+Reader+" LOGIN"); err != nil {
		var there *pgconn.PgError
		if !errors.As(err, &there) || there.Code != "42710" { // it is there already
			t.Fatal(err)
		}
	}
	s.Run(t, name, append([]string{"REVOKE CREATE ON SCHEMA public FROM PUBLIC"}, statements...)...)
	return s.address(Reader, name)
}

// Run runs statements in a database as its administrator, each in a transaction of its own.
func (s *Server) Run(t testing.TB, database string, statements ...string) {
	t.Helper()
	if err := s.run(database, statements...); err != nil {
		t.Fatal(err)
	}
}

func (s *Server) run(database string, statements ...string) error {
	ctx := context.Background()
	c, err := pgx.Connect(ctx, s.address("postgres", database))
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	for _, text := range statements {
		if _, err := c.Exec(ctx, text); err != nil {
			return errors.Join(err, errors.New("in "+strings.ToValidUTF8(text[:min(len(text), 300)], "?")))
		}
	}
	return nil
}

func (s *Server) address(user, database string) string {
	return (&url.URL{Scheme: "postgres", User: url.User(user), Path: "/" + database,
		RawQuery: s.socketParameters().Encode()}).String()
}
