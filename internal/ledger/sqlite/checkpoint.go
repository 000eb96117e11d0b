package sqlite

import (
	"cmp"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/discreet-dp/discreet/internal/ledger/chain"
	"github.com/discreet-dp/discreet/ledger"
)

// checkpointLeast is how many records come between two checkpoints at least.
var checkpointLeast = uint64(1 << 17)

// checkpoints are the files of a ledger's checkpoints. There are two, so that the last good one is
// there while the next is written: a file that was not finished, or whose note was not, proves
// nothing.
func checkpoints(path string) [2]string {
	return [2]string{path + ".checkpoint0", path + ".checkpoint1"}
}

// candidate is a file that may be a checkpoint.
type candidate struct {
	slot int
	name string
	last uint64 // the record that it claims to stand for
}

// candidates returns the checkpoints of a ledger, the latest first.
func candidates(path string) []candidate {
	var all []candidate
	for slot, name := range checkpoints(path) {
		if last, err := readClaim(name); err == nil {
			all = append(all, candidate{slot, name, last})
		}
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Compare(b.last, a.last) })
	return all
}

// readClaim reads which record a checkpoint claims to stand for. What is no file is not opened:
// that of a pipe would wait for ever.
func readClaim(name string) (uint64, error) {
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return 0, errors.Join(err, errors.New("it is not a regular file"))
	}
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	head := make([]byte, len(chain.CheckpointFormat)+binary.MaxVarintLen64)
	n, err := f.Read(head)
	if err != nil || n < len(chain.CheckpointFormat) || string(head[:len(chain.CheckpointFormat)]) != chain.CheckpointFormat {
		return 0, errors.Join(err, errors.New("it is not a checkpoint"))
	}
	last, read := binary.Uvarint(head[len(chain.CheckpointFormat):n])
	if read <= 0 {
		return 0, errors.New("it is not a checkpoint")
	}
	return last, nil
}

// chosen is the checkpoint by which a ledger was opened, or that it made since.
type chosen struct {
	slot int // its file, or -1
	sum  string
}

var noneChosen = chosen{slot: -1}

// fromCheckpoint returns what follows from a ledger by the latest checkpoint that the chain proves
// and by the records after it, and which one that is; or nil where there is none.
func fromCheckpoint(c *conn, path string, believe chain.Believe, tell func(done, of uint64)) (*chain.State, chosen) {
	head := uint64(expectedRecords(c))
	for _, k := range candidates(path) {
		if chain.CheckpointTooFar(k.last, head, checkpointLeast) || checkQuick(c) != nil {
			continue
		}
		state, sum, err := readCheckpoint(k.name)
		if err != nil || !believe(sum) {
			continue
		}
		if last, _ := state.Head(); last != k.last {
			continue
		}
		err = follow(c, path, state, tell)
		if err == nil {
			err = chain.ProveCheckpoint(state, k.last, sum, func(sequence uint64) (*ledger.Record, []byte, error) {
				return readProven(c, path, state, sequence)
			})
		}
		if err == nil {
			return state, chosen{k.slot, sum}
		}
	}
	return nil, noneChosen
}

// checkQuick returns an error where something stands before the first record, or where pages are
// said to be free: a ledger frees none, and the next write would go to one that is not.
func checkQuick(c *conn) error {
	var first, free int64
	err := c.QueryRowContext(background, "SELECT min(sequence) FROM records").Scan(&first)
	if err == nil && first != 0 {
		err = errors.New("it does not begin with its first record")
	}
	if err == nil {
		err = c.QueryRowContext(background, "PRAGMA freelist_count").Scan(&free)
	}
	if err == nil && free != 0 {
		err = errors.New("it has free pages")
	}
	return err
}

// readProven reads a record, and what is stored with it, and checks both against the chain.
func readProven(c *conn, path string, state *chain.State, sequence uint64) (*ledger.Record, []byte, error) {
	var body, hash string
	var answer []byte
	where := fmt.Sprintf("record %d cannot be read", sequence)
	if err := c.QueryRowContext(background, selectRecord, int64(sequence)).Scan(&body, &hash, &answer); err != nil {
		return nil, nil, corrupt(path, where, err)
	}
	record := new(ledger.Record)
	err := record.Read(body, hash, chain.AnswerHash(answer))
	if err == nil && record.Sequence != sequence {
		err = fmt.Errorf("it is record %d", record.Sequence)
	}
	if err == nil {
		err = new(chain.Prover).Prove(state, sequence, hash, c.hashes)
	}
	if err != nil {
		return nil, nil, &ledger.CorruptError{Path: path, Where: where, Err: err}
	}
	return record, answer, nil
}

// writeCheckpoint writes the checkpoint of a state to a file, puts it on stable storage and returns
// its hash.
func writeCheckpoint(name string, state *chain.State) (_ string, err error) {
	// Not over the old one: who reads that has a file that stays as it is.
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			os.Remove(name)
		}
	}()
	sum, err := chain.WriteCheckpoint(f, state)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", err
	}
	return sum, nil
}

// readCheckpoint reads the state that a file claims, and the hash of the file.
func readCheckpoint(name string) (*chain.State, string, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, "", err
	}
	return chain.ReadCheckpoint(f, info.Size())
}

// checkpointing is what a running ledger does about its checkpoints. All of it belongs to whoever
// holds the lock.
type checkpointing struct {
	last uint64 // the record of the last one
	chosen
	whole  bool // all records were read and checked by this process
	making bool
	ending bool // no more work is begun in the background
}

// checkpoint begins to make a checkpoint where one is due. It is made of a copy, in the background.
// None is made of another that was not checked yet: what is wrong with one would be in all that
// follow. The caller holds the lock.
func (l *Ledger) checkpoint() {
	last, _ := l.State.Head()
	k := &l.checkpoints
	if k.making || k.ending || !k.whole || l.StopCause() != nil || last > chain.MaxCheckpoint ||
		last-min(k.last, last) < chain.CheckpointDue(last, checkpointLeast) {
		return
	}
	k.making = true
	clone := l.State.Clone()
	slot := 1 - max(k.slot, 0)
	l.helpers.Go(func() { l.makeCheckpoint(clone, slot) })
}

// startBackground begins what a ledger does in the background when it is opened.
func (l *Ledger) startBackground() {
	l.Lock()
	defer l.Unlock()
	if last := l.State.Unread(); last > 0 {
		sum := l.checkpoints.sum
		l.helpers.Go(func() { l.scrub(last, sum) })
	}
	l.checkpoint()
}

// makeCheckpoint writes a checkpoint, and then its note into the chain. A checkpoint that cannot be
// written is left out: the ledger needs none, and only opens more slowly.
func (l *Ledger) makeCheckpoint(clone *chain.State, slot int) {
	clone.Sort()
	last, _ := clone.Head()
	sum, failed := writeCheckpoint(checkpoints(l.Path)[slot], clone)
	if failed == nil {
		failed = l.Note(background, ledger.CheckpointNotes(clone.Notes.Era()), []byte(chain.CheckpointNote(last, sum)))
	}
	l.Lock()
	defer l.Unlock()
	k := &l.checkpoints
	k.making, k.last = false, last // where it failed, the next one is as far away
	if failed == nil {
		k.chosen = chosen{slot, sum}
		l.Keeper.Vouch(sum)
	}
	if l.StopCause() == nil {
		l.State.Settle(clone)
	}
}

// stopBackground ends what runs in the background. What is made is finished first.
func (l *Ledger) stopBackground() {
	l.Lock()
	if !l.checkpoints.ending {
		l.checkpoints.ending = true
		close(l.stop)
	}
	l.Unlock()
	l.helpers.Wait()
}

// scrub checks in the background what was left out when the ledger was opened by a checkpoint. It
// stops the ledger where it finds something.
func (l *Ledger) scrub(last uint64, sum string) {
	done, at, err := chain.Scrub(last, sum, l.stop, l.scrubSome)
	switch {
	case err != nil:
		l.stopAsCorrupt(at, err)
	case done:
		l.Lock()
		defer l.Unlock()
		l.checkpoints.whole = true
		l.checkpoint()
	}
}

// scrubSome reads some records, or nothing where the ledger ends.
func (l *Ledger) scrubSome(from, n uint64) (rows []chain.Row, err error) {
	l.Lock()
	defer l.Unlock()
	if l.StopCause() != nil || l.checkpoints.ending {
		return nil, nil
	}
	rows = make([]chain.Row, 0, n)
	err = l.conn.each(selectSome, func(v []driver.Value) error {
		var r row
		err := r.fill(v)
		rows = append(rows, chain.Row{Sequence: r.sequence, Body: r.body, Hash: r.hash, Answer: r.answer})
		return err
	}, int64(from), int64(n))
	return rows, err
}

// stopAsCorrupt stops the ledger, because a record is not what it has to be.
func (l *Ledger) stopAsCorrupt(sequence uint64, cause error) {
	bad := corrupt(l.Path, fmt.Sprintf("record %d cannot be read", sequence), cause)
	if code(cause) == 0 {
		bad = &ledger.CorruptError{Path: l.Path, Where: fmt.Sprintf("record %d: %v", sequence, cause)}
	}
	l.Lock()
	defer l.Unlock()
	if l.StopCause() == nil {
		l.Broken = &ledger.WriteError{Path: l.Path, Broken: true, Err: bad}
	}
}

// remadeCheckpoint is a checkpoint beside a ledger, made again.
type remadeCheckpoint struct {
	candidate
	chain.RemadeCheckpoint
}

// checkpoints returns the checkpoints beside the ledger, to be made again.
func (r *Reader) checkpoints() []remadeCheckpoint {
	var all []remadeCheckpoint
	for _, k := range candidates(r.path) {
		all = append(all, remadeCheckpoint{k, chain.RemadeCheckpoint{Last: k.last}})
	}
	return all
}

// checkCheckpoints returns an error where the chain vouches for a checkpoint that does not follow
// from its records. One for which it does not is not used, and is no fault.
func (r *Reader) checkCheckpoints(state *chain.State, made []remadeCheckpoint) error {
	for _, m := range made {
		_, sum, err := readCheckpoint(m.name)
		if err != nil || sum == m.Sum {
			continue
		}
		if chain.CheckNoted(state, m.last, sum, func(sequence uint64) (*ledger.Record, []byte, error) {
			return readProven(r.conn, r.path, state, sequence)
		}) != nil {
			continue
		}
		return &ledger.CorruptError{Path: r.path,
			Where: fmt.Sprintf("its checkpoint at record %d does not follow from its records", m.last)}
	}
	return nil
}

const selectHashes = `SELECT sequence, hash FROM records WHERE sequence BETWEEN ? AND ? ORDER BY sequence`

// prove proves a record that was not read when the ledger was opened.
func (l *Ledger) prove(sequence uint64, hash string) error {
	if sequence > l.State.Unread() {
		return nil
	}
	return l.prover.Prove(l.State, sequence, hash, l.conn.hashes)
}

// hashes returns the hashes of a range of records.
func (c *conn) hashes(first, last uint64) (all []string, err error) {
	err = c.each(selectHashes, func(v []driver.Value) error {
		n, number := v[0].(int64)
		text, isText := v[1].(string)
		if !number || !isText || uint64(n) != first+uint64(len(all)) {
			return errors.New("a record is missing")
		}
		all = append(all, text)
		return nil
	}, int64(first), int64(last))
	return all, err
}
