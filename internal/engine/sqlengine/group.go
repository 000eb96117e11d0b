package sqlengine

import (
	"encoding/binary"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// groupIndex finds the place of a group among the combinations of public keys.
type groupIndex struct {
	places []map[any]int // for each key by its value as the database returns it
	sizes  []int         // how many values each key has
}

func newGroupIndex(q *tree.Query) groupIndex {
	public := q.PublicKeys()
	g := groupIndex{make([]map[any]int, len(public)), make([]int, len(public))}
	for i, k := range public {
		g.places[i], g.sizes[i] = keyPlaces(k.Values), len(k.Values)
	}
	return g
}

// keyPlaces says where each value is in a list, by what a database returns for it.
func keyPlaces(values []policy.Value) map[any]int {
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
