package pgtables

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Before every question it is looked whether the tables have changed. These connections are kept
// for it: to make one takes longer than the look.
type looks struct {
	patience time.Duration // of one statement
	mu       sync.Mutex
	pool     *pgxpool.Pool
	life     context.Context // of the pool
	end      context.CancelFunc
	closed   bool
}

const (
	// mostLooks is how many look at once. Others wait for them: a server takes a hundred
	// connections or so, and questions may be more.
	mostLooks = 4
	// idleLook is how long a connection is kept that nobody needs. The owner can neither drop nor
	// rename a database that somebody is connected to.
	idleLook = time.Minute
)

// Look asks for the mark of tables that were read before. Without a mark of its own data is another
// whenever it is asked.
func (d *Database) Look(ctx context.Context, all []*Relation) (Mark, error) {
	pool, err := d.pool()
	if err != nil {
		return Mark{}, err
	}
	within, cancel := context.WithTimeout(ctx, d.looks.patience+5*time.Second)
	defer cancel()
	defer context.AfterFunc(d.looks.life, cancel)()
	m, again, err := d.look(within, pool, all)
	if again {
		// The server has restarted, or hung up on who was idle: so it may have on the others.
		pool.Reset()
		m, _, err = d.look(within, pool, all)
	}
	if d.looks.life.Err() != nil {
		return Mark{}, context.Canceled
	}
	if err != nil && within.Err() != nil && ctx.Err() == nil { // who asks has not stopped waiting: we have
		return Mark{}, &Unreachable{d.dataset.Name, d.String(), fmt.Errorf("it has not answered for %v", d.looks.patience)}
	}
	return m, err
}

// look looks over one connection. It reports whether the connection was one that had broken.
func (d *Database) look(ctx context.Context, pool *pgxpool.Pool, all []*Relation) (m Mark, broken bool, err error) {
	c, err := pool.Acquire(ctx)
	if err != nil {
		return m, false, d.roleUnread(ctx, err)
	}
	defer c.Release() // which closes one that is not as it was
	text, args := d.question(all)
	b := &pgx.Batch{} // all in one message
	b.Queue("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
	b.Queue(text, args...)
	b.Queue("ROLLBACK") // also of what an owner's query may have set
	answers := c.SendBatch(ctx, b)
	if _, err = answers.Exec(); err == nil {
		rows, failed := answers.Query()
		m, err = d.mark(ctx, rows, failed)
	} else {
		err = d.roleUnread(ctx, err)
	}
	if closed := answers.Close(); err == nil && closed != nil {
		err = d.roleUnread(ctx, closed)
	}
	return m, err != nil && c.Conn().IsClosed() && ctx.Err() == nil, err
}

// pool returns the connections, which are as all others: they read only, and see pg_catalog alone.
func (d *Database) pool() (*pgxpool.Pool, error) {
	d.looks.mu.Lock()
	defer d.looks.mu.Unlock()
	if d.looks.closed {
		return nil, context.Canceled
	}
	if d.looks.pool != nil {
		return d.looks.pool, nil
	}
	unreachable := func(err error) error { return &Unreachable{d.dataset.Name, d.String(), err} }
	config, err := pgxpool.ParseConfig(explicit(d.dataset.Source))
	if err != nil {
		return nil, unreachable(err)
	}
	config.ConnConfig = d.config.Copy()
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement // to plan it takes twice as long as to run it
	config.ConnConfig.RuntimeParams = maps.Clone(d.config.RuntimeParams)
	config.ConnConfig.RuntimeParams["statement_timeout"] = fmt.Sprint(d.looks.patience.Milliseconds())
	config.MinConns, config.MaxConns, config.MaxConnIdleTime, config.HealthCheckPeriod = 0, mostLooks, idleLook, idleLook/2
	if d.looks.pool, err = pgxpool.NewWithConfig(context.Background(), config); err != nil {
		return nil, unreachable(err)
	}
	d.looks.life, d.looks.end = context.WithCancel(context.Background())
	return d.looks.pool, nil
}

// Close hangs up, also on who is looking.
func (d *Database) Close() {
	d.looks.mu.Lock()
	defer d.looks.mu.Unlock()
	d.looks.closed = true
	if d.looks.pool != nil {
		d.looks.end()
		d.looks.pool.Close()
	}
}
