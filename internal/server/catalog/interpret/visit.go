package interpret

import (
	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// VisitRelations visits every relation that a SELECT names, with the names of the WITH queries
// around it.
func VisitRelations(s *pg.SelectStmt, visit func(*pg.RangeVar, map[string]bool)) {
	var message func(m protoreflect.Message, ctes map[string]bool)
	message = func(m protoreflect.Message, ctes map[string]bool) {
		switch v := m.Interface().(type) {
		case *pg.RangeVar:
			visit(v, ctes)
			return
		case *pg.SelectStmt:
			if v.WithClause != nil {
				inner := map[string]bool{}
				for name := range ctes {
					inner[name] = true
				}
				for _, n := range v.WithClause.Ctes {
					if e := n.GetCommonTableExpr(); e != nil {
						inner[e.Ctename] = true
					}
				}
				ctes = inner
			}
		}
		m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
			switch {
			case f.IsList() && f.Message() != nil:
				for i := range v.List().Len() {
					message(v.List().Get(i).Message(), ctes)
				}
			case f.Message() != nil && !f.IsMap():
				message(v.Message(), ctes)
			}
			return true
		})
	}
	message(s.ProtoReflect(), nil)
}
