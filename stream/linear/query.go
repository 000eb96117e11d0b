package linear

// Factor weighs cells by some of their attributes.
type Factor struct {
	// Attributes are places in the domain, rising.
	Attributes []int
	// Weights has a whole number for each combination of values of the attributes, the last attribute fastest.
	Weights []int64
}

// Query is a linear query in canonical form: the same weights, however they were written, are the same query with the same Key. It does not change.
type Query struct{}

// Query returns the product of factors, times steps where all are of 0 and 1. At most one factor may have weights above 1; they go up to steps, which is 1 for
// predicates. No factor selects everything.
func (d *Domain) Query(steps int64, factors ...Factor) (*Query, error) { panic("not built") }

// Where returns the query that counts people whose values are among some, by attribute name. An attribute that is not named may have any.
func (d *Domain) Where(values map[string][]string) (*Query, error) { panic("not built") }

// Key names the query within its domain: SHA-256 of its canonical form, 32 bytes.
func (q *Query) Key() string { panic("not built") }

// Steps is the weight that counts as one person.
func (q *Query) Steps() int64 { panic("not built") }

// Domain is what the query is over.
func (q *Query) Domain() *Domain { panic("not built") }

// Factors returns the canonical factors, for printing and for storing; Query of them is the query again.
func (q *Query) Factors() []Factor { panic("not built") }

// Complement weighs every cell with what it lacks to Steps.
func (q *Query) Complement() *Query { panic("not built") }
