package sqlengine

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/dialect"
)

// Describe reads the stored columns of a table and compares them with the policy, and their types
// too where they are to be checked. It looks at no row. Its errors tell the owner where the table
// is.
func Describe(ctx context.Context, db *sql.DB, t *dialect.Table, where string, checked bool) ([]dialect.Column, error) {
	all, err := listColumns(ctx, db, t, where)
	if err != nil {
		return nil, err
	}
	t.Stored = map[string]dialect.Column{}
	for _, name := range t.Needed() {
		c, err := Find(all, t, name, where)
		if err != nil {
			return nil, err
		}
		t.Stored[name] = c
		if p := t.Columns[name]; p != nil && checked && !t.Readable(p.Type, c.Type) {
			return nil, fmt.Errorf("table %s: the policy says that column %s is %v, but in %s it is %s; correct the policy or the data",
				t.Name, name, p.Type, where, c.Type)
		}
	}
	return all, nil
}

func listColumns(ctx context.Context, db *sql.DB, t *dialect.Table, where string) (all []dialect.Column, err error) {
	// What a driver says stays here: analysts see it where the data is looked at anew.
	unread := fmt.Errorf("table %s: cannot read the schema of %s; is it complete, and of the kind that its name says?", t.Name, where)
	rows, err := db.QueryContext(ctx, t.Dialect.Describe(t.From))
	if err != nil {
		return nil, unread
	}
	defer rows.Close()
	about, err := rows.Columns()
	if err != nil || len(about) < 2 {
		return nil, unread
	}
	var c dialect.Column
	into := []any{&c.Name, &c.Type}
	for range about[2:] { // a database may say more
		into = append(into, new(any))
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, unread
		}
		all = append(all, c)
	}
	if rows.Err() != nil {
		return nil, unread
	}
	return all, nil
}

// Find finds a column by its name, or by one that differs from it in nothing but case.
func Find(all []dialect.Column, t *dialect.Table, name, where string) (dialect.Column, error) {
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		for _, c := range all {
			if same(c.Name, name) {
				return c, nil
			}
		}
	}
	return dialect.Column{}, fmt.Errorf("table %s: there is no column %s in %s; correct the policy or the data", t.Name, name, where)
}
