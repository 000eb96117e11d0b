package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/discreet-dp/discreet/internal/server/users"
)

// Records are several, in their order.
type Records struct {
	Records []Record `json:"records"`
	Next    *uint64  `json:"next,omitempty" doc:"Where to go on: the next after. Left out at the end of the ledger"`
}

func (d *door) ledger() {
	o := operation(ownerOnly, http.MethodGet, "/v1/ledger", "ledger", "The records of the ledger",
		"For the owner, page by page. Accept: application/x-ndjson sends all from there on, one a line, whatever the limit.")
	content(&o, http.StatusOK, map[string]*huma.Schema{mediaJSON: schema[Records](d), mediaNDJSON: schema[Record](d)})
	register(d, o, func(ctx context.Context, _ users.User, in *Page) (*stream, error) {
		from := uint64(in.After + 1)
		if note(ctx).accept == mediaNDJSON {
			return &stream{func(c huma.Context) { d.records(c, from) }}, nil
		}
		out := Records{Records: []Record{}}
		for r, err := range d.Dispatcher.DB().Records(ctx, from) {
			if err != nil {
				return nil, err
			}
			if out.Records = append(out.Records, recordOf(r)); len(out.Records) == in.Limit {
				out.Next = new(r.Sequence)
				break
			}
		}
		return &stream{func(c huma.Context) { whole(c, out) }}, nil
	})
	register(d, operation(ownerOnly, http.MethodGet, "/v1/ledger/head", "head", "The last record of the ledger",
		"For the owner. Kept elsewhere, it tells the ledger from an older copy of itself."),
		func(ctx context.Context, _ users.User, _ *nothing) (*body[Head], error) {
			h, err := d.head.read(ctx, d.Dispatcher.DB())
			return of(h), err
		})
}

// records sends the records from a sequence on, one a line. The ledger is read in small parts, so
// that a slow reader holds up nobody. Where it cannot be read to its end the connection is cut.
func (d *door) records(c huma.Context, from uint64) {
	r, w := humago.Unwrap(c)
	control := http.NewResponseController(w)
	c.SetHeader("Content-Type", mediaNDJSON)
	c.SetStatus(http.StatusOK)
	out := bufio.NewWriter(w)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	n := 0
	for record, err := range d.Dispatcher.DB().Records(r.Context(), from) {
		if err != nil {
			cut()
		}
		if e.Encode(recordOf(record)) != nil {
			cut()
		}
		if n++; n%flushed == 0 && (out.Flush() != nil || control.Flush() != nil) {
			cut()
		}
	}
	if out.Flush() == nil {
		control.Flush()
	}
}
