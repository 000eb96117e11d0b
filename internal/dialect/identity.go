package dialect

import (
	"cmp"
	"fmt"

	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Identities are compared as they are stored, because a cast to what the policy declares could make
// two people one. The other way round, somebody who is stored as DOUBLE 7.5 in one table and as
// DECIMAL 7.50 in another must not be two people, of whom each counts. So the columns of an
// identity have to be alike, which is decided when the data is opened, from their types and from no
// row: whole numbers of any width, texts, or one type. Alike means that a person has one spelling
// in all of them.

// bearer is a column that bears an identity.
type bearer struct {
	table  *Table
	column string
}

func (b bearer) typ() string    { return b.table.Stored[b.column].Type }
func (b bearer) String() string { return b.table.Name + "." + b.column }

// FindKinds decides the type of each identity: the stored one where all columns have the same, 64
// bits where all are integers that fit, and otherwise text. It refuses columns that are not alike.
func (s *Schema) FindKinds(ds *policy.Dataset) error {
	bearers := map[string][]bearer{}
	var order []string // so that the same data has the same error
	add := func(identity, table, column string) {
		t := s.Tables[table]
		if t == nil || column == "" {
			return
		}
		if _, ok := t.Stored[column]; !ok {
			return
		}
		if bearers[identity] == nil {
			order = append(order, identity)
		}
		bearers[identity] = append(bearers[identity], bearer{t, column})
	}
	add(tree.IdentityName(ds.Unit.Table, ds.Unit.Column), ds.Unit.Table, ds.Unit.Column)
	for _, name := range ds.TableNames() {
		t := ds.Tables[name]
		add(tree.IdentityName(ds.Unit.Table, ds.Unit.Column), name, t.UnitColumn)
		if len(t.Path) > 1 {
			step := t.Path[0]
			add(StepIdentity(step), step.Table, step.Key)
			add(StepIdentity(step), name, step.Column)
		}
	}
	s.Kinds = map[string]string{}
	for _, identity := range order {
		var types []string
		for _, b := range bearers[identity] {
			if first := bearers[identity][0]; s.Likeness(b.typ()) != s.Likeness(first.typ()) {
				return unlike(first, b)
			}
			types = append(types, b.typ())
		}
		s.Kinds[identity] = s.Common(types)
	}
	return nil
}

// unlike says what is wrong with two columns, and what to do.
func unlike(a, b bearer) error {
	hint := "store both in the same type, such as BIGINT or VARCHAR"
	if convert := cmp.Or(a.table.Convert, b.table.Convert); convert != "" {
		hint += "; " + convert
	}
	return fmt.Errorf("%v is %s and %v is %s, and both say whose a row is: "+
		"a person who is written in two ways would be two people, and count twice; %s", a, a.typ(), b, b.typ(), hint)
}

// Identity prints a stored column in the type of an identity. No value makes it fail.
func (s *Schema) Identity(t *Table, column, identity string) string {
	raw, typ := t.Raw(column), s.Kinds[identity]
	if typ == "" || typ == t.Stored[column].Type {
		return raw
	}
	return s.TryCast(raw, typ)
}

// StepIdentity names what a step of a path leads to, as package plan does.
func StepIdentity(s policy.Step) string { return tree.IdentityName(s.Table, s.Key) }
