//go:build unix

package sqlite

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// disk is a folder whose files go through the layer "torture".
type disk struct {
	dir   string
	quiet bool // nothing is recorded
	// lies says of which files the syncs are said to be made and are not: a bug that the tests must
	// be able to see.
	lies func(file string) bool

	mu     sync.Mutex
	calls  map[string]int // how many of each kind there were
	fault  *fault
	fired  bool // the fault was met
	broken int  // syncs that failed
	ops    []op
	seen   map[string][]byte // the files as the operations left them
}

// fault makes the nth call of a kind fail, counted from 1.
type fault struct {
	kind  string
	nth   int
	code  int32
	short bool // half is written first
	stays bool // so do all after it
}

// op is something that changed a file, or a mark: what a client was told after everything before
// it.
type op struct {
	do     string // create, write, truncate, sync, failed sync, delete, folder, adopt, gone, mark
	file   string
	offset int64 // or the new size
	data   []byte
	mark   func(*told)
}

// call counts a call and returns the fault if it is the one that fails.
func (d *disk) call(kind string) *fault {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls[kind]++
	f := d.fault
	if f == nil || f.kind != kind || d.calls[kind] != f.nth && (!f.stays || d.calls[kind] < f.nth) {
		return nil
	}
	d.fired = true
	if kind == "sync" {
		d.broken++
	}
	return f
}

func (d *disk) set(f *fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault = f
}

func (d *disk) failedSyncs() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.broken
}

func (d *disk) record(o op) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.append(o)
}

func (d *disk) append(o op) {
	if d.quiet {
		return
	}
	d.ops = append(d.ops, o)
	switch o.do {
	case "create", "adopt":
		d.seen[o.file] = slices.Clone(o.data)
	case "write", "truncate":
		d.seen[o.file] = o.on(d.seen[o.file], nil)
	case "delete", "gone":
		delete(d.seen, o.file)
	}
}

// opened compares the folder with what the operations left. What the ledger changed past SQLite,
// such as the name of a new ledger, is taken as it is, and as durable: those calls are the ledger's
// own and cannot be seen here.
func (d *disk) opened(name string, created bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.quiet {
		return
	}
	for known := range d.seen {
		if _, err := os.Stat(filepath.Join(d.dir, known)); os.IsNotExist(err) {
			d.append(op{do: "gone", file: known})
		}
	}
	_, known := d.seen[name]
	content, err := os.ReadFile(filepath.Join(d.dir, name))
	switch {
	case err != nil:
		panic(err)
	case created && len(content) == 0 && !known:
		d.append(op{do: "create", file: name})
	case !known || !bytes.Equal(content, d.seen[name]):
		d.append(op{do: "adopt", file: name, data: content})
	}
}

// adopt takes a file that was written and synced past SQLite as it is.
func (d *disk) adopt(name string) {
	content, err := os.ReadFile(filepath.Join(d.dir, name))
	orPanic(err)
	d.record(op{do: "adopt", file: name, data: content})
}

const sector = 512

// on applies a write or a truncation. Where sectors is not nil it says which of the sectors that
// are touched are written.
func (o op) on(content []byte, sectors func() bool) []byte {
	if o.do == "truncate" {
		if int64(len(content)) > o.offset {
			return content[:o.offset:o.offset]
		}
		return append(content, make([]byte, o.offset-int64(len(content)))...)
	}
	for from := o.offset; from < o.offset+int64(len(o.data)); {
		to := min((from/sector+1)*sector, o.offset+int64(len(o.data)))
		if sectors == nil || sectors() {
			if n := to - int64(len(content)); n > 0 {
				content = append(content, make([]byte, n)...)
			}
			copy(content[from:to], o.data[from-o.offset:])
		}
		from = to
	}
	return content
}

// media is what a disk holds: what is on stable storage, and what the system still has in memory.
type media struct {
	// names has, for each name, the files that it may be of after a power cut: the durable one
	// first, then every later one. Nil is no file. The last one is what a running system sees.
	names map[string][]*inode
	// written says which of the writes before a failed sync reached the disk all the same. The
	// system does not try the others again, whatever later syncs say.
	written func() bool
}

type inode struct {
	durable, cache []byte
	pending        []op
}

func never() bool { return false }

func newMedia(written func() bool) *media { return &media{map[string][]*inode{}, written} }

func (m *media) now(name string) *inode {
	if all := m.names[name]; len(all) > 0 {
		return all[len(all)-1]
	}
	return nil
}

func (m *media) apply(o op) {
	file := m.now(o.file)
	switch o.do {
	case "create":
		m.names[o.file] = append(m.history(o.file), &inode{})
	case "delete":
		m.names[o.file] = append(m.history(o.file), nil)
	case "adopt":
		m.names[o.file] = []*inode{{durable: slices.Clone(o.data), cache: slices.Clone(o.data)}}
	case "gone":
		delete(m.names, o.file)
	case "folder":
		for name, all := range m.names {
			m.names[name] = all[len(all)-1:]
		}
	case "write", "truncate":
		file.cache = o.on(file.cache, nil)
		file.pending = append(file.pending, o)
	case "sync":
		for _, p := range file.pending {
			file.durable = p.on(file.durable, nil)
		}
		file.pending = nil
	case "failed sync":
		for _, p := range file.pending {
			if m.written() {
				file.durable = p.on(file.durable, nil)
			}
		}
		file.pending = nil
	}
}

func (m *media) history(name string) []*inode {
	if all := m.names[name]; len(all) > 0 {
		return all
	}
	return []*inode{nil}
}

// sortedNames is for the same choices with the same seed.
func (m *media) sortedNames() []string {
	var names []string
	for name := range m.names {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// cut is a power cut: of each file what is durable, and what else the choice says. It answers for a
// file of a folder (of n that a name can be of, the last one is the newest), for a pending
// operation (i of n), and for its sectors.
type cut struct {
	name   int // 0 the durable file, 1 the newest, -1 any
	op     func(i, n int) bool
	sector func() bool
	random *rand.Rand
}

func (m *media) after(c cut) map[string][]byte {
	files := map[string][]byte{}
	for _, name := range m.sortedNames() {
		all := m.names[name]
		var file *inode
		switch c.name {
		case 0:
			file = all[0]
		case 1:
			file = all[len(all)-1]
		default:
			file = all[c.random.IntN(len(all))]
		}
		if file == nil {
			continue
		}
		content := slices.Clone(file.durable)
		for i, p := range file.pending {
			if c.op(i, len(file.pending)) {
				content = p.on(content, c.sector)
			}
		}
		files[name] = content
	}
	return files
}

// The cuts that are tried everywhere.
func extremes() []cut {
	return []cut{
		{name: 0, op: func(i, n int) bool { return false }},
		{name: 1, op: func(i, n int) bool { return true }},
		{name: 1, op: func(i, n int) bool { return false }},
		{name: 1, op: func(i, n int) bool { return i == 0 }},
		{name: 1, op: func(i, n int) bool { return i == n-1 }},
		{name: 0, op: func(i, n int) bool { return i == n-1 }},
	}
}

// random is any subset, with torn writes.
func random(r *rand.Rand) cut {
	part := r.Float64()
	return cut{name: -1, random: r, op: func(i, n int) bool { return r.Float64() < part }, sector: func() bool { return r.IntN(4) > 0 }}
}

// store writes files into a folder.
func store(dir string, files map[string][]byte) error {
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}
