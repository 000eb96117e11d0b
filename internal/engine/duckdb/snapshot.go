package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"

	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/internal/engine/contribution"
	"github.com/discreet-dp/discreet/internal/engine/duckdb/chunks"
	"github.com/discreet-dp/discreet/internal/engine/publictime"
	"github.com/discreet-dp/discreet/internal/engine/sqlengine"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/source/pgtables"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/policy"
)

// snapshot is a locked DuckDB over the files as they were when it was opened.
type snapshot struct {
	sqlengine.Database
	using   sync.RWMutex // held for reading while a question runs on it
	tables  map[string]*table
	listed  []*chunks.Keys  // public keys that are texts, to look up groups
	source  chunks.Database // the same database, for rows in bulk
	spill   spill           // where large questions go that do not fit into memory
	state   dataState
	limits  Limits
	sizes   publictime.Sizes
	threads int // of one question
	// For package contribution. A test forces it to compact, to read several times, or not to look
	// for an order.
	memory    int64
	unordered bool
}

// How CSV files are loaded.
const (
	asDeclared = true  // with the types of the policy
	asText     = false // with the texts beside them, to see what does not fit the types
)

func openSnapshot(ctx context.Context, ds *policy.Dataset, typed bool, limits Limits) (*snapshot, error) {
	var s *snapshot
	err := pgtables.ErrMoved
	for try := 0; try < 3 && errors.Is(err, pgtables.ErrMoved); try++ {
		s, err = openUnlocked(ctx, ds, typed, limits)
	}
	if err != nil {
		return nil, err
	}
	if err := s.lock(ctx); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// openUnlocked opens the files for the owner, who may write others.
func openUnlocked(ctx context.Context, ds *policy.Dataset, typed bool, limits Limits) (_ *snapshot, err error) {
	s := &snapshot{limits: limits, tables: map[string]*table{}}
	s.Schema, s.Failure = sqlgen.NewSchema(sqlDialect, ds), failure
	for _, name := range ds.TableNames() {
		if s.tables[name], err = findTable(ds, ds.Tables[name]); err != nil {
			return nil, err
		}
		s.Tables[name] = &s.tables[name].Table
		s.tables[name].prepared = ds.Tables[name].Prepared
	}
	if err := s.state.identify(ctx, ds, s.tables, limits); err != nil {
		return nil, err
	}
	var from *pgtables.Snapshot
	if ds.SourceKind() == policy.PostgresDatabase {
		if from, err = s.state.beginCopy(ctx, ds); err != nil { // before a DuckDB is started in vain
			return nil, err
		}
		defer from.Close()
	}
	connector, err := driver.NewConnector("", nil)
	if err != nil {
		return nil, fmt.Errorf("start DuckDB: %w", err)
	}
	s.DB = sql.OpenDB(connector)
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.source, err = chunks.DatabaseOf(connector); err != nil {
		return nil, err
	}
	if s.spill, err = newSpill(); err != nil {
		return nil, err
	}
	if err := s.attach(ctx, ds); err != nil {
		return nil, err
	}
	s.memory = s.share(ctx)
	if from != nil {
		copied := copier{db: s.DB, rows: s.source, limits: limits, typed: typed, from: from, origin: s.state.origin}
		if err := copied.copyTables(ctx, ds, s.tables); err != nil {
			return nil, err
		}
		s.state.nameByContents(from.Hash())
		from.Close() // what follows is about the copy
	}
	for _, name := range ds.TableNames() {
		if err := s.openTable(ctx, ds, s.tables[name], typed); err != nil {
			return nil, err
		}
	}
	if err := s.FindKinds(ds); err != nil {
		return nil, err
	}
	if err := s.loadNames(ctx, ds); err != nil {
		return nil, err
	}
	if typed {
		if err := s.findOrder(ctx, ds); err != nil {
			return nil, err
		}
		if err := s.CheckUnique(ctx, ds); err != nil {
			return nil, err
		}
		if s.sizes, err = s.Sizes(ctx, ds, countFunctions); err != nil {
			return nil, err
		}
		s.threads = countThreads(ctx, s.DB)
		for name, t := range s.tables {
			t.Rows = s.sizes.Tables[name].Rows
		}
	}
	return s, nil
}

// openTable opens a table: its source, or what is prepared of it. To see what does not fit the
// policy takes the source, and then the other is only looked at.
func (s *snapshot) openTable(ctx context.Context, ds *policy.Dataset, t *table, typed bool) error {
	if t.prepared != "" {
		a, err := s.openPrepared(ctx, t)
		if err != nil {
			return err
		}
		if typed {
			if err := s.usePrepared(ctx, t, a); err != nil {
				return err
			}
			return s.loadKeys(ctx, t)
		}
	}
	if t.csv {
		if err := t.load(ctx, s.DB, typed, s.spill.folder, s.limits.telling(t.file)); err != nil {
			return err
		}
	}
	if err := t.describe(ctx, s.DB); err != nil {
		return err
	}
	if err := t.nameRows(ctx, s.DB, ds, typed); err != nil {
		return err
	}
	return s.loadKeys(ctx, t)
}

// share returns how many bytes package contribution may take: a quarter of what DuckDB takes at
// most, which knows the machine's memory, or its default where that is less.
func (s *snapshot) share(ctx context.Context) int64 {
	var limit int64
	if err := s.DB.QueryRowContext(ctx, "SELECT CAST(parse_formatted_bytes(current_setting('memory_limit')) AS "+
		"BIGINT)").Scan(&limit); err != nil || limit <= 0 {
		return contribution.DefaultMemory
	}
	return min(contribution.DefaultMemory, limit/4)
}

// attach opens the dataset's database, where it is one.
func (s *snapshot) attach(ctx context.Context, ds *policy.Dataset) error {
	for _, set := range append(s.limits.settings(), "SET temp_directory = "+sqlgen.QuoteText(s.spill.folder)) {
		if _, err := s.DB.ExecContext(ctx, set); err != nil {
			return fmt.Errorf("start DuckDB: %w", err)
		}
	}
	if ds.SourceKind() != policy.Database {
		return nil
	}
	if _, err := s.DB.ExecContext(ctx, "ATTACH "+sqlgen.QuoteText(ds.Source)+" AS source (READ_ONLY)"); err != nil {
		return errAttach(ds)
	}
	return nil
}

// lockStatements close the ways out of a DuckDB, the last one those to change them again.
var lockStatements = []string{
	"SET autoinstall_known_extensions = false",
	"SET autoload_known_extensions = false",
	"SET allow_community_extensions = false",
	"SET enable_external_access = false",
	"SET lock_configuration = true",
}

// lock closes every way out but the Parquet files that the policy names.
func (s *snapshot) lock(ctx context.Context) error {
	var paths []string
	for _, t := range s.tables {
		if t.file != "" && !t.csv && !t.byPerson {
			paths = append(paths, sqlgen.QuoteText(t.file))
		}
	}
	if err := restrictOptimizer(ctx, s.DB); err != nil {
		return err
	}
	for _, set := range append([]string{
		// The order of groups is ours to decide, after the noise.
		"SET preserve_insertion_order = false",
		"SET allowed_paths = [" + strings.Join(paths, ", ") + "]",
	}, lockStatements...) {
		if _, err := s.DB.ExecContext(ctx, set); err != nil {
			return fmt.Errorf("lock DuckDB (%s): %w", set, err)
		}
	}
	return nil
}

func (s *snapshot) close() error {
	for _, k := range s.listed {
		k.Close()
	}
	s.state.origin.close()
	return errors.Join(s.DB.Close(), s.spill.remove())
}

// Rows that come in the order of people are read once and need no partitions, and a question that
// tries the order where there is none reads them twice. Whoever asks can tell that by the clock,
// and choose rows that are in order but for those of one person. So which questions try it is known
// before: those about one table alone that was in order when the data was opened, but for a few
// people, who are known then, too. What they cost follows from how many they are.

// ordered returns the table whose order a question tries, or nil.
func (s *snapshot) ordered(q *tree.Query, from tree.Relation) *table {
	scan, ok := from.(*tree.Scan)
	if !ok || q.Asks() {
		return nil
	}
	if t := s.tables[scan.Table.Name]; t != nil && t.order != nil {
		return t
	}
	return nil
}

// findOrder finds out how tables are stored by person. Those that are not show it in their first
// rows.
func (s *snapshot) findOrder(ctx context.Context, ds *policy.Dataset) error {
	identity := tree.IdentityName(ds.Unit.Table, ds.Unit.Column)
	kind := s.Kinds[identity]
	for _, t := range s.tables {
		if !t.Preparable() || s.ByRow {
			continue
		}
		who, ok := bulkUnit(s.Identity(&t.Table, t.UnitColumn, identity), kind)
		if isNamed(kind) && t.Number != "" {
			who, ok = sqlgen.QuoteName(t.Number), true
		}
		if !ok {
			continue
		}
		b := &boundedQuery{people: true, query: chunks.Query{Columns: []string{who}, From: t.From}, values: []int{-1},
			present: []bool{true}}
		b.spec = contribution.Spec{Groups: 1, MaxGroups: 1, Measures: []contribution.Measure{{Kind: contribution.People}}, Memory: s.memory}
		t.order, _ = contribution.FindOrder(ctx, b.spec, b.readRows(ctx, s.source, func() {})) // what cannot be read is told elsewhere
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// rowsOf is about how many rows a relation has: those of its table, or of the largest one, where it
// is more than that.
func (s *snapshot) rowsOf(from tree.Relation) int64 {
	if scan, ok := from.(*tree.Scan); ok && s.tables[scan.Table.Name] != nil {
		return s.tables[scan.Table.Name].Rows
	}
	rows := int64(0)
	for _, t := range s.tables {
		rows = max(rows, t.Rows)
	}
	return rows
}
