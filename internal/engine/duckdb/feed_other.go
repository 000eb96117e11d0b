//go:build !unix

package duckdb

import (
	"context"
	"os"

	"github.com/discreet-dp/discreet/internal/textfile"
)

// feed is the rows of a CSV file for DuckDB: the file, or a copy where that is another one.
type feed struct {
	path   string
	copied bool
	report textfile.Report
}

// newFeed reads a file. Whoever has it must end it, when DuckDB wants no more.
func newFeed(ctx context.Context, file string, shape textfile.Shape, folder string, tell func(done, of int64)) (*feed, error) {
	report, err := scanTelling(ctx, file, shape, nil, tell)
	if err != nil {
		return nil, err
	}
	f := &feed{path: file, report: report}
	if (report.Bad > 0 || report.Rewritten) && report.Broken == nil {
		if f.path, err = cleanCSV(file, shape, folder); err != nil {
			return nil, err
		}
		f.copied = true
	}
	return f, nil
}

func (f *feed) end() (textfile.Report, error) {
	if f.copied {
		os.Remove(f.path)
	}
	return f.report, nil
}
