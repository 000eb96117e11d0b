package oid

// Kind says how values of a type are kept.
type Kind byte

// The kinds, which are those of package datum.
const (
	KindText Kind = iota
	KindBool
	KindInt
	KindFloat
	KindTime
	KindList
	KindRecord
)

func KindOf(t uint32) Kind {
	switch {
	case t == Bool:
		return KindBool
	case IsInt(t), IsReg(t), t == Oid, t == Xid, t == Cid, t == Xid8:
		return KindInt
	case t == Float4, t == Float8, t == Numeric:
		return KindFloat
	case t == Timestamp, t == Timestamptz, t == Date:
		return KindTime
	case t == Record:
		return KindRecord
	case IsVector(t), t == RecordArray:
		return KindList
	}
	if d := types[t]; d != nil {
		switch {
		case d.Form == "d":
			return KindOf(d.Base)
		case d.Category == "A":
			return KindList
		case d.Form == "c":
			return KindRecord
		}
	}
	return KindText
}
