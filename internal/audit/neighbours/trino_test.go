package neighbours_test

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"github.com/discreet-dp/discreet/internal/audit/attack"
	"github.com/discreet-dp/discreet/internal/audit/generate"
	"github.com/discreet-dp/discreet/internal/audit/neighbours"
	"github.com/discreet-dp/discreet/internal/engine/reference"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/testtrino"
	"github.com/discreet-dp/discreet/policy"
)

// TestTrino: Trino has the same exact numbers as the reference, question by question, and keeps the
// same groups and rows of people who have too many, because the reference chooses by the same hash.
func TestTrino(t *testing.T) {
	if testing.Short() {
		t.Skip("one question after the other, which the race detector has nothing to say about")
	}
	store := attack.Trino(testtrino.Shared)
	databases, each := 1, 8
	if *full {
		databases, each = 20, 100
	}
	for _, ds := range generate.Worlds()[:2] { // the clinic; in the census every row is a person
		cut := int64(0)
		questions := 0
		for n := range databases {
			d := generate.NewDice(fmt.Sprint("trino ", ds.Name), uint64(n))
			db := largest(d, ds)
			ref := reference.New(ds, db.Tables)
			ref.Choose = func(c reference.Choice) uint64 { return trinoHash(c) }
			o := plan.Options{Public: ref.Public()}
			maker := generate.NewMaker(ds, o)
			var texts []string
			for range each {
				texts = append(texts, maker.Question(d))
			}
			if *full && n == 0 {
				for _, a := range generate.Attacks() {
					texts = append(texts, a.Text)
				}
			}
			e := store.Open(t, db)
			for _, text := range texts {
				st, err := generate.Prepare(attack.At(ds, "trino://discreet@127.0.0.1:1/memory/s?sslmode=disable"), text, o)
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
	parts := []any{c.Hash}
	switch {
	case c.Row != nil:
		for _, v := range c.Row {
			parts = append(parts, v)
		}
	default:
		parts = append(parts, identity(c.Person))
		for _, k := range c.Keys {
			parts = append(parts, keyPart(k))
		}
		if c.Keys == nil {
			parts = append(parts, c.Value)
		}
	}
	var b strings.Builder
	for _, p := range parts {
		if p == nil {
			b.WriteByte('-')
			continue
		}
		text := spelled(p)
		fmt.Fprintf(&b, "%d:%s", utf8.RuneCountInString(text), text)
	}
	return xxhash.Sum64String(b.String()) ^ 1<<63
}

// identity is who somebody is, as it is stored.
func identity(name string) string {
	if text, err := strconv.Unquote(name); err == nil {
		return text
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
