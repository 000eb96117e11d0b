//go:build unix

package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// The layer "torture" stands between SQLite and the VFS "unix". Files in the folder of a [disk] are
// counted, recorded and made to fail as the disk says; all others are passed through.
var torture struct {
	once sync.Once
	unix uintptr // the VFS below

	mu      sync.Mutex
	disks   map[string]*disk
	files   map[uintptr]*openFile
	methods map[uintptr]uintptr // ours, by those of "unix"
}

// openFile is a file that SQLite has open on a disk.
type openFile struct {
	disk    *disk
	name    string
	real    *sqlite3.Tsqlite3_io_methods
	dirSync bool // the first sync of a new journal or log also syncs the folder, as "unix" does
}

// at turns an address of C into a pointer. The detour is for vet, which cannot know that C's memory
// does not move.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// address returns a Go function as C sees it, and function a C function as Go does.
func address[F any](f F) uintptr  { return *(*uintptr)(unsafe.Pointer(&f)) }
func function[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&p)) }

// inC returns a copy in C's memory, which is never freed: SQLite uses it until the process ends.
func inC[T any](tls *libc.TLS, v T) uintptr {
	p := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(v)))
	if p == 0 {
		panic("there is no memory")
	}
	*at[T](p) = v
	return p
}

type (
	openFunc     = func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32
	deleteFunc   = func(*libc.TLS, uintptr, uintptr, int32) int32
	closeFunc    = func(*libc.TLS, uintptr) int32
	transferFunc = func(*libc.TLS, uintptr, uintptr, int32, int64) int32
	truncateFunc = func(*libc.TLS, uintptr, int64) int32
	syncFunc     = func(*libc.TLS, uintptr, int32) int32
	sizeFunc     = func(*libc.TLS, uintptr, uintptr) int32
)

// underTorture has every ledger of this test opened through the layer. Such a test must not be
// parallel, as the variable is one for the package; it may have goroutines with a disk each.
func underTorture(t testing.TB) {
	t.Helper()
	torture.once.Do(func() {
		tls := libc.NewTLS()
		defer tls.Close()
		torture.unix = sqlite3.Xsqlite3_vfs_find(tls, inC(tls, [...]byte{'u', 'n', 'i', 'x', 0}))
		if torture.unix == 0 {
			return
		}
		torture.disks, torture.files = map[string]*disk{}, map[uintptr]*openFile{}
		torture.methods = map[uintptr]uintptr{}
		ours := *at[sqlite3.Tsqlite3_vfs](torture.unix)
		ours.FpNext, ours.FzName = 0, inC(tls, [...]byte{'t', 'o', 'r', 't', 'u', 'r', 'e', 0})
		ours.FxOpen, ours.FxDelete = address[openFunc](vfsOpen), address[deleteFunc](vfsDelete)
		if rc := sqlite3.Xsqlite3_vfs_register(tls, inC(tls, ours), 0); rc != sqlite3.SQLITE_OK {
			torture.unix = 0
		}
	})
	if torture.unix == 0 {
		t.Fatal("the layer under SQLite could not be put there")
	}
	if vfs != "" {
		t.Fatal("there is a layer already")
	}
	vfs = "torture"
	logSecured = func(log string) {
		if d, name := diskOf(log); d != nil {
			d.adopt(name)
		}
	}
	t.Cleanup(func() { vfs, logSecured = "", nil })
}

// newDisk puts a disk under a folder, until it is removed.
func newDisk(dir string) *disk {
	dir, err := filepath.EvalSymlinks(dir)
	orPanic(err)
	d := &disk{dir: dir, calls: map[string]int{}, seen: map[string][]byte{}}
	torture.mu.Lock()
	defer torture.mu.Unlock()
	torture.disks[dir] = d
	return d
}

func (d *disk) remove() {
	torture.mu.Lock()
	defer torture.mu.Unlock()
	delete(torture.disks, d.dir)
}

func diskOf(path string) (*disk, string) {
	torture.mu.Lock()
	defer torture.mu.Unlock()
	return torture.disks[filepath.Dir(path)], filepath.Base(path)
}

func fileOf(p uintptr) *openFile {
	torture.mu.Lock()
	defer torture.mu.Unlock()
	f := torture.files[p]
	if f == nil {
		panic(fmt.Sprintf("SQLite uses a file that is not open: %x", p))
	}
	return f
}

func vfsOpen(tls *libc.TLS, _, name, file uintptr, flags int32, out uintptr) int32 {
	open := func() int32 {
		return function[openFunc](at[sqlite3.Tsqlite3_vfs](torture.unix).FxOpen)(tls, torture.unix, name, file, flags, out)
	}
	if name == 0 {
		return open()
	}
	path := libc.GoString(name)
	d, base := diskOf(path)
	if d == nil {
		return open()
	}
	if f := d.call("open"); f != nil {
		at[sqlite3.Tsqlite3_file](file).FpMethods = 0
		return f.code
	}
	_, err := os.Stat(path)
	if rc := open(); rc != sqlite3.SQLITE_OK {
		return rc
	}
	f := &openFile{disk: d, name: base}
	journal := flags&(sqlite3.SQLITE_OPEN_MAIN_JOURNAL|sqlite3.SQLITE_OPEN_WAL|sqlite3.SQLITE_OPEN_SUPER_JOURNAL) != 0
	f.dirSync = journal && flags&sqlite3.SQLITE_OPEN_CREATE != 0
	d.opened(base, os.IsNotExist(err))
	torture.mu.Lock()
	defer torture.mu.Unlock()
	p := &at[sqlite3.Tsqlite3_file](file).FpMethods
	f.real = at[sqlite3.Tsqlite3_io_methods](*p)
	if torture.methods[*p] == 0 {
		ours := *f.real
		ours.FxClose = address[closeFunc](vfsClose)
		ours.FxRead, ours.FxWrite = address[transferFunc](vfsRead), address[transferFunc](vfsWrite)
		ours.FxTruncate, ours.FxSync = address[truncateFunc](vfsTruncate), address[syncFunc](vfsSync)
		ours.FxFileSize = address[sizeFunc](vfsFileSize)
		torture.methods[*p] = inC(tls, ours)
	}
	*p = torture.methods[*p]
	torture.files[file] = f
	return sqlite3.SQLITE_OK
}

func vfsClose(tls *libc.TLS, file uintptr) int32 {
	f := fileOf(file)
	torture.mu.Lock()
	delete(torture.files, file)
	torture.mu.Unlock()
	return function[closeFunc](f.real.FxClose)(tls, file)
}

func vfsRead(tls *libc.TLS, file, buf uintptr, n int32, offset int64) int32 {
	f := fileOf(file)
	if fault := f.disk.call("read"); fault != nil {
		return fault.code
	}
	return function[transferFunc](f.real.FxRead)(tls, file, buf, n, offset)
}

func vfsWrite(tls *libc.TLS, file, buf uintptr, n int32, offset int64) int32 {
	f := fileOf(file)
	fault := f.disk.call("write")
	if fault != nil && !fault.short {
		return fault.code
	}
	if fault != nil {
		n /= 2
	}
	if n > 0 {
		f.disk.record(op{do: "write", file: f.name, offset: offset, data: append([]byte{}, unsafe.Slice(at[byte](buf), n)...)})
		if rc := function[transferFunc](f.real.FxWrite)(tls, file, buf, n, offset); rc != sqlite3.SQLITE_OK {
			return rc
		}
	}
	if fault != nil {
		return fault.code
	}
	return sqlite3.SQLITE_OK
}

func vfsTruncate(tls *libc.TLS, file uintptr, size int64) int32 {
	f := fileOf(file)
	if fault := f.disk.call("truncate"); fault != nil {
		return fault.code
	}
	f.disk.record(op{do: "truncate", file: f.name, offset: size})
	return function[truncateFunc](f.real.FxTruncate)(tls, file, size)
}

// vfsSync does not really sync: which writes would be on stable storage is what the record tells.
func vfsSync(_ *libc.TLS, file uintptr, _ int32) int32 {
	f := fileOf(file)
	if fault := f.disk.call("sync"); fault != nil {
		f.disk.record(op{do: "failed sync", file: f.name})
		return fault.code
	}
	if f.disk.lies != nil && f.disk.lies(f.name) {
		return sqlite3.SQLITE_OK
	}
	f.disk.record(op{do: "sync", file: f.name})
	if f.dirSync {
		f.dirSync = false
		f.disk.record(op{do: "folder"})
	}
	return sqlite3.SQLITE_OK
}

func vfsFileSize(tls *libc.TLS, file, out uintptr) int32 {
	f := fileOf(file)
	if fault := f.disk.call("size"); fault != nil {
		return fault.code
	}
	return function[sizeFunc](f.real.FxFileSize)(tls, file, out)
}

func vfsDelete(tls *libc.TLS, _, name uintptr, syncDir int32) int32 {
	d, base := diskOf(libc.GoString(name))
	if d != nil {
		if fault := d.call("delete"); fault != nil {
			return fault.code
		}
	}
	rc := function[deleteFunc](at[sqlite3.Tsqlite3_vfs](torture.unix).FxDelete)(tls, torture.unix, name, syncDir)
	if d != nil && rc == sqlite3.SQLITE_OK {
		d.record(op{do: "delete", file: base})
		if syncDir != 0 {
			d.record(op{do: "folder"})
		}
	}
	return rc
}
