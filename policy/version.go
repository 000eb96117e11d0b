package policy

import (
	"strings"
	"unicode/utf8"
)

// maxVersionQuery is how long a version query may be, in bytes.
const maxVersionQuery = 4096

// readVersion reads the query that names the state of a database. It is the owner's own SQL, so
// what stands in it is for the engine to say.
func (d *Dataset) readVersion(r *reader, f fields, sourceOK bool) {
	v, ok := f.get("version")
	if !ok {
		return
	}
	text, ok := r.text(v, "version", "one SELECT, such as SELECT max(loaded_at) FROM load_log")
	switch {
	case !ok:
	case sourceOK && d.SourceKind() != Database && !d.SourceKind().Remote():
		r.at(v,
			"'version' is a query for a database, and the source is none; remove it: the contents of files tell whether they have changed")
	case strings.TrimSpace(text) == "" || len(text) > maxVersionQuery || !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		r.at(v, "'version' is at most %d bytes of text; write one SELECT, such as SELECT max(loaded_at) FROM load_log", maxVersionQuery)
	default:
		d.VersionQuery = text
	}
}
