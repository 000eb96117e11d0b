package testpg

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestServer(t *testing.T) {
	s := Start(t)
	ctx := context.Background()
	do := func(sql string) (int, error) {
		c, err := pgx.Connect(ctx, s.URL())
		if err != nil {
			return 0, err
		}
		defer c.Close(ctx)
		n := 0
		err = c.QueryRow(ctx, sql).Scan(&n)
		return n, err
	}
	if _, err := do("WITH x AS (SELECT 1) SELECT 1"); err != nil {
		t.Fatal(err)
	}
	c, err := pgx.Connect(ctx, s.URL())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(ctx, "CREATE TABLE t AS SELECT 7 AS n"); err != nil {
		t.Fatal(err)
	}
	s.Stop(t)
	s.Stop(t)
	if _, err := do("SELECT n FROM t"); err == nil {
		t.Error("a server that was stopped answered")
	}
	s.Restart(t)
	if n, err := do("SELECT n FROM t"); n != 7 || err != nil {
		t.Errorf("after the restart: %d, %v", n, err)
	}
	s.Kill(t)
	if _, err := do("SELECT n FROM t"); err == nil {
		t.Error("a server that was killed answered")
	}
	s.Restart(t)
	if n, err := do("SELECT n FROM t"); n != 7 || err != nil {
		t.Errorf("after the kill: %d, %v", n, err)
	}
}
