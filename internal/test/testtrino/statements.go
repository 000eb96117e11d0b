package testtrino

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/trinodb/trino-go-client/trino"
)

// Schema makes a schema in a catalog (memory, hive, iceberg, delta), under a name that no other
// has, and returns its name. It goes with its tables when the test ends.
func (c *Cluster) Schema(t testing.TB, catalog string) string {
	t.Helper()
	name := fmt.Sprintf("t%x_%x_%x", time.Now().UnixNano(), os.Getpid(), schemas.Add(1))
	c.Run(t, "CREATE SCHEMA "+catalog+"."+name)
	if !c.own { // what ends with the test has nothing to clear up, and may be dead by then
		t.Cleanup(func() {
			if _, err := c.ask(t, Admin, "DROP SCHEMA "+catalog+"."+name+" CASCADE"); err != nil {
				t.Errorf("the schema %s.%s stays: %v", catalog, name, err)
			}
		})
	}
	return name
}

var schemas atomic.Int64

// Alone makes a schema in a catalog that is called like the user who may read it and nothing else,
// and returns that name. Nobody else has it until the test ends.
func (c *Cluster) Alone(t testing.TB, catalog string) (user string) {
	t.Helper()
	for i := range soleReaders { // that there is none yet is the lock, of all tests of all processes
		user = fmt.Sprintf("alone_%d", 1+(os.Getpid()+i)%soleReaders)
		_, err := c.ask(t, Admin, "CREATE SCHEMA "+catalog+"."+user)
		if err == nil {
			if !c.own {
				t.Cleanup(func() {
					if _, err := c.ask(t, Admin, "DROP SCHEMA "+catalog+"."+user+" CASCADE"); err != nil {
						t.Errorf("the schema %s.%s stays: %v", catalog, user, err)
					}
				})
			}
			return user
		}
		if !strings.Contains(err.Error(), "already exists") {
			t.Fatal(err)
		}
	}
	t.Fatalf("every schema of catalog %s that one user may read alone is taken: drop those that no test uses", catalog)
	return ""
}

// soleReaders is how many users there are who may read one schema, as deploy/trino/rules.json says.
const soleReaders = 24

// Run runs statements as the administrator.
func (c *Cluster) Run(t testing.TB, statements ...string) {
	t.Helper()
	for _, text := range statements {
		c.Rows(t, Admin, text)
	}
}

// Rows returns what a statement returns to a user, each value as text.
func (c *Cluster) Rows(t testing.TB, user, statement string) [][]string {
	t.Helper()
	rows, err := c.ask(t, user, statement)
	if err != nil {
		t.Fatalf("%v\nin %s", err, strings.ToValidUTF8(statement[:min(len(statement), 300)], "?"))
	}
	return rows
}

// Column returns the first column of what a statement returns to the administrator, or why it does
// not, where a cluster need not be there.
func (c *Cluster) Column(t testing.TB, statement string) ([]string, error) {
	rows, err := c.ask(t, Admin, statement)
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = r[0]
	}
	return out, err
}

// DB returns a handle on the cluster for a user, which is closed with the test.
func (c *Cluster) DB(t testing.TB, user string) *sql.DB {
	t.Helper()
	db, err := c.open(user)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func (c *Cluster) open(user string) (*sql.DB, error) {
	config, err := c.config(user)
	if err != nil {
		return nil, err
	}
	connector, err := trino.NewConnector(config)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

func (c *Cluster) config(user string) (*trino.Config, error) {
	u, err := url.Parse(c.URL)
	if err != nil {
		return nil, err
	}
	u.User = url.User(user)
	config := trino.Config{Source: "testtrino"}
	if u.Scheme == "https" {
		password, err := os.ReadFile(c.Secret(user + ".password"))
		if err != nil {
			return nil, err
		}
		u.User = url.UserPassword(user, string(password))
		config.SSLCertPath = c.Secret("authority.crt")
	}
	config.ServerURI = u.String()
	return &config, nil
}

func (c *Cluster) ask(t testing.TB, user, statement string) ([][]string, error) {
	// Not the test's context, which has ended when schemas are dropped.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 5*time.Minute)
	defer cancel()
	db, err := c.open(user)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	r, err := db.QueryContext(ctx, statement)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	names, err := r.Columns()
	if err != nil {
		return nil, err
	}
	var all [][]string
	for r.Next() {
		values, into := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := r.Scan(into...); err != nil {
			return nil, err
		}
		row := make([]string, len(names))
		for i, v := range values {
			row[i] = fmt.Sprint(v)
		}
		all = append(all, row)
	}
	return all, r.Err()
}
