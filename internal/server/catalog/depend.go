package catalog

import "github.com/discreet-dp/discreet/internal/server/catalog/oid"

// The relations that list what depends on what.
const (
	typeClass       = 1247
	relationClass   = 1259
	constraintClass = 2606
	namespaceClass  = 2615
	rewriteClass    = 2618
)

// object is something that depends on something, or a column of it.
type object struct {
	class, oid uint32
	column     int
}

// pgDepend has what depends on what. Tools tell an index of a constraint from others by it.
func pgDepend(c *Catalog, add func(row)) {
	depend := func(a, on object, how string) {
		add(row{"classid": number(a.class), "objid": number(a.oid), "objsubid": number(a.column), "refclassid": number(on.class),
			"refobjid": number(on.oid), "refobjsubid": number(on.column), "deptype": how})
	}
	for _, r := range c.user {
		self := object{relationClass, r.oid, 0}
		depend(object{typeClass, r.rowType, 0}, self, "i")
		depend(object{typeClass, r.arrType, 0}, object{typeClass, r.rowType, 0}, "i")
		depend(self, object{namespaceClass, oid.PublicSchema, 0}, "n")
		if r.kind == "v" {
			rule := object{rewriteClass, r.rule(), 0}
			depend(rule, self, "i")
			depend(rule, self, "n")
			for _, from := range c.readBy(r) {
				depend(rule, object{relationClass, from.oid, 0}, "n")
			}
		}
	}
	for _, k := range c.constraints {
		self, index := object{constraintClass, k.oid, 0}, object{relationClass, k.index, 0}
		depend(self, object{relationClass, k.table.oid, k.column}, "a")
		if k.kind == "f" {
			depend(self, index, "n")
			depend(self, object{relationClass, k.target.oid, k.targetCol}, "n")
		} else {
			depend(index, self, "i")
		}
	}
}
