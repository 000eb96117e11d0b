package plan

import (
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// eachNode calls f for a node of the grammar and everything below it; f says whether to go on below.
func eachNode(n *pg.Node, f func(*pg.Node) bool) {
	if n != nil {
		eachMessage(n.ProtoReflect(), f)
	}
}

func eachMessage(m protoreflect.Message, f func(*pg.Node) bool) {
	if n, ok := m.Interface().(*pg.Node); ok && !f(n) {
		return
	}
	m.Range(func(d protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case d.Message() == nil || d.IsMap():
		case d.IsList():
			for i := range v.List().Len() {
				eachMessage(v.List().Get(i).Message(), f)
			}
		default:
			eachMessage(v.Message(), f)
		}
		return true
	})
}
