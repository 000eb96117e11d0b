package curator

import (
	"sync"

	"github.com/discreet-dp/discreet/api"
)

// maxReruns is how often a question that was paid for and stopped is computed again for its charge.
const maxReruns = 3

// reruns counts, for each charge without an answer, how often it was computed again. Who cancels a
// question and sends it again under its name pays once for any number of computations: enough to
// keep the engine busy, so that questions of others run out of time, and to look at the clock as
// often as they like. It is forgotten with the process, which nobody but the owner ends.
type reruns struct {
	mu sync.Mutex
	of map[uint64]int
}

// again admits one more computation for a charge, or refuses it.
func (r *reruns) again(charge uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = map[uint64]int{}
	}
	if r.of[charge]++; r.of[charge] > maxReruns {
		return api.Refuse("ask it under another request identifier, which is charged, and let it finish",
			"this request was charged before, and was stopped %d times since without an answer; it is not computed again for that "+
				"charge. Nothing was charged now", maxReruns)
	}
	return nil
}

// answered forgets a charge that has its answer.
func (r *reruns) answered(charge uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.of, charge)
}
