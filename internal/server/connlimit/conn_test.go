package connlimit

import (
	"io"
	"net"
	"testing"
)

func TestConn(t *testing.T) {
	ours, theirs := net.Pipe()
	defer ours.Close()
	go func() {
		theirs.Write(make([]byte, 100))
		theirs.Close()
	}()
	c := NewConn(ours, 10)
	b := make([]byte, 64)
	if n, err := io.ReadFull(c, b[:10]); n != 10 || err != nil {
		t.Fatal(n, err)
	}
	if n, err := c.Read(b); n != 0 || err != errTooMuch {
		t.Fatal(n, err)
	}
	c.Widen()
	if rest, err := io.ReadAll(c); len(rest) != 90 || err != nil {
		t.Fatal(len(rest), err)
	}
}

// Opening it wide while somebody reads is not undone by the read.
func TestWidenWhileReading(t *testing.T) {
	ours, theirs := net.Pipe()
	defer ours.Close()
	c, read := NewConn(ours, 10), make(chan int)
	go func() {
		n, _ := c.Read(make([]byte, 5))
		read <- n
	}()
	theirs.Write([]byte("ab")[:1])
	c.Widen()
	<-read
	if left := c.left.Load(); left != -1 {
		t.Errorf("%d are left", left)
	}
}
