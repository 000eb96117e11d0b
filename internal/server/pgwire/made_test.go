package pgwire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/discreet-dp/discreet/internal/test/testpg"
)

// JSON and arrays of answers have the types and the bytes of PostgreSQL over tables of the same
// values, in both formats.
func TestJSONAndArrays(t *testing.T) {
	p := startTestServer(t, nil)
	ours := p.ana(t)
	theirs, err := pgx.Connect(background, testpg.Shared(t).URL())
	must(t, err)
	t.Cleanup(func() { theirs.Close(background) })
	// No sum ends with .00, because PostgreSQL's binary form leaves out the digits that are 0, and
	// ours does not.
	const question = "SELECT sex, count(*) AS n, floor(sum(cost)) + 0.25 AS paid, " +
		"count(*) > 0 AS many, date '2024-01-31' AS day FROM patients GROUP BY sex"
	rows, err := ours.Query(background, question, pgx.QueryExecModeSimpleProtocol)
	must(t, err)
	var values []string
	for rows.Next() {
		row := rows.RawValues()
		values = append(values, fmt.Sprintf("('%s'::text, %s::bigint, %s::numeric, '%s'::bool, '%s'::date)", row[0], row[1],
			row[2], row[3], row[4]))
	}
	must(t, rows.Err())
	if len(values) != 3 {
		t.Fatal(values)
	}
	answer := "SELECT * FROM (VALUES " + strings.Join(values, ", ") + ") AS v(sex, n, paid, many, day)"
	for _, text := range []string{
		"SELECT json_agg(x ORDER BY sex), jsonb_agg(x ORDER BY sex) FROM (%s) AS x",
		"SELECT row_to_json(x), to_jsonb(x), json_build_object('a', n), sex FROM (%s) AS x ORDER BY sex",
		"SELECT array_agg(sex ORDER BY sex), array_agg(n ORDER BY sex), array_agg(paid ORDER BY sex), array_agg(many ORDER BY sex), " +
			"array_agg(day ORDER BY sex), ARRAY[1, NULL, 3], ARRAY[1.5::float8], ARRAY[1::float4, 2], " +
			"ARRAY[TIMESTAMP '2024-01-31 10:00'] FROM (%s) AS x",
		"SELECT '{}'::int[], array_agg(sex) FILTER (WHERE sex = 'none'), json_agg(x) FILTER (WHERE sex = 'none') FROM (%s) AS x",
		"SELECT coalesce(json_agg(x ORDER BY sex), '[]')::character varying AS body, pg_catalog.count(x) AS page_total FROM (%s) x",
	} {
		for _, format := range []int16{pgtype.TextFormatCode, pgtype.BinaryFormatCode} {
			want, err := raw(theirs, fmt.Sprintf(text, answer), format)
			must(t, err)
			got, err := raw(ours, fmt.Sprintf(text, question), format)
			if err != nil || got != want {
				t.Errorf("%s, format %d: %v\ngot  %s\nwant %s", text, format, err, got, want)
			}
		}
	}
}

// raw is an answer as it was sent, with the types of its columns.
func raw(c *pgx.Conn, text string, format int16) (string, error) {
	rows, err := c.Query(background, text, pgx.QueryExecModeDescribeExec, pgx.QueryResultFormats{format})
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var out strings.Builder
	for rows.Next() {
		fmt.Fprintf(&out, "%q\n", rows.RawValues())
	}
	for _, f := range rows.FieldDescriptions() {
		fmt.Fprintf(&out, "%s %d %d; ", f.Name, f.DataTypeOID, f.DataTypeSize)
	}
	return out.String(), rows.Err()
}
