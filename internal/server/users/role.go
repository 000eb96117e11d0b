package users

// Role is what a user may do. An owner sees the ledger and everybody's budget and asks nothing,
// unless the policy lists them as an analyst too.
type Role string

// The roles.
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
