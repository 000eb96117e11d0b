package clientlimits

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"sync"
	"time"
)

// UnreadTimeout is how long a client may take nothing of what is sent to it. Then it is cut off,
// and what it held is given back.
const UnreadTimeout = 30 * time.Second

type Limits struct {
	User   int // that all connections and requests of a user hold
	Floor  int // of a user, which the server's limit does not count
	Server int // that all users hold beyond their floors
}

// DefaultLimits are the limits that are documented.
var DefaultLimits = Limits{User: 64 << 20, Floor: 1 << 20, Server: 512 << 20}

// FullError is returned when there is no room.
type FullError struct {
	Others bool          // hold it, and not the one who asks
	Wait   time.Duration // until it may help to try again
}

func (e *FullError) Error() string {
	if e.Others {
		return "the server holds as much data for its clients as it can"
	}
	return "the server holds as much for you as it can, such as answers that you have not read yet"
}

// Counter counts for a server. It is safe for concurrent use.
type Counter struct {
	limits Limits

	mu         sync.Mutex
	users      map[string]int // only those who hold something
	all        int            // of all users
	beyond     int            // their floors
	turnedAway TurnedAwayBytes
}

// TurnedAwayBytes is how often somebody found no room since the start, and how often a client was
// cut off because it read nothing.
type TurnedAwayBytes struct{ User, Server, Unread uint64 }

// NewCounter returns a counter that has counted nothing.
func NewCounter(l Limits) *Counter { return &Counter{limits: l, users: map[string]int{}} }

// Held is how many bytes are held for all.
func (c *Counter) Held() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all
}

func (c *Counter) TurnedAway() TurnedAwayBytes {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.turnedAway
}

// CountUnread counts a client that is cut off, and returns what writing to it returned.
func (c *Counter) CountUnread(err error) error {
	if c != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.turnedAway.Unread++
	}
	return err
}

// Share returns what a connection or a request of a user's holds, which is nothing yet, and at most
// so many bytes; 0 means as many as the user.
func (c *Counter) Share(user string, most int) *Share {
	if most == 0 {
		most = c.limits.User
	}
	return &Share{counter: c, user: user, most: most}
}

// Share is what a connection or a request holds. It is safe for concurrent use. One that is nil
// counts nothing.
type Share struct {
	counter *Counter
	user    string
	most    int
	held    int // behind the lock of the counter
}

// Take counts n more bytes. Its error is a [*FullError], and then nothing was counted.
func (s *Share) Take(n int) error {
	if s == nil || n <= 0 {
		return nil
	}
	c := s.counter
	c.mu.Lock()
	defer c.mu.Unlock()
	return s.take(n)
}

// Reserve takes as many bytes as are missing to n.
func (s *Share) Reserve(n int) error {
	if s == nil {
		return nil
	}
	s.counter.mu.Lock()
	defer s.counter.mu.Unlock()
	if n <= s.held {
		return nil
	}
	return s.take(n - s.held)
}

func (s *Share) take(n int) error {
	c := s.counter
	own := c.users[s.user]
	if !fits(s.held, n, s.most) || !fits(own, n, c.limits.User) {
		c.turnedAway.User++
		return &FullError{Wait: UnreadTimeout}
	}
	if more := c.beyondFloor(own+n) - c.beyondFloor(own); more > 0 && c.beyond+more > c.limits.Server {
		c.turnedAway.Server++
		return &FullError{Others: true, Wait: UnreadTimeout}
	}
	s.add(n)
	return nil
}

// fits says whether n bytes more stay within a limit, or are one large thing of somebody who holds
// little.
func fits(held, n, most int) bool { return n <= most-held || held <= most/4 }

// beyondFloor is what the server's limit counts of a user.
func (c *Counter) beyondFloor(held int) int { return max(0, held-c.limits.Floor) }

func (s *Share) add(n int) {
	c := s.counter
	own := c.users[s.user]
	s.held += n
	c.all += n
	c.beyond += c.beyondFloor(own+n) - c.beyondFloor(own)
	if c.users[s.user] = own + n; own+n == 0 {
		delete(c.users, s.user)
	}
}

// Give counts n fewer.
func (s *Share) Give(n int) {
	if s == nil || n <= 0 {
		return
	}
	s.counter.mu.Lock()
	defer s.counter.mu.Unlock()
	s.add(-min(n, s.held))
}

// Close gives everything back.
func (s *Share) Close() {
	if s == nil {
		return
	}
	s.counter.mu.Lock()
	defer s.counter.mu.Unlock()
	s.add(-s.held)
}

// RowsSize is about how many bytes rows take, all of them and the largest.
func RowsSize(rows [][]any) (all, largest int) {
	for _, row := range rows {
		n := valuesSize(row)
		all, largest = all+n, max(largest, n)
	}
	return all, largest
}

// valuesSize is what a row or an array takes: interfaces, and what they point to.
func valuesSize(values []any) int {
	n := 24
	for _, v := range values {
		n += 24
		switch v := v.(type) {
		case string:
			n += 8 + len(v)
		case json.Number:
			n += 8 + len(v)
		case []any:
			n += valuesSize(v)
		}
	}
	return n
}

// chunkBytes is how many bytes a client has to take within [UnreadTimeout].
const chunkBytes = 32 << 10

// LimitUnread gives whoever reads an answer of next some time for each part of it: a client that
// takes nothing is cut off, and one that is slow is not. With HTTP/2 that is one stream; a
// connection of which nothing at all is read is cut off by [http.HTTP2Config.WriteByteTimeout].
func LimitUnread(next http.Handler, timeout time.Duration, held *Counter) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := &pacedWriter{ResponseWriter: w, control: http.NewResponseController(w), timeout: timeout, held: held}
		next.ServeHTTP(p, r)
		p.extend() // for what net/http still has to send
	})
}

type pacedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
	held    *Counter
}

func (w *pacedWriter) extend() { w.control.SetWriteDeadline(time.Now().Add(w.timeout)) }

func (w *pacedWriter) Write(p []byte) (written int, err error) {
	for {
		w.extend()
		n, err := w.ResponseWriter.Write(p[written:min(len(p), written+chunkBytes)])
		if written += n; err != nil || written >= len(p) {
			return written, w.held.CountUnread(err)
		}
	}
}

func (w *pacedWriter) FlushError() error {
	w.extend()
	return w.control.Flush()
}

func (w *pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
