package policy

import (
	"net/url"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Anchor says where the head of the ledger is kept a second time, so that an older copy of the
// ledger is noticed. Either File or Postgres is set; both are empty where there is no anchor.
type Anchor struct {
	File     string // a path, already joined with the policy's folder
	Postgres string // the address of a PostgreSQL database; it may hold a password, so it is never shown
	// Name is the row's, so that several ledgers can share a database. Empty stands for the name of
	// the ledger's file.
	Name string
	// Every is how many records may be made before the anchor is written again, 1 or more.
	Every int
}

// maxAnchorEvery bounds how much a lost ledger can make the anchor count as spent.
const maxAnchorEvery = 1_000_000

// maxAnchorName is the longest name of an anchor's row, in bytes.
const maxAnchorName = 128

func (p *Policy) readAnchor(r *reader, f fields) {
	const hint = "write anchor: {file: PATH} or anchor: {postgres: URL}"
	v, given := f.get("anchor")
	if !given {
		return
	}
	f, ok := r.fields(v, v.node, "an anchor", anchorKeys)
	if !ok {
		return
	}
	p.Anchor.Every = 1
	if at, given := f.get("every"); given {
		if n, ok := r.whole(at, "every", maxAnchorEvery, "after how many charges the anchor is written again"); ok {
			p.Anchor.Every = int(n)
		}
	}
	file, hasFile := f.get("file")
	address, hasAddress := f.get("postgres")
	if at, given := f.get("name"); given {
		text, ok := r.text(at, "name", "the name of the anchor's row")
		switch {
		case !ok:
		case hasFile:
			r.at(at, "'name' is that of a row, and a file has its own; remove it")
		case len(text) > maxAnchorName || strings.ContainsFunc(text, unicode.IsControl) || !utf8.ValidString(text):
			r.at(at, "'name' has at most %d bytes and no control characters; write for example hospital", maxAnchorName)
		default:
			p.Anchor.Name = text
		}
	}
	switch {
	case hasFile && hasAddress:
		r.at(address, "an anchor is in one place, and two are given; keep file or postgres")
	case hasFile:
		p.readAnchorFile(r, file)
	case hasAddress:
		p.readAnchorAddress(r, address)
	case !f.meant["file"] && !f.meant["postgres"]:
		r.at(v, "an anchor needs a place; %s", hint)
	}
}

func (p *Policy) readAnchorFile(r *reader, v place) {
	if p.Shared() {
		r.at(v, "several servers may have this ledger open, and a file cannot be replaced by one of them at a time; keep the anchor in "+
			"another PostgreSQL database, with anchor: {postgres: URL}")
		return
	}
	text, ok := r.text(v, "file", "the path of the anchor, on another volume than the ledger")
	if !ok || !r.path(v, "file", text) {
		return
	}
	path := resolve(p.Dir, text)
	for what, other := range map[string]string{"policy": p.Path, "ledger": p.Ledger} {
		if filepath.Clean(path) == filepath.Clean(other) {
			r.at(v, "the anchor and the %s would be the same file, %s; give the anchor a path of its own, best on "+
				"another volume", what, path)
			return
		}
	}
	p.Anchor.File = path
}

// readAnchorAddress reads an address and never shows it.
func (p *Policy) readAnchorAddress(r *reader, v place) {
	const want = "an address such as postgres://anchor@db.example.org/anchors"
	text, ok := r.text(v, "postgres", want)
	if !ok {
		return
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" || u.Host == "" && !strings.Contains(u.RawQuery, "host=") {
		r.at(v, "'postgres' is not the address of a PostgreSQL database; write %s", want)
		return
	}
	p.Anchor.Postgres = text
}
