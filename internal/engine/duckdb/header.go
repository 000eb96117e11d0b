package duckdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/discreet-dp/discreet/internal/engine/duckdb/chunks"
	release "github.com/discreet-dp/discreet/internal/version"
)

// OldestStorage and NewestStorage are the storage versions of DuckDB's files that the library here
// reads; it writes the oldest unless it is told otherwise. TestStorageVersions holds them.
const (
	OldestStorage = 64
	NewestStorage = 68
)

// storageName is how NewestStorage is called in SQL.
const storageName = "v1.5.0"

// LibraryVersion is the version of DuckDB that runs questions, such as v1.5.5.
func LibraryVersion() string { return chunks.LibraryVersion() }

// fileHeader is what the first bytes of a DuckDB file say about the file: the main header, which
// has been the same from DuckDB 0.10 to 2.0. It holds nothing of tables or rows.
type fileHeader struct {
	storage   uint64
	encrypted bool
	library   string // the version of DuckDB that made the file, where it says so
}

// Offsets in the main header, behind a checksum of 8 bytes.
const (
	headerMagic   = 8  // "DUCK"
	headerStorage = 12 // a number of 8 bytes, the lowest first
	headerFlags   = 20 // four such numbers; the lowest bit of the first: encrypted
	headerLibrary = 52 // a text of 32 bytes, filled up with zeros
	headerEnd     = 84
)

// readHeader reads the main header of a file, and reports false where it has none.
func readHeader(path string) (h fileHeader, ok bool) {
	// What is not a file could keep us waiting.
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return h, false
	}
	f, err := os.Open(path)
	if err != nil {
		return h, false
	}
	defer f.Close()
	var b [headerEnd]byte
	if _, err := io.ReadFull(f, b[:]); err != nil || string(b[headerMagic:headerStorage]) != "DUCK" {
		return h, false
	}
	library, _, _ := bytes.Cut(b[headerLibrary:headerEnd], []byte{0})
	return fileHeader{
		storage:   binary.LittleEndian.Uint64(b[headerStorage:]),
		encrypted: b[headerFlags]&1 != 0,
		library:   release.Clean(string(library)),
	}, true
}

// tryOpen looks whether a file is there and may be read; of what is no file, nothing is opened.
func tryOpen(path string) error {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return f.Close()
}

// whyNotAttached says why DuckDB did not open a file, as far as its header tells, and what to do.
// It depends on nothing in the tables. What DuckDB itself says is not shown: it may quote the file.
func whyNotAttached(path string) string {
	h, ok := readHeader(path)
	by := ""
	if h.library != "" {
		by = " by DuckDB " + h.library
	}
	var failed *fs.PathError
	switch {
	case !ok && errors.As(tryOpen(path), &failed):
		return "it cannot be opened: " + failed.Err.Error()
	case !ok:
		return "it is not a DuckDB file"
	case h.storage > NewestStorage:
		return fmt.Sprintf("it was written%s in the storage version %d, and the DuckDB %s in this program reads %d to %d. Write it "+
			"again with DuckDB: as Parquet files, by EXPORT DATABASE 'folder' (FORMAT parquet), or as a file that can be read, by "+
			"ATTACH 'new.duckdb' (STORAGE_VERSION '%s') and COPY FROM DATABASE",
			by, h.storage, LibraryVersion(), OldestStorage, NewestStorage, storageName)
	case h.storage < OldestStorage:
		return fmt.Sprintf("it was written by a DuckDB before 0.10, in the storage version %d, and the DuckDB %s in this program reads "+
			"%d to %d. Write it again: EXPORT DATABASE with the DuckDB that wrote it, and IMPORT DATABASE with a newer one", h.storage,
			LibraryVersion(), OldestStorage, NewestStorage)
	case h.encrypted:
		return "it is encrypted, and Discreet cannot be given its key: write it again without ENCRYPTION_KEY, on an encrypted disk"
	}
	return "another process is writing to it, it is damaged, or it was not closed properly: close it in the program that writes it"
}
