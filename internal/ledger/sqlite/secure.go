package sqlite

import (
	"errors"
	"os"

	"github.com/discreet-dp/discreet/ledger"
)

// secureLog writes the log that a process left behind once more, byte for byte, up to its last
// commit, and cuts off what follows. This comes before anybody is told what is in it, and before
// any of it goes into the file. That a commit can be read does not mean that it is on the disk: the
// process may have died before its fsync, or been stopped because that failed, after which the
// kernel calls what it could not write written. What is written again is written again by the next
// fsync. It takes no room, and to be interrupted does no harm, because the bytes are the same.
func secureLog(path string) (err error) {
	g, err := readLog(path)
	if err != nil || g.file == nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	if g.size == 0 {
		return nil
	}
	if err := g.rewrite(path); err != nil {
		return &ledger.WriteError{Path: path, Broken: true, Err: err}
	}
	if secured != nil {
		secured(path + "-wal")
	}
	return nil
}

// secured is told of a log that was written once more, past SQLite. Tests look at it.
var secured func(log string)

func (g *log) rewrite(path string) (err error) {
	to, err := os.OpenFile(path+"-wal", os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	buffer := make([]byte, min(1<<20, g.end))
	for at := int64(0); at < g.end; {
		some := buffer[:min(int64(len(buffer)), g.end-at)]
		if _, err := g.file.ReadAt(some, at); err != nil {
			return err
		}
		if _, err := to.WriteAt(some, at); err != nil {
			return err
		}
		at += int64(len(some))
	}
	if err := to.Truncate(g.end); err != nil {
		return err
	}
	return to.Sync()
}
