package duckdb

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/test/daily"
)

const patientsTable = "unit: row\ntables: {patients: {columns: {age: {type: integer, bounds: [0, 110]}}}}"

// keptFile unpacks a file that another version of DuckDB wrote.
func keptFile(t *testing.T, name string) []byte {
	t.Helper()
	f := must(os.Open(filepath.Join("testdata", name)))(t)
	defer f.Close()
	return must(io.ReadAll(must(gzip.NewReader(f))(t)))(t)
}

// refusal is what is said where a file is opened in one of three ways: a policy names it, without a
// version query or with one, or a policy is drafted from it.
func refusal(t *testing.T, way int, folder, name string) string {
	t.Helper()
	var err error
	if way == 2 {
		_, err = Schemas(t.Context(), []string{filepath.Join(folder, name)}, DraftOptions{})
	} else {
		var e *Engine
		keys := "source: " + name + []string{"", "\nversion: SELECT 1"}[way] + "\n" + patientsTable
		if e, err = Open(t.Context(), dataset(t, folder, keys)); err == nil {
			e.Close()
		}
	}
	if err == nil {
		t.Fatalf("%s was taken", name)
	}
	return err.Error()
}

// TestFileOfDuckDB2: a file that DuckDB 2.0.0 wrote says so, and what to do; what that leads to is
// read.
func TestFileOfDuckDB2(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "new.duckdb", string(keptFile(t, "duckdb-2.0.0.duckdb.gz")))
	for way := range 3 {
		text := refusal(t, way, folder, "new.duckdb")
		for _, want := range []string{"it was written by DuckDB v2.0.0 in the storage version 999", "the DuckDB " + LibraryVersion() +
			" in this program reads 64 to 68", "(FORMAT parquet)", "(STORAGE_VERSION 'v1.5.0')"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in %s", want, text)
			}
		}
	}
	documented := string(must(os.ReadFile("../../../docs/upgrade.md"))(t))
	if says := whyNotAttached(filepath.Join(folder, "new.duckdb")); !strings.Contains(documented, says) {
		t.Errorf("docs/upgrade.md does not have %s", says)
	}
	write(t, folder, "old.duckdb", string(keptFile(t, "duckdb-2.0.0-as-1.5.0.duckdb.gz")))
	open(t, dataset(t, folder, "source: old.duckdb\n"+patientsTable))
	if all := must(Schemas(t.Context(), []string{filepath.Join(folder, "old.duckdb")}, DraftOptions{}))(t); len(all) != 1 {
		t.Errorf("%d tables", len(all))
	}
}

// TestFilesThatAreNotAttached: the words follow from the header alone, whatever is in it.
func TestFilesThatAreNotAttached(t *testing.T) {
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "good.duckdb"), "CREATE TABLE patients AS SELECT 1 AS age")
	good := must(os.ReadFile(filepath.Join(folder, "good.duckdb")))(t)
	planted := func(change func(b []byte) []byte) string { return string(change(bytes.Clone(good))) }
	put := func(at int, text string) func(b []byte) []byte {
		return func(b []byte) []byte { copy(b[at:], text); return b }
	}
	storage := func(n uint64, library string) func(b []byte) []byte {
		return func(b []byte) []byte {
			binary.LittleEndian.PutUint64(b[headerStorage:], n)
			copy(b[headerLibrary:headerEnd], library)
			return b
		}
	}
	cases := map[string]struct{ text, says string }{
		"csv":       {"pid,age\n1,2\n", ": it is not a DuckDB file"},
		"empty":     {"\x00", ": it is not a DuckDB file"},
		"short":     {planted(func(b []byte) []byte { return b[:headerEnd-1] }), ": it is not a DuckDB file"},
		"magic":     {planted(put(headerMagic, "DUCL")), ": it is not a DuckDB file"},
		"newer":     {planted(storage(70, "v3.0.0\x00")), "written by DuckDB v3.0.0 in the storage version 70"},
		"largest":   {planted(storage(1<<64-1, "\x00")), "it was written in the storage version 18446744073709551615"},
		"long name": {planted(storage(70, strings.Repeat("v", 40))), "by DuckDB " + strings.Repeat("v", 32) + " in"},
		"hostile":   {planted(storage(70, "\x1b[2J\xff\xfe\nv3é\x00")), "written by DuckDB 2Jv3 in"},
		"older":     {planted(storage(51, "\x00")), "a DuckDB before 0.10, in the storage version 51"},
		"encrypted": {planted(put(headerFlags, "\x01")), "it is encrypted"},
		"damaged":   {planted(func(b []byte) []byte { return b[:5000] }), "it is damaged"},
	}
	turn := turnOf(t, 3)
	for i, name := range slices.Sorted(maps.Keys(cases)) {
		c := cases[name]
		write(t, folder, name+".duckdb", c.text)
		for way := range 3 {
			if !daily.Full() && (i+turn)%3 != way {
				continue // each in one way, by turns
			}
			text := refusal(t, way, folder, name+".duckdb")
			if !strings.Contains(text, c.says) || strings.ContainsAny(text, "\x1b\n") || strings.Contains(text, "\xff") {
				t.Errorf("%s: %q", name, text)
			}
		}
	}
	if _, ok := readHeader(folder); ok {
		t.Error("a folder has a header")
	}
	secret := filepath.Join(folder, "secret.duckdb")
	mustDo(t, os.WriteFile(secret, good, 0o000))
	paths := []string{filepath.Join(folder, "gone.duckdb")}
	if os.Geteuid() != 0 { // who may read everything
		paths = append(paths, secret)
	}
	for _, path := range paths {
		if text := whyNotAttached(path); !strings.HasPrefix(text, "it cannot be opened: ") || strings.Contains(text, folder) {
			t.Errorf("%s: %q", path, text)
		}
	}
}

// TestStorageVersions: what the constants say is what the library does. A move to another DuckDB
// begins here; see README.md.
func TestStorageVersions(t *testing.T) {
	folder := t.TempDir()
	if LibraryVersion() != "v1.5.5" {
		t.Errorf("DuckDB is %s: look at README.md, and then change this line", LibraryVersion())
	}
	for option, want := range map[string]uint64{"v1.0.0": OldestStorage, storageName: NewestStorage, "latest": NewestStorage} {
		path := filepath.Join(folder, option+".duckdb")
		owner(t, "", "ATTACH '"+path+"' AS made (STORAGE_VERSION '"+option+"')", "CREATE TABLE made.t AS SELECT 1", "DETACH made")
		h, ok := readHeader(path)
		if want := (fileHeader{storage: want, library: LibraryVersion()}); !ok || h != want {
			t.Errorf("%s: %+v, want %+v", option, h, want)
		}
	}
}
