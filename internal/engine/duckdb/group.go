package duckdb

import (
	"encoding/binary"
	"strings"

	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// groupIndex finds the place of a group among the combinations of public keys.
type groupIndex struct {
	places []map[any]int // for each key by its value as DuckDB returns it
	sizes  []int         // how many values each key has
}

func newGroupIndex(q *tree.Query) groupIndex {
	public := q.PublicKeys()
	g := groupIndex{make([]map[any]int, len(public)), make([]int, len(public))}
	for i, k := range public {
		g.places[i], g.sizes[i] = make(map[any]int, len(k.Values)), len(k.Values)
		for j, v := range k.Values {
			switch {
			case v.Null:
				g.places[i][nil] = j
			case v.Type == policy.Text:
				g.places[i][v.Text] = j
			case v.Type == policy.Boolean:
				g.places[i][v.Bool()] = j
			default:
				g.places[i][v.Int] = j
			}
		}
	}
	return g
}

func (g groupIndex) find(keys []any) (int, bool) {
	place := 0
	for i, k := range keys {
		if n, ok := k.(int32); ok {
			k = int64(n)
		}
		j, ok := g.places[i][k]
		if !ok {
			return 0, false
		}
		place = place*g.sizes[i] + j
	}
	return place, true
}

// keyValue is a key as DuckDB returns it.
func keyValue(v any, t tree.Type) policy.Value {
	out := policy.Value{Type: keyTypes[t.Kind]}
	switch v := v.(type) {
	case string:
		out.Text = v
	case bool:
		if v {
			out.Int = 1
		}
	case int32:
		out.Int = int64(v)
	case int64:
		out.Int = v
	default:
		out.Null = true
	}
	return out
}

var keyTypes = map[tree.Kind]policy.Type{tree.Text: policy.Text, tree.Boolean: policy.Boolean, tree.Date: policy.Date, tree.Timestamp: policy.Timestamp, tree.Number: policy.Integer}

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
