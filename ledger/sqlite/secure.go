package sqlite

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/discreet-dp/discreet/ledger"
)

// secureLog writes the log that a process left behind anew, up to its last commit, before anybody is told what is in it and before any of
// it goes into the file. That a commit can be read does not mean that it is on the disk: the process may have died before its
// fsync, or been stopped because that failed, after which the kernel calls what it could not write written. What is
// written again to another file is known to be there when that file's fsync returns. The tail that was never committed is left out.
func secureLog(path string) (err error) {
	g, err := readLog(path)
	if err != nil || g.file == nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	if g.size == 0 {
		return nil
	}
	failed := func(err error) error { return &ledger.WriteError{Path: path, Broken: true, Err: err} }
	name := path + "-wal-new"
	to, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return failed(err)
	}
	_, err = io.Copy(to, io.NewSectionReader(g.file, 0, g.end))
	if err = errors.Join(err, to.Sync(), to.Close()); err != nil {
		return errors.Join(failed(err), os.Remove(name))
	}
	if err := os.Rename(name, path+"-wal"); err != nil {
		return errors.Join(failed(err), os.Remove(name))
	}
	if err := syncFolder(filepath.Dir(path)); err != nil {
		return failed(err)
	}
	return nil
}
