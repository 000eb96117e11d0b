package chunks

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	driver "github.com/duckdb/duckdb-go/v2"
)

func open(t *testing.T, statements ...string) Database {
	t.Helper()
	c, err := driver.NewConnector("", nil)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(c)
	t.Cleanup(func() { db.Close() })
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	s, err := DatabaseOf(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func isValid(mask []uint64, i int) bool { return mask == nil || mask[i/64]>>(i%64)&1 == 1 }

// TestKinds reads every kind of column, with its extremes and with NULL.
func TestKinds(t *testing.T) {
	s := open(t)
	for _, c := range []struct {
		typ    string
		values []string
		want   string
	}{
		{"BOOLEAN", []string{"false", "true"}, "[0 1]"},
		{"TINYINT", []string{"-128", "127"}, "[-128 127]"},
		{"SMALLINT", []string{"-32768", "32767"}, "[-32768 32767]"},
		{"INTEGER", []string{"-2147483648", "2147483647"}, "[-2147483648 2147483647]"},
		{"BIGINT", []string{"-9223372036854775808", "9223372036854775807"}, "[-9223372036854775808 9223372036854775807]"},
		{"UTINYINT", []string{"0", "255"}, "[0 255]"},
		{"USMALLINT", []string{"0", "65535"}, "[0 65535]"},
		{"UINTEGER", []string{"0", "4294967295"}, "[0 4294967295]"},
		{"UBIGINT", []string{"0", "18446744073709551615"}, "[-9223372036854775808 9223372036854775807]"},
		{"DATE", []string{"1969-12-31", "1970-01-02"}, "[-1 1]"},
		{"TIMESTAMP", []string{"1969-12-31 23:59:59.999999", "1970-01-01 00:00:00.000001"}, "[-1 1]"},
	} {
		// NULL between the two.
		from := fmt.Sprintf("(VALUES ('%s'::%s), (NULL), ('%s'::%s)) v(x)", c.values[0], c.typ, c.values[1], c.typ)
		err := s.Each(t.Context(), Query{Columns: []string{"x"}, From: from}, func(k *Chunk) error {
			out := make([]int64, k.Len())
			if !k.Integers(0, out) {
				return errors.New("no integers")
			}
			mask := k.Valid(0)
			if !isValid(mask, 0) || isValid(mask, 1) || !isValid(mask, 2) {
				t.Errorf("%s: NULL is elsewhere", c.typ)
			}
			if got := fmt.Sprint([]int64{out[0], out[2]}); got != c.want {
				t.Errorf("%s: %s", c.typ, got)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", c.typ, err)
		}
	}
	for _, c := range []struct {
		typ    string
		values []string // ascending
	}{
		{"VARCHAR", []string{"", "a", "abcdefghijkl", "abcdefghijklm", strings.Repeat("x", 5000), "é\x00z"}},
		{"UUID", []string{"00000000-0000-0000-0000-000000000001", "7fffffff-ffff-ffff-ffff-ffffffffffff",
			"80000000-0000-0000-0000-000000000000"}},
		{"HUGEINT", []string{"-170141183460469231731687303715884105727", "-1", "0", "1", "18446744073709551616"}},
		{"UHUGEINT", []string{"0", "1", "340282366920938463463374607431768211455"}},
	} {
		var rows, args = []string{"(0, NULL)"}, []any{}
		for i, v := range c.values {
			args = append(args, v)
			rows = append(rows, fmt.Sprintf("(%d, CAST($%d AS %s))", i+1, i+1, c.typ))
		}
		var got [][]byte
		q := Query{Columns: []string{"x"}, From: "(SELECT * FROM (VALUES " + strings.Join(rows, ", ") + ") v(n, x) ORDER BY n)", Args: args}
		if err := s.Each(t.Context(), q, func(k *Chunk) error {
			out, ok := k.Texts(0, nil)
			if !ok || isValid(k.Valid(0), 0) {
				t.Errorf("%s: no texts, or no NULL", c.typ)
			}
			for _, b := range out[1:] {
				got = append(got, bytes.Clone(b))
			}
			return nil
		}); err != nil {
			t.Errorf("%s: %v", c.typ, err)
		}
		for i := range got {
			if c.typ == "VARCHAR" && string(got[i]) != c.values[i] {
				t.Errorf("%q is %q", c.values[i], got[i])
			}
			if i > 0 && c.typ != "VARCHAR" && bytes.Compare(got[i-1], got[i]) >= 0 {
				t.Errorf("%s: %s does not sort after %s", c.typ, c.values[i], c.values[i-1])
			}
		}
	}
}

// TestEveryRowOnce adds up a table that several threads read, below a filter and above a join.
func TestEveryRowOnce(t *testing.T) {
	s := open(t, "CREATE TABLE t AS SELECT i, i % 3 AS m, 'k' || (i % 50) AS k FROM range(1000000) r(i)",
		"CREATE TABLE c AS SELECT 5 AS same FROM range(300000)")
	for _, q := range []struct {
		from string
		want int64
	}{
		{"t", 499999500000},
		{"(SELECT i FROM t WHERE m = 1)", 166666166667},
		{"(SELECT t.i FROM t JOIN (VALUES (0), (2)) v(x) ON t.m = v.x)", 499999500000 - 166666166667},
		{"(SELECT i FROM t WHERE false)", 0},
		{"(SELECT same AS i FROM c)", 1500000}, // constant vectors
	} {
		var sum atomic.Int64
		if err := s.Each(t.Context(), Query{Columns: []string{"i::BIGINT"}, From: q.from}, func(c *Chunk) error {
			for _, x := range c.Int64s(0) {
				sum.Add(x)
			}
			return nil
		}); err != nil {
			t.Fatal(q.from, err)
		}
		if sum.Load() != q.want {
			t.Errorf("%s: %d", q.from, sum.Load())
		}
	}
}

// TestKeys finds texts of all lengths, from columns with a dictionary and without.
func TestKeys(t *testing.T) {
	texts := []string{"", "a", "abcd", "abcde", "abcdefghijkl", "abcdefghijklm", "abcdefghijklmnopqrstuvwxyz", "a\x00", "\x00", "é"}
	places := map[string]int32{}
	var list []string
	var args []any
	for i, x := range texts {
		places[x] = int32(i)
		args = append(args, x, x+"?")
		list = append(list, fmt.Sprintf("($%d::VARCHAR)", 2*i+1), fmt.Sprintf("($%d::VARCHAR)", 2*i+2))
	}
	list = append(list, "(NULL)")
	s := open(t, "CREATE TABLE stored AS SELECT CASE WHEN i % 7 = 0 THEN NULL ELSE repeat('x', (i % 30)::INTEGER) END AS x FROM "+
		"range(100000) r(i)", "CHECKPOINT")
	for _, null := range []int32{-1, 99} {
		k := NewKeys(places, null)
		q := Query{Columns: []string{fmt.Sprintf("discreet_key(%d::BIGINT, x)", k.ID), "x"},
			From: "(VALUES " + strings.Join(list, ", ") + ") v(x)", Args: args}
		check := func(c *Chunk) error {
			got := c.Int32s(0)
			all, _ := c.Texts(1, nil)
			for i, x := range all {
				want, ok := places[string(x)]
				if !ok {
					want = -1
				}
				if !isValid(c.Valid(1), i) {
					want = null
				}
				if got[i] != want {
					t.Errorf("%q is at %d, and should be at %d", x, got[i], want)
				}
			}
			return nil
		}
		if err := s.Each(t.Context(), q, check); err != nil {
			t.Fatal(err)
		}
		for i := range 30 {
			places[strings.Repeat("x", i)] = int32(i)
		}
		stored := NewKeys(places, null)
		q = Query{Columns: []string{fmt.Sprintf("discreet_key(%d::BIGINT, x)", stored.ID), "x"}, From: "stored"}
		if err := s.Each(t.Context(), q, check); err != nil {
			t.Fatal(err)
		}
		k.Close()
		stored.Close()
		if err := s.Each(t.Context(), q, check); !errors.Is(err, ErrQuery) {
			t.Errorf("a dictionary that is closed: %v", err)
		}
	}
}

// TestFailures: an error of ours comes back, one of DuckDB's has one text, a panic is an error, and
// afterwards everything works.
func TestFailures(t *testing.T) {
	s := open(t, "CREATE TABLE t AS SELECT i, 'secret' || i AS x FROM range(300000) r(i)")
	mine := errors.New("mine")
	if err := s.Each(t.Context(), Query{Columns: []string{"i"}, From: "t"}, func(*Chunk) error { return mine }); !errors.Is(err, mine) {
		t.Error(err)
	}
	if err := s.Each(t.Context(), Query{Columns: []string{"i"}, From: "t"}, func(*Chunk) error {
		panic("at the disco")
	}); !errors.Is(err, ErrQuery) {
		t.Error(err)
	}
	for _, q := range []Query{{Columns: []string{"x::BIGINT"}, From: "t"}, {Columns: []string{"y"}, From: "t"},
		{Columns: []string{"i"}, From: "t WHERE i > $1"},
		{Columns: []string{"i"}, From: "t", Args: []any{int64(1)}}, {Columns: []string{"i"}, From: "t", Args: []any{struct{}{}}}} {
		if err := s.Each(t.Context(), q, func(*Chunk) error { return nil }); err == nil || err.Error() != ErrQuery.Error() {
			t.Errorf("%v: %v", q, err)
		}
	}
	if err := s.Each(t.Context(), Query{Columns: []string{"i"}, From: "t WHERE i > $1 AND $2 AND x <> $3",
		Args: []any{int64(5), true, "secret7"}}, func(*Chunk) error { return nil }); err != nil {
		t.Error(err)
	}
}

// TestCancel interrupts a query that would take very long, in DuckDB and in our function.
func TestCancel(t *testing.T) {
	s := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	var once sync.Once
	err := s.Each(ctx, Query{Columns: []string{"i"}, From: "range(1000000000000) r(i)"}, func(*Chunk) error { once.Do(cancel); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err = s.Each(ctx, Query{Columns: []string{"n"}, From: "(SELECT count(*) AS n FROM range(100000000000) r(i))"}, func(*Chunk) error {
		return nil
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	n := 0
	runs.Range(func(any, any) bool { n++; return true })
	if n > 0 {
		t.Errorf("%d runs are left", n)
	}
}

// TestManyAtOnce runs queries beside each other: nobody gets another's rows.
func TestManyAtOnce(t *testing.T) {
	s := open(t)
	var group sync.WaitGroup
	for n := range int64(8) {
		group.Go(func() {
			var sum atomic.Int64
			err := s.Each(t.Context(), Query{Columns: []string{"$1::BIGINT"}, From: "range(200000)", Args: []any{n}}, func(c *Chunk) error {
				for _, x := range c.Int64s(0) {
					sum.Add(x)
				}
				return nil
			})
			if err != nil || sum.Load() != 200000*n {
				t.Errorf("%d: %d %v", n, sum.Load(), err)
			}
		})
	}
	group.Wait()
}
