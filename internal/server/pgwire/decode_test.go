package pgwire

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// TestArrays: a question with an array is the one with a list, whatever the array is of and however
// it was sent, and is paid for once.
func TestArrays(t *testing.T) {
	p := startTestServer(t, nil)
	day := time.Date(2024, 1, 2, 0, 0, 0, 0, time.UTC)
	numeric := func(text string) (n pgtype.Numeric) {
		must(t, n.Scan(text))
		return n
	}
	for _, c := range []struct {
		list, array string
		value       any
	}{
		{"age IN (30, 31)", "age = ANY ($1)", []int64{30, 31}},
		{"age IN (32, 33)", "age = ANY ($1::int[])", []int32{32, 33}},
		{"age IN (34, 35)", "age = ANY ($1::smallint[])", []int16{34, 35}},
		{"sex IN ('F', 'M')", "sex = ANY ($1)", []string{"F", "M"}},
		{"diagnosis IN ('flu', 'it''s \"{,}\\')", "diagnosis = ANY ($1::varchar[])", []string{"flu", `it's "{,}\`}},
		{"diagnosis NOT IN ('flu', 'cold')", "diagnosis <> ALL ($1)", []string{"flu", "cold"}},
		{"cost IN (1.5, 20.25)", "cost = ANY ($1)", []pgtype.Numeric{numeric("1.5"), numeric("20.25")}},
		{"cost IN (1.5, 2.5)", "cost = ANY ($1::float8[])", []float64{1.5, 2.5}},
		{"smoker IN (true)", "smoker = ANY ($1)", []bool{true}},
		{"DATE '2024-01-02' IN (DATE '2024-01-02') AND age < 50", "DATE '2024-01-02' = ANY ($1::date[]) AND age < 50", []time.Time{day}},
		{"TIMESTAMP '2024-01-02 00:00:00' IN (TIMESTAMP '2024-01-02 00:00:00') AND age < 51",
			"TIMESTAMP '2024-01-02 00:00:00' = ANY ($1::timestamp[]) AND age < 51", []time.Time{day}},
		{"age IN (36, NULL)", "age = ANY ($1)", []*int64{pointerTo(int64(36)), nil}},
		{"sex NOT IN ('X', NULL)", "sex <> ALL ($1)", []*string{pointerTo("X"), nil}},
	} {
		want, before := int64(0), p.charges(t)
		conn := p.ana(t)
		if err := conn.QueryRow(background, "SELECT count(*) FROM patients WHERE "+c.list).Scan(&want); err != nil {
			t.Fatal(c.list, err)
		}
		for _, mode := range execModes {
			if _, times := c.value.([]time.Time); times && (mode == pgx.QueryExecModeSimpleProtocol || mode == pgx.QueryExecModeExec) {
				continue // which write days with a time and a zone
			}
			var got int64
			if err := conn.QueryRow(background, "SELECT count(*) FROM patients WHERE "+c.array+" LIMIT $2::integer", mode, c.value, 1).
				Scan(&got); err != nil || got != want {
				t.Errorf("%s, %v: %d, not %d: %v", c.array, mode, got, want, err)
			}
		}
		if n := p.charges(t) - before; n > 1 {
			t.Errorf("%s: %d charges", c.array, n)
		}
	}
}

func pointerTo[T any](v T) *T { return &v }

// Arrays that are too long, of too many dimensions or of another type are refused, and cost
// nothing.
func TestBadArrays(t *testing.T) {
	p := startTestServer(t, nil)
	conn := p.ana(t)
	many := make([]int64, 100_000)
	for i, value := range []any{
		many, many[:3000], [][]int64{{1}, {2}},
	} {
		var got int64
		err := conn.QueryRow(background, "SELECT count(*) FROM patients WHERE age = ANY ($1)", value).Scan(&got)
		if err == nil {
			t.Errorf("%d: %d", i, got)
		}
	}
	for i, data := range []string{"", "\x00", strings.Repeat("\x00", 12),
		"\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x14\xff\xff\xff\xff\x00\x00\x00\x01",
		"\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x14\x00\x00\x00\x01\x00\x00\x00\x01\x7f\xff\xff\xff"} {
		r := conn.PgConn().ExecParams(background, "SELECT count(*) FROM patients WHERE age = ANY ($1)", [][]byte{[]byte(data)},
			[]uint32{pgtype.Int8ArrayOID}, []int16{1}, nil).Read()
		if r.Err == nil {
			t.Errorf("%d was taken: %s", i, fmt.Sprint(r.Rows))
		}
	}
	if n := p.charges(t); n != 0 {
		t.Errorf("%d charges", n)
	}
}

// TestTimestamps: the quantiles of a timestamp are timestamps in text and in binary, for the
// client and for the question around them, and the same ones each time.
func TestTimestamps(t *testing.T) {
	p := startTestServer(t, nil)
	const inner = "SELECT min(seen) AS a, max(seen) AS b, median(seen) AS c, percentile_disc(0.25) WITHIN GROUP (ORDER BY seen) AS d " +
		"FROM (SELECT least(greatest(day, '2015-01-01'), '2030-01-01') + INTERVAL '90 minutes 0.000001 seconds' AS seen " +
		"FROM visits) AS v"
	for _, q := range []string{inner, "SELECT * FROM (" + inner + ") AS t"} {
		first := ""
		for _, mode := range execModes {
			c := p.config(t, "ana", "hospital")
			c.DefaultQueryExecMode = mode
			var at [4]time.Time
			if err := p.connect(t, c).QueryRow(background, q).Scan(&at[0], &at[1], &at[2], &at[3]); err != nil {
				t.Fatal(mode, err)
			}
			got := fmt.Sprint(at)
			if first == "" {
				first = got
			}
			if got != first || at[0].Year() < 2000 || at[1].Before(at[2]) || at[2].Before(at[0]) {
				t.Errorf("%v: %v, and before %v", mode, got, first)
			}
		}
	}
}

// TestNow: now() is when the transaction began, as in PostgreSQL. So it is one question in a block,
// which is paid for once, and another one afterwards; also where a statement was prepared before.
func TestNow(t *testing.T) {
	p := startTestServer(t, nil)
	c := p.config(t, "ana", "hospital")
	var said notices
	c.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { said.add(n.Message) }
	conn := p.connect(t, c)
	exec := func(sql string) string {
		t.Helper()
		if _, err := conn.Exec(background, sql); err != nil {
			t.Fatal(sql, err)
		}
		return strings.Join(said.take(), "\n")
	}
	const week = "SELECT count(*) FROM visits WHERE day > now() - INTERVAL '7 days'"
	for i, want := range []struct {
		sql  string
		free bool
	}{{"BEGIN", false}, {week, false}, {week, true}, {week, true}, {"COMMIT AND CHAIN", false}, {week, false}, {week, true},
		{"ROLLBACK", false}, {week, false}, {week, false}} {
		heard := exec(want.sql)
		free, told := strings.Contains(heard, "price: free"), strings.Contains(heard, "now() is")
		if want.sql == week && (free != want.free || !told) {
			t.Errorf("%d: %s", i, heard)
		}
	}
	if heard := exec("EXPLAIN " + week); strings.Contains(heard, "already paid for") {
		t.Error(heard)
	}
}
