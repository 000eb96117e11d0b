package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/ledger"
)

// BenchmarkCharge measures charges one after the other. Beside it stands how often the
// same disk can overwrite a page and fsync it, measured in turns with the charges,
// because disks have moods: a charge is four of these and little else.
func BenchmarkCharge(b *testing.B) {
	l, path := fresh(b)
	f, err := os.Create(filepath.Join(filepath.Dir(path), "fsync"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	limit, page := hospital(1<<20), make([]byte, pageSize)
	var raw time.Duration
	i := 0
	for b.Loop() {
		mustCharge(b, l, ask(fmt.Sprint(i), limit))
		i++
		b.StopTimer()
		start := time.Now()
		if _, err := f.WriteAt(page, 0); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		raw += time.Since(start)
		b.StartTimer()
	}
	b.ReportMetric(float64(i)/b.Elapsed().Seconds(), "charges/s")
	b.ReportMetric(float64(i)/raw.Seconds(), "fsyncs/s")
	b.ReportMetric(b.Elapsed().Seconds()/raw.Seconds(), "fsyncs/charge")
}

// BenchmarkOpen measures how fast a ledger is checked from its first record to its
// last when it is opened.
func BenchmarkOpen(b *testing.B) {
	const records = 200_000
	l, path := fresh(b)
	write(b, l, records)
	mustClose(b, l)
	b.ResetTimer()
	for b.Loop() {
		mustClose(b, reopen(b, path))
	}
	b.ReportMetric(float64(records)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// write appends charges in one transaction, which no caller can do.
func write(b *testing.B, l *Ledger, records int) {
	b.Helper()
	if _, err := l.begin.Exec(); err != nil {
		b.Fatal(err)
	}
	accounts := []ledger.Account{hospital(1 << 20), {Name: "hospital/ana", Filter: admits(1 << 20)}}
	last, previous := l.state.Head()
	for i := range records {
		links, err := l.state.Charge(ask(fmt.Sprintf("8d1c6c1e-7a1f-4c0e-9d55-%012d", i), accounts...), time.Now())
		if err != nil {
			b.Fatal(err)
		}
		for _, k := range links {
			if _, err := l.insertRecord.Exec(k.Record.Sequence, k.Body, k.Hash, nil); err != nil {
				b.Fatal(err)
			}
			l.state.Apply(k.Record, k.Hash)
		}
	}
	n, hash := l.state.Head()
	if _, err := l.updateHead.Exec(n, hash, last, previous); err != nil {
		b.Fatal(err)
	}
	if _, err := l.commit.Exec(); err != nil {
		b.Fatal(err)
	}
}
