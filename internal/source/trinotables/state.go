package trinotables

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/internal/source/catalogue"
	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/store"
)

// State is one state of the tables, as far as their stores tell.
type State struct {
	Version store.Version
	// Pinned says that every table is read in this state, whatever becomes of it meanwhile. Where
	// it is not said, who reads several times looks afterwards whether the version is another.
	Pinned bool

	froms map[string]string
	// named is what the owner's query said, and period which one of the owner's times it is.
	named  string
	period int64
	marks  []mark
}

// From spells a table of the policy for a statement, in this state.
func (s *State) From(table string) string { return s.froms[table] }

// rightsAge is after how long the user's rights are looked at anew.
const rightsAge = 10 * time.Minute

// Look returns the state in which the tables are, before a question. It is the same one as long as
// they are: by what their stores say, or by the owner's version query, at the times that the policy
// allows. Where the user may do more than read by now, it is an error.
//
// It is asked before a charge, so what goes wrong costs nothing. It looks for one who asks at a
// time. Where the cluster keeps silent, all that have waited meanwhile are told so, and not one
// after the other, each after a silence of its own.
func (d *Database) CurrentState(ctx context.Context) (*State, error) {
	asked := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.silent.After(asked) {
		return nil, d.errSilent(ctx)
	}
	limited, cancel := context.WithTimeout(ctx, d.patience)
	defer cancel()
	if d.now != nil && d.cluster.dataset.Refresh > 0 && d.now.period == d.period() {
		if d.isKnownReadable(limited) {
			return d.now, nil
		}
		if d.known = nil; d.isKnownReadable(limited) { // everything is looked at anew
			return d.now, nil
		}
	}
	s, err := d.next(limited)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil && err != nil: // our patience has ended, and not that of who asks
		d.known, d.silent = nil, time.Now()
		return nil, d.errSilent(ctx)
	case err != nil:
		d.known = nil
		return nil, err
	}
	d.now = s
	return s, nil
}

// errSilent is the error where our patience has ended.
func (d *Database) errSilent(ctx context.Context) error {
	return d.cluster.failure(ctx, fmt.Errorf("it did not say within %v which data there is and in which state", d.patience))
}

// next finds the state in which the tables are by now.
func (d *Database) next(ctx context.Context) (s *State, err error) {
	if err := d.checkUser(ctx); err != nil {
		return nil, err
	}
	s = &State{froms: map[string]string{}, period: d.period()}
	if d.cluster.dataset.VersionQuery != "" {
		if s.named, err = d.cluster.askVersion(ctx); err != nil {
			return nil, err
		}
		if d.now != nil && d.now.named == s.named && d.isReadable(ctx, d.now) {
			kept := *d.now
			kept.period = s.period
			return &kept, nil
		}
	}
	if s.marks, err = d.marker.marks(ctx, d.known); err != nil {
		return nil, err
	}
	s.name(d.cluster.dataset.Refresh > 0)
	if d.now != nil && d.now.Version != s.Version { // with its rows a table may have become another
		if d.known, err = d.finder.relations(ctx); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// checkUser looks at the tables and at what the user may do, where that is long ago.
func (d *Database) checkUser(ctx context.Context) (err error) {
	if d.known != nil && time.Since(d.rights) <= rightsAge {
		return nil
	}
	if d.known, err = d.finder.relations(ctx); err != nil {
		return err
	}
	if err := d.checker.checkRights(ctx, d.known); err != nil {
		return err
	}
	d.rights = time.Now()
	return nil
}

// isKnownReadable reports whether the state that was last looked at can be read, by this user.
func (d *Database) isKnownReadable(ctx context.Context) bool {
	return d.checkUser(ctx) == nil && d.isReadable(ctx, d.now)
}

type marker struct{ *connection }

// marks asks in which state each table is, several at once, and whether they can be read.
func (d marker) marks(ctx context.Context, all []*Relation) ([]mark, error) {
	out, errs := make([]mark, len(all)), make([]error, len(all)+1)
	now := make([]mark, len(all))
	var done sync.WaitGroup
	for i, r := range all {
		now[i].relation = r.Relation
		done.Go(func() { out[i], errs[i] = d.mark(ctx, r) })
	}
	done.Go(func() { errs[len(all)] = d.checkReadable(ctx, now) })
	done.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// period counts the times of the owner's refresh since 1970, so that all servers look at the same
// moments.
func (d *Database) period() int64 {
	if d.cluster.dataset.Refresh <= 0 {
		return 0
	}
	return time.Now().UnixNano() / int64(d.cluster.dataset.Refresh)
}

// name names the state by what its tables are.
func (s *State) name(periods bool) {
	h := sha256.New()
	s.Pinned = true
	said := false
	for _, m := range s.marks {
		s.froms[m.table] = Quote(m.relation) + m.pin
		s.Pinned = s.Pinned && (m.pin != "" || m.fixed)
		switch {
		case m.state != "":
			fmt.Fprintf(h, "%q %q\n", m.relation, m.state)
			said = true
		case periods && s.named == "":
			fmt.Fprintf(h, "%q %d\n", m.relation, s.period)
			said = true
		}
	}
	s.Version = store.Version{Name: s.named, Whole: s.Pinned && said}
	if said {
		s.Version.State = hex.EncodeToString(h.Sum(nil))
	}
}

// mark is what a store says about the state of a table.
type mark struct {
	table, relation string
	state           string // empty where it says nothing
	pin             string // behind its name in a statement, where the store has versions
	fixed           bool   // it never changes
	history         string // asks whether the version is the one that was looked at, where its number does not say
}

func (d marker) mark(ctx context.Context, r *Relation) (mark, error) {
	m := mark{table: r.Name, relation: r.Relation}
	connector := r.Connector
	if r.View {
		connector = "" // what is behind it has no state that it would tell
	}
	switch connector {
	case "iceberg":
		return m, d.iceberg(ctx, &m)
	case "delta_lake":
		return m, d.delta(ctx, &m)
	case "hive":
		if d.dataset.VersionQuery != "" {
			return m, nil // the owner's word stands for reading all files
		}
		return m, d.hive(ctx, &m)
	case "tpch", "tpcds":
		m.state, m.fixed = "made by a rule", true
		return m, nil
	}
	if d.dataset.VersionQuery == "" && d.dataset.Refresh == 0 {
		return m, d.errUnmarked(r)
	}
	return m, nil
}

func (d marker) errUnmarked(r *Relation) error {
	what := "is in a catalog of the connector " + r.Connector + ", which does not say whether a table has changed"
	if r.View {
		what = "is a view, and nothing says whether the data behind it has changed"
	}
	return &Refused{"nothing says whether the data of the dataset " + d.dataset.Name + " has changed; ask the owner to run 'discreet " +
		"check', which says what to write", fmt.Sprintf("the table %s, %s, %s. Say how fresh answers have to be, next to the "+
		"dataset's source, such as refresh: 24h; or write a query whose result differs when the data has changed, such as "+
		"version: SELECT max(loaded_at) FROM load_log", r.Name, r.Relation, what)}
}

// iceberg asks for the snapshot of the main branch. A table into which nothing was ever written has
// none.
func (d marker) iceberg(ctx context.Context, m *mark) error {
	rows, err := d.rows(ctx, "SELECT CAST(snapshot_id AS varchar) FROM "+beside(m.relation, "refs")+" WHERE name = 'main'")
	if err != nil {
		return d.failure(ctx, err)
	}
	m.state = "empty"
	if len(rows) > 0 {
		m.state = rows[0][0]
		m.pin = " FOR VERSION AS OF " + rows[0][0]
	}
	return nil
}

// delta asks for the last version. A table that was made anew counts from 0, so when it was written
// is a part of its name.
func (d marker) delta(ctx context.Context, m *mark) error {
	rows, err := d.rows(ctx, "SELECT CAST(version AS varchar), CAST(to_unixtime(timestamp) * 1000 AS varchar) FROM "+
		beside(m.relation, "history")+" ORDER BY version DESC LIMIT 1")
	if err != nil {
		return d.failure(ctx, err)
	}
	if len(rows) == 0 {
		return d.failure(ctx, fmt.Errorf("the Delta table %s has no history", m.relation))
	}
	m.state = rows[0][0] + " " + rows[0][1]
	m.pin = " FOR VERSION AS OF " + rows[0][0]
	m.history = "SELECT 1 FROM " + beside(m.relation, "history") + " WHERE version = " + rows[0][0] +
		" AND CAST(to_unixtime(timestamp) * 1000 AS varchar) = " + text(rows[0][1])
	return nil
}

// hive asks for the files of a table: their names, sizes and times, and no row of them. A file
// without a row is none.
func (d marker) hive(ctx context.Context, m *mark) error {
	rows, err := d.rows(ctx, `SELECT CAST(count(*) AS varchar), to_hex(checksum(p || ' ' || CAST(s AS varchar) || ' ' || CAST(t AS varchar))) `+
		`FROM (SELECT DISTINCT "$path" AS p, "$file_size" AS s, "$file_modified_time" AS t FROM `+Quote(m.relation)+`)`)
	if err != nil {
		return d.failure(ctx, err)
	}
	m.state = "files " + strings.Join(rows[0], " ")
	return nil
}

// isReadable reports whether what is read is still there: a snapshot may have been expired, and a
// table made anew. A question about what is gone would be paid for and fail.
func (d *Database) isReadable(ctx context.Context, s *State) bool {
	if d.marker.checkReadable(ctx, s.marks) != nil {
		return false
	}
	still, err := d.IsStillReadable(ctx, s)
	return err == nil && still
}

// checkReadable finds out whether the cluster has somebody to run a query, and lets all tables be
// read in a state: what goes wrong here costs nothing. No row is read for it.
func (d marker) checkReadable(ctx context.Context, tables []mark) error {
	var all []string
	for _, m := range tables {
		all = append(all, Quote(m.relation)+m.pin)
	}
	if _, err := d.rows(ctx, "SELECT 1 FROM "+strings.Join(all, ", ")+" LIMIT 0"); err != nil {
		return d.failure(ctx, err)
	}
	return nil
}

// IsStillReadable reports, after a question, whether all that it has read is of a state that says
// that it is pinned. Iceberg draws the numbers of its snapshots. Delta counts its versions, and a
// table that was made anew has them again, so it is asked for the time of the one that was read.
func (d *Database) IsStillReadable(ctx context.Context, s *State) (bool, error) {
	for _, m := range s.marks {
		if m.history == "" {
			continue
		}
		if rows, err := d.cluster.rows(ctx, m.history); err != nil || len(rows) == 0 {
			return false, err
		}
	}
	return true, nil
}

// Describe says, for the owner, what names the state of the tables, and when it is looked at. It
// reads no row, but for the version query, and refuses what no question would be asked with: a user
// that may do more than read, a table that is not there or is a view, and one of which nobody says
// whether it has changed.
func Describe(ctx context.Context, ds *policy.Dataset) (string, error) {
	d, err := Of(ds)
	if err != nil {
		return "", err
	}
	defer d.Close()
	s, err := d.CurrentState(ctx)
	if err != nil {
		return "", catalogue.ForOwner(err)
	}
	var parts []string
	if s.named != "" {
		parts = append(parts, fmt.Sprintf("%q, by the version query; analysts see it", s.named))
	}
	for _, m := range s.marks {
		switch {
		case m.pin != "":
			parts = append(parts, m.table+" as of one version, which all of a question reads")
		case m.fixed:
			parts = append(parts, m.table+", which never changes")
		case m.state != "":
			parts = append(parts, m.table+" by its files")
		case s.named == "":
			parts = append(parts, m.table+" only by the time")
		}
	}
	text := strings.Join(parts, "; ")
	if ds.Refresh > 0 {
		return fmt.Sprintf("%s. Changes are looked for every %v, counted from midnight of 1970-01-01 in UTC", text, ds.Refresh), nil
	}
	return text + ". Changes are looked for before every question", nil
}
