package duckdb

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/policy"
)

// fileState is what tells, without reading it, that a file has changed.
type fileState struct {
	path     string
	exists   bool
	size     int64
	modified time.Time
}

func stateOf(path string) fileState {
	info, err := os.Stat(path)
	if err != nil {
		return fileState{path: path}
	}
	return fileState{path, true, info.Size(), info.ModTime()}
}

// hashedWhole is the largest file that is identified by its contents. A larger one is
// identified by its size and the time of its last change, which costs nothing.
const hashedWhole = 1 << 30

// identify names the state of the files. The name decides only whether an answer
// already given may be given again, so a change that is missed makes an
// answer stale and never less private.
func (s *snapshot) identify(ds *policy.Dataset) error {
	var paths []string
	for _, t := range s.tables {
		if t.file != "" {
			paths = append(paths, t.file)
		}
	}
	if ds.SourceKind() == policy.Database {
		if _, err := os.Stat(ds.Source); err != nil {
			return fmt.Errorf("open the data: %w", err)
		}
		paths = append(paths, ds.Source, ds.Source+".wal")
	}
	slices.Sort(paths)
	all := sha256.New()
	for _, path := range slices.Compact(paths) {
		f := stateOf(path)
		s.files = append(s.files, f)
		if !f.exists {
			continue
		}
		h, err := f.hash()
		if err != nil {
			return fmt.Errorf("read the data: %w", err)
		}
		all.Write(h)
	}
	s.version = hex.EncodeToString(all.Sum(nil))
	return nil
}

func (f fileState) hash() ([]byte, error) {
	h := sha256.New()
	if f.size > hashedWhole {
		fmt.Fprintf(h, "%d %d", f.size, f.modified.UnixNano())
		return h.Sum(nil), nil
	}
	file, err := os.Open(f.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	_, err = io.Copy(h, file)
	return h.Sum(nil), err
}

// changed reports whether a file is not what it was.
func (s *snapshot) changed() bool {
	return slices.ContainsFunc(s.files, func(f fileState) bool {
		now := stateOf(f.path)
		return now.exists != f.exists || now.size != f.size || !now.modified.Equal(f.modified)
	})
}
