package anchor

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/ledger"
)

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "anchor")
	places(t, func() ledger.Anchorage { return File(path) })
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// Every byte of the file counts: no change of one is read as another anchor, or as none.
func TestFileDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "anchor")
	mustStore(t, File(path), 5)
	good, err := os.ReadFile(path)
	noError(t, err)
	refused := func(text []byte, what string) {
		t.Helper()
		noError(t, os.WriteFile(path, text, 0o600))
		_, found, err := File(path).Load(ctx)
		var damaged *DamagedError
		if found || !errors.As(err, &damaged) || !strings.Contains(err.Error(), "Restore it") {
			t.Errorf("%s: %v, %v", what, found, err)
		}
	}
	for i := range len(good) - 1 {
		refused(good[:i], fmt.Sprintf("cut off at %d", i))
		bad := bytes.Clone(good)
		bad[i] ^= 1
		refused(bad, fmt.Sprintf("changed at %d", i))
	}
	refused(append(bytes.Clone(good), good...), "twice")
	refused(append(bytes.Clone(good), "{"...), "with something after it")
	refused(bytes.Replace(good, []byte(`"sequence":5`), []byte(`"sequence":4`), 1), "edited")
	refused(make([]byte, len(good)), "zeros")
}

// A folder that is missing may be a volume that is not mounted, and is never "no anchor".
func TestFileFolderMissing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "volume")
	noError(t, os.Mkdir(dir, 0o700))
	place := File(filepath.Join(dir, "anchor"))
	mustHold(t, place, 0)
	mustStore(t, place, 1)
	away := dir + "-away"
	noError(t, os.Rename(dir, away))
	if _, found, err := place.Load(ctx); found || err == nil || !strings.Contains(err.Error(), "mount") {
		t.Errorf("Load: %v, %v", found, err)
	}
	if err := place.Store(ctx, at(2)); err == nil {
		t.Error("stored on a volume that is missing")
	}
	// The mount point is there and empty: to store would be to store on the wrong volume.
	noError(t, os.Mkdir(dir, 0o700))
	var moved *MovedError
	if err := place.Store(ctx, at(2)); !errors.As(err, &moved) {
		t.Errorf("got %v; want a MovedError", err)
	}
	noError(t, errors.Join(os.Remove(dir), os.Rename(away, dir)))
	mustStore(t, place, 3)
	mustHold(t, place, 3)
	for _, path := range []string{"", dir, filepath.Join(dir, "anchor", "below a file")} {
		if _, found, err := File(path).Load(ctx); found || err == nil {
			t.Errorf("%q: %v, %v", path, found, err)
		}
	}
	link := filepath.Join(dir, "link")
	noError(t, os.Symlink(filepath.Join(dir, "gone"), link))
	if _, found, err := File(link).Load(ctx); found || err == nil {
		t.Errorf("a link to nothing: %v, %v", found, err)
	}
}

// Whatever fails, the anchor before is there, or the new one, and the next Store succeeds.
func TestFileFails(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		breaks func(*file)
		holds  uint64
	}{
		"sync of the file": {func(f *file) {
			f.sync = func(o *os.File) error {
				if strings.HasSuffix(o.Name(), "-new") {
					return broken
				}
				return o.Sync()
			}
		}, 1},
		"rename": {func(f *file) { f.rename = func(string, string) error { return broken } }, 1},
		"sync of the folder": {func(f *file) {
			f.sync = func(o *os.File) error {
				if !strings.HasSuffix(o.Name(), "-new") {
					return broken
				}
				return o.Sync()
			}
		}, 2},
	} {
		path := filepath.Join(t.TempDir(), "anchor")
		place := File(path).(*file)
		mustStore(t, place, 1)
		c.breaks(place)
		for range 2 {
			if err := place.Store(ctx, at(2)); !errors.Is(err, broken) {
				t.Errorf("%s: got %v", name, err)
			}
		}
		mustHold(t, File(path), c.holds)
		if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
			t.Errorf("%s: left %v", name, left)
		}
		place.sync, place.rename = (*os.File).Sync, os.Rename
		mustStore(t, place, 3)
		mustHold(t, File(path), 3)
	}
}

// The order is that of durability: the content before the name, and the name before the answer.
func TestFileOrder(t *testing.T) {
	place := File(filepath.Join(t.TempDir(), "anchor")).(*file)
	var did []string
	place.sync = func(f *os.File) error {
		what := "folder"
		if strings.HasSuffix(f.Name(), "-new") {
			what = "file"
		}
		did = append(did, "sync "+what)
		return f.Sync()
	}
	place.rename = func(from, to string) error {
		did = append(did, "rename")
		return os.Rename(from, to)
	}
	mustStore(t, place, 1)
	if got := strings.Join(did, ", "); got != "sync file, rename, sync folder" {
		t.Error(got)
	}
}

// storeForEver stores anchors and says after each that it did.
func storeForEver(path string) {
	place := File(path)
	a, _, err := place.Load(ctx)
	for n := a.Sequence + 1; err == nil; n++ {
		err = place.Store(ctx, at(n))
		fmt.Println(n)
	}
	fmt.Println(err)
	os.Exit(1)
}

// Killed at any moment, the process leaves the last anchor that it told of, or the next one.
func TestFileKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "anchor")
	told, torn := uint64(0), 0
	for round := range 25 {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "ANCHOR_TEST_CHILD="+path)
		out, err := child.StdoutPipe()
		noError(t, err)
		noError(t, child.Start())
		lines := bufio.NewScanner(out)
		for i := 0; lines.Scan(); i++ {
			if _, err := fmt.Sscan(lines.Text(), &told); err != nil {
				t.Fatalf("%s: %v", lines.Text(), err)
			}
			if i == round%5 {
				time.Sleep(time.Duration(rand.IntN(1000)) * time.Microsecond)
				child.Process.Kill()
			}
		}
		child.Wait()
		if _, err := os.Stat(path + "-new"); err == nil {
			torn++
		}
		a, found, err := File(path).Load(ctx)
		if err != nil || !found || a.Sequence != told && a.Sequence != told+1 {
			t.Fatalf("round %d: told of %d, found %v %d, %v", round, told, found, a.Sequence, err)
		}
	}
	t.Logf("%d anchors, %d half-written files", told, torn)
	// In case no moment was the right one.
	noError(t, os.WriteFile(path+"-new", []byte(`{"format":"discr`), 0o600))
	place := File(path)
	if _, found, err := place.Load(ctx); !found || err != nil {
		t.Errorf("%v, %v", found, err)
	}
	mustStore(t, place, told+2)
	mustHold(t, place, told+2)
}
