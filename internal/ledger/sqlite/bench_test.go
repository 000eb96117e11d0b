package sqlite

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/test/ledgertest"
	"github.com/discreet-dp/discreet/ledger"
)

// raw measures how long a write of a page and its fsync take, on the disk and at the moment of a
// benchmark, because disks have moods.
type raw struct {
	file *os.File
	at   int64
	n    int
	took time.Duration
}

func newRaw(b *testing.B, path string) *raw {
	f, err := os.Create(filepath.Join(filepath.Dir(path), "fsync"))
	noError(b, err)
	b.Cleanup(func() { f.Close() })
	return &raw{file: f}
}

// write appends as much as a charge appends to the log.
func (d *raw) write(b *testing.B, frames int) {
	page := make([]byte, frames*frameSize)
	start := time.Now()
	noError(b, ledgertest.ErrOf(d.file.WriteAt(page, d.at)))
	noError(b, d.file.Sync())
	d.took += time.Since(start)
	d.n++
	d.at += int64(len(page))
	if d.at > maxLogBytes {
		d.at = 0
	}
}

// BenchmarkCharge measures charges one after the other, in turns with the disk: a charge is one
// fsync and little else.
func BenchmarkCharge(b *testing.B) {
	l, path := fresh(b)
	d := newRaw(b, path)
	limit := hospital(1 << 20)
	i := 0
	for b.Loop() {
		mustCharge(b, l, ask(fmt.Sprint(i), limit))
		i++
		b.StopTimer()
		d.write(b, 2)
		b.StartTimer()
	}
	b.ReportMetric(float64(i)/b.Elapsed().Seconds(), "charges/s")
	b.ReportMetric(float64(d.n)/d.took.Seconds(), "fsyncs/s")
	b.ReportMetric(b.Elapsed().Seconds()/d.took.Seconds(), "fsyncs/charge")
	b.ReportMetric((b.Elapsed()-d.took).Seconds()*1000/float64(i), "ms-excess/charge")
}

// BenchmarkClients measures charges of a thousand clients at once, each of which waits for its
// receipt before it asks again.
func BenchmarkClients(b *testing.B) {
	l, path := fresh(b)
	d := newRaw(b, path)
	for range 200 {
		d.write(b, 2)
	}
	accounts := []ledger.Account{hospital(1 << 24), {Name: "hospital/ana", Filter: admits(1 << 24)}}
	mustCharge(b, l, ask("first", accounts...))
	runClients(b, l, 1000, "charges", func(i int64) error {
		return ledgertest.ErrOf(l.Charge(ctx, ask(fmt.Sprintf("8d1c6c1e-7a1f-4c0e-9d55-%012d", i), accounts...)))
	})
	b.ReportMetric(float64(d.n)/d.took.Seconds(), "fsyncs/s")
}

// runClients has clients do something b.N times altogether, each of which waits for its own before
// it does the next.
func runClients(b *testing.B, l *Ledger, clients int, what string, do func(i int64) error) {
	before := l.commits
	var next atomic.Int64
	b.ResetTimer()
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				if err := do(i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), what+"/s")
	b.ReportMetric(float64(b.N)/float64(l.commits-before), what+"/commit")
}

// BenchmarkOpen measures how fast a ledger is opened: without a checkpoint, checked from its
// first record to its last, and with one. DISCREET_BENCH_RECORDS is how many records there are, in
// thousands, separated by commas; DISCREET_BENCH_FOLDER keeps the ledgers for the next run.
func BenchmarkOpen(b *testing.B) {
	for _, thousands := range strings.Split(cmp.Or(os.Getenv("DISCREET_BENCH_RECORDS"), "200,1000"), ",") {
		n, err := strconv.Atoi(thousands)
		noError(b, err)
		path := filepath.Join(cmp.Or(os.Getenv("DISCREET_BENCH_FOLDER"), b.TempDir()), fmt.Sprintf("ledger%d.db", n))
		if _, err := os.Stat(path); err != nil {
			noError(b, os.MkdirAll(filepath.Dir(path), 0o700))
			l := reopen(b, path)
			write(b, l, 1000*n)
			mustClose(b, l)
		}
		// In full first, which leaves the checkpoint that the other opens by.
		for _, how := range []Options{{Full: true}, {}} {
			b.Run(fmt.Sprintf("%d/full=%v", 1000*n, how.Full), func(b *testing.B) {
				for b.Loop() {
					l, err := OpenWith(path, how)
					noError(b, err)
					mustClose(b, l)
				}
				b.ReportMetric(float64(1000*n)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
			})
		}
	}
}

// write appends charges and their answers in large transactions, which no caller can do.
func write(b *testing.B, l *Ledger, records int) {
	b.Helper()
	accounts := []ledger.Account{hospital(1 << 24), {Name: "hospital/ana", Filter: admits(1 << 24)}}
	answer := []byte(strings.Repeat("x", 200))
	for i := 0; i < records; {
		g := l.NewGroup()
		for ; i < records && len(g.Links) < 10_000; i += 2 {
			links, err := l.State.Charge(ask(fmt.Sprintf("8d1c6c1e-7a1f-4c0e-9d55-%012d", i), accounts...), time.Now())
			if err == nil {
				err = g.Add(nil, links...)
			}
			if err == nil {
				charge := links[len(links)-1].Record.Sequence
				err = g.Add(answer, l.State.Answer(charge, ledger.Hash(fmt.Sprint("key", i)), ledger.Hash(answer), time.Now()))
			}
			noError(b, err)
		}
		noError(b, (writer{l}).Write(g))
		l.shorten()
	}
}

// BenchmarkNote measures notes of one client, and of 16 at once, each of which waits for its own
// before it writes the next.
func BenchmarkNote(b *testing.B) {
	for _, clients := range []int{1, 16} {
		b.Run(fmt.Sprint(clients), func(b *testing.B) {
			l, path := fresh(b)
			d := newRaw(b, path)
			for range 200 {
				d.write(b, 2)
			}
			entry := make([]byte, 100)
			mustNote(b, l, "session", "first")
			runClients(b, l, clients, "notes", func(int64) error {
				return l.Note(ctx, "hospital/patients/v1/0123456789abcdef", entry)
			})
			b.ReportMetric(float64(d.n)/d.took.Seconds(), "fsyncs/s")
		})
	}
}

// BenchmarkNotes measures how fast the notes of a session are read, and a ledger of them is opened.
func BenchmarkNotes(b *testing.B) {
	const records = 100_000
	l, path := fresh(b)
	for i := 0; i < records; {
		g := l.NewGroup()
		for ; i < records && len(g.Links) < 10_000; i++ {
			note := make([]byte, ledger.NoteSalt+100)
			link, err := l.State.Note("hospital/patients/v1/0123456789abcdef", ledger.Hash(note), time.Now())
			if err == nil {
				err = g.Add(note, link)
			}
			noError(b, err)
		}
		noError(b, (writer{l}).Write(g))
		l.shorten()
	}
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			if all, err := l.Notes(ctx, "hospital/patients/v1/0123456789abcdef"); err != nil || len(all) != records {
				b.Fatal(len(all), err)
			}
		}
		b.ReportMetric(records*float64(b.N)/b.Elapsed().Seconds(), "notes/s")
	})
	mustClose(b, l)
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			mustClose(b, reopen(b, path))
		}
		b.ReportMetric(records*float64(b.N)/b.Elapsed().Seconds(), "records/s")
	})
}
