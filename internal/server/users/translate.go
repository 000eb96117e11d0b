package users

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/discreet-dp/discreet/internal/pgplace"
)

// translator connects to PostgreSQL, which then takes the statements of a file: its tables are in
// the schema of the place, and its parameters have numbers.
type translator struct {
	sqldriver.Connector
	place *pgplace.Place
	known sync.Map // of texts by texts; there are few
}

func newTranslator(p *pgplace.Place) *translator {
	return &translator{Connector: stdlib.GetConnector(*p.Config, stdlib.OptionAfterConnect(p.Settle)), place: p}
}

func (t *translator) Connect(ctx context.Context) (sqldriver.Conn, error) {
	c, err := t.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &translated{c.(*stdlib.Conn), t}, nil
}

// text returns a statement in PostgreSQL's words.
func (t *translator) text(sql string) string {
	if text, ok := t.known.Load(sql); ok {
		return text.(string)
	}
	text := t.place.In("main", numbered(sql))
	t.known.Store(sql, text)
	return text
}

// numbered writes ?, ? and ?1 as $1, $2 and $1. Our statements have question marks for nothing
// else.
func numbered(sql string) string {
	var out strings.Builder
	n := 0
	for i, part := range strings.Split(sql, "?") {
		if i > 0 {
			out.WriteByte('$')
			if part == "" || part[0] < '0' || part[0] > '9' {
				n++
				out.WriteString(strconv.Itoa(n))
			}
		}
		out.WriteString(part)
	}
	return out.String()
}

// translated is a connection.
type translated struct {
	*stdlib.Conn
	by *translator
}

func (c *translated) ExecContext(ctx context.Context, sql string, args []sqldriver.NamedValue) (sqldriver.Result, error) {
	return c.Conn.ExecContext(ctx, c.by.text(sql), args)
}

func (c *translated) QueryContext(ctx context.Context, sql string, args []sqldriver.NamedValue) (sqldriver.Rows, error) {
	return c.Conn.QueryContext(ctx, c.by.text(sql), args)
}

// BeginTx begins a transaction that is alone, as those of a file are: who revokes a user does not
// pass by who is making them a token. It waits for the end of any other, also of one whose
// connection was lost, and what it reads then is what that one left.
func (c *translated) BeginTx(ctx context.Context, o sqldriver.TxOptions) (sqldriver.Tx, error) {
	tx, err := c.Conn.BeginTx(ctx, o)
	if err != nil {
		return nil, err
	}
	if _, err := c.ExecContext(ctx, "SELECT one FROM main.secret FOR UPDATE", nil); err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	return tx, nil
}

// CheckNamedValue makes texts fit that PostgreSQL does not take, so that a name that nobody can
// have is looked up like any other, and not found: neither a name nor the id of a token has a
// replacement character.
func (c *translated) CheckNamedValue(v *sqldriver.NamedValue) error {
	if text, ok := v.Value.(string); ok {
		v.Value = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
	}
	return c.Conn.CheckNamedValue(v)
}
