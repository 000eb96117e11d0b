package tree

import (
	"strings"

	"github.com/discreet-dp/discreet/policy"
)

// Union is UNION ALL: the rows of all parts. The parts have as many fields, of the same kinds and on the
// same lattices, in the same order; a field's interval holds those of all parts.
type Union struct {
	Parts []*Select

	Row      []Field
	IsSingle bool
}

func (u *Union) Fields() []Field { return u.Row }
func (u *Union) Unit() int       { return u.Parts[0].Unit() }
func (u *Union) Single() bool    { return u.IsSingle }

func (u *Union) PersonRows() int64 {
	if u.IsSingle {
		return 1
	}
	n := int64(0)
	for _, p := range u.Parts {
		n = AtMost(n + p.PersonRows())
	}
	return n
}

func (u *Union) PersonGroups() int64 {
	if u.IsSingle {
		return 1
	}
	n := int64(0)
	for _, p := range u.Parts {
		n = AtMost(n + p.PersonGroups())
	}
	return n
}

func (u *Union) EachTable(add func(*policy.Table)) {
	for _, p := range u.Parts {
		p.EachTable(add)
	}
}

func (u *Union) format(b *strings.Builder) {
	b.WriteString("(union")
	for _, p := range u.Parts {
		b.WriteByte(' ')
		p.format(b)
	}
	b.WriteByte(')')
}
