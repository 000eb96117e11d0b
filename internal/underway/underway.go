// Package underway keeps in a file whose questions a process is answering, so that where the
// process dies its next one knows by whose question that may have been.
//
// The file is written before a question begins and when it is done, and never waits for a disk:
// what a process has written is there when it is killed. A machine that loses its power may lose
// it, and then nobody is named, as where there is no file.
package underway

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
)

// Asker is who asks about which dataset.
type Asker struct{ Dataset, Analyst string }

// File is the file of one process. A nil one notes nothing.
type File struct {
	mu       sync.Mutex
	file     *os.File
	now      map[Asker]int  // how many questions of each are under way
	suspects map[Asker]bool // under way when a process died, and without an answer since
	died     map[Asker]bool // under way when the last process died
	size     int            // of what is written
}

// Open reads what the last process left in a file, and makes it this one's.
func Open(path string) (*File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	f := &File{file: file, now: map[Asker]int{}, suspects: map[Asker]bool{}, died: map[Asker]bool{}}
	text, err := io.ReadAll(io.LimitReader(file, maxFileBytes))
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	f.size = len(text)
	for line := range strings.Lines(string(text)) {
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(parts) != 3 || !strings.HasSuffix(line, "\n") { // what was cut off names nobody
			continue
		}
		who := Asker{parts[1], parts[2]}
		switch parts[0] {
		case "asks":
			f.died[who] = true
		case "suspect":
			f.suspects[who] = true
		}
	}
	return f, nil
}

// maxFileBytes is how much of a file is read: more than as many as a server lets ask at once.
const maxFileBytes = 16 << 20

// Suspect returns by whose question about a dataset the last process died, as far as that is known,
// and keeps in mind who else it may have been. It is known where one analyst's were under way, or
// where of several one was under way when a process died before.
func (f *File) Suspect(dataset string) (analyst string) {
	if f == nil {
		return ""
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var all, again []string // each once, whatever they asked
	for who := range f.died {
		if (who.Dataset == dataset || who.Dataset == "") && !slices.Contains(all, who.Analyst) {
			all = append(all, who.Analyst)
			if f.suspects[Asker{dataset, who.Analyst}] {
				again = append(again, who.Analyst)
			}
		}
	}
	maps.DeleteFunc(f.died, func(who Asker, _ bool) bool { return who.Dataset == dataset })
	switch {
	case len(all) == 1:
		analyst = all[0]
	case len(again) == 1:
		analyst = again[0]
	default:
		for _, name := range all {
			f.suspects[Asker{dataset, name}] = true
		}
	}
	f.write()
	return analyst
}

// Forget forgets what the last process left that nobody has asked for.
func (f *File) Forget() {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.died)
	f.write()
}

// Suspected reports whether an analyst's question may have been what a process died of.
func (f *File) Suspected(analyst string) bool {
	if f == nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for who := range f.suspects {
		if who.Analyst == analyst {
			return true
		}
	}
	return false
}

// Begin notes that a question begins; where it may be about all datasets, that of no name. The
// function notes that it is done: then it was not what a process died of.
func (f *File) Begin(dataset, analyst string) (done func()) {
	if f == nil || strings.ContainsAny(dataset+analyst, "\t\n") {
		return func() {}
	}
	who := Asker{dataset, analyst}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.now[who]++; f.now[who] == 1 {
		f.write()
	}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.now[who]--; f.now[who] == 0 {
			delete(f.now, who)
		}
		if f.now[who] == 0 || f.suspects[who] {
			delete(f.suspects, who)
			f.write()
		}
	}
}

// Close closes the file in order: nobody's question is under way.
func (f *File) Close() error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.now)
	f.write()
	return f.file.Close()
}

// write writes the file. What cannot be written names nobody, which the policy's failures bear. The
// lock is held.
func (f *File) write() {
	var b strings.Builder
	line := func(what string, who Asker) { fmt.Fprintf(&b, "%s\t%s\t%s\n", what, who.Dataset, who.Analyst) }
	for who := range f.suspects {
		line("suspect", who)
	}
	for who := range f.died { // about datasets that nobody has looked after yet
		line("asks", who)
	}
	for who := range f.now {
		line("asks", who)
	}
	for b.Len() < f.size { // it is never cut, so that one write is all of it
		b.WriteByte('\n')
	}
	if n, err := f.file.WriteAt([]byte(b.String()), 0); err == nil {
		f.size = n
	}
}
