package sqlite

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/test/ledgertest"
	"github.com/discreet-dp/discreet/ledger"
)

// crashed is the files of a ledger that was not closed, with several commits in its log.
type crashed struct {
	file, log []byte
	commits   []int    // by commit, where it ends in the log
	heads     []uint64 // by commit, the head after it; the first is the one before all
}

var crash = sync.OnceValue(func() crashed {
	dir, err := os.MkdirTemp("", "ledger-crash-*")
	orPanic(err)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "ledger.db")
	l, err := open(path, func() time.Time { return time.Unix(1_800_000_000, 0) })
	orPanic(err)
	defer l.Close()
	if _, err := l.Charge(ctx, ask("in the file", hospital(100))); err != nil {
		panic(err)
	}
	orPanic(l.conn.empty())
	sequence, _ := l.State.Head()
	c := crashed{commits: []int{0}, heads: []uint64{sequence}}
	for i := range 6 {
		r, err := l.Charge(ctx, ask(fmt.Sprint("request ", i), hospital(100)))
		if err == nil && i == 2 {
			size, _ := logSize(path)
			c.commits, c.heads = append(c.commits, int(size)), append(c.heads, r.Sequence)
			err = l.Keep(ctx, r.Sequence, "key", bytes.Repeat([]byte("4.25 "), 2000))
		}
		orPanic(err)
		size, _ := logSize(path)
		sequence, _ := l.State.Head()
		c.commits, c.heads = append(c.commits, int(size)), append(c.heads, sequence)
	}
	if c.file, err = os.ReadFile(path); err == nil {
		c.log, err = os.ReadFile(path + "-wal")
	}
	orPanic(err)
	return c
})

// read opens or verifies a ledger with this log and returns its head. A log that is nil is
// missing. What is refused must not be changed.
func (c crashed) read(t testing.TB, log []byte, useOpen bool) (uint64, error) {
	t.Helper()
	path := filepath.Join(inMemory(t), "ledger.db")
	for name, data := range map[string][]byte{path: c.file, path + "-wal": log} {
		if data == nil {
			continue
		}
		noError(t, os.WriteFile(name, data, 0o600))
	}
	var head uint64
	var err error
	if useOpen {
		var l *Ledger
		if l, err = Open(path); err == nil {
			head, _ = l.State.Head()
			// And it can be used, and read again.
			noError(t, ledgertest.ErrOf(l.Charge(ctx, ask("more", hospital(100)))))
			mustClose(t, l)
			if report := mustVerify(t, path); report.Records != head+1 {
				t.Fatalf("%d records; want %d", report.Records, head+1)
			}
			if _, err := os.Stat(path + "-wal"); !os.IsNotExist(err) {
				t.Fatalf("a closed ledger has a log: %v", err)
			}
			return head, nil
		}
	} else {
		var report Report
		report, err = Verify(path)
		head = report.Records
	}
	for name, data := range map[string][]byte{path: c.file, path + "-wal": log} {
		if after, err := os.ReadFile(name); data != nil && (err != nil || !bytes.Equal(after, data)) {
			t.Fatalf("%s was changed: %v", name, err)
		}
	}
	return head, err
}

// Every byte of a log counts: when one is changed it is noticed, also in the last commit.
func TestPromise7FlippedBytesOfTheLogAreNoticed(t *testing.T) {
	t.Parallel()
	c := crash()
	last := c.heads[len(c.heads)-1]
	if head, err := c.read(t, c.log, true); err != nil || head != last {
		t.Fatalf("got %d, %v; want %d", head, err, last)
	}
	first, step := oneIn(t, 3, 37)
	if testing.Short() {
		step = 331
	}
	var offsets []int
	for i := first; i < len(c.log); i += step {
		offsets = append(offsets, i)
	}
	for i := range 56 { // the header and that of the first frame
		offsets = append(offsets, i)
	}
	for i := range frameHeader { // those of a commit in the middle and of the last one
		offsets = append(offsets, c.commits[3]-frameSize+i, len(c.log)-frameSize+i)
	}
	for n, i := range offsets {
		bad := bytes.Clone(c.log)
		bad[i] ^= byte(1 + n%255)
		var corrupt *ledger.CorruptError
		if head, err := c.read(t, bad, n%5 == 0); !errors.As(err, &corrupt) || !strings.Contains(err.Error(), "log") {
			t.Errorf("byte %d: got %d, %v; want a CorruptError", i, head, err)
		}
	}
}

// Larger damage is noticed wherever a commit follows that was confirmed after it; only the last
// commit cannot be told from one that was never finished.
func TestPromise7DamagedLogIsNoticed(t *testing.T) {
	t.Parallel()
	c := crash()
	for i := 0; i < len(c.log); i += 512 {
		for name, with := range map[string]byte{"zeros": 0, "ones": 0xff} {
			bad := bytes.Clone(c.log)
			copy(bad[i:], bytes.Repeat([]byte{with}, 512))
			if bytes.Equal(bad, c.log) {
				continue
			}
			head, err := c.read(t, bad, false)
			var corrupt *ledger.CorruptError
			inLast := i+512 > c.commits[len(c.commits)-2]
			if err == nil && (!inLast || head != c.heads[len(c.heads)-2]) || err != nil && !errors.As(err, &corrupt) {
				t.Errorf("%s at %d: got %d, %v", name, i, head, err)
			}
		}
	}
}

// A log that was cut off is what a process leaves that died: all commits before the cut are there.
func TestPromise6CutLog(t *testing.T) {
	t.Parallel()
	c := crash()
	first, step := oneIn(t, 3, 251)
	if testing.Short() {
		step = 997
	}
	cuts := []int{0, len(c.log)}
	for n := first; n < len(c.log); n += step {
		cuts = append(cuts, n)
	}
	for _, end := range c.commits { // the last byte of a commit is what counts
		cuts = append(cuts, max(0, end-frameSize), max(0, end-1), end, min(end+1, len(c.log)))
	}
	for i, n := range cuts {
		want := c.heads[0]
		for i, end := range c.commits {
			if n >= end {
				want = c.heads[i]
			}
		}
		if head, err := c.read(t, c.log[:n:n], i%4 == 0); err != nil || head != want {
			t.Fatalf("cut at %d: got %d, %v; want %d", n, head, err, want)
		}
	}
}

// The frames of a transaction that was not finished reach the disk in any order, and the file is as
// long as the last of them.
func TestPromise6TornTransaction(t *testing.T) {
	t.Parallel()
	c := crash()
	// The commit with the large answer, with nothing after it.
	begin, end := c.commits[3], c.commits[4]
	if c.heads[4] != c.heads[3]+1 || end-begin < 3*frameSize {
		t.Fatal("this is not the large commit")
	}
	for sector := begin / 512 * 512; sector < end; sector += 512 {
		torn := bytes.Clone(c.log[:end])
		lost := torn[max(sector, begin):min(sector+512, end)]
		if isZero(lost) {
			continue
		}
		clear(lost)
		if head, err := c.read(t, torn, false); err != nil || head != c.heads[3] {
			t.Errorf("sector at %d: got %d, %v; want %d", sector, head, err, c.heads[3])
		}
	}
}

func TestPromise7MissingLogIsNoticed(t *testing.T) {
	c := crash()
	for _, useOpen := range []bool{true, false} {
		var corrupt *ledger.CorruptError
		if _, err := c.read(t, nil, useOpen); !errors.As(err, &corrupt) || !strings.Contains(err.Error(), "without its log") {
			t.Errorf("got %v; want a CorruptError", err)
		}
	}
}

// SQLite by itself forgets what follows a bad frame and says nothing. This is what the checks above
// are for.
func TestSQLiteForgets(t *testing.T) {
	c := crash()
	path := filepath.Join(inMemory(t), "ledger.db")
	bad := bytes.Clone(c.log)
	bad[c.commits[1]+frameHeader+100] ^= 1
	for name, data := range map[string][]byte{path: c.file, path + "-wal": bad} {
		noError(t, os.WriteFile(name, data, 0o600))
	}
	conn, err := dial(path)
	noError(t, err)
	defer conn.Close()
	var head uint64
	var hash string
	if err := errors.Join(conn.set(writePragmas...), conn.QueryRowContext(ctx, selectHead).Scan(&head, &hash)); err != nil ||
		head != c.heads[1] {
		t.Errorf("got %d, %v; want %d", head, err, c.heads[1])
	}
}

// A connection that is closed leaves the log as it is, which takes a field of the driver's that is
// not exported: a version of the driver without it, or with another behind that name, fails here.
// Without that call SQLite puts the log into the file, or this test sees nothing.
func TestDriverLeavesTheLog(t *testing.T) {
	c := crash()
	for _, leaves := range []bool{true, false} {
		path := filepath.Join(inMemory(t), "ledger.db")
		for name, data := range map[string][]byte{path: c.file, path + "-wal": c.log} {
			noError(t, os.WriteFile(name, data, 0o600))
		}
		conn, err := dial(path)
		if !leaves && err == nil {
			conn.Close()
			conn, err = connect(url.URL{Scheme: "file", Path: path, RawQuery: "mode=rw"})
		}
		noError(t, err)
		var head uint64
		var hash string
		noError(t, errors.Join(conn.set(writePragmas...), conn.QueryRowContext(ctx, selectHead).Scan(&head, &hash), conn.Close()))
		file, _ := os.ReadFile(path)
		log, _ := os.ReadFile(path + "-wal")
		if left := bytes.Equal(file, c.file) && bytes.Equal(log, c.log); left != leaves {
			t.Errorf("told to leave the log: %v; left it: %v", leaves, left)
		}
	}
	for _, other := range []any{nil, 7, struct{ handle uintptr }{1}, struct{ db int }{1}, struct{ db uintptr }{0}} {
		if leaveLog(other) == nil {
			t.Errorf("%#v was taken for the driver's connection", other)
		}
	}
}

// The sum over a frame is linear, and isOneByteOff solves for one byte. Both orders of bytes exist.
func TestIsOneByteOff(t *testing.T) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		frame := make([]byte, frameSize)
		for i := range frame {
			frame[i] = byte(i*i>>3 + 7*i)
		}
		before := checksum{order: order, a: 12345, b: 67890}
		sum := before
		sum.add(frame[:8])
		sum.add(frame[frameHeader:])
		binary.BigEndian.PutUint32(frame[16:], sum.a)
		binary.BigEndian.PutUint32(frame[20:], sum.b)
		torn := bytes.Clone(frame)
		clear(torn[1000:2000])
		if before.isOneByteOff(torn, 0) {
			t.Fatalf("%v: a torn frame was taken for a changed byte", order)
		}
		for i := 0; i < len(frame); i += 3 {
			if i >= 8 && i < 16 {
				continue // the salts are not summed
			}
			for _, by := range []byte{1, 0x80, 0xff} {
				bad := bytes.Clone(frame)
				bad[i] ^= by
				if !before.isOneByteOff(bad, 0) {
					t.Fatalf("%v: byte %d was not seen", order, i)
				}
			}
		}
	}
}
