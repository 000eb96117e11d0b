package publictime

import (
	"math"
	"time"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// Machine is what runs questions.
type Machine struct {
	Threads int     // of one question
	Factor  float64 // how many times as slow it is as the machine that the constants were measured on
	Cluster bool    // Trino, where there are other constants, and all of them are rougher
	// SQL says that all is done by SQL statements, and nothing in package bound.
	SQL bool
	// Memory is how many bytes rows may take in package bound; 0 is its default.
	Memory int64
}

// defaultMemory is that of package bound.
const defaultMemory = 3 << 30

// margin is by how much a time is above what the constants say.
const margin = 2

// Query is how long a query takes alone, at most, in every honest case: what the engine does with
// it, and what is released of it.
func (m Machine) Query(q *tree.Query, s Sizes) time.Duration {
	w := m.work(s)
	w.query(q)
	return m.time(w)
}

// Fetch is the same for reading rows to train on.
func (m Machine) Fetch(t *tree.Table, s Sizes) time.Duration {
	w := m.work(s)
	w.table(t)
	return m.time(w)
}

// Fit is how long it takes to train so many models on these rows, each on so many parts of them.
func (m Machine) Fit(t *tree.Table, s Sizes, models, parts int) time.Duration {
	numbers := 1.0
	for _, c := range t.Features() {
		numbers += max(1, float64(len(c.Values)))
	}
	w := m.work(s)
	from := w.relation(t.From, make([]bool, len(t.From.Fields())))
	return m.fit(from.rows, numbers, models, parts)
}

// Steps is how long so many steps take that are done here with numbers of any size, to release what
// is more than noise on each number by itself.
func (m Machine) Steps(n float64) time.Duration {
	if m.Cluster {
		m.Factor = max(1, m.Factor)
	}
	return m.time(&work{constants: &embedded, alone: n * bigStep})
}

// bigStep is a multiplication and an addition of numbers of some hundred bits, in ns.
const bigStep = 60

// fit is what all passes over the rows take. Most trainings need a tenth of it: how many passes
// there are, and whether some are in twice as many digits, depends on the rows and on the noise.
func (m Machine) fit(rows, numbers float64, models, parts int) time.Duration {
	if m.Cluster {
		m.Factor = max(1, m.Factor) // it is here that models are trained, and not there
	}
	each := fitAlone + numbers*numbers*numbers*fitCube
	w := work{constants: &embedded, alone: float64(models*parts) * each, largest: rows,
		shared: float64(models) * rows * (fitRow + numbers*fitNumber)}
	return m.time(&w)
}

const (
	fitAlone  = 20e6 // ns
	fitCube   = 50   // to solve for the weights, times the cube of their number
	fitRow    = 500  // a row, in all passes
	fitNumber = 400  // each of its numbers
)

func (m Machine) work(s Sizes) *work {
	memory := float64(m.Memory)
	if memory <= 0 {
		memory = defaultMemory
	}
	c := &embedded
	if m.Cluster {
		c = &cluster
	}
	return &work{constants: c, sizes: s, memory: memory, cluster: m.Cluster, sql: m.SQL || m.Cluster, chooses: m.SQL || m.Cluster}
}

// rowGroup is how many rows DuckDB gives to a thread at a time.
const rowGroup = 122_880

// time is how long work takes: threads share what is done for each row, where there are rows enough
// for them.
func (m Machine) time(w *work) time.Duration {
	threads := max(1, min(float64(m.Threads), math.Floor(w.largest/rowGroup)))
	if w.cluster {
		threads = 1 // what was measured there is time and not work
	}
	ns := (w.alone + w.shared/math.Pow(threads, w.gain)) * margin * max(m.Factor, slowest)
	return time.Duration(min(ns, float64(longest)))
}

const (
	// slowest is the least factor: no machine is taken to be more than twice as fast.
	slowest = 0.5
	longest = time.Duration(math.MaxInt64 / 4)
)
