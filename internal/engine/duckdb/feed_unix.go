//go:build unix

package duckdb

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"

	"github.com/discreet-dp/discreet/internal/textfile"
)

// feed is the rows of a CSV file on their way into DuckDB, which reads them from a pipe. So a file
// is read once, no copy is made of one that has bad lines, and one processor judges lines while
// another takes them apart.
type feed struct {
	path   string // of the pipe
	over   atomic.Bool
	opened chan struct{}
	done   chan struct{}
	report textfile.Report
	err    error
}

// newFeed begins to read a file. Whoever has it must end it, when DuckDB wants no more.
func newFeed(ctx context.Context, file string, shape textfile.Shape, folder string, tell func(done, of int64)) (*feed, error) {
	place, err := os.MkdirTemp(folder, "rows-*")
	if err == nil {
		err = syscall.Mkfifo(filepath.Join(place, "rows.csv"), 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("make a pipe to load %s through: %w", filepath.Base(file), err)
	}
	f := &feed{path: filepath.Join(place, "rows.csv"), opened: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(f.done)
		f.report, f.err = f.pump(ctx, file, shape, tell)
	}()
	return f, nil
}

// pump writes the rows into the pipe. To open it waits for DuckDB, or for the end.
func (f *feed) pump(ctx context.Context, file string, shape textfile.Shape, tell func(done, of int64)) (textfile.Report, error) {
	to, err := os.OpenFile(f.path, os.O_WRONLY, 0)
	close(f.opened)
	if err != nil || f.over.Load() {
		return textfile.Report{}, fmt.Errorf("%s was not read", file)
	}
	defer to.Close()
	w := bufio.NewWriterSize(to, 1<<16)
	report, err := scanTelling(ctx, file, shape, w, tell)
	if err == nil {
		err = w.Flush()
	}
	return report, err
}

// end ends the reading where DuckDB has not come to it, and returns what was found.
func (f *feed) end() (textfile.Report, error) {
	f.over.Store(true)
	// Where nobody has opened the pipe, this is who does. Where somebody had, it is gone, and
	// writing fails from here on.
	if r, err := os.OpenFile(f.path, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
		<-f.opened
		r.Close()
	}
	<-f.done
	os.RemoveAll(filepath.Dir(f.path))
	return f.report, f.err
}
