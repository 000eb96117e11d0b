package duckdb

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func hashed(t *testing.T, path string, limit int64) string {
	t.Helper()
	h, err := stateOf(path).hash(limit)
	if err != nil {
		t.Fatal(err)
	}
	return string(h)
}

// put writes bytes into a file at a place and keeps its time of modification, as a program would
// that wants to hide it.
func put(t *testing.T, path string, at int64, text string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte(text), at); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
}

// TestTouched: the same contents are the same version, whatever happened to the file; but all of it
// is looked at anew.
func TestTouched(t *testing.T) {
	folder := t.TempDir()
	path := write(t, folder, "t.csv", "i\n1\n2\n")
	e := open(t, dataset(t, folder, "source: t.csv\n"+counted))
	first := version(t, e)
	for name, touch := range map[string]func(){
		"touched": func() { later(t, path) },
		"replaced": func() {
			other := write(t, t.TempDir(), "t.csv", "i\n1\n2\n")
			if err := os.Rename(other, path); err != nil {
				t.Fatal(err)
			}
		},
		"written anew": func() { write(t, folder, "t.csv", "i\n1\n2\n") },
	} {
		touch()
		if !e.now.changed() {
			t.Errorf("%s: not noticed", name)
		}
		if version(t, e) != first {
			t.Errorf("%s: another version of the same contents", name)
		}
		if e.now.changed() {
			t.Errorf("%s: noticed twice", name)
		}
	}
}

// TestTimeKept: other contents of the same size under the same time of modification are noticed,
// where the system tells when the inode changed.
func TestTimeKept(t *testing.T) {
	folder := t.TempDir()
	path := write(t, folder, "t.csv", "i\n1\n2\n")
	if stateOf(path).node == (node{}) {
		t.Skip("this system does not tell")
	}
	e := open(t, dataset(t, folder, "source: t.csv\n"+counted))
	first := version(t, e)
	for before := stateOf(path); stateOf(path).node == before.node; { // the clock of the file system is coarse
		put(t, path, 4, "9")
	}
	if version(t, e) == first {
		t.Error("a change in place was not noticed")
	}
	if got := ask(t, e, "SELECT SUM(i) FROM t"); got[0][0] != 10 {
		t.Error(got)
	}
}

// TestSamples: of a large file the ends and blocks between them are read, and its identity counts.
func TestSamples(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	const size = hashedWhole + 12345 // it has holes, and takes no room
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	f.Close()
	s := stateOf(path)
	// With the identity as it was, only the samples can tell.
	sampled := func() string {
		h, err := s.hash(hashedWhole)
		if err != nil {
			t.Fatal(err)
		}
		return string(h)
	}
	seen := map[string]bool{sampled(): true}
	for _, at := range []int64{0, edge - 1, size / (blocks + 1), size/(blocks+1)*blocks + block - 1, size - edge, size - 1} {
		put(t, path, at, "x")
		if h := sampled(); seen[h] {
			t.Errorf("a change at %d was not noticed", at)
		} else {
			seen[h] = true
		}
	}
	// Between the samples the identity tells: one that is missing would be a stale answer.
	before := sampled()
	put(t, path, edge+block, "x")
	if sampled() != before {
		t.Error("there are more samples than the comment says")
	}
	later(t, path)
	if now := hashed(t, path, hashedWhole); now == before {
		t.Error("a change between the samples was not noticed")
	}
	// A copy under the name is another file, even with its times.
	if s = stateOf(path); s.node != (node{}) {
		before, other := hashed(t, path, hashedWhole), s
		other.node.inode++
		if h, _ := other.hash(hashedWhole); bytes.Equal(h, []byte(before)) {
			t.Error("the inode does not count")
		}
		other = s
		other.node.changed++
		if h, _ := other.hash(hashedWhole); bytes.Equal(h, []byte(before)) {
			t.Error("the time of the inode does not count")
		}
	}
	// Up to the limit, all bytes count and nothing else does.
	small := write(t, t.TempDir(), "small.csv", "i\n1\n")
	before = hashed(t, small, 4)
	later(t, small)
	if hashed(t, small, 4) != before || hashed(t, small, 3) == before {
		t.Error("the limit is not where it is said to be")
	}
}
