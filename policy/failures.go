package policy

import "go.yaml.in/yaml/v3"

// Failures are how many questions may fail after they were charged before the dataset gives no new
// answers: of one analyst, and of all of them. A failure can tell something about the data that
// nobody paid for. The last of those that are borne closes the door, until the owner releases it.
type Failures struct{ Analyst, Dataset uint64 }

const (
	defaultFailures = 1
	// datasetFailures is how many times as many are borne of all analysts together, where the
	// policy says only one number.
	datasetFailures = 3
	maxFailures     = 1000
)

// Borne returns the failures that are borne, with what nothing stands for.
func (d *Dataset) Borne() Failures {
	f := d.Failures
	if f.Analyst == 0 {
		f.Analyst = defaultFailures
	}
	if f.Dataset == 0 {
		f.Dataset = datasetFailures * f.Analyst
	}
	return f
}

// readFailures reads a number, or a mapping with both.
func (d *Dataset) readFailures(r *reader, f fields) {
	v, ok := f.get("failures")
	if !ok {
		return
	}
	if v.node.Kind != yaml.MappingNode {
		d.Failures.Analyst = r.failures(v, "failures", "after how many failures an analyst gets no new answers")
		return
	}
	both, ok := r.fields(v, v.node, "failures", failuresKeys)
	if !ok {
		return
	}
	if v, ok := both.get("analyst"); ok {
		d.Failures.Analyst = r.failures(v, "analyst", "after how many failures an analyst gets no new answers")
	}
	if v, ok := both.get("dataset"); ok {
		d.Failures.Dataset = r.failures(v, "dataset", "after how many failures nobody gets new answers")
	}
}

func (r *reader) failures(v place, key, means string) uint64 {
	n, _ := r.whole(v, key, maxFailures, means)
	return uint64(n)
}
