package duckdb

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"time"
)

// fileState is what tells, without reading it, that a file may have changed. Where the system has
// them, the device and the inode tell that another file has taken its name, and the time of the
// last change of the inode tells what a copied or restored time of modification hides: no program
// can set it.
type fileState struct {
	path     string
	exists   bool
	size     int64
	modified time.Time
	node     node
}

// node is what only some systems know of a file; all zero elsewhere.
type node struct {
	device, inode uint64
	changed       int64 // in nanoseconds
}

func stateOf(path string) fileState {
	info, err := os.Stat(path)
	if err != nil {
		return fileState{path: path}
	}
	return fileState{path, true, info.Size(), info.ModTime().UTC(), nodeOf(info)}
}

// changed reports whether the file is not what it was, as far as can be told without reading it.
func (f fileState) changed() bool {
	now := stateOf(f.path)
	return now.exists != f.exists || now.size != f.size || !now.modified.Equal(f.modified) || now.node != f.node
}

// hashedWhole is the largest file whose version is its contents, all of them.
const hashedWhole = 1 << 30

// The samples of a larger file: edge bytes at both ends, where formats keep their headers and
// footers, and blocks of block bytes at equal distances between them.
const (
	edge   = 1 << 20
	blocks = 64
	block  = 64 << 10
)

// hash names the contents of a file. Up to a limit these are all bytes, so that a file that was
// copied, or touched, is the same one. Beyond it they are the samples, and with them the identity:
// size, times and inode. The device is left out, because its number may be another one after a
// restart.
//
// What can be missed of a large file is a change between the samples that leaves size, inode and
// both times as they were: on Unix that takes a clock that was set back, elsewhere a program that
// sets the time of modification. The other way round, a large file that was copied or touched
// counts as changed though it has not.
func (f fileState) hash(limit int64) ([]byte, error) {
	file, err := os.Open(f.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	h := sha256.New()
	if f.size <= limit {
		_, err = io.Copy(h, file)
		return h.Sum(nil), err
	}
	fmt.Fprintf(h, "samples %d %d %d %d\n", f.size, f.modified.UnixNano(), f.node.inode, f.node.changed)
	sample := func(at, n int64) {
		if err == nil {
			_, err = io.Copy(h, io.NewSectionReader(file, at, n))
		}
	}
	sample(0, edge)
	for i := range int64(blocks) {
		sample(f.size/(blocks+1)*(i+1), block)
	}
	sample(max(0, f.size-edge), edge)
	return h.Sum(nil), err
}
