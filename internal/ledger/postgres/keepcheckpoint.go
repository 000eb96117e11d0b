package postgres

import (
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/internal/ledger/checkpoint"
	"github.com/discreet-dp/discreet/ledger"
)

// checkpointing is what a server does about the checkpoints of the ledger. All of it belongs to
// whoever has the turn.
type checkpointing struct {
	l      *Ledger
	last   uint64 // the record of the last one, or of its note
	sum    string // the one by which we read the ledger, or that we made since
	whole  bool   // all records were read and checked by this process
	making bool
}

// begin begins to make a checkpoint where one is due. It is made of a copy, in the background.
// None is made of another that was not checked yet: what is wrong with one would be in all that
// follow. None is made of records that may not be in the database. The caller has the turn.
func (k *checkpointing) begin() {
	last, _ := k.l.State.Head()
	if k.making || !k.whole || k.l.stale || k.l.Stopped() != nil || last > chain.MaxCheckpoint ||
		last-min(k.last, last) < checkpoint.Due(last, checkpointLeast) {
		return
	}
	select {
	case <-k.l.stop:
		return
	default:
	}
	k.making = true
	of, clone := k.l.State, k.l.State.Clone()
	k.l.helpers.Go(func() { k.make(of, clone) })
}

// start begins what a ledger does about its checkpoints when it is opened.
func (k *checkpointing) start() {
	k.l.Take()
	defer k.l.Leave()
	k.last = k.l.State.Unread()
	k.whole = k.last == 0
	if last, sum := k.last, k.sum; last > 0 {
		k.l.helpers.Go(func() { k.scrub(last, sum) })
	}
	k.begin()
}

// make writes a checkpoint, and then its note into the chain. A checkpoint that cannot be
// written is left out, and so is one that another server is at: the ledger needs none, and only
// opens more slowly.
func (k *checkpointing) make(of, clone *chain.State) {
	last, _ := clone.Head()
	clone.Sort()
	sum, failed := k.store(clone)
	k.l.Take()
	defer k.l.Leave()
	k.making, k.last = false, max(k.last, last) // where it failed, the next one is as far away
	if failed == nil {
		k.sum = sum
		k.l.Keeper.Vouch(sum)
	}
	if k.l.Stopped() == nil && k.l.State == of {
		k.l.State.Settle(clone)
	}
}

var errElsewhere = errors.New("another server makes a checkpoint, or has made one")

// store stores a checkpoint over a connection of its own, while no other server does.
func (k *checkpointing) store(clone *chain.State) (sum string, err error) {
	last, _ := clone.Head()
	c, err := k.l.place.dial(background)
	if err != nil {
		return "", err
	}
	defer hangUp(c)
	var ours bool
	// Whose connection ends gives the lock back.
	if err := c.QueryRow(background, "SELECT pg_try_advisory_lock(hashtextextended($1, 0))", "discreet checkpoint "+k.l.place.schema).
		Scan(&ours); err != nil || !ours {
		return "", errors.Join(err, errElsewhere)
	}
	all, err := k.l.place.candidates(c)
	if err != nil {
		return "", err
	}
	if len(all) > 0 && uint64(all[0].Last)+checkpoint.Due(last, checkpointLeast)/2 > last && k.vouchedFor(all[0]) {
		return "", errElsewhere
	}
	if sum, err = k.l.place.keepCheckpoint(c, clone); err != nil {
		return "", err
	}
	if err := k.l.Note(background, ledger.CheckpointNotes(clone.Notes.Era()), []byte(checkpoint.Entry(last, sum))); err != nil {
		return "", err
	}
	_, _ = c.Exec(background, k.l.place.in(deleteParts), int64(last)) // what is left is deleted after the next one
	return sum, nil
}

// vouchedFor reports whether a checkpoint is one by which the ledger can be opened: the chain knows
// it, and the anchor, where there is one.
func (k *checkpointing) vouchedFor(c candidate) bool {
	k.l.Take()
	defer k.l.Leave()
	return k.l.Stopped() == nil && writer{k.l}.Refresh(time.Now()) == nil && (k.l.Keeper == nil || k.l.Keeper.Vouched() == c.Sum) &&
		checkpoint.Noted(k.l.State, uint64(c.Last), c.Sum, k.l.readProven) == nil
}

// scrub checks in the background what was left out when the ledger was opened by a checkpoint, over
// a connection of its own. It stops the server where it finds something.
func (k *checkpointing) scrub(last uint64, sum string) {
	var c *pgx.Conn
	defer func() { hangUp(c) }()
	done, at, err := checkpoint.Scrub(last, sum, k.l.stop, func(from, n uint64) (rows []checkpoint.Row, err error) {
		for {
			if rows, err = k.scrubSome(&c, from, n); err == nil {
				return rows, nil
			}
			hangUp(c)
			c = nil
			select { // a database that restarts is no damage
			case <-k.l.stop:
				return nil, nil
			case <-time.After(time.Second):
			}
		}
	})
	k.l.Take()
	defer k.l.Leave()
	switch {
	case err != nil:
		k.l.halt(k.l.corrupt(fmt.Sprintf("record %d: %v", at, err)))
	case done:
		k.whole = true
		k.begin()
	}
}

func (k *checkpointing) scrubSome(c **pgx.Conn, from, n uint64) (_ []checkpoint.Row, err error) {
	if *c == nil {
		if *c, err = k.l.place.dial(background); err != nil {
			return nil, err
		}
	}
	rows, err := (*c).Query(background, k.l.place.in(selectSome), int64(from), int64(n))
	if err != nil {
		return nil, err
	}
	return pgx.AppendRows(make([]checkpoint.Row, 0, n), rows, func(from pgx.CollectableRow) (r checkpoint.Row, err error) {
		var body []byte
		err = from.Scan(&r.Sequence, &body, &r.Hash, &r.Answer)
		r.Body = string(body)
		return r, err
	})
}

const selectSome = `SELECT sequence, body, hash, coalesce(encode(sha256(answer), 'hex'), '') FROM ledger.records
WHERE sequence >= $1 ORDER BY sequence LIMIT $2`
