package admission

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Texts that are not read yet wait by user: garbage on all connections of one delays nobody else
// by more than one text.
func TestRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(people(t, "immediate"), takes(0), Options{})
		slow := func() { time.Sleep(time.Second) }
		var all sync.WaitGroup
		for range 95 {
			all.Go(func() {
				if err := d.Read(t.Context(), "ana", 100, slow); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		for range 3 {
			begin := time.Now()
			if err := d.Read(t.Context(), "ben", 100, slow); err != nil || time.Since(begin) > 2*time.Second {
				t.Errorf("%v after %v", err, time.Since(begin))
			}
		}
		all.Wait()
		quiet(t, d)
	})
}

// Texts have a rate of their own, and long ones count as several. Few never wait.
func TestReadRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(people(t, "immediate"), takes(0), Options{Rate: 1, Patience: -1})
		read, begin := 0, time.Now()
		for i := range 200 {
			var limit *LimitError
			bytes := 100
			if i >= 100 {
				bytes = 256 << 10
			}
			err := d.Read(t.Context(), "ana", bytes, func() { read++ })
			if (err != nil) != (read < i+1) || err != nil && (!errors.As(err, &limit) || limit.Wait <= 0) {
				t.Fatalf("text %d, of which %d were read: %v", i, read, err)
			}
		}
		if read != 100+900/65 || time.Since(begin) != 0 {
			t.Errorf("%d were read in %v", read, time.Since(begin))
		}
		if err := d.Read(t.Context(), "ben", 256<<10, func() {}); err != nil {
			t.Error(err)
		}
	})
}
