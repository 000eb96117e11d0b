package curator_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
)

// What tools ask for JSON is answered, and holds what was released and no column that only we add.
func TestJSONOfAnswers(t *testing.T) {
	w := withFloors(t, curatortest.Plenty)
	inner := w.MustAsk(bySex)
	rows := make([]string, len(inner.Rows))
	for i, row := range inner.Rows {
		rows[i] = fmt.Sprintf(`{"sex":"%v","n":%v}`, row[0], row[1])
	}
	whole := "[" + strings.Join(rows, ", \n ") + "]"
	inRow, first := "["+strings.Join(rows, ", ")+"]", fmt.Sprint(inner.Rows[0][1], " ", rows[0])
	with := "WITH s AS (" + bySex + ") SELECT "
	for _, c := range [][2]string{
		{"SELECT json_agg(x) FROM (" + bySex + ") AS x", whole},
		{"SELECT json_agg(row_to_json((SELECT e FROM (SELECT r.sex, r.n) AS e))) FROM (" + bySex + ") AS r", inRow},
		{with + "coalesce(json_agg(t), '[]') AS body FROM (SELECT * FROM s) AS t", whole},
		{"SELECT t.n, row_to_json(t) FROM (" + bySex + ") AS t LIMIT 1", first},
		{with + "t.n, row_to_json(t) FROM (SELECT * FROM s) AS t LIMIT 1", first},
		{"SELECT row_to_json(f) FROM floors AS f WHERE ward = 'surgery'",
			`{"ward":"surgery","floor":2,"price":1.50,"opened":"2001-02-03","closes":null}`},
		{"SELECT array_agg(sex) FROM (" + bySex + ") AS x", "{F,M,X}"},
	} {
		sql, want := c[0], c[1]
		a := w.MustAsk(sql)
		if got := lines(a); got != want || !a.Receipt.Free {
			t.Errorf("%s\ngot  %s\nwant %s", sql, got, want)
		}
		last := a.Columns[len(a.Columns)-1]
		if last.Kind != "text" || last.Noisy || !slices.Contains([]string{"json", "text[]"}, last.Type) {
			t.Errorf("%s: %+v", sql, last)
		}
	}
	// Nothing of the kind is possible below the noise, and that is known before anything is paid.
	r := w.Record()
	for _, sql := range []string{
		"SELECT json_agg(age) FROM patients", "SELECT json_agg(p) FROM patients p", "SELECT row_to_json(p) FROM patients p",
		"SELECT to_json(count(*)) FROM patients", "SELECT json_object_agg(sex, age) FROM patients",
		"SELECT sex, json_build_object('n', count(*)) FROM patients GROUP BY sex",
		"SELECT (SELECT jsonb_agg(x) FROM (SELECT sex FROM patients) x)",
		"SELECT count(*) FROM patients WHERE to_jsonb(age) IS NOT NULL", "SELECT array_to_string(array_agg(zip), ',') FROM patients",
		"SELECT count(*) FROM (SELECT pid, json_agg(cost) AS j FROM visits GROUP BY pid) AS t",
		"SELECT json_agg(x), 'x'::json FROM (" + bySex + ") AS x", "SELECT json_agg(x) FROM (" + bySex + ") AS x GROUP BY to_json(x)",
	} {
		var refused *api.Refusal
		if _, err := w.AskSQL(sql); !errors.As(err, &refused) || refused.Instead == "" {
			t.Errorf("%s: %v", sql, err)
		} else if strings.Contains(refused.Reason, "json") && strings.Contains(refused.Reason, "cannot be used") &&
			!strings.Contains(refused.Instead, "SELECT json_agg(t) FROM (SELECT") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if got := r.Take(); len(got) > 0 {
		t.Errorf("refused questions called %v", got)
	}
}
