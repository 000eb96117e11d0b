package catalog

import (
	"context"
	"sync"
	"testing"
)

// TestConcurrent runs sessions at once, which share the rows about the system. It is for the race
// detector.
func TestConcurrent(t *testing.T) {
	one := testCatalog(t)
	var wg sync.WaitGroup
	for range 8 {
		own := testCatalog(t)
		wg.Go(func() {
			for _, sql := range []string{
				"SELECT count(*) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid",
				"SELECT count(*) FROM information_schema.columns WHERE table_name = 'patients'",
				"SELECT set_config('application_name', 'x', false), (SELECT setting FROM pg_settings WHERE name = 'application_name')",
				"SELECT relname FROM pg_class WHERE relname ~ '^pat' ORDER BY 1",
			} {
				for _, c := range []*Catalog{own, one} {
					if _, err := c.Query(context.Background(), sql, nil, nil); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
}
