package syntax

// The bits of WindowDef.FrameOptions (FRAMEOPTION_... in PostgreSQL's parsenodes.h).
const (
	FrameGiven          int32 = 0x00001
	FrameRange          int32 = 0x00002
	FrameRows           int32 = 0x00004
	FrameGroups         int32 = 0x00008
	FrameBetween        int32 = 0x00010 // BETWEEN was written
	StartUnbounded      int32 = 0x00020
	EndNever            int32 = 0x00040 // UNBOUNDED PRECEDING
	StartNever          int32 = 0x00080 // UNBOUNDED FOLLOWING
	EndUnbounded        int32 = 0x00100
	StartCurrent        int32 = 0x00200
	EndCurrent          int32 = 0x00400
	StartPreceding      int32 = 0x00800
	EndPreceding        int32 = 0x01000
	StartFollowing      int32 = 0x02000
	EndFollowing        int32 = 0x04000
	FrameExcludeCurrent int32 = 0x08000
	FrameExcludeGroup   int32 = 0x10000
	FrameExcludeTies    int32 = 0x20000

	FrameOffsets   = StartPreceding | StartFollowing | EndPreceding | EndFollowing
	FrameExclusion = FrameExcludeCurrent | FrameExcludeGroup | FrameExcludeTies
)
