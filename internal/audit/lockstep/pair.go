package lockstep

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/policy"
)

// Pair is two neighbouring databases, and what is hard about them.
type Pair struct {
	Name string
	A, B Database

	close []func() error
}

// Close gives back what the databases hold. Their files are the caller's.
func (p Pair) Close() error {
	var errs []error
	for _, c := range p.close {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// commonPeople are the people who are in both databases.
var commonPeople = []struct {
	name string
	make func(s schema, d dice, turn int) []person
}{
	{"nobody else", func(schema, dice, int) []person { return nil }},
	{"one other", func(s schema, d dice, turn int) []person {
		return []person{s.makePerson(d, "1", anyValues, turn)}
	}},
	{"twins", func(s schema, d dice, turn int) []person {
		// The same rows over and over, of people who differ in their names alone.
		seed := uint64(d.Below(1 << 30))
		var out []person
		for i := range 8 {
			out = append(out, s.makePerson(newDice("twins", seed), fmt.Sprint(i+1), anyValues, turn))
		}
		return out
	}},
	{"a crowd", func(s schema, d dice, turn int) []person {
		var out []person
		for i := range 30 {
			out = append(out, s.makePerson(d, fmt.Sprint(i+1), manner(d.Below(int(everyGroup))), i))
		}
		return out
	}},
	{"rows of nobody", func(s schema, d dice, turn int) []person {
		out := []person{s.makePerson(d, "1", everyGroup, turn)}
		for range 10 {
			out = append(out, s.makePerson(d, nullValue, anyValues, turn))
		}
		return out
	}},
}

// Neighbours makes the pair of databases with this number, in a folder that it creates, under
// the relation of the dataset: one person is there or not, or is replaced. The same seed and
// number make the same pair. It looks at the policy and at nothing else. Successive numbers go
// through all kinds of people and of company.
func Neighbours(ctx context.Context, ds *policy.Dataset, folder string, seed uint64, number int) (Pair, error) {
	name, made, err := writePair(ds, folder, seed, number)
	p := Pair{Name: name}
	if err != nil {
		return p, err
	}
	for i, d := range []*Database{&p.A, &p.B} {
		e, err := duckdb.Open(ctx, made[i])
		if err != nil {
			return p, errors.Join(err, p.Close())
		}
		p.close = append(p.close, e.Close)
		*d = Database{made[i], e}
	}
	return p, nil
}

// writePair makes the files of a pair, and says what is hard about it.
func writePair(ds *policy.Dataset, folder string, seed uint64, number int) (name string, made [2]*policy.Dataset, err error) {
	s := schemaOf(ds)
	d := newDice(fmt.Sprintf("pair %d", number), seed)
	// Five kinds of company, six of people and seven of those who replace them: numbers without a
	// common divisor, so that all combinations come up.
	manners := []manner{highValues, everyGroup, lowValues, anyValues, oddValues, missingValues}
	crowd, how := commonPeople[number%len(commonPeople)], manners[number%len(manners)]
	if tables := len(s.Schema); tables > 1 && ds.Unit.Row() {
		how = manners[number/tables%len(manners)]
	}
	both := crowd.make(s, d, number)
	one := append(both[:len(both):len(both)], s.makePerson(d, "1001", how, number))
	name = fmt.Sprintf("pair %d, somebody with %v and %s", number, how, crowd.name)
	other := both
	if ds.Neighbours == dp.Substitute {
		others := []manner{lowValues, everyGroup, highValues, noGroup, missingValues, anyValues, oddValues}
		instead := others[number%len(others)]
		if instead == noGroup && (ds.Unit.Row() || ds.Everybody() != nil) {
			instead = anyValues // where rows are people, or one table has them all, who is replaced has a row
		}
		other = append(both[:len(both):len(both)], s.makePerson(d, "1002", instead, number))
		name += fmt.Sprintf(", or somebody else with %v", instead)
	}
	for i, people := range [][]person{one, other} {
		if made[i], err = s.write(ds, filepath.Join(folder, string(rune('a'+i))), d, people); err != nil {
			return name, made, err
		}
	}
	return name, made, nil
}
