package outer

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/syntax"
)

// What a frame may be made of. BETWEEN is always printed, written or not.
const (
	frameMode       = syntax.FrameRange | syntax.FrameRows | syntax.FrameGroups
	frameStart      = syntax.StartUnbounded | syntax.StartCurrent | syntax.StartPreceding | syntax.StartFollowing
	frameEnd        = syntax.EndUnbounded | syntax.EndCurrent | syntax.EndPreceding | syntax.EndFollowing
	frameEverything = syntax.FrameGiven | frameMode | frameStart | frameEnd | syntax.FrameExclusion | syntax.FrameBetween
)

// overClause prints OVER, with a window or the name of one.
func (p *printer) overClause(w *pg.WindowDef) {
	p.say(" OVER ")
	if w.Name != "" {
		p.say(p.quoted(w.Name, w.Location))
		return
	}
	p.window(w)
}

func (p *printer) window(w *pg.WindowDef) {
	defer p.leave()
	if !p.enter(w.GetLocation()) {
		return
	}
	p.say("(")
	if w.GetRefname() != "" {
		p.say(p.quoted(w.Refname, w.Location))
	}
	if len(w.GetPartitionClause()) > 0 {
		p.say(" PARTITION BY ")
		list(p, w.PartitionClause, p.expr)
	}
	p.orderBy(w.GetOrderClause(), " ORDER BY ", false)
	if w.GetFrameOptions()&syntax.FrameGiven != 0 {
		p.frame(w)
	}
	p.say(")")
}

func (p *printer) frame(w *pg.WindowDef) {
	modes := map[int32]string{syntax.FrameRange: " RANGE", syntax.FrameRows: " ROWS", syntax.FrameGroups: " GROUPS"}
	mode, ok := modes[w.FrameOptions&frameMode]
	if !ok || w.FrameOptions&^frameEverything != 0 {
		p.refuse(w.Location, "use ROWS, RANGE or GROUPS", "this frame is not known")
		return
	}
	p.say(mode, " BETWEEN ")
	switch w.FrameOptions & frameStart {
	case syntax.StartUnbounded:
		p.say("UNBOUNDED PRECEDING")
	case syntax.StartCurrent:
		p.say("CURRENT ROW")
	case syntax.StartPreceding:
		p.expr(w.StartOffset)
		p.say(" PRECEDING")
	case syntax.StartFollowing:
		p.expr(w.StartOffset)
		p.say(" FOLLOWING")
	default:
		p.refuse(w.Location, "write BETWEEN ... AND ...", "the frame has no start")
	}
	p.say(" AND ")
	switch w.FrameOptions & frameEnd {
	case syntax.EndUnbounded:
		p.say("UNBOUNDED FOLLOWING")
	case syntax.EndCurrent:
		p.say("CURRENT ROW")
	case syntax.EndPreceding:
		p.expr(w.EndOffset)
		p.say(" PRECEDING")
	case syntax.EndFollowing:
		p.expr(w.EndOffset)
		p.say(" FOLLOWING")
	default:
		p.refuse(w.Location, "write BETWEEN ... AND ...", "the frame has no end")
	}
	p.say(map[int32]string{syntax.FrameExcludeCurrent: " EXCLUDE CURRENT ROW", syntax.FrameExcludeGroup: " EXCLUDE GROUP",
		syntax.FrameExcludeTies: " EXCLUDE TIES"}[w.FrameOptions&syntax.FrameExclusion])
}
