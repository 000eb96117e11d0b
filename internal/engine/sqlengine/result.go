package sqlengine

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sealed"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/policy"
)

// result collects what the statements of a query return.
//
// Private combinations are all kept, however many there are and however few people are in them:
// which of them may be seen is for a mechanism to decide, and a limit here would be a decision that
// depends on one person. So memory grows with their number, and the owner is told where a column
// with private keys has very many. They are sorted at the end, because the order in which rows come
// is the data's.
type result struct {
	q      *tree.Query
	public groupIndex
	groups int // of each combination
	// combos has the place of each combination found so far, by its spelling.
	combos  map[string]int
	keys    [][]policy.Value
	persons []int64
	sums    [][]int64   // by measure, then by group
	values  [][][]int64 // by measure that is a quantile, then by group
	// pairs are people and combinations that they are in, in the order of rows; members and ends
	// are the same by person.
	pairs   []membership
	members []int32
	ends    []int
}

// membership says that a person, who has a number, is in a combination.
type membership struct {
	person int64
	combo  int32
}

func newResult(q *tree.Query) *result {
	r := &result{q: q, public: newGroupIndex(q), groups: q.Groups(), combos: map[string]int{}}
	r.sums, r.values = make([][]int64, len(q.Measures)), make([][][]int64, len(q.Measures))
	if len(q.PrivateKeys()) == 0 {
		r.grow()
	}
	return r
}

// grow makes room for one combination of private keys; without private keys there is one, of none.
func (r *result) grow() {
	for m, measure := range r.q.Measures {
		if measure.Kind == tree.Quantile {
			r.values[m] = append(r.values[m], make([][]int64, r.groups)...)
		} else {
			r.sums[m] = append(r.sums[m], make([]int64, r.groups)...)
		}
	}
}

// combo returns the place of a combination of private keys.
func (r *result) combo(cells []any) int {
	keys := r.q.PrivateKeys()
	if len(keys) == 0 {
		return 0
	}
	values := make([]policy.Value, len(keys))
	var b strings.Builder
	for i, k := range keys {
		values[i] = KeyValue(cells[i], k.Expr.Type())
		spell(&b, values[i])
	}
	place, ok := r.combos[b.String()]
	if !ok {
		place = len(r.keys)
		r.combos[b.String()] = place
		r.keys, r.persons = append(r.keys, values), append(r.persons, 0)
		r.grow()
	}
	return place
}

// add runs a statement and adds what it returns.
func (r *result) add(ctx context.Context, db querier, st sqlgen.Statement) error {
	rows, err := db.QueryContext(ctx, st.Text, st.Args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	public := len(r.public.places)
	switch {
	case st.Private:
		public = 0
	case st.Placed:
		public = 1
	}
	if st.Members {
		return r.addMembers(rows)
	}
	keys := public + len(r.q.PrivateKeys())
	width := keys + len(st.Measures)
	if st.Persons {
		width++
	}
	if st.Values >= 0 {
		width += 2
	}
	cells, into := make([]any, width), make([]any, width)
	for i := range cells {
		into[i] = &cells[i]
	}
	var seen seenGroups
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		g := 0
		if !st.Private {
			var ok bool
			if g, ok = r.find(st, cells[:public]); !ok {
				continue // not a public key
			}
		}
		combo := r.combo(cells[public:keys])
		if g += combo * r.groups; st.Values < 0 && !seen.first(g) {
			return errGroupTwice
		}
		for i, m := range st.Measures {
			r.sums[m][g] = readTotal(cells[keys+i])
		}
		if st.Persons {
			r.persons[combo] += readTotal(cells[width-1])
		}
		if m := st.Values; m >= 0 {
			value := readTotal(cells[width-2])
			for range readTotal(cells[width-1]) {
				r.values[m][g] = append(r.values[m][g], value)
			}
		}
	}
	return rows.Err()
}

// errGroupTwice is that a group has come twice, which no statement returns: a driver has read two
// keys as one. The sum of the one would stand for both, and somebody who is in both would count
// twice.
var errGroupTwice = errors.New("sqlengine: a group came twice")

// seenGroups are groups that have come.
type seenGroups []bool

// first reports whether a group has not come before.
func (p *seenGroups) first(g int) bool {
	if g >= len(*p) {
		*p = append(*p, make([]bool, g+1-len(*p))...)
	}
	was := (*p)[g]
	(*p)[g] = true
	return !was
}

// find finds the place of a group, which a database may have found.
func (r *result) find(st sqlgen.Statement, keys []any) (int, bool) {
	if !st.Placed {
		return r.public.find(keys)
	}
	g := readTotal(keys[0])
	return int(g), keys[0] != nil && g >= 0 && g < int64(r.groups)
}

func (r *result) addMembers(rows *sql.Rows) error {
	width := 1 + len(r.q.PrivateKeys())
	cells, into := make([]any, width), make([]any, width)
	for i := range cells {
		into[i] = &cells[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		r.pairs = append(r.pairs, membership{readTotal(cells[0]), int32(r.combo(cells[1:]))})
	}
	return rows.Err()
}

// byPerson puts the combinations of each person together.
func (r *result) byPerson() {
	slices.SortFunc(r.pairs, func(a, b membership) int {
		return cmp.Or(cmp.Compare(a.person, b.person), cmp.Compare(a.combo, b.combo))
	})
	for i, p := range r.pairs {
		if i > 0 && r.pairs[i-1].person != p.person {
			r.ends = append(r.ends, i)
		}
		r.members = append(r.members, p.combo)
	}
	if len(r.pairs) > 0 {
		r.ends = append(r.ends, len(r.pairs))
	}
}

// seal puts combinations into their order and closes everything.
func (r *result) seal() *engine.Result {
	order := make([]int, len(r.keys))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return compareKeys(r.keys[a], r.keys[b]) })
	private := len(r.q.PrivateKeys()) > 0
	out := &engine.Result{Measures: make([]sealed.Vector, len(r.sums)), Values: make([][]sealed.Vector, len(r.sums))}
	for m := range r.sums {
		sums, values := r.sums[m], r.values[m]
		if private {
			sums, values = reorder(sums, order, r.groups), reorder(values, order, r.groups)
		}
		if r.q.Measures[m].Kind != tree.Quantile {
			out.Measures[m] = sealed.Seal(sums)
			continue
		}
		out.Measures[m], out.Values[m] = sealed.Seal(nil), make([]sealed.Vector, len(values))
		for g, v := range values {
			slices.Sort(v)
			out.Values[m][g] = sealed.Seal(v)
		}
	}
	if private {
		keys := reorder(r.keys, order, 1)
		out.Combos, out.Persons = sealed.SealList(keys), sealed.Seal(reorder(r.persons, order, 1))
		if r.q.Weighs() {
			r.byPerson()
			place := make([]int32, len(order))
			for at, i := range order {
				place[i] = int32(at)
			}
			for i, combo := range r.members {
				r.members[i] = place[combo]
			}
			out.Members = engine.SealMembers(r.q, keys, r.members, r.ends)
		}
	}
	return out
}

// reorder returns blocks of one size in another order.
func reorder[T any](all []T, order []int, size int) []T {
	if len(all) == 0 {
		return nil
	}
	out := make([]T, 0, len(all))
	for _, i := range order {
		out = append(out, all[i*size:(i+1)*size]...)
	}
	return out
}

func compareKeys(a, b []policy.Value) int {
	for i := range a {
		x, y := a[i], b[i]
		switch {
		case x.Null && y.Null:
			continue
		case x.Null:
			return 1
		case y.Null:
			return -1
		}
		if c := cmp.Or(strings.Compare(x.Text, y.Text), cmp.Compare(x.Int, y.Int)); c != 0 {
			return c
		}
	}
	return 0
}

// sumLimit is where a group's final sum is clamped, so that it is an int64. A
// clamp moves no two numbers apart, so it does not raise the sensitivity.
var sumLimit = new(big.Int).Lsh(big.NewInt(1), 62)

// readTotal reads a final count or sum as a database returns it. No rows make 0.
func readTotal(v any) int64 {
	switch v := v.(type) {
	case int64:
		return v
	case string: // a decimal number without a point
		if n, ok := new(big.Int).SetString(v, 10); ok {
			return readTotal(n)
		}
	case *big.Int:
		switch {
		case v.CmpAbs(sumLimit) <= 0:
			return v.Int64()
		case v.Sign() < 0:
			return -sumLimit.Int64()
		}
		return sumLimit.Int64()
	}
	return 0
}

// groupIndex finds the place of a group among the combinations of public keys.
type groupIndex struct {
	places []map[any]int // for each key by its value as the database returns it
	sizes  []int         // how many values each key has
}

func newGroupIndex(q *tree.Query) groupIndex {
	public := q.PublicKeys()
	g := groupIndex{make([]map[any]int, len(public)), make([]int, len(public))}
	for i, k := range public {
		g.places[i], g.sizes[i] = keyPositions(k.Values), len(k.Values)
	}
	return g
}

// keyPositions says where each value is in a list, by what a database returns for it.
func keyPositions(values []policy.Value) map[any]int {
	places := make(map[any]int, len(values))
	for i, v := range values {
		switch {
		case v.Null:
			places[nil] = i
		case v.Type == policy.Text:
			places[v.Text] = i
		case v.Type == policy.Boolean:
			places[v.Bool()] = i
		default:
			places[v.Int] = i
		}
	}
	return places
}

// widen makes an integer of 32 bits one of 64, as all others are.
func widen(v any) any {
	if n, ok := v.(int32); ok {
		return int64(n)
	}
	return v
}

func (g groupIndex) find(keys []any) (int, bool) {
	place := 0
	for i, k := range keys {
		j, ok := g.places[i][widen(k)]
		if !ok {
			return 0, false
		}
		place = place*g.sizes[i] + j
	}
	return place, true
}

// KeyValue is a key as a database returns it.
func KeyValue(v any, t tree.Type) policy.Value {
	out := policy.Value{Type: keyTypes[t.Kind]}
	switch v := widen(v).(type) {
	case string:
		out.Text = v
	case bool:
		if v {
			out.Int = 1
		}
	case int64:
		out.Int = v
	default:
		out.Null = true
	}
	return out
}

var keyTypes = map[tree.Kind]policy.Type{
	tree.Text: policy.Text, tree.Boolean: policy.Boolean, tree.Date: policy.Date, tree.Timestamp: policy.Timestamp,
	tree.Number: policy.Integer,
}

// spell writes a value so that no two combinations of values have one spelling.
func spell(b *strings.Builder, v policy.Value) {
	if v.Null {
		b.WriteByte(0)
		return
	}
	b.WriteByte(1)
	var n [8]byte
	binary.LittleEndian.PutUint64(n[:], uint64(v.Int)+uint64(len(v.Text)))
	b.Write(n[:])
	b.WriteString(v.Text)
}

// Known is what is known of a query before its statements run.
type Known struct {
	Sums   map[int][]int64   // by measure, then by group
	Values map[int][][]int64 // by quantile, then by group
	// Where there are private keys nothing is left to run. Combos are those in which somebody is,
	// in any order, and Persons how many people are in each.
	Combos  [][]policy.Value
	Persons []int64
	// Members are the combinations of each person, where people are weighed, of one person after
	// the other, and Ends where those of each end.
	Members []int32
	Ends    []int
}

func (r *result) takeKnown(k *Known) {
	for m, sums := range k.Sums {
		r.sums[m] = sums
	}
	for m, values := range k.Values {
		r.values[m] = values
	}
	r.keys, r.persons = k.Combos, k.Persons
	r.members, r.ends = k.Members, k.Ends
}
