package sqlite

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/discreet-dp/discreet/ledger"
)

// Sizes in a write-ahead log; see sqlite.org/walformat.html.
const (
	logHeader   = 32
	frameHeader = 24
	frameSize   = frameHeader + pageSize
)

// log is the write-ahead log beside a ledger, as it was found before SQLite saw it. SQLite drops
// what follows the first frame that does not check and says nothing, and neither it nor its driver
// has a call that would: so the log is read here, by its published format, and what follows is
// looked at. TestSQLiteForgets fails once SQLite tells by itself.
type log struct {
	file  *os.File // nil where there is none
	size  int64
	pages map[uint32]int64 // where in the log the committed content of a page is
	count uint32           // the pages of the database after the last commit, or 0 where the log has none
	end   int64            // where in the log the last commit ends
}

func (g *log) Close() error {
	if g.file == nil {
		return nil
	}
	return g.file.Close()
}

// readLog reads the log of the ledger at the path. It returns a [*ledger.CorruptError] for one that
// lost something other than a transaction that was never finished.
//
// This can be told because the log is emptied before it is begun anew, and its header is on stable
// storage before the first frame is written. So what follows the last commit that checks belongs to
// one transaction: it has no page twice, and there is no commit in it, except as its very last
// frame, where the frames before it did not all reach the disk.
func readLog(path string) (_ *log, err error) {
	g := &log{pages: map[uint32]int64{}}
	g.file, err = os.Open(path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		g.file = nil
		return g, nil
	} else if err != nil {
		return nil, fmt.Errorf("the log of the ledger cannot be read: %w", err)
	}
	defer func() {
		if err != nil {
			g.file.Close()
		}
	}()
	info, err := g.file.Stat()
	if err != nil {
		return nil, fmt.Errorf("the log of the ledger cannot be read: %w", err)
	}
	g.size = info.Size()
	if where, err := g.scan(bufio.NewReaderSize(g.file, int(min(g.size, 1<<20)))); err != nil {
		return nil, fmt.Errorf("the log of the ledger %s cannot be read: %w", path, err)
	} else if where != "" {
		return nil, &ledger.CorruptError{Path: path, Where: "its log, " + path + "-wal, " + where}
	}
	return g, nil
}

// scan returns what is wrong with the log, or nothing.
func (g *log) scan(in io.Reader) (where string, err error) {
	var header [logHeader]byte
	if n, err := io.ReadFull(in, header[:]); err == io.EOF || err == io.ErrUnexpectedEOF {
		return "", nil // torn when it was begun, before anything was in it
	} else if err != nil {
		return "", fmt.Errorf("after %d bytes: %w", n, err)
	}
	number := binary.BigEndian.Uint32
	sum := checksum{order: binary.LittleEndian}
	if number(header[:])&1 == 1 {
		sum.order = binary.BigEndian
	}
	sum.add(header[:24])
	good := number(header[:])&^1 == 0x377f0682 && number(header[4:]) == 3007000 && number(header[8:]) == pageSize && sum.equals(header[24:])
	salts := string(header[16:24])

	var frame [frameSize]byte
	type framePage struct {
		page   uint32
		offset int64
	}
	var open []framePage // frames of the transaction that is being read
	seen := map[uint32]bool{}
	bad := int64(0)    // the number of the first frame that does not check
	commit := int64(0) // the last frame after it that ends a transaction
	last := (g.size - logHeader + frameSize - 1) / frameSize
	for n := int64(1); ; n++ {
		read, err := io.ReadFull(in, frame[:])
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			if !good && !isZero(frame[:read]) {
				return "does not begin with its header", nil
			}
			break
		} else if err != nil {
			return "", fmt.Errorf("at frame %d: %w", n, err)
		}
		if !good {
			if !isZero(frame[:]) {
				return "does not begin with its header", nil
			}
			continue
		}
		page, count, ours := number(frame[:]), number(frame[4:]), string(frame[8:16]) == salts
		before := sum
		sum.add(frame[:8])
		sum.add(frame[frameHeader:])
		checks := sum.equals(frame[16:24])
		switch {
		case bad == 0 && ours && checks && page != 0:
			open = append(open, framePage{page, logHeader + (n-1)*frameSize + frameHeader})
			if count != 0 {
				for _, p := range open {
					g.pages[p.page] = p.offset
				}
				open, g.count, g.end = open[:0], count, logHeader+n*frameSize
				clear(seen)
			} else {
				seen[page] = true
			}
		case bad == 0:
			bad = n
			if checks || before.isOneByteOff(frame[:], logHeader+(n-1)*frameSize) {
				return damagedAt(n) + ": a byte of it was changed", nil
			}
		}
		if bad != 0 {
			// A frame whose salts rotted in one byte is one of ours. Frames with quite other salts
			// are of the log before this one: they are in the file, and it was only their removal
			// that did not reach the disk.
			known := ours || checks && oneApart(string(frame[8:16]), salts)
			if known && count != 0 {
				commit = n
			}
			if known && page != 0 && seen[page] {
				return damagedAt(bad) + fmt.Sprintf(", although the transaction after it, with frame %d, was begun", n), nil
			}
			seen[page] = seen[page] || known
			if commit != 0 && commit < last {
				return damagedAt(bad) + fmt.Sprintf(", although the transaction that ends with frame %d was finished", commit), nil
			}
			// The next frame can still be held against what this one says of itself.
			sum.a, sum.b = number(frame[16:]), number(frame[20:])
		}
	}
	return "", nil
}

func damagedAt(frame int64) string {
	return fmt.Sprintf("does not check at frame %d, byte %d", frame, logHeader+(frame-1)*frameSize)
}

func isZero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}

type checksum struct {
	order binary.ByteOrder
	a, b  uint32
}

func (s *checksum) add(bytes []byte) {
	a, b := s.a, s.b
	if s.order == binary.LittleEndian {
		for ; len(bytes) >= 8; bytes = bytes[8:] {
			a += binary.LittleEndian.Uint32(bytes) + b
			b += binary.LittleEndian.Uint32(bytes[4:]) + a
		}
	} else {
		for ; len(bytes) >= 8; bytes = bytes[8:] {
			a += binary.BigEndian.Uint32(bytes) + b
			b += binary.BigEndian.Uint32(bytes[4:]) + a
		}
	}
	s.a, s.b = a, b
}

// equals reports whether the sum is the one that is stored, which is always big-endian.
func (s *checksum) equals(stored []byte) bool {
	return binary.BigEndian.Uint32(stored) == s.a && binary.BigEndian.Uint32(stored[4:]) == s.b
}

// isOneByteOff reports whether the frame after this sum would check if one of its bytes were
// another. Such a frame was written as a whole and rotted, which a write that was cut short does
// not look like. So a changed byte is noticed in the last commit as well, where no later commit can
// tell.
func (s checksum) isOneByteOff(frame []byte, offset int64) bool {
	stored := frame[16:24]
	s.add(frame[:8])
	s.add(frame[frameHeader:])
	a, b := binary.BigEndian.Uint32(stored)-s.a, binary.BigEndian.Uint32(stored[4:])-s.b
	if oneByte(a+s.a, s.a) && b == 0 || oneByte(b+s.b, s.b) && a == 0 {
		return true // a byte of the stored sum
	}
	// The sum is linear in each of its words. From the last pair to the first: how much the sum
	// grows when the words of this pair grow by one.
	aByFirst, bByFirst, aBySecond, bBySecond := uint32(1), uint32(1), uint32(0), uint32(1)
	for i := len(frame) - 8; i >= 0; i -= 8 {
		at := i
		if i < frameHeader {
			at = 0 // the page and the count; the rest of the header is not summed
		}
		for half, by := range [2][2]uint32{{aByFirst, bByFirst}, {aBySecond, bBySecond}} {
			if a*by[1] != b*by[0] {
				continue // no change of this word moves the two so; without this line it is the same, and slow
			}
			word := frame[at+4*half : at+4*half+4]
			for lane := range 4 {
				old := word[lane]
				shift := 8 * lane
				if s.order == binary.BigEndian {
					shift = 24 - shift
				}
				for value := range 256 {
					by0 := (uint32(value) - uint32(old)) << shift
					if by0 != 0 && by0*by[0] == a && by0*by[1] == b && !unwritten(frame, at+4*half+lane, offset) {
						return true
					}
				}
			}
		}
		if at == 0 {
			return false
		}
		// One more pair after this one: a' = a + x + b, b' = b + y + a'.
		aByFirst, bByFirst = carry(aByFirst, bByFirst)
		aBySecond, bBySecond = carry(aBySecond, bBySecond)
	}
	return false
}

// carry takes a change of the sum through a pair of words.
func carry(a, b uint32) (uint32, uint32) {
	a += b
	return a, b + a
}

// oneByte reports whether two numbers differ in exactly one byte.
func oneByte(x, y uint32) bool {
	d := x ^ y
	return d != 0 && (d&^0xff == 0 || d&^0xff00 == 0 || d&^0xff0000 == 0 || d&^0xff000000 == 0)
}

// oneApart reports whether two texts of one length differ in exactly one byte.
func oneApart(x, y string) bool {
	n := 0
	for i := range len(x) {
		if x[i] != y[i] {
			n++
		}
	}
	return n == 1
}

// unwritten reports whether the sector of a byte holds nothing, as after a write that was cut
// short.
func unwritten(frame []byte, at int, offset int64) bool {
	const sector = 512
	from := (offset+int64(at))/sector*sector - offset
	return isZero(frame[max(from, 0):min(from+sector, int64(len(frame)))])
}

// maxLogBytes is how long the log may become before it is put into the file.
const maxLogBytes = 16 << 20

// shorten puts a long log into the file. On a full disk the log stays, which has everything; any
// other failure stops the ledger.
func (l *Ledger) shorten() {
	if l.StopCause() != nil {
		return
	}
	size, err := logSize(l.Path)
	if err == nil && size > maxLogBytes {
		err = l.conn.empty()
	}
	if err != nil && !isFull(err) {
		l.Broken = &ledger.WriteError{Path: l.Path, Broken: true, Err: err}
	}
}

func logSize(path string) (int64, error) {
	info, err := os.Stat(path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	} else if err != nil {
		return 0, fmt.Errorf("the log of the ledger cannot be found: %w", err)
	}
	return info.Size(), nil
}

// cutLog removes what is in the log after the last commit.
func cutLog(path string, size int64) error {
	f, err := os.OpenFile(path+"-wal", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Size() > size {
		err = errors.Join(f.Truncate(size), f.Sync())
	}
	return errors.Join(err, f.Close())
}
