package plan

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// maxOffset is how many rows away an end of a frame may be.
const maxOffset int64 = tree.MostRows

// readFrame reads which rows of a partition a window is over. Without one it is, as in PostgreSQL,
// all rows up to the last that is equal to this one in the order.
func readFrame(def *pg.WindowDef) (tree.Frame, error) {
	o := def.FrameOptions
	if o&syntax.FrameGiven == 0 {
		return tree.Frame{Peers: true, Start: tree.Edge{Open: true}}, nil
	}
	refuse := func(instead, what string) (tree.Frame, error) {
		return tree.Frame{}, syntax.Refuse(def.Location, instead, "%s", what)
	}
	switch {
	case o&syntax.FrameExclusion != 0:
		return refuse("leave EXCLUDE out", "EXCLUDE cannot be used in a window")
	case o&(syntax.StartNever|syntax.EndNever) != 0:
		return refuse("write BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", "the frame begins after its end")
	case o&syntax.FrameRows == 0 && o&syntax.FrameOffsets != 0:
		return refuse("count in ROWS, as in ROWS BETWEEN 3 PRECEDING AND CURRENT ROW",
			"RANGE and GROUPS take UNBOUNDED and CURRENT ROW alone")
	}
	start, err := edge(o, syntax.StartUnbounded, syntax.StartPreceding, syntax.StartFollowing, def.StartOffset)
	if err != nil {
		return tree.Frame{}, err
	}
	end, err := edge(o, syntax.EndUnbounded, syntax.EndPreceding, syntax.EndFollowing, def.EndOffset)
	if err != nil {
		return tree.Frame{}, err
	}
	if o&syntax.EndPreceding != 0 && o&(syntax.StartCurrent|syntax.StartFollowing) != 0 ||
		o&syntax.EndCurrent != 0 && o&syntax.StartFollowing != 0 {
		return refuse("write the earlier end first", "the frame begins after its end")
	}
	f := tree.Frame{Peers: o&syntax.FrameRows == 0, Start: start, End: end}
	if start.Open && end.Open {
		return tree.Everything, nil
	}
	return f, nil
}

// edge reads one end of a frame.
func edge(options int32, open, preceding, following int32, offset *pg.Node) (tree.Edge, error) {
	if options&open != 0 {
		return tree.Edge{Open: true}, nil
	}
	if options&(preceding|following) == 0 {
		return tree.Edge{}, nil
	}
	v, ok := offset.GetAConst().GetVal().(*pg.A_Const_Ival)
	if !ok || v.Ival.GetIval() < 0 || int64(v.Ival.GetIval()) > maxOffset {
		return tree.Edge{}, syntax.Refuse(syntax.Location(offset), "write a number there, as in 3 PRECEDING",
			"an end of a frame must be a constant whole number from 0 to %d", maxOffset)
	}
	n := int64(v.Ival.GetIval())
	if options&preceding != 0 {
		n = -n
	}
	return tree.Edge{At: n}, nil
}
