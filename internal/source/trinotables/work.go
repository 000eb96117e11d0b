package trinotables

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/discreet-dp/discreet/internal/releaseclock"
)

// countWork has an answer of the server tell, while it is read, for how long processors have worked
// for its statement, where the context of the request counts it. The driver has a callback for that
// which leaves out some answers, and may be called when the rows are read already.
func countWork(r *http.Request, answer *http.Response) {
	if w := releaseclock.WorkOf(r.Context()); w != nil {
		id := ""
		if of := statement.FindStringSubmatch(r.URL.Path); of != nil {
			id = of[1]
		}
		answer.Body = &counted{answer.Body, nil, func(d time.Duration) { w.Worked(id, d) }}
	}
}

type counted struct {
	io.ReadCloser
	rest []byte // of what was read, that may be the beginning of the field
	tell func(time.Duration)
}

// processorTime is the field of an answer. Trino has one of the statement and one of each of its
// stages, of which the statement's is the largest. In a text of the answer a quotation mark has a
// backslash before it, so none can look like it.
const processorTime = `"cpuTimeMillis":`

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.rest = append(c.rest, p[:n]...)
	for {
		at := bytes.Index(c.rest, []byte(processorTime))
		if at < 0 {
			c.rest = c.rest[max(0, len(c.rest)-len(processorTime)):]
			break
		}
		digits := c.rest[at+len(processorTime):]
		end := bytes.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' })
		if end < 0 {
			c.rest = c.rest[at:]
			break
		}
		if ms, err := strconv.ParseInt(string(digits[:end]), 10, 64); err == nil {
			c.tell(time.Duration(ms) * time.Millisecond)
		}
		c.rest = digits[end:]
	}
	return n, err
}
