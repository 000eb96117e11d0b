package pgtext

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/discreet-dp/discreet/internal/test/testpg"
)

func connect(t *testing.T) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), testpg.Shared(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(t.Context()) })
	return c
}

// ask returns what PostgreSQL makes of a value, or false where that is an error.
func ask(t *testing.T, c *pgx.Conn, sql string, args ...any) (string, bool) {
	t.Helper()
	var out *string
	err := c.QueryRow(t.Context(), sql, append([]any{pgx.QueryResultFormats{pgtype.TextFormatCode}}, args...)...).Scan(&out)
	var wrong *pgconn.PgError
	if err != nil && !errors.As(err, &wrong) {
		t.Fatal(err)
	}
	if out == nil {
		return "", err == nil
	}
	return *out, true
}

// writeRandom writes something that is JSON, or nearly.
func writeRandom(r *rand.Rand, b *strings.Builder, depth int) {
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	space := func() { b.WriteString(pick("", "", "", " ", "\n\t", "\r")) }
	space()
	defer space()
	switch k := r.IntN(12); {
	case k < 3 && depth > 0:
		b.WriteByte('{')
		for i := range r.IntN(5) {
			if i > 0 {
				b.WriteString(pick(",", ",", ",", ",", ",", ",", ",", ",", "", ",,"))
			}
			space()
			b.WriteString(pick(`"a"`, `"b"`, `"aa"`, `"é"`, `"\u0061"`, `""`, `"a b"`, `"zz"`, `a`))
			space()
			b.WriteString(pick(":", ":", ":", ":", ":", ":", ":", ":", ":", ":", ":", ":", ":", ":", ":", ":", ""))
			writeRandom(r, b, depth-1)
		}
		b.WriteByte('}')
	case k < 5 && depth > 0:
		b.WriteByte('[')
		for i := range r.IntN(4) {
			if i > 0 {
				b.WriteByte(',')
			}
			writeRandom(r, b, depth-1)
		}
		b.WriteString(pick("]", "]", "]", "]", "]", "]", "]", ",]", ""))
	case k < 9:
		b.WriteString(pick("0", "-0", "-0.0", "1", "12", "1.50", "1e3", "1E-3", "-1.5e+2", "0.10e1", "123456789012345678901234567890",
			"1e20", "0e5", "0.00e2", "100e-2", "9.99e-10", "01", "1.", ".5", "+1", "1e", "-", "1e131071", "1e131072", "1e-16383", "0x1"))
	case k < 11:
		b.WriteString(pick(`"a"`, `""`, `"\n\t\"\\\/\b\f\r"`, `"é🙂"`, `"\u00e9"`, `"\ud83d\ude42"`, `"\u0001"`, `"\u0041"`, `"\uFFFD"`,
			`"\ud83d"`, `"\ude42"`, `"\u0000"`, `"\x"`, `"\u12"`, `"`, "\"\n\"", "\"\x7f\"", `"</a>"`, `"\ud83dx"`, `"\ud83d\u0041"`))
	default:
		b.WriteString(pick("true", "false", "null", "True", "nul", "nullx", "", "NaN", "true false"))
	}
}

// TestJSONLikePostgres: what is JSON, what jsonb makes of it, and what is found in it.
func TestJSONLikePostgres(t *testing.T) {
	c := connect(t)
	r := rand.New(rand.NewPCG(1, 2))
	right, canonical := 0, 0
	for range 4000 {
		var b strings.Builder
		writeRandom(r, &b, 3)
		text := b.String()
		want, ok := ask(t, c, "SELECT $1::text::json::text", text)
		err := CheckJSON(text)
		if (err == nil) != ok {
			t.Errorf("%q: %v, and PostgreSQL takes it: %v", text, err, ok)
		}
		if ok && want != text {
			t.Errorf("%q is %q", text, want)
		}
		if !ok {
			continue
		}
		right++
		want, ok = ask(t, c, "SELECT $1::text::jsonb::text", text)
		got, err := JSONB(text, 1<<20)
		if (err == nil) != ok || ok && got != want {
			t.Errorf("%q\ngot  %q (%v)\nwant %q (%v)", text, got, err, want, ok)
		}
		if !ok {
			continue
		}
		canonical++
		for _, look := range []struct {
			sql string
			of  func(Value) (Value, bool, error)
		}{
			{"-> 'a'", func(v Value) (Value, bool, error) { return v.Field("a") }},
			{"-> 1", func(v Value) (Value, bool, error) { return v.Element(1) }},
			{"-> -1", func(v Value) (Value, bool, error) { return v.Element(-1) }},
		} {
			for _, kind := range []string{"json", "jsonb"} {
				v := Value(text)
				if kind == "jsonb" {
					v = Value(got)
				}
				found, there, err := look.of(v)
				if kind == "jsonb" && look.sql != "-> 'a'" {
					n, _ := strconv.ParseInt(look.sql[3:], 10, 64)
					found, there, err = v.ElementOfJSONB(n)
				}
				if !there {
					found = ""
				}
				if err != nil {
					t.Errorf("%q %s: %v", v, look.sql, err)
				}
				want, _ := ask(t, c, "SELECT ($1::text::"+kind+" "+look.sql+")::text", text)
				if string(found) != want {
					t.Errorf("%q::%s %s is %q and in PostgreSQL %q", text, kind, look.sql, found, want)
				}
				if !there {
					continue
				}
				plain, _, err := found.Text()
				wantText, _ := ask(t, c, "SELECT $1::text::"+kind+" "+strings.Replace(look.sql, "->", "->>", 1), text)
				if err != nil || plain != wantText {
					t.Errorf("%q::%s %s as text is %q (%v) and in PostgreSQL %q", text, kind, look.sql, plain, err, wantText)
				}
			}
		}
		if kind, _ := ask(t, c, "SELECT json_typeof($1::text::json)", text); kind != Value(text).Kind() {
			t.Errorf("%q is %s and in PostgreSQL %s", text, Value(text).Kind(), kind)
		}
	}
	if right < 800 || canonical < 500 {
		t.Errorf("only %d were JSON and %d jsonb", right, canonical)
	}
}

// TestTextsLikePostgres: numbers, strings and arrays.
func TestTextsLikePostgres(t *testing.T) {
	c := connect(t)
	r := rand.New(rand.NewPCG(3, 4))
	numbers := []float64{0, math.Copysign(0, -1), 1, 0.1, 1e14, 1e15,
		123456789012345, 1234567890123456, 1e-4, 1e-5, 9.9999e-5, 1e300, 5e-324,
		math.MaxFloat64, 0.3, 1.0 / 3, 1e5, 1e6, 999999, 1e22, 1e23}
	for range 1000 {
		numbers = append(numbers, math.Float64frombits(r.Uint64()), r.NormFloat64()*math.Pow(10, float64(r.IntN(40)-20)))
	}
	for _, f := range numbers {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			continue
		}
		if want, _ := ask(t, c, "SELECT $1::float8", f); want != Float(f, 64) {
			t.Errorf("%g is %s and in PostgreSQL %s", f, Float(f, 64), want)
		}
		if small := float32(f); small != 0 && !math.IsInf(float64(small), 0) {
			if want, _ := ask(t, c, "SELECT $1::float4", small); want != Float(float64(small), 32) {
				t.Errorf("%g is %s and in PostgreSQL %s", small, Float(float64(small), 32), want)
			}
		}
	}
	for range 300 {
		texts := make([]*string, r.IntN(4)+1)
		for i := range texts {
			s := ""
			for range r.IntN(5) {
				s += []string{"a", "{", "}", ",", `"`, `\`, " ", "\n", "\t", "NULL", "null", "é", "\x01", "'", "/", "\b", "\f"}[r.IntN(17)]
			}
			if r.IntN(5) > 0 {
				texts[i] = &s
			}
			if want, _ := ask(t, c, "SELECT to_json($1::text)", s); want != string(AppendString(nil, s)) {
				t.Errorf("%q is %s and in PostgreSQL %s", s, AppendString(nil, s), want)
			}
		}
		if want, _ := ask(t, c, "SELECT $1::text[]", texts); want != Array(texts) {
			t.Errorf("%v is %s and in PostgreSQL %s", fmt.Sprint(texts), Array(texts), want)
		}
	}
}
