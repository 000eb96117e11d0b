package sqlite

// Numbers in the header of the file that say whose file it is.
const (
	applicationID = 0x4450_4C47 // "DPLG"
	pageSize      = 4096
)

// The version of the schema is also the marker: it is the one number that SQLite writes for us at a
// fixed place of the first page, so that it can be read from the file alone, whatever is in the log
// beside it.
const (
	closed = 3              // everything is in the file
	opened = 1<<16 | closed // the file needs its log
)

// schema creates the tables, in the order and spelling in which SQLite gives them back.
// The triggers are a guard against accidents: what a determined person changes is
// found by the hash chain.
var schema = []struct{ name, sql string }{
	{"head", `CREATE TABLE head (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  sequence INTEGER NOT NULL,
  hash TEXT NOT NULL
) STRICT`},
	{"head_stays", `CREATE TRIGGER head_stays BEFORE DELETE ON head
BEGIN SELECT RAISE(ABORT, 'a ledger keeps its head'); END`},
	{"records", `CREATE TABLE records (
  sequence INTEGER PRIMARY KEY,
  body TEXT NOT NULL,
  hash TEXT NOT NULL,
  answer BLOB
) STRICT`},
	{"records_not_deleted", `CREATE TRIGGER records_not_deleted BEFORE DELETE ON records
BEGIN SELECT RAISE(ABORT, 'records are never deleted: what was spent stays spent'); END`},
	{"records_not_replaced", `CREATE TRIGGER records_not_replaced BEFORE INSERT ON records
WHEN EXISTS (SELECT 1 FROM records WHERE sequence = NEW.sequence)
BEGIN SELECT RAISE(ABORT, 'records are never replaced'); END`},
	{"records_not_updated", `CREATE TRIGGER records_not_updated BEFORE UPDATE ON records
BEGIN SELECT RAISE(ABORT, 'records are never changed'); END`},
}

const (
	selectSchema  = `SELECT name, sql FROM sqlite_schema ORDER BY name`
	insertHead    = `INSERT INTO head (one, sequence, hash) VALUES (1, ?, ?)`
	updateHead    = `UPDATE head SET sequence = ?, hash = ? WHERE one = 1 AND sequence = ? AND hash = ?`
	selectHead    = `SELECT sequence, hash FROM head`
	insertRecord  = `INSERT INTO records (sequence, body, hash, answer) VALUES (?, ?, ?, ?)`
	selectRecord  = `SELECT body, hash, answer FROM records WHERE sequence = ?`
	selectRecords = `SELECT sequence, body, hash, answer FROM records WHERE sequence >= ? ORDER BY sequence`
)
