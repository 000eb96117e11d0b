package sqlite

import (
	"errors"
	"reflect"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// leaveLog tells SQLite not to touch the log when the connection is closed. It would put the log
// into the file, which is right as long as all of the log is on the disk. After an fsync that
// failed nobody knows what of it is: with a later loss of power the file could have newer pages
// than its log, and the two together make no database. So the log is put into the file by
// [conn.empty] alone, and that of a ledger that was stopped is written once more by the next Open.
//
// The driver has no call for it and keeps SQLite's handle to itself, so it is read from the
// driver's connection.
func leaveLog(driver any) error {
	handle := reflect.Indirect(reflect.ValueOf(driver))
	if handle.Kind() == reflect.Struct {
		handle = handle.FieldByName("db")
	}
	if handle.Kind() != reflect.Uintptr || handle.Uint() == 0 {
		return errors.New("the driver of SQLite is not the version that this program was made for")
	}
	tls := libc.NewTLS()
	defer tls.Close()
	const slots = 2 * 8 // of an int and a pointer
	args := libc.Xmalloc(tls, slots)
	if args == 0 {
		return errors.New("there is no memory")
	}
	defer libc.Xfree(tls, args)
	if rc := sqlite3.Xsqlite3_db_config(tls, uintptr(handle.Uint()), sqlite3.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE,
		libc.VaList(args, int32(1), uintptr(0))); rc != sqlite3.SQLITE_OK {
		return errors.New("SQLite does not know how to leave its log")
	}
	return nil
}
