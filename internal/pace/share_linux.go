package pace

import (
	"os"
	"strconv"
	"strings"
)

// readShare reads for how long all threads of the process have worked, and for how long they could
// have worked and had no processor, both in nanoseconds. Threads that have ended are not counted.
func readShare() (worked, waited float64) {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return 0, 0
	}
	for _, t := range tasks {
		text, err := os.ReadFile("/proc/self/task/" + t.Name() + "/schedstat")
		fields := strings.Fields(string(text))
		if err != nil || len(fields) < 2 {
			continue // it has ended
		}
		w, _ := strconv.ParseFloat(fields[0], 64)
		d, _ := strconv.ParseFloat(fields[1], 64)
		worked, waited = worked+w, waited+d
	}
	return worked, waited
}
