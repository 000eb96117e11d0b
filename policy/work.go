package policy

// What bounds the work of a question, so that how long it takes does not tell whether somebody is
// there. Both are about time and not about noise: none of them makes an answer less exact, but for
// people with more rows than are joined.
const (
	// DefaultFanout is how many rows of public tables one private row may meet.
	DefaultFanout = 1000
	// DefaultJoined is how many rows of one person are joined with others of the same person.
	DefaultJoined = 200
	// MostJoined is the largest that an owner can set.
	MostJoined = 100_000
	mostFanout = 1_000_000
)

const (
	fanoutMeans = "how many rows of public tables one row of a person may meet in a question"
	joinedMeans = "how many rows of one person are joined with other rows of the same person"
)

// Fanout is how many rows of public tables one private row may meet in a question. More are
// refused.
func (d *Dataset) Fanout() int64 {
	if d.MaxFanout == 0 {
		return DefaultFanout
	}
	return d.MaxFanout
}

// Joined is how many rows of one person are joined at most with others of the same person. With
// public ones that many times five hundred pairs are made at most. The others are left out.
func (t *Table) Joined() int64 {
	if t.MaxJoined == 0 {
		return DefaultJoined
	}
	return t.MaxJoined
}

func (d *Dataset) readFanout(r *reader, f fields) {
	if v, ok := f.get("max_fanout"); ok {
		d.MaxFanout, _ = r.whole(v, "max_fanout", mostFanout, fanoutMeans)
	}
}

func (t *Table) readJoined(r *reader, f fields, d *Dataset, unitOK bool) {
	v, ok := f.get("max_joined")
	if !ok {
		return
	}
	_, unique := f.get("unique")
	switch {
	case t.Public:
		r.at(v, "the table is public, so nobody has rows in it; remove 'max_joined', or see max_fanout of the dataset")
	case unitOK && d.Unit.Row() || unique:
		r.at(v, "a person has one row here, which is not joined with others of the same person; remove 'max_joined'")
	default:
		t.MaxJoined, _ = r.whole(v, "max_joined", MostJoined, joinedMeans)
	}
}
