package plan

import (
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

func NewScan(ds *policy.Dataset, t *policy.Table) *tree.Scan {
	s := &tree.Scan{Table: t, UnitField: -1}
	for _, name := range t.ColumnNames() {
		f := expr.ColumnField(t.Columns[name])
		if t.Public {
			f.Public = t.Name
			f.Key = f.Name == t.UniqueColumn
		}
		s.Row = append(s.Row, f)
	}
	if t.Public {
		return s
	}
	unit := tree.Field{Name: t.UnitColumn, Identity: tree.IdentityName(ds.Unit.Table, ds.Unit.Column), Key: t.UnitKind == policy.Unique}
	if ds.Unit.Row() {
		unit = tree.Field{Identity: "row of " + t.Name, Key: true}
	}
	s.UnitField = identityField(s, unit)
	if len(t.Path) > 1 {
		identityField(s, tree.Field{Name: t.Path[0].Column, Identity: tree.IdentityName(t.Path[0].Table, t.Path[0].Key)})
	}
	for _, name := range ds.TableNames() {
		child := ds.Tables[name]
		if len(child.Path) > 1 && child.Path[0].Table == t.Name {
			identityField(s, tree.Field{Name: child.Path[0].Key, Identity: tree.IdentityName(t.Name, child.Path[0].Key), Key: true})
		}
	}
	return s
}

// identity adds a stored identity, once, and marks the listed column that it is.
func identityField(s *tree.Scan, f tree.Field) int {
	f.Type = tree.Type{Kind: tree.Identity}
	if i := slices.IndexFunc(s.Row, func(g tree.Field) bool { return g.Raw() && g.Identity == f.Identity && g.Name == f.Name }); i >= 0 {
		return i
	}
	f.Nullable = true
	at := len(s.Row)
	for i := range s.Row {
		if g := &s.Row[i]; !g.Raw() && f.Name != "" && strings.EqualFold(g.Name, f.Name) && g.Identity == "" {
			g.Identity, g.Twin = f.Identity, at-i // no key: a declared column may be clamped, and two rows be one in it
		}
	}
	s.Row = append(s.Row, f)
	return at
}
