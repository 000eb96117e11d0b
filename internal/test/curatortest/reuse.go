package curatortest

import (
	"crypto/sha256"
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
	key     [sha256.Size]byte
	dir     string
	dataset *policy.Dataset // whose columns the engine knows by their places in memory
	engine  *duckdb.Engine
	files   map[string][sha256.Size]byte
}

// mostUnused is how many engines wait for another world.
const mostUnused = 6

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

// open finds data that is open, or opens it.
func open(t testing.TB, h *hospital.Hospital, text string, files []map[string]string) *opened {
	t.Helper()
	key := sha256.Sum256(fmt.Append(nil, *h, files))
	unusedMu.Lock()
	defer unusedMu.Unlock()
	for i, o := range unused {
		if o.key != key {
			continue
		}
		if ds := readPolicy(t, o.dir, text); sameData(o.dataset, ds) {
			unused = append(unused[:i:i], unused[i+1:]...)
			tables, streams, holdouts := o.dataset.Tables, o.dataset.Streams, o.dataset.Holdouts
			*o.dataset = *ds
			o.dataset.Tables, o.dataset.Streams, o.dataset.Holdouts = tables, streams, holdouts
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

// sameData reports whether two datasets are alike in everything that an engine looks at.
func sameData(a, b *policy.Dataset) bool {
	parts := func(ds *policy.Dataset) []any {
		return []any{ds.Name, ds.Engine, ds.Source, ds.VersionQuery, ds.Refresh, ds.Unit, ds.Neighbours, ds.Tables, ds.TableNames(),
			ds.Views, ds.MaxFanout, ds.Sizes, ds.Streams, ds.Holdouts}
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
