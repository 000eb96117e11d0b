package curatortest

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/policy"
)

// opened is a folder with data, and an engine that has it open. To open one takes longer than most
// tests do with it, so a world whose test has ended leaves it to another with the same data: if it
// still is as it was.
type opened struct {
	key     [sha256.Size]byte // of the hospital and files
	dir     string
	dataset *policy.Dataset // whose columns the engine knows by their places in memory
	engine  *duckdb.Engine
	files   map[string][sha256.Size]byte
}

// mostUnused is how many engines wait for another world: as many as there are hospitals that tests
// come back to. One of them has a few megabytes.
const mostUnused = 24

var (
	unusedMu sync.Mutex
	unused   []*opened
)

var sharedDir string

// SharedDir is a folder for what several tests read. It is there until all have ended.
var SharedDir = sync.OnceValues(func() (_ string, err error) {
	sharedDir, err = os.MkdirTemp("", "curator-test-*")
	return sharedDir, err
})

// RunTests runs the tests of a package, and closes and removes what they left.
func RunTests(m *testing.M) int {
	code := m.Run()
	os.RemoveAll(sharedDir)
	for _, o := range unused {
		o.close()
	}
	return code
}

func (o *opened) close() {
	o.engine.Close()
	os.RemoveAll(o.dir)
}

// keyOf names a hospital and files by what is in them. To print twenty thousand people took as long
// as to open them.
func keyOf(h *hospital.Hospital, files []map[string]string) [sha256.Size]byte {
	var b []byte
	write := func(numbers []int, texts ...string) {
		for _, n := range numbers {
			b = binary.AppendVarint(b, int64(n))
		}
		for _, s := range texts {
			b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
		}
	}
	for _, p := range h.Patients {
		smokes := 0
		if p.Smoker {
			smokes = 1
		}
		write([]int{p.ID, p.Age, smokes, p.Cents}, p.Sex, p.ZIP, p.Diagnosis)
	}
	write([]int{len(h.Patients)})
	for _, v := range h.Visits {
		write([]int{v.Patient, v.Cents}, v.Day, v.Ward)
	}
	return sha256.Sum256(fmt.Append(b, len(h.Visits), files))
}

// open finds data that is open, or opens it.
func open(t testing.TB, h *hospital.Hospital, text string, files []map[string]string) *opened {
	t.Helper()
	key := keyOf(h, files)
	unusedMu.Lock()
	defer unusedMu.Unlock()
	for i, o := range unused {
		if o.key != key {
			continue
		}
		if ds := readPolicy(t, o.dir, text); sameData(o.dataset, ds) {
			unused = append(unused[:i:i], unused[i+1:]...)
			tables, holdouts := o.dataset.Tables, o.dataset.Holdouts
			*o.dataset = *ds
			o.dataset.Tables, o.dataset.Holdouts = tables, holdouts
			return o
		}
	}
	o := &opened{key: key, dir: makeDir(t)}
	Check(t, h.Write(filepath.Join(o.dir, "data")))
	for _, some := range files {
		for name, text := range some {
			Check(t, os.WriteFile(filepath.Join(o.dir, name), []byte(text), 0o600))
		}
	}
	o.files = o.read(t)
	o.dataset = readPolicy(t, o.dir, text)
	var err error
	o.engine, err = duckdb.Open(ctx, o.dataset)
	Check(t, err)
	return o
}

// leave keeps what is as it was for another world, and closes the rest.
func (o *opened) leave(w *World, text string) {
	_, err := o.engine.Version(ctx)
	if w.T.Failed() || w.Data != o.engine || err != nil || !maps.Equal(o.read(w.T), o.files) ||
		!sameData(o.dataset, readPolicy(w.T, o.dir, text)) {
		if w.Data != o.engine {
			w.Data.Close()
		}
		o.close()
		return
	}
	ledgers, err := filepath.Glob(filepath.Join(o.dir, "policy.ledger*"))
	w.Check(err)
	for _, path := range ledgers {
		w.Check(os.RemoveAll(path))
	}
	unusedMu.Lock()
	defer unusedMu.Unlock()
	if unused = append(unused, o); len(unused) > mostUnused {
		unused[0].close()
		unused = unused[1:]
	}
}

// read returns what is in the files of a folder, but for policy and ledger.
func (o *opened) read(t testing.TB) map[string][sha256.Size]byte {
	t.Helper()
	all := map[string][sha256.Size]byte{}
	Check(t, filepath.WalkDir(o.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(entry.Name(), "policy.") {
			return err
		}
		text, err := os.ReadFile(path)
		all[path] = sha256.Sum256(text)
		return err
	}))
	return all
}

// sameData reports whether two datasets are alike in everything that an engine looks at, which has
// never heard of streams.
func sameData(a, b *policy.Dataset) bool {
	parts := func(ds *policy.Dataset) []any {
		return []any{ds.Name, ds.Engine, ds.Source, ds.VersionQuery, ds.Refresh, ds.Unit, ds.Neighbours, ds.Tables, ds.TableNames(),
			ds.Views, ds.MaxFanout, ds.Sizes, ds.Holdouts}
	}
	return reflect.DeepEqual(parts(a), parts(b))
}

// readPolicy writes a policy into a folder, and returns its dataset hospital.
func readPolicy(t testing.TB, dir, text string) *policy.Dataset {
	t.Helper()
	path := filepath.Join(dir, "policy.yaml")
	Check(t, os.WriteFile(path, []byte(text), 0o600))
	p, err := policy.Load(path)
	Check(t, err)
	return p.Datasets["hospital"]
}
