package syntax

import (
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// EachNode calls f for a node of the grammar and everything below it; f says whether to go on below.
func EachNode(n *pg.Node, f func(*pg.Node) bool) {
	if n != nil {
		eachMessage(n.ProtoReflect(), f)
	}
}

func eachMessage(m protoreflect.Message, f func(*pg.Node) bool) {
	if n, ok := m.Interface().(*pg.Node); ok && !f(n) {
		return
	}
	visit := func(d protoreflect.FieldDescriptor) {
		switch v := m.Get(d); {
		case d.Message() == nil || d.IsMap():
		case d.IsList():
			for i := range v.List().Len() {
				eachMessage(v.List().Get(i).Message(), f)
			}
		default:
			eachMessage(v.Message(), f)
		}
	}
	// In the order of the grammar. Range has another one in every build, and what is found first is what a refusal points at.
	if one := m.Descriptor().Oneofs(); one.Len() == 1 {
		if d := m.WhichOneof(one.Get(0)); d != nil {
			visit(d)
		}
		return
	}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		if d := fields.Get(i); m.Has(d) {
			visit(d)
		}
	}
}

// TypeName returns the name of the type of a cast, or nothing.
func TypeName(c *pg.TypeCast) string {
	t := c.GetTypeName()
	names := t.GetNames()
	if len(names) == 0 || len(t.GetArrayBounds()) > 0 || t.GetSetof() {
		return ""
	}
	return names[len(names)-1].GetString_().GetSval()
}

func SelectNode(s *pg.SelectStmt) *pg.Node {
	return &pg.Node{Node: &pg.Node_SelectStmt{SelectStmt: s}}
}
