package pgwire

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/discreet-dp/discreet/internal/server/clientlimits"
)

// packetConn is a connection that is read one packet at a time: it hands pgproto3's Backend the
// bytes of the packet that it was told to expect and not one more. So what is read ahead is here
// and nowhere else, which three things need: limits that hold before anything is allocated, bytes
// that were sent before TLS and are not to be believed, and watching a client that waits.
type packetConn struct {
	raw     net.Conn
	buf     []byte // what was read ahead is buf[from:to]
	from    int
	to      int
	unread  int   // bytes of the packet that are still to be handed out
	readErr error // that reading ended with

	out      []byte // messages that wait to be sent, less than flushSize but for the last
	writeErr error  // that sending ended with

	writeTimeout time.Duration // for a client to take flushSize bytes
	held         *clientlimits.Counter
}

func newPacketConn(c net.Conn, patience time.Duration, held *clientlimits.Counter) *packetConn {
	return &packetConn{raw: c, buf: make([]byte, startupBufferBytes), writeTimeout: patience, held: held}
}

// grow makes room for those who are in.
func (c *packetConn) grow() {
	next := make([]byte, readBufferBytes)
	c.to = copy(next, c.buf[c.from:c.to])
	c.from, c.buf = 0, next
}

func (c *packetConn) buffered() int { return c.to - c.from }

// fill waits until n bytes are read ahead; n is small.
func (c *packetConn) fill(n int) error {
	for c.buffered() < n {
		if c.readErr != nil {
			return c.readErr
		}
		if c.from > 0 {
			c.to = copy(c.buf, c.buf[c.from:c.to])
			c.from = 0
		}
		m, err := c.raw.Read(c.buf[c.to:])
		c.to += m
		if err != nil && c.buffered() < n {
			return c.keepError(err)
		}
	}
	return nil
}

// keepError keeps an error that will not pass.
func (c *packetConn) keepError(err error) error {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		c.readErr = err
	}
	return err
}

var (
	errPacketTooLong = errors.New("the packet is longer than allowed")
	errPacketLength  = errors.New("the packet's length is impossible")
	errProxyHeader   = errors.New("the packet is a header of the PROXY protocol")
)

// expectStartup expects a packet without a type, as the first ones are, and returns its code. Minor
// versions of the protocol that Backend does not know become 3.0, which is what they will be
// offered.
func (c *packetConn) expectStartup() (code uint32, err error) {
	if err := c.fill(8); err != nil {
		return 0, err
	}
	head := c.buf[c.from:c.to]
	size := binary.BigEndian.Uint32(head)
	if string(head[:4]) == "PROX" || string(head[:8]) == "\r\n\r\n\x00\r\nQ" {
		return 0, errProxyHeader
	}
	if size > maxStartupBytes {
		return 0, errPacketTooLong
	}
	if size < 8 {
		return 0, errPacketLength
	}
	code = binary.BigEndian.Uint32(head[4:])
	if code>>16 == 3 {
		binary.BigEndian.PutUint32(head[4:], 3<<16)
	}
	c.unread = int(size)
	return code, nil
}

// expectMessage expects a packet with a type and at most limit bytes, and returns its type.
func (c *packetConn) expectMessage(limit int) (kind byte, err error) {
	if err := c.fill(1); err != nil {
		return 0, err
	}
	return c.buf[c.from], c.header(limit)
}

func (c *packetConn) header(limit int) error {
	if err := c.fill(5); err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(c.buf[c.from+1:])
	if size < 4 {
		return errPacketLength
	}
	if int64(size)-4 > int64(limit) {
		return errPacketTooLong
	}
	c.unread = int(size) + 1
	return nil
}

// Read hands out the packet that is expected.
func (c *packetConn) Read(p []byte) (int, error) {
	if c.unread == 0 {
		return 0, io.ErrUnexpectedEOF // a packet that contradicts its own length
	}
	if len(p) > c.unread {
		p = p[:c.unread]
	}
	n := 0
	if c.buffered() > 0 {
		n = copy(p, c.buf[c.from:c.to])
		c.from += n
	} else {
		if c.readErr != nil {
			return 0, c.readErr
		}
		var err error
		if n, err = c.raw.Read(p); err != nil && n == 0 {
			return 0, c.keepError(err)
		}
	}
	c.unread -= n
	return n, nil
}

// Write gives the client a while to take what is sent.
func (c *packetConn) Write(p []byte) (int, error) {
	written := 0
	for written < len(p) {
		if err := c.raw.SetWriteDeadline(time.Now().Add(c.writeTimeout)); err != nil {
			return written, err
		}
		n, err := c.raw.Write(p[written:min(len(p), written+flushBytes)])
		written += n
		if err != nil {
			return written, c.held.CountUnread(err)
		}
	}
	return written, nil
}

// send puts a message behind those that wait, and sends them all where they are many: what a client
// asks for without reading waits in its own buffers and in those of the network, and not here.
// Whether that worked is told by flush.
func (c *packetConn) send(m pgproto3.BackendMessage) {
	if c.writeErr != nil {
		return
	}
	if c.out, c.writeErr = m.Encode(c.out); len(c.out) < flushBytes {
		return
	}
	_, c.writeErr = c.Write(c.out)
	if c.out = c.out[:0]; cap(c.out) > 2*flushBytes {
		c.out = nil
	}
}

func (c *packetConn) flush() error {
	if c.writeErr == nil && len(c.out) > 0 {
		_, c.writeErr = c.Write(c.out)
	}
	if c.out = c.out[:0]; cap(c.out) > idleBufferBytes {
		c.out = nil
	}
	return c.writeErr
}

// watch reads ahead while a statement runs, and calls gone where the client is. Whoever has sent
// more than fits is not watched any longer. The returned function ends it, and must be called
// before anything else is read.
func (c *packetConn) watch(gone func()) (stop func()) {
	if c.readErr != nil {
		gone()
		return func() {}
	}
	if c.from > 0 {
		c.to = copy(c.buf, c.buf[c.from:c.to])
		c.from = 0
	}
	if c.to == len(c.buf) || c.raw.SetReadDeadline(time.Time{}) != nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for c.to < len(c.buf) {
			n, err := c.raw.Read(c.buf[c.to:])
			c.to += n
			if err != nil {
				if c.keepError(err); c.readErr != nil {
					gone()
				}
				return
			}
		}
	}()
	return func() {
		c.raw.SetReadDeadline(time.Unix(1, 0)) // long ago: whoever reads returns
		<-done
		c.raw.SetReadDeadline(time.Time{})
	}
}
