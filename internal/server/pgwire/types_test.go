package pgwire

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/internal/test/golden"
	"github.com/discreet-dp/discreet/internal/test/testpg"
	"github.com/discreet-dp/discreet/internal/test/userstest"
)

// typesPolicy has a column of each type, in a private table and in a public one.
const typesPolicy = `datasets:
  all:
    engine: duckdb
    source: data
    unit: t.pid
    budget: {epsilon: 100, per_query: {default: 1, max: 10}}
    analysts: {ana: {share: 1}}
    release: immediate
    tables:
      t:
        unique: pid
        columns:
          i:   {type: integer, bounds: [0, 100]}
          n:   {type: decimal, bounds: [-50, 1000], granularity: 0.01}
          g:   {type: decimal}
          s:   {type: text, keys: [a, b]}
          b:   {type: boolean}
          day: {type: date, bounds: [2024-01-01, 2024-12-31]}
          at:  {type: timestamp, bounds: ['2024-01-01 00:00:00', '2024-12-31 00:00:00']}
      p:
        public: true
        columns:
          i:   {type: integer, bounds: [0, 100]}
          n:   {type: decimal, bounds: [-50, 1000], granularity: 0.01}
          g:   {type: decimal}
          s:   {type: text}
          b:   {type: boolean}
          day: {type: date}
          at:  {type: timestamp}
    views:
      halves: ` + typesView + `
`

const typesView = "SELECT i / 2 AS half, i / 2.0 AS part, n, n * 2 AS twice, date_trunc('month', day) AS month, " +
	"round(n, 1) AS rounded FROM p"

const typesColumns = "i bigint, n numeric(6,2), g numeric, s text, b boolean, day date, at timestamp"

// startTypes starts a server with these tables, and connects to it and to a PostgreSQL that has
// them too.
func startTypes(t *testing.T) (ours, theirs *pgx.Conn) {
	t.Helper()
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "data"), 0o755))
	var rows strings.Builder
	for i := range 40 {
		fmt.Fprintf(&rows, "%d,%d.%02d,%d.5,%s,%v,2024-%02d-11,2024-%02d-12 10:%02d:30.25\n", i+1, i*20, i, i, string("ab"[i%2]), i%3 == 0,
			1+i%12, 1+i%12, i)
	}
	private := ""
	for i, line := range strings.Split(strings.TrimSpace(rows.String()), "\n") {
		private += fmt.Sprintf("%d,%s\n", i, line)
	}
	must(t, os.WriteFile(filepath.Join(dir, "data", "t.csv"), []byte("pid,i,n,g,s,b,day,at\n"+private), 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "data", "p.csv"), []byte("i,n,g,s,b,day,at\n"+rows.String()), 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "policy.yaml"), []byte(typesPolicy), 0o644))
	p := &testServer{}
	var err error
	p.db, err = discreet.Open(t.Context(), filepath.Join(dir, "policy.yaml"))
	must(t, err)
	t.Cleanup(func() { p.db.Close() })
	p.dispatcher = admission.New(p.db, admission.Options{Rate: 1_000_000})
	p.passwords = userstest.Write(t, filepath.Join(dir, "users"), map[string]users.Role{"ana": users.Analyst}, "")
	p.store, err = users.Open(filepath.Join(dir, "users"))
	must(t, err)
	t.Cleanup(func() { p.store.Close() })
	startServing(t, p, nil)
	ours = p.connect(t, p.config(t, "ana", "all"))
	server := testpg.Shared(t)
	theirs, err = pgx.Connect(t.Context(), server.Database(t, strings.ToLower(t.Name()), "CREATE TABLE t (pid bigint, "+typesColumns+")",
		"CREATE TABLE p ("+typesColumns+")", "INSERT INTO p VALUES "+sqlRows(rows.String()),
		"GRANT SELECT ON ALL TABLES IN SCHEMA public TO PUBLIC"))
	must(t, err)
	t.Cleanup(func() { theirs.Close(context.Background()) })
	_, err = theirs.Exec(t.Context(), "SET TimeZone = 'UTC'")
	must(t, err)
	return ours, theirs
}

const typesAnswers = "(SELECT max(i) AS i, max(n) AS n, max(n) AS g, s, b, max(day) AS day, max(at) AS at FROM t GROUP BY s, b) AS t"

func sqlRows(csv string) string {
	var out []string
	for line := range strings.SplitSeq(strings.TrimSpace(csv), "\n") {
		out = append(out, "('"+strings.ReplaceAll(line, ",", "','")+"')")
	}
	return strings.Join(out, ", ")
}

// arguments are expressions of each type.
var (
	numberArguments = []string{"i::smallint", "i::integer", "i", "n", "g", "n::real", "n::double precision", "5", "3000000000", "1.5"}
	textArguments   = []string{"s", "s::varchar(5)", "'x'"}
	timeArguments   = []string{"day", "at", "at::timestamptz"}
	anyArguments    = slices.Concat(numberArguments[:7], textArguments[:2], timeArguments, []string{"b"})
)

// scalarForms are the operators and functions of docs/sql-functions.md. N, S, T and A stand for a
// number, a text, a time and anything; M and U for another number and time.
var scalarForms = formList(`
N + M; N - M; N * M; N / M; N % M; N ^ 2; N ^ M; - N; + N; N = M; N BETWEEN 1 AND M; N IN (1,2); N = ANY (ARRAY[1,2])
N IS NULL; N IS DISTINCT FROM M; N + '5'; N * NULL; abs(N); sign(N); round(N); round(N, 2); round(N, -1); trunc(N); trunc(N, 1)
floor(N); ceil(N); ceiling(N); sqrt(N); ln(N); log10(N); log(N); exp(N); power(N, 2); power(N, 0.5); pow(N, 2); mod(N, M)
width_bucket(N, 0, 10, 5); width_bucket(N, ARRAY[1, 2]); coalesce(N, M); nullif(N, M); greatest(N, M); least(N, M)
CASE WHEN b THEN N ELSE M END; CASE WHEN b THEN N END; CASE i WHEN 1 THEN N ELSE NULL END; CAST(N AS smallint)
CAST(N AS integer); CAST(N AS bigint); CAST(N AS numeric); CAST(N AS numeric(6,3)); CAST(N AS real)
CAST(N AS double precision); CAST(N AS text); CAST(N AS varchar(7)); N::varchar; A || 'x'; concat(A, 'x'); concat_ws('-', A, s)
A IS NOT NULL; coalesce(A, NULL); CAST(A AS text); length(S); char_length(S); character_length(S); lower(S); upper(S); trim(S)
ltrim(S); rtrim(S); btrim(S, 'x'); trim(both 'x' from S); substring(S, 2); substring(S, 1, 2); substr(S, 2)
substring(S from 1 for 2); left(S, 2); right(S, 2); split_part(S, '-', 1); replace(S, 'x', 'y'); lpad(S, 3); lpad(S, 3, '0')
rpad(S, 3); strpos(S, 'x'); position('x' in S); starts_with(S, 'x'); regexp_like(S, 'x'); S LIKE 'a%'; S ILIKE 'a%'; S ~ 'a'
S SIMILAR TO 'a'; S > 'a'; coalesce(S, 'x'); nullif(S, 'x'); greatest(S, 'x'); CASE WHEN b THEN S ELSE 'x' END
CAST(S AS integer); CAST(S AS numeric(5,2)); CAST(S AS boolean); CAST(S AS date); CAST(S AS timestamp); extract(year from T)
extract(epoch from T); extract(second from T); extract(julian from T); date_part('month', T); date_part('second', T)
extract(epoch from T - T); extract(year from age(T, U)); date_trunc('month', T); date_trunc('hour', T)
date_bin('7 days', T, TIMESTAMP '2024-01-01'); to_char(T, 'YYYY-MM'); T AT TIME ZONE 'UTC'; timezone('UTC', T)
T + INTERVAL '1 month'; T - INTERVAL '1 hour'; T + INTERVAL '1 day' * 2; T = U; T > '2024-01-01'; coalesce(T, U)
greatest(T, U); nullif(T, U); CASE WHEN b THEN T ELSE U END; CAST(T AS date); CAST(T AS timestamp); CAST(T AS timestamptz)
T - day; T + 1; T - 7; to_timestamp(N); to_date('2024','YYYY'); to_timestamp('2024','YYYY'); now(); CURRENT_DATE
CURRENT_TIMESTAMP; LOCALTIMESTAMP; transaction_timestamp(); statement_timestamp(); b AND true; NOT b; b IS TRUE; b IS UNKNOWN
CAST(b AS integer); NULL; 'x'; 5; 1.5; 3000000000; true; DATE '2024-01-01'; TIMESTAMP '2024-01-01'
TIMESTAMP WITH TIME ZONE '2024-01-01'; S COLLATE "C"; i; n; g; s; b; day; at
`)

var aggregateForms = formList(`
count(*); count(A); count(DISTINCT A); sum(N); avg(N); variance(N); var_pop(N); var_samp(N); stddev(N); stddev_pop(N)
stddev_samp(N); min(N); max(N); median(N); percentile_cont(0.5) WITHIN GROUP (ORDER BY N)
percentile_disc(0.5) WITHIN GROUP (ORDER BY N); min(T); max(T); median(T); percentile_cont(0.5) WITHIN GROUP (ORDER BY T)
percentile_disc(0.5) WITHIN GROUP (ORDER BY T); sum(N) FILTER (WHERE b); avg(N) FILTER (WHERE b)
sum(CASE WHEN b THEN 1::bigint END); sum(CASE WHEN b THEN N ELSE 0 END); sum(N) / count(*); sum(N) * 1.0 / count(*)
count(*) * 100; count(*) * 1.5; count(*) / 2; coalesce(sum(N), 0); round(avg(N), 2); round(avg(N)::numeric, 2); -sum(N)
sum(N) > 5; sum(N)::bigint; sum(N)::integer; avg(N)::numeric(10,2); avg(N)::double precision; greatest(sum(N), avg(N))
sum(N * N); avg(N + 1); sqrt(sum(N)); floor(avg(N)); ceil(avg(N)); abs(sum(N)); sum(N) - sum(M); sum(N)::text; dp_low(sum(N))
dp_high(avg(N)); dp_error(sum(N))
`)

// outerForms are what only SELECTs around answers may have.
var outerForms = formList(`
cbrt(N); gcd(N, M); lcm(N, M); degrees(N); radians(N); pi(); sin(N); cos(N); atan2(N, 1); factorial(5); octet_length(S)
bit_length(S); reverse(S); translate(S, 'a', 'b'); ascii(S); chr(65); md5(S); regexp_replace(S, 'a', 'b'); repeat('x', 3)
make_date(2024, 1, 1); make_timestamp(2024,1,1,1,1,1); corr(N, M); covar_pop(N, M); regr_slope(N, M); regr_count(N, M)
bool_and(b); bool_or(b); every(b); bit_and(N); bit_or(N); string_agg(s, ','); mode() WITHIN GROUP (ORDER BY A); min(S); max(A)
row_number() OVER (ORDER BY i); rank() OVER (ORDER BY i); dense_rank() OVER (ORDER BY i); percent_rank() OVER (ORDER BY i)
cume_dist() OVER (ORDER BY i); ntile(2) OVER (ORDER BY i); lag(A) OVER (ORDER BY i); lead(N, 1, 0) OVER (ORDER BY i)
first_value(A) OVER (ORDER BY i); last_value(A) OVER (ORDER BY i); nth_value(A, 2) OVER (ORDER BY i); sum(N) OVER (ORDER BY i)
avg(N) OVER (ORDER BY i); count(*) OVER (); (SELECT max(N) FROM p); EXISTS (SELECT 1 FROM p); N IN (SELECT 1)
`)

var placeholders = regexp.MustCompile(`\b[NMSTUA]\b`)

// expressions are the forms with every argument in them, and as M one of the second, and of which
// form each is.
func expressions(forms, second []string) (out []string, of map[string]string) {
	of = map[string]string{}
	all := map[string][]string{"N": numberArguments, "M": second, "S": textArguments, "T": timeArguments, "U": timeArguments,
		"A": anyArguments}
	for _, form := range forms {
		filled := []string{form}
		for _, letter := range []string{"N", "M", "S", "T", "U", "A"} {
			var next []string
			for _, e := range filled {
				if !slices.Contains(placeholders.FindAllString(e, -1), letter) {
					next = append(next, e)
					continue
				}
				for _, a := range all[letter] {
					next = append(next, placeholders.ReplaceAllStringFunc(e, func(found string) string {
						if found == letter {
							return a
						}
						return found
					}))
				}
			}
			filled = next
		}
		for _, e := range filled {
			of[e] = form
		}
		out = append(out, filled...)
	}
	return out, of
}

// formList reads forms that are separated by semicolons.
func formList(text string) []string {
	return strings.Split(strings.ReplaceAll(strings.TrimSpace(text), "\n", "; "), "; ")
}

// describedTypes are the types of expressions over a table, with their modifiers; those that are
// refused are not there. Many are asked for at once, and fewer where one of them is refused.
func describedTypes(t *testing.T, conn *pgx.Conn, all []string, from string, out map[string]string) {
	t.Helper()
	if len(all) == 0 {
		return
	}
	targets := make([]string, len(all))
	for i, e := range all {
		targets[i] = fmt.Sprintf("%s AS c%d", e, i)
	}
	if len(all) <= 40 {
		d, err := conn.PgConn().Prepare(t.Context(), "", "SELECT "+strings.Join(targets, ", ")+" FROM "+from, nil)
		if err == nil {
			for i, f := range d.Fields {
				out[all[i]] = fieldType(conn, f)
			}
			return
		}
		if len(all) == 1 {
			return
		}
	}
	describedTypes(t, conn, all[:len(all)/2], from, out)
	describedTypes(t, conn, all[len(all)/2:], from, out)
}

func fieldType(conn *pgx.Conn, f pgconn.FieldDescription) string {
	name := fmt.Sprint(f.DataTypeOID)
	if typ, ok := conn.TypeMap().TypeForOID(f.DataTypeOID); ok {
		name = typ.Name
	}
	if f.TypeModifier < 0 {
		return name
	}
	if f.DataTypeOID == pgtype.NumericOID {
		return fmt.Sprintf("%s(%d,%d)", name, (f.TypeModifier-4)>>16, (f.TypeModifier-4)&0x7ff)
	}
	return fmt.Sprintf("%s(%d)", name, f.TypeModifier-4)
}

// TestTypesArePostgreSQLs describes every operator, function and aggregate with arguments of every
// type, here and in a PostgreSQL with the same tables. What differs stands in testdata/types.txt,
// and why in docs/sql-functions.md.
func TestTypesArePostgreSQLs(t *testing.T) {
	ours, theirs := startTypes(t)
	refuseMissingForms(t)
	var report strings.Builder
	for _, x := range []struct {
		title, here, there string
		forms              []string
	}{
		{"rows of a private table", "t LIMIT 0", "t", scalarForms},
		{"aggregates of a private table", "t", "t", aggregateForms},
		{"a public table", "p", "p", slices.Concat(scalarForms, aggregateForms, outerForms)},
		{"answers", typesAnswers, typesAnswers, scalarForms},
		{"a view", "halves", "(" + typesView + ") AS halves", formList("half; part; n; twice; month; rounded; sum(half); avg(part)")},
	} {
		all, form := expressions(x.forms, numberArguments)
		here, there := map[string]string{}, map[string]string{}
		describedTypes(t, ours, all, x.here, here)
		describedTypes(t, theirs, all, x.there, there)
		equal, lines := 0, []string{}
		for _, e := range all {
			switch {
			case here[e] == "":
			case here[e] == there[e]:
				equal++
			case there[e] == "":
				lines = append(lines, fmt.Sprintf("%s: %s, where PostgreSQL has none", form[e], here[e]))
			default:
				lines = append(lines, fmt.Sprintf("%s: %s, PostgreSQL %s", e, here[e], there[e]))
			}
		}
		slices.Sort(lines)
		lines = slices.Compact(lines)
		t.Logf("%s: %d expressions, %d answered here, %d there, %d equal", x.title, len(all), len(here), len(there), equal)
		if equal == 0 {
			t.Errorf("%s: nothing is equal", x.title)
		}
		fmt.Fprintf(&report, "# %s\n%s\n\n", x.title, strings.Join(lines, "\n"))
	}
	golden.Text(t, "testdata/types.txt", report.String())
}

// refuseMissingForms holds the forms against docs/sql-functions.md and docs/sql.md: every function
// that these name is in one of them.
func refuseMissingForms(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile("../../../docs/sql-functions.md")
	must(t, err)
	forms := strings.ToLower(strings.Join(slices.Concat(scalarForms, aggregateForms), "; "))
	seen := 0
	for _, line := range strings.Split(string(text), "\n") {
		cell, _, _ := strings.Cut(strings.TrimPrefix(line, "|"), " | ")
		for _, found := range regexp.MustCompile("`([a-z_]+)\\(").FindAllStringSubmatch(cell, -1) {
			if seen++; strings.HasPrefix(line, "|") && !strings.Contains(forms, found[1]+"(") {
				t.Errorf("%s has no form", found[1])
			}
		}
	}
	if seen < 50 {
		t.Errorf("docs/sql-functions.md has %d functions", seen)
	}
}

// askedValues are the values of expressions as they come in a format, as text that the type map
// reads of them; those that are refused are not there.
func askedValues(t *testing.T, conn *pgx.Conn, all []string, from string, format int16, out map[string]string) {
	t.Helper()
	if len(all) == 0 {
		return
	}
	targets := make([]string, len(all))
	for i, e := range all {
		targets[i] = fmt.Sprintf("%s AS c%d", e, i)
	}
	if len(all) <= 40 {
		sql := "SELECT " + strings.Join(targets, ", ") + " FROM " + from
		r := conn.PgConn().ExecParams(t.Context(), sql, nil, nil, nil, []int16{format}).Read()
		if r.Err == nil {
			for i, f := range r.FieldDescriptions {
				for _, row := range r.Rows {
					out[all[i]] += readValue(t, conn, f, row[i]) + " "
				}
			}
			return
		}
		if len(all) == 1 {
			return
		}
	}
	askedValues(t, conn, all[:len(all)/2], from, format, out)
	askedValues(t, conn, all[len(all)/2:], from, format, out)
}

func readValue(t *testing.T, conn *pgx.Conn, f pgconn.FieldDescription, data []byte) string {
	t.Helper()
	if data == nil {
		return "NULL"
	}
	typ, ok := conn.TypeMap().TypeForOID(f.DataTypeOID)
	if !ok {
		t.Fatalf("the type %d is not known", f.DataTypeOID)
	}
	v, err := typ.Codec.DecodeDatabaseSQLValue(conn.TypeMap(), f.DataTypeOID, f.Format, data)
	if err != nil {
		t.Errorf("%s: %q: %v", f.Name, data, err)
	}
	if at, ok := v.(time.Time); ok {
		v = at.UTC()
	}
	return fmt.Sprint(v)
}

// TestBinaryIsText asks for values in both formats, which have to be the same, and of the public
// table also a PostgreSQL, which has the same where it computes as we do.
func TestBinaryIsText(t *testing.T) {
	ours, theirs := startTypes(t)
	forms, _ := expressions(slices.Concat(scalarForms, aggregateForms, outerForms), []string{"i", "n"})
	forms = slices.DeleteFunc(forms, isUnstable)
	text, binary, real := map[string]string{}, map[string]string{}, map[string]string{}
	askedValues(t, ours, forms, "p", pgtype.TextFormatCode, text)
	askedValues(t, ours, forms, "p", pgtype.BinaryFormatCode, binary)
	askedValues(t, theirs, forms, "p", pgtype.TextFormatCode, real)
	same, different := 0, []string{}
	for _, e := range forms {
		if text[e] != binary[e] && !isClock(e) {
			t.Errorf("%s\ntext   %s\nbinary %s", e, text[e], binary[e])
		}
		switch {
		case text[e] == "" || real[e] == "" || isClock(e):
		case alike(text[e], real[e]):
			same++
		default:
			different = append(different, fmt.Sprintf("%s: %.60s, PostgreSQL %.60s", e, text[e], real[e]))
		}
	}
	golden.Text(t, "testdata/values.txt", strings.Join(different, "\n")+"\n")
	if same < 500 {
		t.Errorf("%d are the same in PostgreSQL", same)
	}
}

// isClock reports whether an expression asks what time it is.
func isClock(e string) bool {
	return strings.Contains(strings.ToLower(e), "current") || strings.Contains(e, "LOCAL") ||
		e == "now()" || strings.HasSuffix(e, "_timestamp()")
}

// isUnstable reports whether an expression has other last digits on other machines or, of 32 bits,
// in PostgreSQL; what differs in the size of a number alone is left out too.
func isUnstable(e string) bool {
	return slices.ContainsFunc([]string{"::real", "::smallint", "3000000000", "^", "exp(", "pow"}, func(part string) bool {
		return strings.Contains(e, part)
	})
}

// alike reports whether values are the same, as far as a double tells numbers apart.
func alike(ours, theirs string) bool {
	a, b := strings.Fields(ours), strings.Fields(theirs)
	for i := range min(len(a), len(b)) {
		x, err1 := strconv.ParseFloat(a[i], 64)
		y, err2 := strconv.ParseFloat(b[i], 64)
		if a[i] != b[i] && (err1 != nil || err2 != nil || math.Abs(x-y) > 1e-9*math.Abs(y)) {
			return false
		}
	}
	return len(a) == len(b)
}

// TestTypesKeepToTheDescription asks with values that make the plan's numbers wider than those that
// it was described with: what was told stays true.
func TestTypesKeepToTheDescription(t *testing.T) {
	ours, _ := startTypes(t)
	for _, sql := range []string{"SELECT count(*) * $1 AS x FROM t", "SELECT n * $1 AS x FROM (SELECT count(*) AS n FROM t) AS a",
		"SELECT sum(i) + $1 AS x FROM t", "SELECT avg(i) * $1 AS x FROM t"} {
		d, err := ours.Prepare(t.Context(), sql, sql)
		must(t, err)
		for _, factor := range []int64{1, 1_000_000_000_000} {
			rows, err := ours.Query(t.Context(), sql, factor)
			must(t, err)
			for rows.Next() {
				if got, want := rows.FieldDescriptions()[0].DataTypeOID, d.Fields[0].DataTypeOID; got != want {
					t.Errorf("%s with %d: type %d, and %d was told", sql, factor, got, want)
				}
				if _, err := rows.Values(); err != nil {
					t.Errorf("%s with %d: %v", sql, factor, err)
				}
			}
			must(t, rows.Err())
		}
		must(t, ours.Deallocate(t.Context(), sql))
	}
}

// TestNowInBinary: a moment of the catalogue has its time zone once, and so a binary form.
func TestNowInBinary(t *testing.T) {
	c := startTestServer(t, nil).ana(t)
	var now time.Time
	must(t, c.QueryRow(background, "SELECT now()").Scan(&now))
	if d := time.Since(now); d.Abs() > time.Minute {
		t.Errorf("now is %v", now)
	}
}
