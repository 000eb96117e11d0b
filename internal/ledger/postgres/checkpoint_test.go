package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/ledger"
)

// often makes checkpoints after so many records in a test.
func often(t *testing.T, records uint64) {
	least := checkpointLeast
	checkpointLeast = records
	t.Cleanup(func() { checkpointLeast = least })
}

// checkpointed returns the address of a ledger with a checkpoint and some records after it.
func checkpointed(t *testing.T, o Options) string {
	t.Helper()
	often(t, 40)
	at := address(t)
	l := open(t, at, o)
	answered(t, l, 0, 25, 1000)
	until(t, "a checkpoint", func() bool { return sums(t, l) > 0 && made(l) })
	answered(t, l, 1000, 1005, 1000)
	mustClose(t, l)
	return at
}

// made reports whether this server has made a checkpoint.
func made(l *Ledger) bool {
	l.Lock()
	defer l.Unlock()
	return l.checkpoints.sum != "" && !l.checkpoints.making
}

func sums(t *testing.T, l *Ledger) (n int) {
	t.Helper()
	l.Lock()
	defer l.Unlock()
	noError(t, l.conn.QueryRow(ctx, l.database.in("SELECT count(DISTINCT sum) FROM ledger.checkpoints")).Scan(&n))
	return n
}

func image(t *testing.T, s *chain.State) string {
	t.Helper()
	var b bytes.Buffer
	noError(t, s.EncodeCheckpoint(&b))
	return b.String()
}

// unread opens a ledger, and returns up to which record it was not read, with what it says.
func unread(t *testing.T, at string, o Options) (uint64, string) {
	t.Helper()
	l := open(t, at, o)
	defer l.Close()
	l.Lock()
	defer l.Unlock()
	return l.State.Unread(), image(t, l.State)
}

func changes(t *testing.T, at, sql string) {
	t.Helper()
	p, err := parse(at)
	noError(t, err)
	c, err := p.dial(ctx)
	noError(t, err)
	defer hangUp(c)
	if _, err := c.PgConn().Exec(ctx, p.in(sql)).ReadAll(); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func TestCheckpointIsTheSameState(t *testing.T) {
	at := checkpointed(t, Options{})
	last, by := unread(t, at, Options{})
	none, full := unread(t, at, Options{Full: true})
	if last < 40 || none != 0 || by != full {
		t.Errorf("opened by a checkpoint at %d, in full from %d; the same: %v", last, none, by == full)
	}
	// Everything works on it: an old answer, a request that was charged, records, and more.
	l := open(t, at, Options{})
	if kept, found, err := l.Answer(ctx, "request 3"); err != nil || !found || string(kept) != "answer 3" {
		t.Errorf("%q, %v", kept, err)
	}
	if r := mustCharge(t, l, ask("request 3", hospital(1000))); !r.Again {
		t.Error("charged twice")
	}
	n := 0
	for _, err := range l.Records(ctx, 0) {
		noError(t, err)
		n++
	}
	if head, _, _ := l.Head(ctx); n != int(head)+1 {
		t.Errorf("%d records of %d", n, head+1)
	}
	// When everything was checked in the background, this server makes the next one.
	answered(t, l, 2000, 2025, 1000)
	until(t, "the next checkpoint", func() bool {
		l.Lock()
		defer l.Unlock()
		return l.checkpoints.whole && l.checkpoints.last > last && !l.checkpoints.making
	})
	mustClose(t, l)
	if next, _ := unread(t, at, Options{}); next <= last {
		t.Errorf("opened by a checkpoint at %d", next)
	}
	verify(t, at)
}

// A checkpoint that is not the one that the chain knows is not used, and neither is one without its
// note or of a ledger that has none.
func TestPromise7ChangedCheckpoint(t *testing.T) {
	at := checkpointed(t, Options{})
	often(t, 1<<40) // none is made in the place of those
	_, want := unread(t, at, Options{Full: true})
	for _, sql := range []string{
		"UPDATE ledger.checkpoints SET bytes = set_byte(bytes, 200, get_byte(bytes, 200) # 1)",
		"UPDATE ledger.checkpoints SET sum = repeat('0', 64)",
		"UPDATE ledger.checkpoints SET last = last + 1",
		"DELETE FROM ledger.checkpoints",
		"DROP TABLE ledger.checkpoints",
	} {
		changes(t, at, sql)
		if last, got := unread(t, at, Options{}); last != 0 || got != want {
			t.Errorf("%s: opened by a checkpoint at %d", sql, last)
		}
		verify(t, at)
	}
}

// forge is done by somebody who can write the database and nothing else: a checkpoint that knows
// nothing of an account, and a note behind the last record that vouches for it.
func forge(t *testing.T, at string, o Options) {
	t.Helper()
	often(t, 1<<40) // an honest one, made meanwhile, would be used in the place of it
	o.Full = true
	l := open(t, at, o)
	defer l.Close()
	last, _ := l.State.Head()
	less := strings.Replace(image(t, l.State), "hospital", "hospitaL", 1)
	sum := chain.NewCheckpointHash()
	sum.Write([]byte(less))
	l.Lock() // what the ledger does by itself uses the same connection
	_, err := l.conn.Exec(ctx, l.database.in(insertPart), int64(last), sum.Hex(), 1, []byte(less))
	l.Unlock()
	noError(t, err)
	noError(t, l.Note(ctx, ledger.CheckpointNotes(""), []byte(chain.CheckpointNote(last, sum.Hex()))))
}

// unmoved is an anchor that somebody can read and not write.
type unmoved struct{ ledger.Anchorage }

func (unmoved) Store(context.Context, ledger.Anchor) error { return nil }

// Where there is no anchor, a forged checkpoint is found out in the background, and by verify.
// Where there is one, it is not used.
func TestPromise7ForgedCheckpoint(t *testing.T) {
	at := checkpointed(t, Options{})
	forge(t, at, Options{})
	r, err := Read(at)
	noError(t, err)
	defer r.Close()
	if _, err := r.Verify(nil); !errors.As(err, new(*ledger.CorruptError)) || !strings.Contains(err.Error(), "does not follow") {
		t.Errorf("verified: %v", err)
	}
	l := open(t, at, Options{})
	until(t, "the end of the server", func() bool {
		_, err := l.Charge(ctx, ask(fmt.Sprint("after ", time.Now()), hospital(1<<20)))
		return errors.As(err, new(*ledger.CorruptError)) && strings.Contains(err.Error(), "does not follow")
	})

	place := anchorage(t)
	at = checkpointed(t, Options{Anchorage: place})
	named, _, err := place.Load(ctx)
	if last, _ := unread(t, at, Options{Anchorage: place}); err != nil || named.Checkpoint == "" || last < 40 {
		t.Fatalf("the anchor names %q, %v; opened by a checkpoint at %d", named.Checkpoint, err, last)
	}
	forge(t, at, Options{Anchorage: unmoved{place}})
	l = open(t, at, Options{Anchorage: place})
	if n := spent(t, l, "hospital"); n != 30 {
		t.Errorf("%d were spent", n)
	}
}

// A record before the checkpoint is used only with its proof, and damage there ends the server when
// it comes to it.
func TestPromise7ChangedBeforeCheckpoint(t *testing.T) {
	at := checkpointed(t, Options{})
	changes(t, at, "ALTER TABLE ledger.records DISABLE TRIGGER ALL; UPDATE ledger.records SET answer = 'another', hash = "+
		"encode(sha256(body), 'hex') WHERE sequence = 8")
	l := open(t, at, Options{})
	if l.State.Unread() < 40 {
		t.Fatalf("opened by a checkpoint at %d", l.State.Unread())
	}
	var corrupt *ledger.CorruptError
	if kept, _, err := l.Answer(ctx, "request 3"); !errors.As(err, &corrupt) {
		t.Errorf("got %q, %v", kept, err)
	}
	until(t, "the end of the server", func() bool {
		_, err := l.Charge(ctx, ask(fmt.Sprint("after ", time.Now()), hospital(1<<20)))
		return errors.As(err, &corrupt) && strings.Contains(err.Error(), "record 8")
	})
}

// A record that was exchanged with all that follows in its block is not the one of the chain.
func TestPromise7ExchangedBeforeCheckpoint(t *testing.T) {
	at := checkpointed(t, Options{})
	changes(t, at, `ALTER TABLE ledger.records DISABLE TRIGGER ALL; UPDATE ledger.records r SET body = o.body, hash = o.hash, answer = o.answer
FROM ledger.records o WHERE r.sequence = 8 AND o.sequence = 10`)
	l := open(t, at, Options{})
	if kept, _, err := l.Answer(ctx, "request 3"); !errors.As(err, new(*ledger.CorruptError)) {
		t.Errorf("got %q, %v", kept, err)
	}
}

// Servers that share a ledger make one checkpoint at a time, and what one of them vouched for stays
// in the anchor of the others.
func TestCheckpointsOfSeveralServers(t *testing.T) {
	often(t, 40)
	at, name := address(t), fmt.Sprint("anchor ", schemas.Add(1))
	var servers []*Ledger
	for range 3 {
		servers = append(servers, open(t, at, Options{Anchorage: anchorNamed(t, name)}))
	}
	for i := range 4 {
		race(t, servers, 30*(i+1), 1<<20)
	}
	until(t, "the end of all checkpoints", func() bool {
		return !slices.ContainsFunc(servers, func(l *Ledger) bool {
			l.Lock()
			defer l.Unlock()
			return l.checkpoints.making
		})
	})
	head, _, err := servers[0].Head(ctx)
	noError(t, err)
	notes, err := servers[0].Notes(ctx, ledger.CheckpointNotes(""))
	// Two are kept; of servers that make one at once, each may leave one more, up to the next.
	if n := sums(t, servers[0]); err != nil || n < 1 || n > 1+len(servers) || len(notes) < 2 || uint64(len(notes)) > 2*head/40 {
		t.Errorf("%d records: %d checkpoints were made and %d are there, %v", head, len(notes), n, err)
	}
	for i, l := range servers { // each of them stores an anchor
		answered(t, l, 5000+i, 5001+i, 1<<20)
		mustClose(t, l)
	}
	if last, _ := unread(t, at, Options{Anchorage: anchorNamed(t, name)}); last < 40 {
		t.Errorf("opened by a checkpoint at %d", last)
	}
	verify(t, at)
}

// A server that has to make its state anew does so by the checkpoint that it knows.
func TestPromise9RefusedAfterCheckpoint(t *testing.T) {
	at := checkpointed(t, Options{})
	l := open(t, at, Options{})
	head, _, _ := l.Head(ctx)
	changes(t, at, fmt.Sprintf("ALTER TABLE ledger.records ADD CONSTRAINT full_disk CHECK (sequence <= %d)", head))
	if _, err := l.Charge(ctx, ask("refused", hospital(1000))); !errors.As(err, new(*ledger.WriteError)) {
		t.Fatalf("got %v", err)
	}
	if n := spent(t, l, "hospital"); n != 30 || l.State.Unread() < 40 {
		t.Errorf("%d were spent; by a checkpoint at %d", n, l.State.Unread())
	}
	changes(t, at, "ALTER TABLE ledger.records DROP CONSTRAINT full_disk")
	if r := mustCharge(t, l, ask("refused", hospital(1000))); r.Again || r.Sequence != head+1 {
		t.Errorf("%+v", r)
	}
	verify(t, at)
}
