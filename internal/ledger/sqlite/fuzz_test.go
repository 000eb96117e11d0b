//go:build unix

package sqlite

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// rawRow is a record as any program can read it.
type rawRow struct {
	body, hash string
	answer     []byte
}

// rawRows reads the rows of a closed ledger and follows the chain with nothing but SHA-256. It
// knows the kinds of records that end with the hash before.
func rawRows(path string) ([]rawRow, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=rw")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, "SELECT sequence, body, hash, answer FROM records ORDER BY sequence")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []rawRow
	previous := ""
	for n := 0; rows.Next(); n++ {
		var sequence int
		var r rawRow
		var answer sql.RawBytes
		if err := rows.Scan(&sequence, &r.body, &r.hash, &answer); err != nil {
			return nil, err
		}
		r.answer = append(r.answer, answer...)
		sum := sha256.Sum256([]byte(r.body))
		kept := sha256.Sum256(r.answer)
		switch {
		case sequence != n:
			return nil, fmt.Errorf("record %d is missing", n)
		case hex.EncodeToString(sum[:]) != r.hash:
			return nil, fmt.Errorf("record %d does not match its hash", n)
		case n > 0 && !strings.HasSuffix(r.body, ",64:"+previous+","):
			return nil, fmt.Errorf("record %d does not continue the one before", n)
		case strings.HasPrefix(r.body, "6:answer,") && !strings.Contains(r.body, ",64:"+hex.EncodeToString(kept[:])+","):
			return nil, fmt.Errorf("the answer of record %d does not match its hash", n)
		}
		previous = r.hash
		all = append(all, r)
	}
	return all, rows.Err()
}

// remains are ledgers as a process left them at some moments: closed, and killed in the middle of a
// write, with what then stands beside the ledger. All are of one history, whose rows come with
// them.
var remains = sync.OnceValues(func() ([]map[string][]byte, []rawRow) {
	ops, err := recording(nil, nil, script)
	orPanic(err)
	m := newMedia(never)
	var all []map[string][]byte
	for i, o := range ops {
		if o.do != "mark" {
			m.apply(o)
		}
		if files := m.after(extremes()[1]); files["ledger.db"] != nil && (i%29 == 0 || i == len(ops)-1) {
			all = append(all, files)
		}
	}
	var rows []rawRow
	err = inFolder(func(d *disk) (err error) {
		d.quiet = true
		if err := store(d.dir, all[len(all)-1]); err != nil {
			return err
		}
		rows, err = rawRows(filepath.Join(d.dir, "ledger.db"))
		return err
	})
	orPanic(err)
	return all, rows
})

// mutate changes the files of a ledger: each four bytes of edits are a file, an offset and a value;
// where they are given, the raw bytes become one of the files; and one of them is cut off.
func mutate(files map[string][]byte, edits, raw []byte, where uint8, size uint16) map[string][]byte {
	names := []string{"ledger.db", "ledger.db-journal", "ledger.db-wal"}
	bad := map[string][]byte{}
	for name, content := range files {
		bad[name] = append([]byte{}, content...)
	}
	for ; len(edits) >= 4; edits = edits[4:] {
		content := bad[names[int(edits[0])%len(names)]]
		if len(content) > 0 {
			// The offset is from the beginning, and with the next bit from the end, as files are
			// longer than it counts.
			at := (int(edits[1])<<8 | int(edits[2])) % len(content)
			if edits[0]&0x80 != 0 {
				at = len(content) - 1 - at
			}
			content[at] = edits[3]
		}
	}
	if len(raw) > 0 {
		bad[names[int(where)%len(names)]] = raw
	}
	if name := names[int(where>>2)%len(names)]; where&0x80 != 0 && int(size) < len(bad[name]) {
		bad[name] = bad[name][:size]
	}
	return bad
}

// Whatever bytes are in the files, nothing panics; and a ledger that is accepted has the records of
// the history from the first on, in an unbroken chain, and nothing else.
func FuzzOpen(f *testing.F) {
	underTorture(f)
	all, history := remains()
	for i := range all {
		f.Add(uint8(i), []byte{}, []byte{}, uint8(0), uint16(0))
		f.Add(uint8(i), []byte{1, 0, 0, 0}, []byte{}, uint8(0), uint16(0))
		f.Add(uint8(i), []byte{1, 0, 11, 0xff, 2, 0, 16, 1}, []byte{}, uint8(0x84), uint16(600))
	}
	f.Add(uint8(0), []byte{}, []byte{0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7, 0, 0, 0, 1}, uint8(1), uint16(0))
	f.Add(uint8(0), []byte{}, []byte{0x37, 0x7f, 0x06, 0x82, 0, 0x2d, 0xe2, 0x18, 0, 0, 0x10, 0}, uint8(2), uint16(0))
	f.Add(uint8(0), []byte{}, []byte("SQLite format 3\x00"), uint8(0), uint16(0))
	f.Fuzz(func(t *testing.T, pick uint8, edits, raw []byte, where uint8, size uint16) {
		err := inFolder(func(d *disk) error {
			d.quiet = true
			if err := store(d.dir, mutate(all[int(pick)%len(all)], edits, raw, where, size)); err != nil {
				return err
			}
			path := filepath.Join(d.dir, "ledger.db")
			report, verifyErr := Verify(path)
			l, err := Open(path)
			if (err == nil) != (verifyErr == nil) {
				return fmt.Errorf("Verify says %v, and Open %v", verifyErr, err)
			}
			if err != nil {
				return nil
			}
			n, hash, err := l.Head(ctx)
			if err != nil || n != report.Records || hash != report.Head {
				return fmt.Errorf("Verify saw record %d, and Open %d: %v", report.Records, n, err)
			}
			if err := l.Close(); err != nil {
				return err
			}
			rows, err := rawRows(path)
			if err != nil {
				return fmt.Errorf("a broken chain was accepted: %w", err)
			}
			if uint64(len(rows)) != n+1 || len(rows) > len(history) {
				return fmt.Errorf("%d records, and %d rows", n, len(rows))
			}
			for i, r := range rows {
				if r.body != history[i].body || r.hash != history[i].hash || string(r.answer) != string(history[i].answer) {
					return fmt.Errorf("record %d is another one", i)
				}
			}
			return nil
		})
		noError(t, err)
	})
}
