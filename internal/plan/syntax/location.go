package syntax

import pg "github.com/pganalyze/pg_query_go/v6"

// Location returns the place of a node in the text, for refusals: its own where the
// grammar keeps one, otherwise the first of those below it; -1 where there is
// none. An operator's place is the operator itself. It looks through the
// grammar's own description of its nodes, because most of the two hundred and more kinds
// of node are here only to be refused.
func Location(n *pg.Node) int32 {
	if n == nil {
		return -1
	}
	m := n.ProtoReflect()
	which := m.WhichOneof(m.Descriptor().Oneofs().ByName("node"))
	if which == nil {
		return -1
	}
	node := m.Get(which).Message()
	if own := node.Descriptor().Fields().ByName("location"); own != nil {
		return int32(node.Get(own).Int())
	}
	first := int32(-1)
	at := func(below any) {
		n, ok := below.(*pg.Node)
		if !ok {
			return
		}
		if pos := Location(n); pos >= 0 && (first < 0 || pos < first) {
			first = pos
		}
	}
	fields := node.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		switch v := node.Get(f); {
		case f.IsList() && f.Message() != nil:
			for j := range v.List().Len() {
				at(v.List().Get(j).Message().Interface())
			}
		case f.Message() != nil && node.Has(f):
			at(v.Message().Interface())
		}
	}
	return first
}
