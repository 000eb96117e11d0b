package releaseclock

import (
	"math"
	"os"
	"runtime/metrics"
	"strconv"
	"strings"
)

// readShare reads it. Threads that have ended are not counted.
func readShare() (s processorShare) {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return s
	}
	for _, t := range tasks {
		text, err := os.ReadFile("/proc/self/task/" + t.Name() + "/schedstat")
		fields := strings.Fields(string(text))
		if err != nil || len(fields) < 2 {
			continue // it has ended
		}
		w, _ := strconv.ParseFloat(fields[0], 64)
		d, _ := strconv.ParseFloat(fields[1], 64)
		s.worked, s.waited = s.worked+w, s.waited+d
	}
	s.queued = readQueued()
	return s
}

// readQueued adds up how long goroutines waited, each at the least that Go's histogram says of it.
func readQueued() (sum float64) {
	sample := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindFloat64Histogram {
		return 0
	}
	h := sample[0].Value.Float64Histogram()
	for i, n := range h.Counts {
		if least := h.Buckets[i]; n > 0 && !math.IsInf(least, 0) {
			sum += float64(n) * least * 1e9
		}
	}
	return sum
}
