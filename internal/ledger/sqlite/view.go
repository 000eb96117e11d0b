package sqlite

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	readonly "modernc.org/sqlite/vfs"

	"github.com/discreet-dp/discreet/ledger"
)

// view is a ledger as it is on the disk, the commits of its log laid over its file, for reading.
// Nothing can be changed through it, so it is what a ledger is checked by before anybody writes to
// it: SQLite opens a log only for writing.
type view struct {
	path   string
	file   *os.File
	log    *log
	marker uint32 // the one of the file alone
	vfs    *readonly.FS
	name   string // under which SQLite knows the view
	size   int64
	slot   int // of the checkpoint by which the ledger was read, or -1
}

// look opens the view of the ledger at the path, after checking what can be checked without SQLite.
func look(path string) (_ *view, err error) {
	marker, err := checkHeader(path)
	if err != nil {
		return nil, err
	}
	v := &view{path: path, marker: marker, slot: -1}
	defer func() {
		if err != nil {
			v.Close()
		}
	}()
	if v.log, err = readLog(path); err != nil {
		return nil, err
	}
	if marker == opened && v.log.file == nil {
		return nil, &ledger.CorruptError{Path: path,
			Where: "it was copied or restored without its log, " + path + "-wal, in which its last charges are"}
	}
	if v.file, err = os.Open(path); err != nil {
		return nil, fmt.Errorf("the ledger cannot be read: %w", err)
	}
	info, err := v.file.Stat()
	if err != nil {
		return nil, fmt.Errorf("the ledger cannot be read: %w", err)
	}
	v.size = info.Size()
	if v.log.count != 0 {
		pages := uint32(v.size / pageSize)
		v.size = int64(v.log.count) * pageSize
		for n := pages + 1; n <= v.log.count; n++ {
			if _, ok := v.log.pages[n]; !ok {
				return nil, &ledger.CorruptError{Path: path,
					Where: fmt.Sprintf("it was cut off: page %d of %d is neither in the file nor in its log", n, v.log.count)}
			}
		}
	}
	if v.name, v.vfs, err = readonly.New(v); err != nil {
		return nil, fmt.Errorf("the ledger cannot be read: %w", err)
	}
	return v, nil
}

// Close comes after the connections to the view were closed.
func (v *view) Close() error {
	var err error
	if v.vfs != nil {
		err = v.vfs.Close()
	}
	if v.file != nil {
		err = errors.Join(err, v.file.Close())
	}
	if v.log != nil {
		err = errors.Join(err, v.log.Close())
	}
	return err
}

// ledgerName is the one file in the view.
const ledgerName = "ledger"

// Open implements [fs.FS] for SQLite.
func (v *view) Open(name string) (fs.File, error) {
	if name != ledgerName {
		return nil, fs.ErrNotExist
	}
	return &viewFile{view: v}, nil
}

// viewFile is a reader of the view. A ledger is mostly read from its begin to its end, so it reads
// ahead.
type viewFile struct {
	*view
	at    int64
	ahead []byte // of the file
	from  int64  // where that begins
}

const readAhead = 64 * pageSize

// readFile reads from the file as [io.ReaderAt] does.
func (f *viewFile) readFile(b []byte, at int64) (int, error) {
	if at < f.from || at+int64(len(b)) > f.from+int64(len(f.ahead)) {
		if cap(f.ahead) == 0 {
			f.ahead = make([]byte, min(readAhead, f.size))
		}
		f.from = at / readAhead * readAhead
		n, err := f.file.ReadAt(f.ahead[:cap(f.ahead)], f.from)
		f.ahead = f.ahead[:n]
		if err != nil && err != io.EOF {
			return 0, err
		}
		if at >= f.from+int64(n) {
			return 0, io.EOF
		}
	}
	return copy(b, f.ahead[at-f.from:]), nil
}

func (f *viewFile) Close() error               { return nil }
func (f *viewFile) Stat() (fs.FileInfo, error) { return f, nil }
func (f *viewFile) Name() string               { return ledgerName }
func (f *viewFile) Size() int64                { return f.size }
func (f *viewFile) Mode() fs.FileMode          { return 0o400 }
func (f *viewFile) ModTime() time.Time         { return time.Time{} }
func (f *viewFile) IsDir() bool                { return false }
func (f *viewFile) Sys() any                   { return nil }
func (f *viewFile) Seek(to int64, _ int) (int64, error) {
	f.at = to
	return to, nil
}

// Read reads up to the end of a page.
func (f *viewFile) Read(b []byte) (int, error) {
	if f.at >= f.size {
		return 0, io.EOF
	}
	in := f.at % pageSize
	b = b[:min(int64(len(b)), pageSize-in, f.size-f.at)]
	var n int
	var err error
	if offset, ok := f.log.pages[uint32(f.at/pageSize)+1]; ok {
		n, err = f.log.file.ReadAt(b, offset+in)
	} else {
		n, err = f.readFile(b, f.at)
	}
	// The view has no log any more, so it says that there is none: versions 1 instead of 2.
	for i := int64(18); i <= 19; i++ {
		if at := i - f.at; at >= 0 && at < int64(n) && b[at] == 2 {
			b[at] = 1
		}
	}
	f.at += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}
