package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/pgplace"
	"github.com/discreet-dp/discreet/ledger"
)

// place is where a ledger is: a database, and a schema in it.
type place struct {
	at     *pgplace.Place
	config *pgx.ConnConfig
	schema string
	name   string // for messages; without the password
}

// PasswordVariable names the environment variable that has the password of the ledger's database.
const PasswordVariable = pgplace.PasswordVariable

// Is reports whether a ledger is one of this package, by how its place is written.
func Is(address string) bool { return pgplace.Is(address) }

// parse reads the address of a ledger, such as postgres://discreet@db.example.org/discreet.
func parse(address string) (*place, error) {
	at, err := pgplace.Parse(address)
	if err != nil {
		return nil, &ledger.InvalidError{Field: "address of the ledger's database", Problem: err.Error()}
	}
	at.Config.RuntimeParams["application_name"] = "discreet ledger"
	return &place{at: at, config: at.Config, schema: at.Schema, name: at.Name}, nil
}

// in puts the name of the schema into a statement, where it says "ledger.".
func (p *place) in(sql string) string { return p.at.In("ledger", sql) }

// dial connects, and sets what all work rests on.
func (p *place) dial(ctx context.Context) (*pgx.Conn, error) { return p.at.Dial(ctx) }

// said is what a server or the way to it said, for the owner.
func (p *place) said(err error) error { return p.at.Said(err) }

// hangUp closes a connection without waiting for a server that does not answer.
func hangUp(c *pgx.Conn) { pgplace.HangUp(c) }

var errFsync = pgplace.ErrFsync
