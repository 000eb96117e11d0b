package users

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// ErrOccupied: users are copied to where there are none.
var ErrOccupied = errors.New("there are users or a trail of logins already, and nothing is replaced")

// Copied is how much was copied.
type Copied struct {
	Users  int `json:"users"`
	Tokens int `json:"tokens"`
	Logins int `json:"logins"`
	Saved  int `json:"saved"`
}

// copied are the tables, in an order in which each refers to those before, and what is copied of
// them. Visits are not: who is in with a browser logs in again.
var copied = []struct{ table, columns, order string }{
	{"users", "name, role, created, revoked, epoch, argon2, scram", "name"},
	{"tokens", `id, "user", label, hash, created, expires, revoked, used`, "id"},
	{"logins", "at, until, count, name, address, door, outcome, token, good", "id"},
	{"saved", `id, kind, "user", dataset, shared, title, body, created, changed`, "id"},
}

// Copy copies users with their passwords, tokens, trail and what they saved to where there are
// none, between files and databases, and compares the two. All of it is there afterwards, or
// nothing is.
func Copy(ctx context.Context, from, to string) (n Copied, err error) {
	source, err := Find(from)
	if err != nil {
		return n, err
	}
	defer source.Close()
	all, err := source.contents(ctx)
	if err != nil {
		return n, err
	}
	target, err := Open(to)
	if err != nil {
		return n, err
	}
	defer target.Close()
	if err := target.fill(ctx, source.secret, all); err != nil {
		return n, err
	}
	there, err := target.contents(ctx)
	if err != nil {
		return n, err
	}
	if !reflect.DeepEqual(all, there) {
		return n, fmt.Errorf("the copy in %s is not the same: remove it, and copy again", to)
	}
	return Copied{len(all[0]), len(all[1]), len(all[2]), len(all[3])}, nil
}

// contents are the rows of all tables, as they are at one moment: a transaction is alone.
func (s *Store) contents(ctx context.Context) (out [][][]any, err error) {
	err = s.change(ctx, func(tx *sql.Tx) error {
		for _, c := range copied {
			rows, err := tx.Query("SELECT " + c.columns + " FROM main." + c.table + " ORDER BY " + c.order)
			if err != nil {
				return err
			}
			all, err := scanned(rows, strings.Count(c.columns, ",")+1)
			if err != nil {
				return err
			}
			out = append(out, all)
		}
		return nil
	})
	return out, err
}

func scanned(rows *sql.Rows, columns int) (out [][]any, err error) {
	defer rows.Close()
	for rows.Next() {
		row, cells := make([]any, columns), make([]any, columns)
		for i := range row {
			cells[i] = &row[i]
		}
		if err := rows.Scan(cells...); err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

// rowsAtOnce is how many rows are written by one statement.
const rowsAtOnce = 20

// fill writes the rows of all tables where there is nobody yet, and the secret that the passwords'
// salts are made with.
func (s *Store) fill(ctx context.Context, secret []byte, all [][][]any) error {
	occupied := false
	err := s.change(ctx, func(tx *sql.Tx) error {
		const ask = "SELECT EXISTS (SELECT 1 FROM main.users) OR EXISTS (SELECT 1 FROM main.logins)"
		if err := tx.QueryRow(ask).Scan(&occupied); err != nil || occupied {
			return errors.Join(err, ErrExists)
		}
		if _, err := tx.Exec("UPDATE main.secret SET secret = ?", secret); err != nil {
			return err
		}
		for i, c := range copied {
			for rows := all[i]; len(rows) > 0; rows = rows[min(rowsAtOnce, len(rows)):] {
				if err := insert(tx, c.table, c.columns, rows[:min(rowsAtOnce, len(rows))]); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if occupied {
		return ErrOccupied
	}
	return err
}

func insert(tx *sql.Tx, table, columns string, rows [][]any) error {
	one := "(?" + strings.Repeat(", ?", strings.Count(columns, ",")) + ")"
	var args []any
	for _, row := range rows {
		args = append(args, row...)
	}
	_, err := tx.Exec("INSERT INTO main."+table+" ("+columns+") VALUES "+one+strings.Repeat(", "+one, len(rows)-1), args...)
	return err
}
