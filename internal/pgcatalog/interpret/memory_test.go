package interpret

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

// memory is a database of two tables: staff, whose key is id, and many, which has rows enough that
// a join of it with itself takes too long. A third, hidden, cannot be read.
type memory map[string]*memoryTable

type memoryTable struct {
	heading Heading
	rows    []datum.Tuple
}

var testDatabase = func() memory {
	columns := func(words ...string) (out []datum.Column) {
		for i := 0; i < len(words); i += 2 {
			out = append(out, datum.Column{Name: words[i], OID: oid.Types(nil).Parse(words[i+1])})
		}
		return out
	}
	staff := &memoryTable{heading: Heading{OID: 1, Schema: "public", Readable: true,
		Columns: columns("id", "int4", "name", "text", "boss", "int4")}}
	for i, name := range []string{"Ada", "Ben", "Cem", "Dora"} {
		row := datum.Tuple{datum.Int(i + 1), datum.Text(name), datum.Int(i)}
		if i == 0 {
			row[2] = nil
		}
		staff.rows = append(staff.rows, row)
	}
	many := &memoryTable{heading: Heading{OID: 2, Schema: "public", Key: -1, Readable: true, Columns: columns("name", "text")}}
	for i := range 3000 {
		many.rows = append(many.rows, datum.Tuple{datum.Text(fmt.Sprint("n", i))})
	}
	hidden := &memoryTable{heading: Heading{OID: 3, Schema: "public", Key: -1, Columns: columns("x", "int4")}}
	return memory{"staff": staff, "many": many, "hidden": hidden}
}()

func (memory) Name() string     { return "memory" }
func (memory) Types() oid.Types { return nil }

func (m memory) Relation(schema, name string) Relation {
	if t := m[name]; t != nil && (schema == "" || schema == "public") {
		return t
	}
	return nil
}

func (m memory) ParseName(text string, t uint32) (uint32, error) {
	if o := oid.Types(nil).Parse(text); t == oid.Regtype && o != 0 {
		return o, nil
	}
	if table := m[text]; t == oid.Regclass && table != nil {
		return table.heading.OID, nil
	}
	return 0, Fail("42P01", "%s does not exist", text)
}

func (m memory) FormatName(object, t uint32) string {
	if t == oid.Regtype {
		return oid.Types(nil).Format(object, -2)
	}
	for name, table := range m {
		if table.heading.OID == object {
			return name
		}
	}
	return oid.Format(object)
}

func (t *memoryTable) Heading() Heading    { return t.heading }
func (t *memoryTable) Rows() []datum.Tuple { return t.rows }

func (t *memoryTable) Find(column int, key []byte) (out []datum.Tuple) {
	for _, row := range t.rows {
		if row[column] != nil && string(datum.Key(nil, row[column])) == string(key) {
			out = append(out, row)
		}
	}
	return out
}

var testLibrary = NewLibrary(nil)

func answer(ctx context.Context, sql string) ([]datum.Column, []datum.Tuple, error) {
	tree, err := Parse(sql)
	if err != nil {
		return nil, nil, err
	}
	st, err := testLibrary.Prepare(ctx, testDatabase, tree, nil, Limits{Steps: 5_000_000, Bytes: 96 << 20})
	if err != nil {
		return nil, nil, err
	}
	rows, err := st.Run(nil)
	return st.Columns, rows, err
}

// ask runs a text, and returns its rows as PostgreSQL writes them, NULL as ~.
func ask(ctx context.Context, sql string) (columns []datum.Column, rows [][]string, err error) {
	columns, found, err := answer(ctx, sql)
	if err != nil {
		return nil, nil, err
	}
	writer := &run{db: testDatabase, ctx: ctx, limits: Limits{Steps: 1 << 30, Bytes: 1 << 30}}
	for _, row := range found {
		out := make([]string, len(row))
		for i, v := range row {
			if out[i] = "~"; v != nil {
				if out[i], err = writer.format(v, columns[i].OID); err != nil {
					return nil, nil, err
				}
			}
		}
		rows = append(rows, out)
	}
	return columns, rows, nil
}

func codeOf(err error) string {
	var e *Error
	if !errors.As(err, &e) {
		return fmt.Sprint(err)
	}
	return e.Code
}

func TestTables(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT * FROM staff WHERE id = 2":                                                               "2|Ben|1",
		"TABLE staff ORDER BY name DESC LIMIT 1":                                                         "4|Dora|3",
		"SELECT name FROM staff OFFSET 3":                                                                "Dora",
		"SELECT count(*), count(boss) FROM staff":                                                        "4|3",
		"SELECT name FROM staff WHERE boss = ANY ('{1,2}') ORDER BY 1":                                   "Ben Cem",
		"SELECT a.name, b.name FROM staff a JOIN staff b ON b.id = a.boss ORDER BY 1":                    "Ben|Ada Cem|Ben Dora|Cem",
		"SELECT a.name, b.name FROM staff a LEFT JOIN staff b ON b.boss = a.id ORDER BY 1":               "Ada|Ben Ben|Cem Cem|Dora Dora|~",
		"SELECT b.name FROM staff a RIGHT JOIN staff b ON a.id = b.boss AND a.id > 1 WHERE a.id IS NULL": "Ada Ben",
		"SELECT name FROM staff s WHERE EXISTS (SELECT 1 FROM staff WHERE boss = s.id) AND id > 1":       "Ben Cem",
		"SELECT id % 2, string_agg(name, '+' ORDER BY id DESC) FROM staff GROUP BY 1 ORDER BY 1":         "0|Dora+Ben 1|Cem+Ada",
		"SELECT name, boss FROM staff GROUP BY id ORDER BY id LIMIT 2":                                   "Ada|~ Ben|1",
		"SELECT id % 2 FROM staff GROUP BY 1 HAVING max(id) > 3":                                         "0",
		"SELECT DISTINCT boss IS NULL FROM staff ORDER BY 1":                                             "f t",
		"SELECT name, row_number() OVER (PARTITION BY id % 2 ORDER BY id) FROM staff ORDER BY 1":         "Ada|1 Ben|1 Cem|2 Dora|2",
		"SELECT id FROM staff EXCEPT SELECT boss FROM staff":                                             "4",
		"SELECT s.id, x FROM staff s, LATERAL (SELECT s.id * 10) l(x) WHERE id < 3":                      "1|10 2|20",
		"WITH RECURSIVE up(id, n) AS (SELECT 4, 0 UNION ALL SELECT boss, n + 1 FROM up JOIN staff USING (id) WHERE boss > 0) " +
			"SELECT count(*), max(n) FROM up": "4|3",
		"SELECT 'staff'::regclass, (s).name FROM staff s WHERE name ~ '^A'": "staff|Ada",
		"SELECT count(*) FROM many m JOIN many USING (name)":                "3000",
	} {
		_, rows, err := ask(t.Context(), sql)
		var got []string
		for _, row := range rows {
			got = append(got, strings.Join(row, "|"))
		}
		if s := strings.Join(got, " "); err != nil || s != want {
			t.Errorf("%s: %s, %v; want %s", sql, s, err, want)
		}
	}
}
