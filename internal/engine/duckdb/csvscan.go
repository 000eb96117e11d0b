package duckdb

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/discreet-dp/discreet/internal/csvlines"
	"github.com/discreet-dp/discreet/internal/dialect"
)

// scanCSV reads the lines of a file, and copies those that are rows, where it is asked to.
func scanCSV(path string, shape csvlines.Shape, good io.Writer) (csvlines.Report, error) {
	return scanTelling(context.Background(), path, shape, good, nil)
}

// scanTelling is scanCSV for somebody who may give up, and may want to know how many bytes were
// read, of how many.
func scanTelling(ctx context.Context, path string, shape csvlines.Shape, good io.Writer, tell func(done, of int64)) (csvlines.Report,
	error) {
	f, err := os.Open(path)
	if err != nil {
		return csvlines.Report{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return csvlines.Report{}, err
	}
	var in io.Reader = &metered{ctx: ctx, in: f, of: info.Size(), tell: tell}
	if strings.HasSuffix(strings.ToLower(path), ".gz") {
		// DuckDB takes half of a compressed file for a shorter one, so it is read to its end here.
		if in, err = gzip.NewReader(in); err != nil {
			return csvlines.Report{}, fmt.Errorf("%s is not a whole gzip file", path)
		}
	}
	report, err := csvlines.Scan(in, shape, good)
	if err != nil {
		return report, fmt.Errorf("%s cannot be read to its end, or is not a whole gzip file", path)
	}
	return report, nil
}

// metered tells how far a file was read, and ends with a context.
type metered struct {
	ctx      context.Context
	in       io.Reader
	done, of int64
	tell     func(done, of int64)
}

func (c *metered) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.in.Read(b)
	if c.done += int64(n); c.tell != nil {
		c.tell(c.done, c.of)
	}
	return n, err
}

// cleanCSV returns a copy of a file, without its bad lines, in a folder that only this user can
// read. It is to be removed.
func cleanCSV(path string, shape csvlines.Shape, folder string) (string, error) {
	f, err := os.CreateTemp(folder, "rows-*.csv")
	if err != nil {
		return "", fmt.Errorf("leave the bad lines of %s out: %w", filepath.Base(path), err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	_, err = scanCSV(path, shape, w)
	if err == nil {
		err = w.Flush()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		os.Remove(f.Name())
		return "", fmt.Errorf("leave the bad lines of %s out: %w", filepath.Base(path), err)
	}
	return f.Name(), nil
}

// readCSV prints the reading of a copy of a file, every column as text.
func readCSV(path string, shape csvlines.Shape, columns []string) string {
	quote := `'"'`
	if shape.Unquoted {
		quote = "''"
	}
	return fmt.Sprintf(
		`read_csv(%s, auto_detect = false, header = true, delim = %s, quote = %s, escape = %s, nullstr = '', ignore_errors = true,
		 strict_mode = false, parallel = false, columns = {%s})`,
		dialect.QuoteText(path), dialect.QuoteText(string(shape.Copied().Delimiter)), quote, quote, strings.Join(columns, ", "))
}
