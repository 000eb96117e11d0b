package neighbours_test

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// tries is how many smaller questions are asked to shrink one.
const tries = 3000

// shrink drops parts of a question as long as something holds of what is left: items of lists,
// clauses, and everything around a part of an expression.
func shrink(text string, holds func(string) bool) string {
	features, target, table := strings.Cut(text, arrow)
	if !table {
		return shrunk(text, holds)
	}
	return shrunk(features, func(s string) bool { return holds(s + arrow + target) }) + arrow + target
}

func shrunk(text string, holds func(string) bool) string {
	left := tries
	for again := true; again; {
		again = false
		for k := 0; left > 0; k++ {
			tree, err := pg.Parse(text)
			if err != nil {
				return text
			}
			cut := cutter{at: k}
			cut.message(tree.ProtoReflect())
			if !cut.done {
				break // there is nothing more to cut
			}
			smaller, err := pg.Deparse(tree)
			left--
			if err != nil || len(smaller) >= len(text) {
				continue
			}
			if _, err := pg.Parse(smaller); err == nil && holds(smaller) {
				text, again = smaller, true
				k--
			}
		}
	}
	return text
}

// cutter makes the at-th of all cuts of a tree.
type cutter struct {
	at   int
	done bool
}

// now reports whether it is a cut's turn.
func (c *cutter) now() bool {
	if c.done {
		return false
	}
	c.done = c.at == 0
	c.at--
	return c.done
}

func (c *cutter) message(m protoreflect.Message) {
	fields := m.Descriptor().Fields()
	for i := 0; i < fields.Len() && !c.done; i++ {
		f := fields.Get(i)
		if f.Message() == nil || !m.Has(f) {
			continue
		}
		if !f.IsList() {
			c.single(m, f)
			continue
		}
		list := m.Mutable(f).List()
		for k := 0; k < list.Len() && !c.done; k++ {
			if c.now() {
				for n := k; n+1 < list.Len(); n++ {
					list.Set(n, list.Get(n+1))
				}
				list.Truncate(list.Len() - 1)
				return
			}
			c.node(list.Get(k).Message())
			if !c.done {
				c.message(list.Get(k).Message())
			}
		}
	}
}

// single cuts what a field holds: all of it, or what is around a part of it.
func (c *cutter) single(m protoreflect.Message, f protoreflect.FieldDescriptor) {
	if _, node := m.Interface().(*pg.Node); !node && c.now() {
		m.Clear(f)
		return
	}
	inner := m.Mutable(f).Message()
	c.node(inner)
	if !c.done {
		c.message(inner)
	}
}

// node puts one of the nodes below a node in its place.
func (c *cutter) node(m protoreflect.Message) {
	n, ok := m.Interface().(*pg.Node)
	if !ok {
		return
	}
	for _, b := range below(n) {
		if c.now() {
			n.Node = proto.Clone(b).(*pg.Node).Node
			return
		}
	}
}

// below are the nodes that stand in a node without another between them.
func below(n *pg.Node) []*pg.Node {
	var out []*pg.Node
	var look func(m protoreflect.Message)
	each := func(m protoreflect.Message) {
		if b, ok := m.Interface().(*pg.Node); ok {
			out = append(out, b)
			return
		}
		look(m)
	}
	look = func(m protoreflect.Message) {
		fields := m.Descriptor().Fields()
		for i := range fields.Len() {
			f := fields.Get(i)
			switch {
			case f.Message() == nil || !m.Has(f):
			case f.IsList():
				for k := range m.Get(f).List().Len() {
					each(m.Get(f).List().Get(k).Message())
				}
			default:
				each(m.Get(f).Message())
			}
		}
	}
	look(n.ProtoReflect())
	return out
}
