package outer

import pg "github.com/pganalyze/pg_query_go/v6"

// The bits of WindowDef.FrameOptions (FRAMEOPTION_... in PostgreSQL's parsenodes.h).
const (
	frameGiven          = 0x00001
	frameRange          = 0x00002
	frameRows           = 0x00004
	frameGroups         = 0x00008
	startUnbounded      = 0x00020
	endUnbounded        = 0x00100
	startCurrent        = 0x00200
	endCurrent          = 0x00400
	startBefore         = 0x00800
	endBefore           = 0x01000
	startAfter          = 0x02000
	endAfter            = 0x04000
	frameExcludeCurrent = 0x08000
	frameExcludeGroup   = 0x10000
	frameExcludeTies    = 0x20000
	frameBetween        = 0x00010 // BETWEEN was written; it is always printed
	frameEverything     = frameGiven | frameMode | frameStart | frameEnd | frameExclusion | frameBetween
	frameMode           = frameRange | frameRows | frameGroups
	frameStart          = startUnbounded | startCurrent | startBefore | startAfter
	frameEnd            = endUnbounded | endCurrent | endBefore | endAfter
	frameExclusion      = frameExcludeCurrent | frameExcludeGroup | frameExcludeTies
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
	if w.GetFrameOptions()&frameGiven != 0 {
		p.frame(w)
	}
	p.say(")")
}

func (p *printer) frame(w *pg.WindowDef) {
	modes := map[int32]string{frameRange: " RANGE", frameRows: " ROWS", frameGroups: " GROUPS"}
	mode, ok := modes[w.FrameOptions&frameMode]
	if !ok || w.FrameOptions&^frameEverything != 0 {
		p.refuse(w.Location, "use ROWS, RANGE or GROUPS", "this frame is not known")
		return
	}
	p.say(mode, " BETWEEN ")
	switch w.FrameOptions & frameStart {
	case startUnbounded:
		p.say("UNBOUNDED PRECEDING")
	case startCurrent:
		p.say("CURRENT ROW")
	case startBefore:
		p.expr(w.StartOffset)
		p.say(" PRECEDING")
	case startAfter:
		p.expr(w.StartOffset)
		p.say(" FOLLOWING")
	default:
		p.refuse(w.Location, "write BETWEEN ... AND ...", "the frame has no start")
	}
	p.say(" AND ")
	switch w.FrameOptions & frameEnd {
	case endUnbounded:
		p.say("UNBOUNDED FOLLOWING")
	case endCurrent:
		p.say("CURRENT ROW")
	case endBefore:
		p.expr(w.EndOffset)
		p.say(" PRECEDING")
	case endAfter:
		p.expr(w.EndOffset)
		p.say(" FOLLOWING")
	default:
		p.refuse(w.Location, "write BETWEEN ... AND ...", "the frame has no end")
	}
	p.say(map[int32]string{frameExcludeCurrent: " EXCLUDE CURRENT ROW", frameExcludeGroup: " EXCLUDE GROUP",
		frameExcludeTies: " EXCLUDE TIES"}[w.FrameOptions&frameExclusion])
}
