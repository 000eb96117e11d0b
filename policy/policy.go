package policy

import (
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Policy is one deployment's file: the datasets and where their ledger is.
type Policy struct {
	// Path is the file's path as it was given, and Dir its folder. Relative paths
	// inside the file start at Dir.
	Path, Dir string
	// Ledger is the path of the ledger file, already joined with Dir, or the address of a
	// PostgreSQL database, without a password.
	Ledger string
	// Anchor is where the head of the ledger is kept a second time, if anywhere.
	Anchor   Anchor
	Datasets map[string]*Dataset
}

// Names returns the datasets' names, sorted.
func (p *Policy) Names() []string { return slices.Sorted(maps.Keys(p.Datasets)) }

// MaxSize is the largest policy that is read, in bytes. The limit comes before
// the parser, so that no file can make the parser work for long.
const MaxSize = 1 << 20

// Load reads the policy at path. It opens that file and no other: whether the
// data is there is the engine's to find out.
func Load(path string) (*Policy, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the policy: %w", err)
	}
	defer f.Close()
	// One byte more than allowed tells a large file from a full one, and holds for
	// pipes and devices too, whose size nobody knows.
	text, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("read the policy: %w", err)
	}
	return Parse(path, text)
}

// Parse reads a policy from text. The name is used in errors and as the path
// from which relative paths start; nothing is opened. An error about the text is
// an [*Error] that holds every problem found.
func Parse(name string, text []byte) (*Policy, error) {
	r := &reader{}
	p := &Policy{Path: name, Dir: filepath.Dir(name), Datasets: map[string]*Dataset{}}
	if root := r.document(text); root != nil {
		p.read(r, root)
	}
	if err := r.err(name); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Policy) read(r *reader, root *yaml.Node) {
	f, ok := r.fields(element{node: root}, root, "a policy", policyKeys)
	if !ok {
		return
	}
	if !readFormat(r, f) {
		return
	}
	p.readLedger(r, f, root)
	p.readAnchor(r, f)
	datasets, ok := f.need(r, "datasets", "list at least one dataset under it")
	if !ok {
		return
	}
	entries, ok := r.entries(datasets, "datasets", "dataset", checkShortName)
	if !ok {
		return
	}
	if len(entries) == 0 {
		r.at(datasets, "there are no datasets; list at least one, for example hospital: {engine: duckdb, ...}")
	}
	for _, e := range entries {
		d := &Dataset{Name: e.name}
		datasetReader{r, d}.read(e.element, p.Dir)
		p.Datasets[d.Name] = d
	}
}

// Format is the version of the specification that this package reads. It grows when something that
// a policy can say gets another meaning, and not when there is more to say: a key that is not known
// is refused anyway.
const Format = 1

// readFormat reports whether the rest can be read: what a policy of another format says may mean
// something else here. One that does not say its format has the first.
func readFormat(r *reader, f fields) bool {
	v, given := f.get("format")
	if !given {
		return true
	}
	n, ok := r.whole(v, "format", maxFormat, "the version of the specification that the policy is written for")
	if ok && n != Format {
		r.problems = nil // of keys that the other format may have
		r.at(v, "this policy has the format %d, and this version of Discreet reads %d; use the version that it was written for "+
			"('discreet version' prints what each reads), or see docs/upgrade.md", n, Format)
		return false
	}
	return true
}

const maxFormat = 1_000_000

// readLedger finds the ledger. Its default lies beside the policy under the
// same name, so that the policy and what was spent under it move together.
func (p *Policy) readLedger(r *reader, f fields, root *yaml.Node) {
	v, given := f.get("ledger")
	if !given {
		p.Ledger = strings.TrimSuffix(p.Path, filepath.Ext(p.Path)) + ".ledger"
		v = element{node: root}
	} else {
		text, ok := r.text(v, "ledger", "the path of the ledger file, or the address of a PostgreSQL database")
		if ok && isDatabase(text) {
			p.readLedgerAddress(r, v, text)
			return
		}
		if !ok || !r.path(v, "ledger", text) {
			return
		}
		p.Ledger = resolve(p.Dir, text)
	}
	if filepath.Clean(p.Ledger) == filepath.Clean(p.Path) {
		r.at(v, "the ledger and the policy would be the same file, %s; give the ledger another path with the key 'ledger'", p.Ledger)
	}
}

// isDatabase reports whether a place is the address of a PostgreSQL database.
func isDatabase(place string) bool {
	return strings.HasPrefix(place, "postgres://") || strings.HasPrefix(place, "postgresql://")
}

// readLedgerAddress reads the address of a ledger that several servers share. It has no password,
// so it may be shown.
func (p *Policy) readLedgerAddress(r *reader, v element, text string) {
	const want = "an address such as postgres://discreet@db.example.org/ledgers"
	u, err := url.Parse(text)
	if err != nil || u.Host == "" && !strings.Contains(u.RawQuery, "host=") {
		r.at(v, "'ledger' is not the address of a PostgreSQL database; write %s", want)
		return
	}
	if _, given := u.User.Password(); given || u.Query().Has("password") {
		r.at(v, "'ledger' has a password, which does not belong in a policy; put it into the environment variable "+
			"DISCREET_LEDGER_PASSWORD, or into a file that PGPASSFILE names")
		return
	}
	p.Ledger = text
}

// Shared reports whether the ledger is in a database, which several servers may have open.
func (p *Policy) Shared() bool { return isDatabase(p.Ledger) }

// Beside is the file beside which others of the ledger are: itself, or, where it is in a database,
// the one that it would be in otherwise.
func (p *Policy) Beside() string {
	if p.Shared() {
		return strings.TrimSuffix(p.Path, filepath.Ext(p.Path)) + ".ledger"
	}
	return p.Ledger
}

// resolve joins a relative path with the folder it starts from.
func resolve(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

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
			r.at(at, "'name' names a row of a database, and a file has its own name; remove it")
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

func (p *Policy) readAnchorFile(r *reader, v element) {
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

func (p *Policy) readAnchorAddress(r *reader, v element) {
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
