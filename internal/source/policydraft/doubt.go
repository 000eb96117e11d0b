package policydraft

import (
	"context"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/source/catalogue"
	"github.com/discreet-dp/discreet/internal/source/pgtables"
	"github.com/discreet-dp/discreet/policy"
)

// Doubts are what the catalogue of a dataset's database does not say of what the policy rests on:
// what it takes no value twice of, what it refers to, what it checks and of which type it is need
// not be looked for in its rows.
func Doubts(ctx context.Context, ds *policy.Dataset) (pgtables.Doubts, error) {
	var schemas []string
	for _, t := range ds.Tables {
		schema, _, _ := strings.Cut(t.Relation, ".")
		schemas = append(schemas, schema)
	}
	found, err := pgtables.List(ctx, ds.Source, schemas)
	if err != nil {
		return nil, catalogue.ForOwner(err)
	}
	all := entries(found, postgres(ds.Source, found))
	out := pgtables.Doubts{}
	for _, name := range ds.TableNames() {
		t := ds.Tables[name]
		schema, table, _ := strings.Cut(t.Relation, ".")
		e := all.find(schema, table)
		// Of a view nothing is said, and of those that inherit other things may be so.
		if e == nil || e.Kind != "" || e.Inherited {
			out[name] = pgtables.Everything(t)
			continue
		}
		d := &pgtables.Doubt{Paths: e.doubtsPaths(ds, t, all), Unit: e.doubtsUnit(t)}
		checks := conditions(e.Checks)
		for _, column := range t.ColumnNames() {
			c, ok := e.findColumn(column)
			if !ok || doubtful(t.Columns[column], c, checks[c.Name].and(conditions(c.Checks)["value"])) {
				d.Columns = append(d.Columns, column)
			}
		}
		if d.Paths || d.Unit || len(d.Columns) > 0 {
			out[name] = d
		}
	}
	return out, nil
}

// findColumn finds a column by the name that the policy has for it.
func (e *entry) findColumn(name string) (catalogue.Column, bool) {
	if c, ok := e.Column(name); ok {
		return c, true
	}
	i := slices.IndexFunc(e.Columns, func(c catalogue.Column) bool { return strings.EqualFold(c.Name, name) })
	if i < 0 {
		return catalogue.Column{}, false
	}
	return e.Columns[i], true
}

// distinct reports whether a column that the policy names is different in every row.
func (e *entry) distinct(name string) bool {
	c, ok := e.findColumn(name)
	return ok && e.key(c.Name)
}

func (e *entry) doubtsUnit(t *policy.Table) bool {
	c, _ := e.findColumn(t.UnitColumn)
	switch t.UnitKind {
	case policy.Unique:
		return !e.distinct(t.UnitColumn)
	case policy.Many:
		return t.UnitColumn != "" && !c.NotNull
	}
	return false
}

func (e *entry) doubtsPaths(ds *policy.Dataset, t *policy.Table, all draftTables) bool {
	if t.UniqueColumn != "" {
		c, _ := e.findColumn(t.UniqueColumn)
		// As the policy reads it two may be one.
		if !e.distinct(t.UniqueColumn) || t.Columns[t.UniqueColumn] == nil || !spelt[c.Kind][t.Columns[t.UniqueColumn].Type] {
			return true
		}
	}
	if slices.ContainsFunc(ds.PathKeys(t), func(key string) bool { return !e.distinct(key) }) {
		return true
	}
	if len(t.Path) == 0 {
		return false
	}
	near, ok := e.findColumn(t.Path[0].Column)
	schema, table, _ := strings.Cut(ds.Tables[t.Path[0].Table].Relation, ".")
	to := all.find(schema, table)
	if !ok || to == nil || len(t.Path) > 1 && !near.NotNull {
		return true
	}
	far, ok := to.findColumn(t.Path[0].Key)
	return !ok || !slices.ContainsFunc(e.References, func(r catalogue.Reference) bool {
		return r.Valid && r.Schema == schema && r.Table == table && slices.Equal(r.Columns, []string{near.Name}) &&
			slices.Equal(r.Far, []string{far.Name})
	})
}

// spelt are the types of a policy in which every value of a kind is itself.
var spelt = map[catalogue.Kind]map[policy.Type]bool{
	catalogue.Boolean: {policy.Boolean: true}, catalogue.Int16: {policy.Integer: true}, catalogue.Int32: {policy.Integer: true},
	catalogue.Int64: {policy.Integer: true}, catalogue.Text: {policy.Text: true}, catalogue.Padded: {policy.Text: true},
	catalogue.UUID: {policy.Text: true},
}

// ranges are the ends of what a kind can hold.
var ranges = map[catalogue.Kind]*big.Rat{
	catalogue.Int16: big.NewRat(1<<15, 1), catalogue.Int32: big.NewRat(1<<31, 1),
	catalogue.Int64: new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 63)),
}

// doubtful reports whether a column may hold what the policy does not say: values that are not of
// its type, or beyond its bounds, or NULL.
func doubtful(c *policy.Column, of catalogue.Column, said *allowed) bool {
	if !c.Nullable && !of.NotNull {
		return true
	}
	lo, hi := said.ends(c, of)
	if c.Bounds != nil && (lo == nil || hi == nil || lo.Cmp(c.Bounds.Lo) < 0 || hi.Cmp(c.Bounds.Hi) > 0) {
		return true
	}
	switch {
	case spelt[of.Kind][c.Type]:
		return false
	case of.Kind == catalogue.Date:
		return c.Type != policy.Date || lo == nil || hi == nil
	case of.Kind == catalogue.Timestamp || of.Kind == catalogue.TimestampTZ:
		return c.Type != policy.Timestamp || lo == nil || hi == nil
	}
	// A decimal has to be a number of steps of 64 bits; NaN, which is above everything, is none.
	if c.Type != policy.Decimal || c.Granularity == nil || lo == nil || hi == nil {
		return true
	}
	most := new(big.Rat).Mul(c.Granularity, big.NewRat(1<<62, 1))
	return hi.Cmp(most) > 0 || lo.Cmp(new(big.Rat).Neg(most)) < 0
}

// ends are the lowest and the highest value that a column can have, as the policy counts them, or
// nil where there is no such end.
func (a *allowed) ends(c *policy.Column, of catalogue.Column) (lo, hi *big.Rat) {
	r := ranges[of.Kind]
	if of.Kind == catalogue.Decimal && c.Nullable { // otherwise a NaN, which is read as NULL, is one too many
		r = new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(of.Precision-of.Scale)), nil))
	}
	if r != nil {
		lo, hi = new(big.Rat).Neg(r), r
	}
	var s policy.SchemaColumn
	s.Type = c.Type
	a.apply(&s, of)
	read := func(text string, or *big.Rat) *big.Rat {
		var n int64
		ok := false
		switch c.Type {
		case policy.Integer, policy.Decimal:
			if r, ok := new(big.Rat).SetString(text); ok {
				return r
			}
			return or
		case policy.Date:
			n, ok = policy.ParseDate(text)
		case policy.Timestamp:
			n, ok = policy.ParseTimestamp(text)
		}
		if !ok {
			return or
		}
		return new(big.Rat).SetInt64(n)
	}
	return read(s.Lowest, lo), read(s.Highest, hi)
}
