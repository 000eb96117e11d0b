package anchor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/discreet-dp/discreet/ledger"
)

// File returns the place of an anchor in a file. Its folder must exist.
func File(path string) ledger.Anchorage {
	return &file{path: path, sync: (*os.File).Sync, rename: os.Rename}
}

type file struct {
	path string
	// What tests make fail.
	sync   func(*os.File) error
	rename func(from, to string) error

	mutex  sync.Mutex
	memory knownSums
}

func (f *file) String() string { return f.path }

func (f *file) Load(context.Context) (ledger.Anchor, bool, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	text, sum, err := f.read()
	if err != nil {
		return ledger.Anchor{}, false, err
	}
	if sum == noSum {
		f.memory.set(sum)
		return ledger.Anchor{}, false, nil
	}
	a, err := decode(text)
	if err != nil {
		return ledger.Anchor{}, false, &DamagedError{f.path, err}
	}
	f.memory.set(sum)
	return a, true, nil
}

func (f *file) Store(_ context.Context, a ledger.Anchor) error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	_, sum, err := f.read()
	if err != nil {
		return err
	}
	if len(f.memory) > 0 && !f.memory.allows(sum) {
		return &MovedError{f.path}
	}
	f.memory.set(sum)
	text, err := encode(a)
	if err != nil {
		return err
	}
	f.memory.addTried(ledger.Hash(text))
	if err := f.write(text); err != nil {
		return fmt.Errorf("the anchor %s could not be written: %w", f.path, err)
	}
	f.memory.set(ledger.Hash(text))
	return nil
}

// read returns what is in the file and its hash. That there is no file counts only where its folder
// is there.
func (f *file) read() ([]byte, string, error) {
	if f.path == "" {
		return nil, "", &ledger.InvalidError{Field: "path of the anchor", Problem: "is missing"}
	}
	text, err := os.ReadFile(f.path)
	switch {
	case err == nil:
		return text, ledger.Hash(text), nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, "", fmt.Errorf("the anchor cannot be read: %w", err)
	}
	if _, err := os.Lstat(f.path); err == nil {
		return nil, "", &DamagedError{f.path, errors.New("it is a link to a file that is missing")}
	}
	dir := filepath.Dir(f.path)
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return nil, "",
			fmt.Errorf("the folder %s of the anchor is missing: mount its volume, or create the folder if this is the first time", dir)
	}
	return nil, noSum, nil
}

// write replaces the file as a whole. The temporary name is always the same, so a process that died
// leaves at most one behind, and the next write takes it.
func (f *file) write(text []byte) (err error) {
	path := f.path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // the file is replaced and not the link to it
	}
	name := path + "-new"
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	t, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(name)
		}
	}()
	_, err = t.Write(text)
	if err == nil {
		err = f.sync(t)
	}
	if err := errors.Join(err, t.Close()); err != nil {
		return err
	}
	if err := f.rename(name, path); err != nil {
		return err
	}
	return f.syncFolder(filepath.Dir(path))
}

// syncFolder makes the new name durable. Windows has no such call and needs none.
func (f *file) syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.sync(d), d.Close())
}
