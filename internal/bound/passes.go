package bound

import "runtime"

// How often rows are read follows from Rows, the measures and the memory. It would follow from
// whether the last row still fits otherwise, and whoever asks can read off a clock how often that
// is. What is left to chance is a person whose rows are a large part of all, and texts that are
// longer than Width: then partitions are compacted, or halved.

// bytes is how much memory a row takes.
func (l *layout) bytes() int64 {
	if l.Spelled || l.Width > 0 {
		return 8 * int64(2+(max(l.Width, 8)+7)/8+l.payload)
	}
	return int64(8 + 4*l.lanes)
}

// share is how many partitions are taken in a pass.
func (l *layout) share() int {
	if l.Rows <= 0 {
		return parts
	}
	// Half of a block is empty, for each partition and goroutine.
	open := int64(runtime.GOMAXPROCS(0)) * parts * blockWords / 2
	if l.Spelled || l.Width > 0 {
		open = open * 8 / l.bytes()
	}
	need := float64(min(l.Rows, 1<<50)+open) * float64(l.bytes()) * 9 / 8 // partitions are not quite alike
	passes := int(min(need/(float64(l.Memory)*7/8), parts-1)) + 1
	return (parts + passes - 1) / passes
}

// triesOrder reports whether the order of rows is tried: where what is not in the middle of a
// stretch surely fits, when it is compacted.
func (l *layout) triesOrder() bool {
	if l.Unordered || l.Rows <= 0 {
		return !l.Unordered
	}
	each := int64(min(l.MaxGroups, l.Groups))
	if l.Pick != nil {
		each = min(each, 1<<20) * min(l.Pick.MaxRows, 1<<20)
	}
	people := 2 * (l.Rows/batchRows + 1) // the first and the last of each batch
	records := float64(people)*float64(min(each, batchRows)) + float64(l.Order.rowsOfStrays())
	return records*float64(8*l.partial+l.Width+16) < float64(l.Memory)/2
}

// batchRows is how many rows a batch has, about.
const batchRows = 1 << 11
