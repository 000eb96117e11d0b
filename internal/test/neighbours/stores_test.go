package neighbours_test

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/neighbours"
	"github.com/discreet-dp/discreet/internal/test/reference"
	"github.com/discreet-dp/discreet/internal/test/storekinds"
	"github.com/discreet-dp/discreet/internal/test/testtrino"
	"github.com/discreet-dp/discreet/policy"
)

// TestStores: the same data in another store has the same exact numbers, and the same groups and
// rows of people are kept, question by question, with the signs, infinities, dates and texts that
// databases disagree about.
func TestStores(t *testing.T) {
	if testing.Short() {
		t.Skip("one question after the other, which the race detector has nothing to say about")
	}
	stores := slices.DeleteFunc(storekinds.Stores(), func(s storekinds.Store) bool { return s.Computes }) // as TestTrino is for
	for w, ds := range generate.Worlds() {
		d := generate.NewDice(fmt.Sprint("stores ", w, " 0"), 1)
		db := storekinds.Everywhere(generate.Make(d, ds))
		o := planner.Options{Public: reference.New(ds, db.Tables).Public()}
		maker := generate.NewMaker(ds, o)
		var texts []string
		for range 40 {
			texts = append(texts, maker.Question(d))
		}
		if w == 0 { // the clinic
			for _, a := range generate.Attacks() {
				texts = append(texts, a.Text)
			}
		}
		few, least := 12, 3 // of the questions that were made up
		if w == 0 {
			few, least = 50, 9
		}
		if texts = daily.Sample(t, texts, few); daily.Full() {
			least = []int{80, 20}[min(w, 1)]
		}
		var all []engine.Engine
		for _, s := range stores {
			all = append(all, s.Open(t, db))
		}
		questions := 0
		for _, text := range texts {
			st, err := generate.Prepare(ds, text, o)
			if err != nil {
				continue
			}
			for _, p := range st.Plans {
				if !p.Query.ListsKeys() {
					questions++
					sameResults(t, ds.Name+": "+text, stores, all, &p.Query)
				}
			}
		}
		if questions < least {
			t.Errorf("%s: only %d questions were compared", ds.Name, questions)
		}
	}
}

func sameResults(t *testing.T, what string, stores []storekinds.Store, all []engine.Engine, q *tree.Query) {
	t.Helper()
	x, err := all[0].Run(t.Context(), q)
	for i, e := range all[1:] {
		name := stores[1+i].Name
		y, other := e.Run(t.Context(), q)
		if (err == nil) != (other == nil) {
			t.Errorf("%s: %v, and in %s %v", what, err, name, other)
			continue
		}
		if err != nil {
			continue
		}
		if far, err := neighbours.Judge(q, x, y); far != 0 || err != nil {
			t.Errorf("%s: other numbers in %s: %v, %v", what, name, far, err)
		}
	}
}

// TestTrino: Trino has the same exact numbers as the reference, question by question, and keeps the
// same groups and rows of people who have too many, because the reference chooses by the same hash.
func TestTrino(t *testing.T) {
	if testing.Short() {
		t.Skip("one question after the other, which the race detector has nothing to say about")
	}
	store := storekinds.Trino(testtrino.Shared)
	databases, each := daily.Rounds(1, 20), daily.Rounds(5, 100)
	first := 0
	if !daily.Full() {
		first = daily.Choices(t).Below(1000)
	}
	for _, ds := range daily.Sample(t, generate.Worlds()[:2], 1) { // the clinic; in the census every row is a person
		cut := int64(0)
		questions := 0
		for n := range databases {
			d := generate.NewDice(fmt.Sprint("trino ", ds.Name), uint64(first+n))
			db := largest(d, ds)
			ref := reference.New(ds, db.Tables)
			ref.Choose = func(c reference.Choice) uint64 { return trinoHash(c) }
			o := planner.Options{Public: ref.Public()}
			maker := generate.NewMaker(ds, o)
			var texts []string
			for range each {
				texts = append(texts, maker.Question(d))
			}
			if daily.Full() && n == 0 {
				for _, a := range generate.Attacks() {
					texts = append(texts, a.Text)
				}
			}
			e := store.Open(t, db)
			for _, text := range texts {
				st, err := generate.Prepare(storekinds.At(ds, "trino://discreet@127.0.0.1:1/memory/s?sslmode=disable"), text, o)
				if err != nil {
					continue
				}
				for _, p := range st.Plans {
					if p.Query.ListsKeys() {
						continue
					}
					questions++
					want, _ := ref.Run(t.Context(), &p.Query)
					got, err := e.Run(t.Context(), &p.Query)
					if err != nil {
						t.Errorf("%s: %s: %v", ds.Name, text, err)
						continue
					}
					if far, err := neighbours.Judge(&p.Query, want, got); far != 0 || err != nil {
						t.Errorf("%s: %s\n%s\nother numbers: %v, %v", ds.Name, text, p.Query.Format(), far, err)
					}
				}
			}
			cut += ref.Cuts()
		}
		t.Logf("%s: %d questions; %d people were cut before a join", ds.Name, questions, cut)
	}
}

// largest is the largest of some databases, so that people have more rows than count.
func largest(d generate.Dice, ds *policy.Dataset) (out *generate.Database) {
	for range 20 {
		if made := generate.Make(d, ds); out == nil || made.Rows() > out.Rows() {
			out = made
		}
	}
	return out
}

// trinoHash is the hash by which Trino chooses, of the same parts. It is a signed number there.
func trinoHash(c reference.Choice) uint64 {
	if c.Row == nil {
		return trinoRank(c)
	}
	var b strings.Builder
	for _, p := range append([]tree.Value{c.Hash}, c.Row...) {
		if p == nil {
			b.WriteByte('-')
			continue
		}
		fmt.Fprintf(&b, "%016X", xxhash.Sum64String(spelled(p)))
	}
	return xxhash.Sum64String(b.String()) ^ 1<<63
}

// trinoRank is the rank of a group or of a value. Where all keys are public it is 24 bits of one,
// and then the place.
func trinoRank(c reference.Choice) uint64 {
	h := rankBits(identity(c.Person)) ^ xxhash.Sum64String(c.Hash)
	mix := func(x uint64) { h = xxhash.Sum64(binary.BigEndian.AppendUint64(nil, h^x)) }
	if c.Keys == nil {
		mix(rankBits(c.Value))
		return h ^ 1<<63
	}
	if c.Public > 0 {
		mix(uint64(c.Place) * 1099511627689)
	}
	for _, k := range c.Keys[c.Public:] {
		mix(rankBits(keyPart(k)))
	}
	if len(c.Keys) == c.Public {
		return h&(1<<24-1)<<32 | uint64(c.Place)
	}
	return h ^ 1<<63
}

// rankBits are the 64 bits that a value has in a rank.
func rankBits(v any) uint64 {
	switch v := v.(type) {
	case nil:
		return 7046029254386353131
	case int64:
		return uint64(v)
	case tree.Day:
		return uint64(v)
	case tree.Moment:
		return uint64(v)
	case *big.Int:
		if !v.IsInt64() {
			return rankBits(nil)
		}
		return uint64(v.Int64())
	}
	return xxhash.Sum64String(spelled(v))
}

// identity is who somebody is, as it is stored.
func identity(name string) any {
	if text, err := strconv.Unquote(name); err == nil {
		return text
	}
	if n, err := strconv.ParseInt(name, 10, 64); err == nil {
		return n
	}
	return name
}

func keyPart(k policy.Value) any {
	switch {
	case k.Null:
		return nil
	case k.Type == policy.Text:
		return k.Text
	case k.Type == policy.Boolean:
		return k.Bool()
	}
	return k.Int
}

// spelled is how Trino writes a value as text.
func spelled(v any) string {
	switch v := v.(type) {
	case tree.Day:
		return strconv.FormatInt(int64(v), 10)
	case tree.Moment:
		return strconv.FormatInt(int64(v), 10)
	case *big.Int:
		return v.String()
	case float64:
		text := strconv.FormatFloat(v, 'E', -1, 64)
		mantissa, exponent, _ := strings.Cut(text, "E")
		if !strings.Contains(mantissa, ".") {
			mantissa += ".0"
		}
		n, _ := strconv.Atoi(exponent)
		return fmt.Sprintf("%sE%d", mantissa, n)
	}
	return fmt.Sprint(v)
}
