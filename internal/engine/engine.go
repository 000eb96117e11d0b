// Package engine says what an engine is to the curator: it computes the private part of a question
// exactly, on integers, and returns the result sealed. It sees neither noise nor the ledger.
package engine

import (
	"cmp"
	"context"
	"errors"
	"hash/fnv"
	"math"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sealed"
	"github.com/discreet-dp/discreet/policy"
	"github.com/discreet-dp/discreet/store"
)

// Engine computes exact aggregates. All methods are safe for concurrent use.
type Engine interface {
	// Version names the state of the data.
	Version(ctx context.Context) (store.Version, error)
	// Values returns the different values of a column of a public table, sorted, NULL left out.
	// More than limit is an error.
	Values(ctx context.Context, table, column string, limit int) ([]policy.Value, error)
	// Most returns how many rows of a public table have the same values in some columns at most,
	// NULL left out; in no columns, how many rows it has.
	Most(ctx context.Context, table string, columns []string) (int64, error)
	// Rows returns the rows of a public table: for each of its columns, in the order of
	// [policy.Table.ColumnNames], the value as it is declared. More than limit is an error.
	Rows(ctx context.Context, table string, limit int) ([][]tree.Value, error)
	// Run computes a query. Its errors do not depend on the data.
	Run(ctx context.Context, q *tree.Query) (*Result, error)
	// Fetch hands the rows of a table to a collector, one at a time and in no order that means
	// anything. A row is one code for each column: the number of steps, the place among a
	// category's values or -1 where it is none of them, or Null. Rows may have been handed over
	// when it fails. Its errors do not depend on the data.
	Fetch(ctx context.Context, t *tree.Table, into Collector) (ReadFrom, error)
}

// ReadFrom says which data something was read from.
type ReadFrom struct {
	// State is the key of the version of the data, as the engine had it then, one that no version
	// has where it may have been other data, or empty where it does not say. Nobody but the owner
	// may see it. Copied says that it was read from a copy that nobody changes, so that it is of
	// that version whatever happens to the data.
	State  string
	Copied bool
}

// Collector is who takes the rows of a table. It is the sealed one: only a trainer makes it.
type Collector = sealed.Collector

// Null is the code of a value that is missing.
const Null = math.MinInt64

// Result is what an engine returns. Groups stand in the order of Query.Group; where the query has
// private keys, all groups of the first combination of them come first, then those of the second,
// and so on.
type Result struct {
	// Combos are the combinations of private keys that were found, each in the order of
	// Query.PrivateKeys, and Persons is how many people are in each, after a person was cut to
	// MaxGroups of them. Empty where there are no private keys.
	Combos  sealed.List[[]policy.Value]
	Persons sealed.Vector
	// Members are the combinations that each person is in, where the query weighs people
	// ([tree.Query.Weighs]); see [SealMembers].
	Members sealed.Members
	// Measures are, for each measure, one integer per group, zero where there are no rows. For a
	// quantile the vector is empty.
	Measures []sealed.Vector
	// Values are, for each measure that is a quantile, for each group all values in steps (dates in
	// days), in any order, NULL left out. Nil for other measures.
	Values [][]sealed.Vector
	ReadFrom
}

// Cells returns which cells the combinations of private keys are in, and the first measure of each,
// both sealed. It is for queries that have private keys only. A combination that is in no cell is
// left out.
func (r *Result) Cells(place func([]policy.Value) (int, bool)) (cells, counts sealed.Vector) {
	if len(r.Measures) == 0 {
		return sealed.Vector{}, sealed.Vector{}
	}
	return sealed.Encode(r.Combos, r.Measures[0], place)
}

// Failure is an error of a run that says, in one word, how it ended. Its text is that of the error
// inside, which is the same for all of them: the word is for the owner.
type Failure struct {
	Ending Ending
	Err    error
}

// ErrRun is returned when a question could not be computed. The cause is not told, because it could
// depend on the data.
var ErrRun = errors.New("the engine could not run this question, and the charge stays; ask the owner to run 'discreet check'")

// Ending is how a run ended.
type Ending string

// The ways to end that differ from others. Whatever is none of them has simply failed.
const (
	// Stopped says that the run ended because its context did, and not that it ended afterwards: an
	// engine that failed by itself says so, also where the context has ended by then. Whoever could
	// turn a failure into a cancel, by canceling just after it, would be told of failures that
	// nobody counts.
	Stopped Ending = "stopped"
	Memory  Ending = "memory" // there was not enough
)

func (f *Failure) Error() string { return f.Err.Error() }
func (f *Failure) Unwrap() error { return f.Err }

// EndingOf returns how a run ended, or nothing where its error does not say.
func EndingOf(err error) Ending {
	if f := (*Failure)(nil); errors.As(err, &f) {
		return f.Ending
	}
	return ""
}

// Finding is something about the data that the owner should know. It is for the
// owner alone: it depends on the data, though it quotes none of it.
type Finding struct {
	Table  string `json:"table"`
	Column string `json:"column,omitempty"`
	// Broken says that the guarantee does not hold until this is mended.
	Broken bool `json:"broken"`
	// Unread says that the data, or most of a column, is not read: answers about it would be
	// about nothing.
	Unread bool   `json:"unread"`
	Text   string `json:"text"`
}

// SealMembers seals which combinations of private keys each person is in: the places of them in
// keys, of one person after the other, and where those of each end. It takes ownership of both. The
// keys are sorted, so two of them stand the same way whichever others there are.
//
// The order of people is that of mech.KeyWeights: any two stand the same way whoever else is there.
// It follows from what they are in and from nothing else, so whom they are is not looked at, and
// people who are in the same combinations are alike. Those in few come first, because what a
// popular key has no need of is of use to those who are in others too; among equals a hash decides,
// which is another for every question, and then the combinations themselves.
func SealMembers(q *tree.Query, keys [][]policy.Value, places []int32, ends []int) sealed.Members {
	// How many keys there are is private, so the question, whose length an analyst chooses, is
	// spelt once and not for each.
	names, salt := make([]uint64, len(keys)), q.Hash()
	for i, k := range keys {
		names[i] = hashCombination(salt, k)
	}
	type person struct {
		from, to int
		name     uint64
	}
	people := make([]person, 0, len(ends))
	from := 0
	for _, to := range ends {
		p := person{from: from, to: to}
		slices.Sort(places[from:to])
		for _, place := range places[from:to] {
			p.name += names[place]
		}
		people, from = append(people, p), to
	}
	slices.SortFunc(people, func(a, b person) int {
		return cmp.Or(cmp.Compare(a.to-a.from, b.to-b.from), cmp.Compare(a.name, b.name),
			slices.Compare(places[a.from:a.to], places[b.from:b.to]))
	})
	sorted := make([]int32, 0, len(places))
	for i, p := range people {
		sorted = append(sorted, places[p.from:p.to]...)
		ends[i] = len(sorted)
	}
	return sealed.SealMembers(sorted, ends)
}

// hashCombination is a hash of a combination.
func hashCombination(salt string, keys []policy.Value) uint64 {
	h := fnv.New64a()
	text := []byte(salt)
	for _, k := range keys {
		text = strconv.AppendBool(text, k.Null)
		text = strconv.AppendInt(append(text, ' '), k.Int, 10)
		text = strconv.AppendQuote(append(text, ' '), k.Text)
	}
	h.Write(text)
	// FNV alone leaves the last byte in the lowest bits.
	x := h.Sum64()
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// RunPeople computes how many people there are, where that is public, and opens the result: of all
// neighbours it is the same number. Anything else about private rows it refuses, whoever asks.
func RunPeople(ctx context.Context, e Engine, ds *policy.Dataset, q *tree.Query) (int64, ReadFrom, error) {
	scan, ok := q.From.(*tree.Scan)
	if !ok || ds.CountsEverybody() == nil || scan.Table != ds.CountsEverybody() || q.Neighbours != ds.Neighbours ||
		q.Where != nil || len(q.Keys) > 0 || q.Choice != nil || len(q.Measures) != 1 || q.Measures[0].Arg != nil {
		return 0, ReadFrom{}, ErrPrivate
	}
	if m := q.Measures[0]; m.Kind != tree.CountPersons && !(m.Kind == tree.CountRows && scan.Single()) {
		return 0, ReadFrom{}, ErrPrivate
	}
	r, err := e.Run(ctx, q)
	if err != nil {
		return 0, ReadFrom{}, err
	}
	if len(r.Measures) != 1 || r.Measures[0].Len() != 1 {
		return 0, ReadFrom{}, ErrPrivate
	}
	return r.Measures[0].Open()[0], r.ReadFrom, nil
}

// ErrPrivate is returned when something is to be told exactly that is about private rows.
var ErrPrivate = errors.New("this is about private rows, so it is not shown exactly")

// RunPublic computes a query over a public table, whose rows are about nobody, and opens the
// result: one integer for each measure.
func RunPublic(ctx context.Context, e Engine, q *tree.Query) ([]int64, error) {
	if !q.Public() || len(q.Keys) > 0 || q.Choice != nil {
		return nil, ErrPrivate
	}
	r, err := e.Run(ctx, q)
	if err != nil {
		return nil, err
	}
	out := make([]int64, len(q.Measures))
	for i := range out {
		if i >= len(r.Measures) || r.Measures[i].Len() != 1 {
			return nil, ErrPrivate
		}
		out[i] = r.Measures[i].Open()[0]
	}
	return out, nil
}

// PublicTables lets a planner read public tables, which an engine does until a context ends.
func PublicTables(ctx context.Context, e Engine) tree.Public { return publicTables{ctx, e} }

type publicTables struct {
	ctx    context.Context
	engine Engine
}

func (p publicTables) Values(table, column string, limit int) ([]policy.Value, error) {
	return p.engine.Values(p.ctx, table, column, limit)
}

func (p publicTables) Most(table string, columns []string) (int64, error) {
	return p.engine.Most(p.ctx, table, columns)
}

func (p publicTables) Rows(table string, limit int) ([][]tree.Value, error) {
	return p.engine.Rows(p.ctx, table, limit)
}
