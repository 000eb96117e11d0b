package plan

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// The options of a frame, as PostgreSQL's grammar has them.
const (
	frameGiven           = 0x00001
	frameRange           = 0x00002
	frameRows            = 0x00004
	frameGroups          = 0x00008
	startUnbounded       = 0x00020
	endUnbounded         = 0x00100
	startCurrent         = 0x00200
	endCurrent           = 0x00400
	startPreceding       = 0x00800
	endPreceding         = 0x01000
	startFollowing       = 0x02000
	endFollowing         = 0x04000
	frameExcludes        = 0x38000
	neverStart           = 0x00080 // UNBOUNDED FOLLOWING
	neverEnd             = 0x00040 // UNBOUNDED PRECEDING
	offsets              = startPreceding | startFollowing | endPreceding | endFollowing
	maxOffset      int64 = tree.MostRows
)

// readFrame reads which rows of a partition a window is over. Without one it is, as in PostgreSQL,
// all rows up to the last that is equal to this one in the order.
func readFrame(def *pg.WindowDef) (tree.Frame, error) {
	o := def.FrameOptions
	if o&frameGiven == 0 {
		return tree.Frame{Peers: true, Start: tree.Edge{Open: true}}, nil
	}
	refuse := func(instead, what string) (tree.Frame, error) {
		return tree.Frame{}, syntax.Refuse(def.Location, instead, "%s", what)
	}
	switch {
	case o&frameExcludes != 0:
		return refuse("leave EXCLUDE out", "EXCLUDE cannot be used in a window")
	case o&(neverStart|neverEnd) != 0:
		return refuse("write BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", "the frame begins after its end")
	case o&frameRows == 0 && o&offsets != 0:
		return refuse("count in ROWS, as in ROWS BETWEEN 3 PRECEDING AND CURRENT ROW",
			"RANGE and GROUPS take UNBOUNDED and CURRENT ROW alone")
	}
	start, err := edge(o, startUnbounded, startPreceding, startFollowing, def.StartOffset)
	if err != nil {
		return tree.Frame{}, err
	}
	end, err := edge(o, endUnbounded, endPreceding, endFollowing, def.EndOffset)
	if err != nil {
		return tree.Frame{}, err
	}
	if o&endPreceding != 0 && o&(startCurrent|startFollowing) != 0 || o&endCurrent != 0 && o&startFollowing != 0 {
		return refuse("write the earlier end first", "the frame begins after its end")
	}
	f := tree.Frame{Peers: o&frameRows == 0, Start: start, End: end}
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
