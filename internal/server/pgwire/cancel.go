package pgwire

import (
	"crypto/subtle"
	"encoding/binary"
	"sync"

	"github.com/discreet-dp/discreet/internal/entropy"
)

// sessions are those that can be canceled, by the number that their clients know them by.
type sessions struct {
	mu     sync.Mutex
	random *entropy.Source
	byPID  map[uint32]*session
}

func newSessions() *sessions {
	return &sessions{random: entropy.New(), byPID: map[uint32]*session{}}
}

// add gives a session a number and a secret.
func (all *sessions) add(s *session) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for {
		pid := all.random.Uint32() >> 1 // clients take it for a signed number
		if _, taken := all.byPID[pid]; pid != 0 && !taken {
			s.pid, s.secret = pid, binary.BigEndian.AppendUint32(nil, all.random.Uint32())
			all.byPID[pid] = s
			return
		}
	}
}

func (all *sessions) remove(s *session) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.byPID[s.pid] == s {
		delete(all.byPID, s.pid)
	}
}

// cancel stops the statement of a session, for whoever knows the secret. Nobody is told whether
// there was one.
func (all *sessions) cancel(pid uint32, secret []byte) {
	all.mu.Lock()
	s := all.byPID[pid]
	all.mu.Unlock()
	if s != nil && subtle.ConstantTimeCompare(s.secret, secret) == 1 {
		s.stop(errCanceled)
	}
}
