package users

import (
	"errors"
	"time"

	"github.com/discreet-dp/discreet/internal/username"
)

type User struct {
	Name    string
	Role    Role
	Created time.Time
	Revoked time.Time // zero while they may come in

	epoch int64 // counts passwords and revocations; see StillIn
}

// Attempt says who tries to come in, and where.
type Attempt struct {
	Name     string
	Address  string // of the peer, without its port
	Listener string // wire, http, page or openid

	// Endpoint is the hash of the server's certificate (tls-server-end-point, RFC 5929), where the
	// listener offered SCRAM-SHA-256-PLUS. Whoever binds the exchange to it is safe from somebody
	// in between.
	Endpoint string
}

// Familiar reports whether somebody came in from an address, or from its network, within 30 days.
func (s *Store) Familiar(address string) bool {
	return s.attempts.guard.isFamiliar(pairOf(Attempt{Address: address}).address)
}

// What an attempt can get but a user. Any other error is trouble with the file or with the context;
// its words are for the owner's log and not for whoever tries to come in.
var (
	ErrDenied  = errors.New("the name, the password or the token is wrong, or no longer valid")
	ErrUnknown = errors.New("there is no such user")
)

// Denied reports whether somebody may not come in, or may not stay. Where an error is another one
// nobody knows.
func Denied(err error) bool { return errors.Is(err, ErrDenied) || errors.Is(err, ErrUnknown) }

var (
	ErrExists  = errors.New("a user with this name already exists; give them another password, or choose another name")
	ErrRevoked = errors.New("this was already revoked")
	ErrNoToken = errors.New("there is no such token")
)

// InvalidError says what is wrong with a name, a password, a role, a label or a date, and what
// would be right.
type InvalidError struct{ Field, Problem string }

func (e *InvalidError) Error() string { return e.Field + " " + e.Problem }

// CheckName checks a name: the rule is that of analysts in a policy.
func CheckName(name string) error {
	if name == "" {
		return &InvalidError{"the name", "is empty"}
	}
	if problem := username.Check(name); problem != "" {
		return &InvalidError{"the name", problem}
	}
	return nil
}

// Role is what a user may do. An owner sees the ledger and everybody's budget and asks nothing,
// unless the policy lists them as an analyst too.
type Role string

const (
	Owner   Role = "owner"
	Analyst Role = "analyst"
)

func (r Role) check() error {
	if r != Owner && r != Analyst {
		return &InvalidError{"the role", "must be owner or analyst"}
	}
	return nil
}
