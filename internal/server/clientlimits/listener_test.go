package clientlimits

import (
	"io"
	"net"
	"testing"
)

// Who comes when it is full of users is closed, and who leaves makes room.
func TestListener(t *testing.T) {
	for _, c := range []struct{ most, perAddress int }{{2, 10}, {10, 2}} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		limited := &Listener{Listener: l, Slots: &Slots{Most: c.most, PerAddress: c.perAddress}, MaxFirstBytes: 1,
			Newcomer: func(net.Addr) Newcomer { return Newcomer{Address: "here", Familiar: true} }}
		inside := make(chan net.Conn, 10)
		go func() {
			defer close(inside)
			for {
				conn, err := limited.Accept()
				if err != nil {
					return
				}
				HoldSlot(WithSlot(t.Context(), conn))
				conn.Write([]byte("x"))
				inside <- conn
			}
		}()
		// enters says whether a connection is taken: whoever is gets a byte, whoever is not gets
		// the end.
		enters := func() bool {
			conn, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close() })
			_, err = io.ReadFull(conn, make([]byte, 1))
			return err == nil
		}
		if one, two, three := enters(), enters(), enters(); !one || !two || three {
			t.Errorf("%+v: it is not two who are let in", c)
		}
		first := <-inside
		first.Close()
		first.Close() // counts once
		if !enters() || enters() {
			t.Errorf("%+v: it is not one who is let in after one left", c)
		}
		l.Close()
		for conn := range inside {
			conn.Close()
		}
		if all, here := limited.Slots.Count("here"); all != 0 || here != 0 {
			t.Errorf("left are %d, %d of them from here", all, here)
		}
	}
}

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
	if n, err := c.Read(b); n != 0 || err != errTooManyBytes {
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
