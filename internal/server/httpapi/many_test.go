package httpapi

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// TestManyAtOnce: users of all kinds at the same time, some of whom hang up. Everything is
// documented, nothing is unexpected, and the ledger is whole.
func TestManyAtOnce(t *testing.T) {
	w := newWorld(t)
	var all sync.WaitGroup
	var mu sync.Mutex
	for i := range 16 {
		all.Go(func() {
			user := []string{"ana", "ben"}[i%2]
			for j := range 8 {
				body := fmt.Sprintf(`{"dataset":"hospital","sql":"SELECT COUNT(*) FROM patients WHERE age > %d","epsilon":0.01}`,
					(i*8+j)%40)
				path, method, who := "/v1/query", "POST", user
				switch j % 4 {
				case 1:
					path, method, who, body = "/v1/audit", "GET", "olga", ""
				case 2:
					path, method, body = "/v1/receipts", "GET", ""
				case 3:
					path, method, who, body = "/metrics", "GET", "olga", ""
				}
				ctx, stop := context.WithCancel(context.Background())
				r := w.request(method, path, who, body).WithContext(ctx)
				if i%5 == 4 {
					go stop()
				}
				response, err := http.DefaultClient.Do(r)
				if err == nil {
					var text []byte
					if text, err = io.ReadAll(response.Body); err == nil {
						mu.Lock()
						got := reply{status: response.StatusCode, header: response.Header, body: string(text)}
						w.honest(r, got)
						if got.status != 200 && got.status != 402 && got.status != 499 {
							t.Errorf("%s: %d %s", path, got.status, got.body)
						}
						mu.Unlock()
					}
					response.Body.Close()
				}
				if err != nil && i%5 != 4 {
					t.Error(err)
				}
				stop()
			}
		})
	}
	all.Wait()
	if got := w.want(w.call("GET", "/v1/audit", "olga", ""), 200); got.get("good") != true {
		t.Error(got.body)
	}
	if strings.Contains(w.log.String(), "panic") {
		t.Error(w.log)
	}
}
