package trinotables

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/policy"
)

// TestPatience: a cluster that takes too long is a failure as any other, with the same words for
// analysts and a reason for the owner, and not the end of the analyst's own time.
func TestPatience(t *testing.T) {
	free := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-free:
		case <-r.Context().Done():
		}
	}))
	defer slow.Close()
	defer close(free)
	u, _ := url.Parse(slow.URL)
	p, err := policy.Parse("p.yaml", []byte("datasets:\n  d:\n    source: trino://ana@"+u.Host+"/c/s?sslmode=disable\n    unit: p.pid\n"+
		"    budget: {epsilon: 1}\n    analysts: {ana: }\n    tables:\n      p:\n        unique: pid\n        columns:\n"+
		"          pid: {type: integer}\n"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := Of(p.Datasets["d"])
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	d.patience = 200 * time.Millisecond
	if _, err = d.Look(t.Context()); err == nil || !strings.Contains(err.Error(), "the Trino cluster of the dataset d cannot be asked") ||
		!strings.Contains(Explained(err).Error(), "it has not said within 200ms") {
		t.Error(err)
	}

	// Many who ask at the same time wait as long as one.
	begin := time.Now()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := d.Look(t.Context()); err == nil || !strings.Contains(Explained(err).Error(), "it has not said within 200ms") {
				t.Error(err)
			}
		})
	}
	if all.Wait(); time.Since(begin) > 2*time.Second {
		t.Errorf("20 who asked waited %v, one after the other", time.Since(begin))
	}
}
