package duckdb

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/csvlines"
	"github.com/discreet-dp/discreet/policy"
)

// A file is read once, by a reader that is told how far it is, and nothing of it stays on the disk.
func TestFeedReadsOnce(t *testing.T) {
	var text strings.Builder
	text.WriteString("pid,age\n")
	for i := range 200_000 {
		fmt.Fprintf(&text, "%d,%d\n", i, i%90)
	}
	text.WriteString("this is no row\n7\n") // and no copy is made without them
	ds := csvDataset(t, text.String())
	read, last := int64(0), int64(0)
	e, err := OpenWith(t.Context(), ds, Limits{Tell: func(file string, done, of int64) {
		if of != int64(text.Len()) || done < last || filepath.Base(file) != "people.csv" {
			t.Errorf("%s: %d of %d after %d", file, done, of, last)
		}
		read, last = read+done-last, done
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if read != int64(text.Len()) {
		t.Errorf("%d bytes of %d were read", read, text.Len())
	}
	if lines := e.now.tables["people"].lines; lines.Rows != 200_000 || lines.Bad != 2 {
		t.Errorf("%+v", lines)
	}
	var n int64
	if err := e.now.DB.QueryRow(`SELECT count(*) FROM "csv people"`).Scan(&n); err != nil || n != 200_000 {
		t.Errorf("%d rows, %v", n, err)
	}
	left, err := os.ReadDir(e.now.spill.folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range left {
		if strings.HasPrefix(f.Name(), "rows-") {
			t.Errorf("%s was left behind", f.Name())
		}
	}
}

// A file that turns out to be broken at its end is not opened, whatever was loaded by then.
func TestFeedBroken(t *testing.T) {
	ds := csvDataset(t, "pid,age\n"+strings.Repeat("1,2\n", 100_000)+"3,\"4\n")
	if _, err := Open(t.Context(), ds); err == nil || !strings.Contains(err.Error(), "has lines that are no rows") {
		t.Errorf("opened: %v", err)
	}
}

// Whenever somebody gives up, the reading ends.
func TestFeedEnds(t *testing.T) {
	ds := csvDataset(t, "pid,age\n"+strings.Repeat("1,2\n", 2_000_000))
	file := filepath.Join(ds.Source, "people.csv")
	for range 20 { // before anybody has opened the pipe
		f, err := newFeed(t.Context(), file, csvlines.Shape{Delimiter: ','}, t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.end(); err == nil {
			t.Error("a file that nobody read was read")
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	began := false
	done := make(chan error, 1)
	go func() {
		_, err := OpenWith(ctx, ds, Limits{Tell: func(string, int64, int64) {
			if !began {
				began = true
				cancel()
			}
		}})
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil {
			t.Error("it was opened")
		}
	case <-time.After(time.Minute):
		t.Fatal("it goes on")
	}
}

// csvDataset is a dataset of one file with people in it.
func csvDataset(t *testing.T, text string) *policy.Dataset {
	t.Helper()
	folder := t.TempDir()
	write(t, folder, "people.csv", text)
	return dataset(t, folder, "source: .\nunit: row\ntables: {people: {columns: {pid: {type: integer}, age: {type: integer}}}}")
}
