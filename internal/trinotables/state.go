package trinotables

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"time"

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

// again is after how long the user's rights are looked at anew.
const again = 10 * time.Minute

// Look returns the state in which the tables are, before a question. It is the same one as long as
// they are: by what their stores say, or by the owner's version query, at the times that the policy
// allows. Where the user may do more than read by now, it is an error.
//
// It is asked before a charge, so what goes wrong costs nothing. It looks for one who asks at a
// time. Where the cluster keeps silent, all that have waited meanwhile are told so, and not one
// after the other, each after a silence of its own.
func (d *Database) Look(ctx context.Context) (*State, error) {
	asked := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.silent.After(asked) {
		return nil, d.unsaid(ctx)
	}
	limited, cancel := context.WithTimeout(ctx, d.patience)
	defer cancel()
	if d.now != nil && d.dataset.Refresh > 0 && d.now.period == d.period() {
		if d.readable(limited) {
			return d.now, nil
		}
		if d.known = nil; d.readable(limited) { // everything is looked at anew
			return d.now, nil
		}
	}
	s, err := d.next(limited)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil && err != nil: // our patience has ended, and not that of who asks
		d.known, d.silent = nil, time.Now()
		return nil, d.unsaid(ctx)
	case err != nil:
		d.known = nil
		return nil, err
	}
	d.now = s
	return s, nil
}

// unsaid is the error where our patience has ended.
func (d *Database) unsaid(ctx context.Context) error {
	return d.failed(ctx, fmt.Errorf("it has not said within %v what there is and in which state it is", d.patience))
}

// next finds the state in which the tables are by now.
func (d *Database) next(ctx context.Context) (s *State, err error) {
	if err := d.lookAtUser(ctx); err != nil {
		return nil, err
	}
	s = &State{froms: map[string]string{}, period: d.period()}
	if d.dataset.VersionQuery != "" {
		if s.named, err = d.askVersion(ctx); err != nil {
			return nil, err
		}
		if d.now != nil && d.now.named == s.named && d.alive(ctx, d.now) {
			kept := *d.now
			kept.period = s.period
			return &kept, nil
		}
	}
	if s.marks, err = d.marks(ctx); err != nil {
		return nil, err
	}
	s.name(d.dataset.Refresh > 0)
	if d.now != nil && d.now.Version != s.Version { // with its rows a table may have become another
		if d.known, err = d.relations(ctx); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// lookAtUser looks at the tables and at what the user may do, where that is long ago.
func (d *Database) lookAtUser(ctx context.Context) (err error) {
	if d.known != nil && time.Since(d.rights) <= again {
		return nil
	}
	if d.known, err = d.relations(ctx); err != nil {
		return err
	}
	if err := d.checkRights(ctx, d.known); err != nil {
		return err
	}
	d.rights = time.Now()
	return nil
}

// readable reports whether the state that was last looked at can be read, by this user.
func (d *Database) readable(ctx context.Context) bool {
	return d.lookAtUser(ctx) == nil && d.alive(ctx, d.now)
}

// marks asks in which state each table is, several at once, and whether they can be read.
func (d *Database) marks(ctx context.Context) ([]mark, error) {
	out, errs := make([]mark, len(d.known)), make([]error, len(d.known)+1)
	now := make([]mark, len(d.known))
	var done sync.WaitGroup
	for i, r := range d.known {
		now[i].relation = r.Relation
		done.Go(func() { out[i], errs[i] = d.mark(ctx, r) })
	}
	done.Go(func() { errs[len(d.known)] = d.usable(ctx, now) })
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
	if d.dataset.Refresh <= 0 {
		return 0
	}
	return time.Now().UnixNano() / int64(d.dataset.Refresh)
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

// mark asks in which state a table is.
func (d *Database) mark(ctx context.Context, r *Relation) (mark, error) {
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

func (d *Database) errUnmarked(r *Relation) error {
	what := "is in a catalog of the connector " + r.Connector + ", which does not say whether a table has changed"
	if r.View {
		what = "is a view, of which nobody says whether what is behind it has changed"
	}
	return &Refused{"nothing says whether the data of the dataset " + d.dataset.Name + " has changed; ask the owner to run 'discreet " +
		"check', which says what to write", fmt.Sprintf("the table %s, %s, %s. Say how fresh answers have to be, beside the dataset's "+
		"source, such as refresh: 24h; or write a query that says something else when the data has changed, such as "+
		"version: SELECT max(loaded_at) FROM load_log", r.Name, r.Relation, what)}
}

// iceberg asks for the snapshot of the main branch. A table into which nothing was ever written has
// none.
func (d *Database) iceberg(ctx context.Context, m *mark) error {
	rows, err := d.rows(ctx, "SELECT CAST(snapshot_id AS varchar) FROM "+beside(m.relation, "refs")+" WHERE name = 'main'")
	if err != nil {
		return d.failed(ctx, err)
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
func (d *Database) delta(ctx context.Context, m *mark) error {
	rows, err := d.rows(ctx, "SELECT CAST(version AS varchar), CAST(to_unixtime(timestamp) * 1000 AS varchar) FROM "+
		beside(m.relation, "history")+" ORDER BY version DESC LIMIT 1")
	if err != nil {
		return d.failed(ctx, err)
	}
	if len(rows) == 0 {
		return d.failed(ctx, fmt.Errorf("the Delta table %s has no history", m.relation))
	}
	m.state = rows[0][0] + " " + rows[0][1]
	m.pin = " FOR VERSION AS OF " + rows[0][0]
	m.history = "SELECT 1 FROM " + beside(m.relation, "history") + " WHERE version = " + rows[0][0] +
		" AND CAST(to_unixtime(timestamp) * 1000 AS varchar) = " + text(rows[0][1])
	return nil
}

// hive asks for the files of a table: their names, sizes and times, and no row of them. A file
// without a row is none.
func (d *Database) hive(ctx context.Context, m *mark) error {
	rows, err := d.rows(ctx, `SELECT CAST(count(*) AS varchar), to_hex(checksum(p || ' ' || CAST(s AS varchar) || ' ' || CAST(t AS varchar))) `+
		`FROM (SELECT DISTINCT "$path" AS p, "$file_size" AS s, "$file_modified_time" AS t FROM `+Quote(m.relation)+`)`)
	if err != nil {
		return d.failed(ctx, err)
	}
	m.state = "files " + strings.Join(rows[0], " ")
	return nil
}

// alive reports whether what is read is still there: a snapshot may have been expired, and a table
// made anew. A question about what is gone would be paid for and fail.
func (d *Database) alive(ctx context.Context, s *State) bool {
	if d.usable(ctx, s.marks) != nil {
		return false
	}
	still, err := d.Still(ctx, s)
	return err == nil && still
}

// usable finds out whether the cluster has somebody to run a query, and lets all tables be read in
// a state: what goes wrong here costs nothing. No row is read for it.
func (d *Database) usable(ctx context.Context, tables []mark) error {
	var all []string
	for _, m := range tables {
		all = append(all, Quote(m.relation)+m.pin)
	}
	if _, err := d.rows(ctx, "SELECT 1 FROM "+strings.Join(all, ", ")+" LIMIT 0"); err != nil {
		return d.failed(ctx, err)
	}
	return nil
}

// Still reports, after a question, whether all that it has read is of a state that says that it is
// pinned. Iceberg draws the numbers of its snapshots. Delta counts its versions, and a table that
// was made anew has them again, so it is asked for the time of the one that was read.
func (d *Database) Still(ctx context.Context, s *State) (bool, error) {
	for _, m := range s.marks {
		if m.history == "" {
			continue
		}
		if rows, err := d.rows(ctx, m.history); err != nil || len(rows) == 0 {
			return false, err
		}
	}
	return true, nil
}
