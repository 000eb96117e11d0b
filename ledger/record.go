package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/discreet-dp/discreet/dp"
)

type Kind string

const (
	KindLedger   Kind = "ledger"   // the first record
	KindCharge   Kind = "charge"   // something was spent
	KindAnswer   Kind = "answer"   // what was released for a charge
	KindVersion  Kind = "version"  // the data of a dataset is another
	KindRenewal  Kind = "renewal"  // a dataset's next window began
	KindOwner    Kind = "owner"    // whose signature counts from here on
	KindTopUp    Kind = "topup"    // accounts may spend more
	KindRecovery Kind = "recovery" // what an anchor knew and this ledger had lost counts as spent
	KindNote     Kind = "note"     // what a session has to know after a restart, without its contents
	KindIncident Kind = "incident" // a question failed after its charge
	KindRelease  Kind = "release"  // the owner takes incidents back
)

// Format is the version of the layout of records.
const Format = "2"

// Record is one link of the chain. Which fields count depends on its kind; the package comment has
// the list.
type Record struct {
	Kind     Kind
	Sequence uint64
	Time     time.Time
	Previous string // the hash of the record before; all kinds but ledger

	Identity string // ledger

	Request           string
	Analyst           string // also of an incident; of a release, whose it takes back, or nothing for everybody's
	Dataset           string // also of a version, a renewal, an incident and a release
	DataVersion       string // also of a version
	Query, Mechanisms string
	Window            uint64 // the dataset's window, from 1 on; of a renewal, the one that begins
	// Cost is what a charge costs; of a top-up, what it adds to the limits.
	Cost dp.Cost
	// Balances are those after a charge or a recovery. Of a recovery only the amounts spent count.
	Balances []Balance

	Charge     uint64 // answer: the sequence of the charge that paid for it; also of an incident, or 0
	Key        string
	AnswerHash string // also of a note: of what is stored beside the record, with its salt

	Session string // note

	Failure              Failure // incident
	ByAnalyst, ByDataset uint64  // incident: how many the policy bore then

	Accounts []string // top-up: which limits it raises
	Reason   string   // renewal, owner, top-up, recovery, release: in the owner's words
	// PublicKey is Ed25519, in hexadecimal. Owner: whose signature counts from here on; recovery:
	// the same, where the ledger had lost it; top-up and release: who signed.
	PublicKey string
	Signature string // owner (but the first), top-up and release (where there is an owner): see Signed, in hexadecimal

	AnchorSequence uint64 // recovery
	AnchorHash     string

	scratch []byte // reused by Read
}

// signed reports whether records of the kind have a place for a signature.
func (k Kind) signed() bool { return k == KindOwner || k == KindTopUp || k == KindRelease }

// Encode returns the one encoding of the record.
func (r *Record) Encode() string {
	e := r.signed()
	if r.Kind.signed() {
		e.text(r.Signature)
	}
	return string(e.buf)
}

// Signed returns what the owner signs: the record without its signature, and with the position and
// the hash of the record that it follows as a decision (see [Deferred]) in the place of its own. So
// a signature fits one decision, in one ledger, once, whatever analysts do meanwhile.
func (r *Record) Signed(after Position) []byte {
	s := *r
	s.Sequence, s.Previous = after.Sequence, after.Hash
	return s.signed().buf
}

// SignedInPlace returns what owners signed up to November 2026: the record with its own position
// and the hash before it. Such a signature fits one place of one ledger, and no text is both: in
// what [Record.Signed] returns, the hash is that of the record with that sequence.
func (r *Record) SignedInPlace() []byte { return r.signed().buf }

func (r *Record) signed() encoder {
	e := encoder{make([]byte, 0, 512)}
	e.text(string(r.Kind))
	e.number(r.Sequence)
	e.text(r.Time.UTC().Format(time.RFC3339Nano))
	switch r.Kind {
	case KindLedger:
		e.text(Format)
		e.text(r.Identity)
		return e
	case KindCharge:
		e.texts(r.Request, r.Analyst, r.Dataset, r.DataVersion, r.Query, r.Mechanisms)
		e.number(r.Window)
		e.cost(r.Cost)
		e.balances(r.Balances)
	case KindAnswer:
		e.number(r.Charge)
		e.texts(r.Key, r.AnswerHash)
	case KindVersion:
		e.texts(r.Dataset, r.DataVersion)
	case KindRenewal:
		e.text(r.Dataset)
		e.number(r.Window)
		e.text(r.Reason)
	case KindOwner:
		e.texts(r.PublicKey, r.Reason)
	case KindTopUp:
		e.number(uint64(len(r.Accounts)))
		e.texts(r.Accounts...)
		e.cost(r.Cost)
		e.texts(r.Reason, r.PublicKey)
	case KindRecovery:
		e.number(r.AnchorSequence)
		e.texts(r.AnchorHash, r.Reason, r.PublicKey)
		e.balances(r.Balances)
	case KindNote:
		e.texts(r.Session, r.AnswerHash)
	case KindIncident:
		e.number(r.Charge)
		e.texts(r.Analyst, r.Dataset, string(r.Failure))
		e.number(r.ByAnalyst)
		e.number(r.ByDataset)
	case KindRelease:
		e.texts(r.Dataset, r.Analyst, r.Reason, r.PublicKey)
	}
	e.text(r.Previous)
	return e
}

// DecodeSigned reads what [Record.Signed] returns. Sequence and Previous are those of the record
// that it follows.
func (r *Record) DecodeSigned(text string) error {
	d := decoder{rest: text}
	if Kind(d.text()).signed() {
		text += "0:," // the place of the signature, which is empty
	}
	return r.Decode(text)
}

// Decode reads a record. It reuses the memory of r.
func (r *Record) Decode(body string) error {
	*r = Record{Balances: r.Balances[:0], Accounts: r.Accounts[:0], scratch: r.scratch}
	d := decoder{rest: body}
	r.Kind = Kind(d.text())
	r.Sequence = d.number()
	if !r.decodeTime(d.text()) {
		return errEncoding
	}
	switch r.Kind {
	case KindLedger:
		if d.text() != Format {
			return errEncoding
		}
		r.Identity = d.text()
	case KindCharge:
		d.texts(&r.Request, &r.Analyst, &r.Dataset, &r.DataVersion, &r.Query, &r.Mechanisms)
		r.Window = d.number()
		r.Cost = d.cost()
		r.Balances = d.balances(r.Balances, MaxAccounts)
	case KindAnswer:
		r.Charge = d.number()
		d.texts(&r.Key, &r.AnswerHash)
	case KindVersion:
		d.texts(&r.Dataset, &r.DataVersion)
	case KindRenewal:
		r.Dataset = d.text()
		r.Window = d.number()
		r.Reason = d.text()
	case KindOwner:
		d.texts(&r.PublicKey, &r.Reason)
	case KindTopUp:
		for range d.length(MaxAccounts) {
			r.Accounts = append(r.Accounts, d.text())
		}
		r.Cost = d.cost()
		d.texts(&r.Reason, &r.PublicKey)
	case KindRecovery:
		r.AnchorSequence = d.number()
		d.texts(&r.AnchorHash, &r.Reason, &r.PublicKey)
		r.Balances = d.balances(r.Balances, MaxRecovered)
	case KindNote:
		d.texts(&r.Session, &r.AnswerHash)
	case KindIncident:
		r.Charge = d.number()
		d.texts(&r.Analyst, &r.Dataset, (*string)(&r.Failure))
		r.ByAnalyst, r.ByDataset = d.number(), d.number()
	case KindRelease:
		d.texts(&r.Dataset, &r.Analyst, &r.Reason, &r.PublicKey)
	default:
		return errEncoding
	}
	if r.Kind != KindLedger {
		r.Previous = d.text()
	}
	if r.Kind.signed() {
		r.Signature = d.text()
	}
	if d.bad || d.rest != "" {
		return errEncoding
	}
	return nil
}

// decodeTime takes the one way in which Encode writes a time.
func (r *Record) decodeTime(text string) bool {
	var err error
	r.Time, err = time.Parse(time.RFC3339Nano, text)
	var b [len(time.RFC3339Nano)]byte
	return err == nil && string(r.Time.UTC().AppendFormat(b[:0], time.RFC3339Nano)) == text
}

// Hash returns the hash of an encoded record or of an answer.
func Hash[T string | []byte](b T) string {
	h := sha256.Sum256([]byte(b))
	return hex.EncodeToString(h[:])
}

// Read decodes a record that was stored with its hash and checks it. The answer is
// the hash of the bytes that were stored with it, or empty where there are none.
func (r *Record) Read(body, hash, answer string) error {
	// This is the inner loop of opening a ledger, so nothing is allocated here.
	r.scratch = append(r.scratch[:0], body...)
	var digits [2 * sha256.Size]byte
	sum := sha256.Sum256(r.scratch)
	hex.Encode(digits[:], sum[:])
	if string(digits[:]) != hash {
		return errors.New("the record was changed: it does not match its hash")
	}
	if err := r.Decode(body); err != nil {
		return err
	}
	if r.AnswerHash != answer {
		return errors.New("the answer was changed: it does not match its hash")
	}
	return nil
}

// Clone returns a record that shares no memory with this one, which may then be read into again.
func (r *Record) Clone() *Record {
	c := *r
	c.Balances, c.Accounts, c.scratch = slices.Clone(r.Balances), slices.Clone(r.Accounts), nil
	return &c
}

var errEncoding = errors.New("the record is not well encoded")

// encoder writes netstrings, "length:bytes,".
type encoder struct{ buf []byte }

func (e *encoder) text(s string) {
	e.buf = strconv.AppendInt(e.buf, int64(len(s)), 10)
	e.buf = append(e.buf, ':')
	e.buf = append(e.buf, s...)
	e.buf = append(e.buf, ',')
}

func (e *encoder) number(n uint64) {
	var b [20]byte
	e.text(string(strconv.AppendUint(b[:0], n, 10)))
}

func (e *encoder) cost(c dp.Cost) {
	e.number(uint64(c.Epsilon))
	e.number(uint64(c.Rho))
	e.number(uint64(c.Delta))
}

func (e *encoder) texts(all ...string) {
	for _, s := range all {
		e.text(s)
	}
}

func (e *encoder) balances(all []Balance) {
	e.number(uint64(len(all)))
	for _, b := range all {
		e.text(b.Account)
		e.cost(b.Limit)
		e.cost(b.Granted)
		e.cost(b.Spent)
	}
}

// decoder reads netstrings and remembers whether any was not the one way to
// write it. After that it returns zeros.
type decoder struct {
	rest string
	bad  bool
}

func (d *decoder) text() string {
	n, i := 0, 0
	for i < len(d.rest) && i < 9 && d.rest[i] >= '0' && d.rest[i] <= '9' {
		n = 10*n + int(d.rest[i]-'0')
		i++
	}
	if i == 0 || (i > 1 && d.rest[0] == '0') || len(d.rest)-i < n+2 || d.rest[i] != ':' || d.rest[i+1+n] != ',' {
		d.bad, d.rest = true, ""
		return ""
	}
	s := d.rest[i+1 : i+1+n]
	d.rest = d.rest[i+n+2:]
	return s
}

func (d *decoder) number() uint64 {
	s := d.text()
	if len(s) == 0 || len(s) > 20 || (len(s) > 1 && s[0] == '0') {
		d.bad = true
		return 0
	}
	n := uint64(0)
	for i := range len(s) {
		digit := uint64(s[i]) - '0'
		if digit > 9 || n > (math.MaxUint64-digit)/10 {
			d.bad = true
			return 0
		}
		n = 10*n + digit
	}
	return n
}

func (d *decoder) cost() dp.Cost {
	return dp.Cost{Epsilon: dp.Amount(d.number()), Rho: dp.Amount(d.number()), Delta: dp.Amount(d.number())}
}

func (d *decoder) texts(all ...*string) {
	for _, s := range all {
		*s = d.text()
	}
}

// length reads how many of something follow, which is at most so many.
func (d *decoder) length(most uint64) uint64 {
	n := d.number()
	if n > most {
		d.bad, d.rest = true, ""
		return 0
	}
	return n
}

func (d *decoder) balances(into []Balance, most uint64) []Balance {
	for range d.length(most) {
		into = append(into, Balance{Account: d.text(), Limit: d.cost(), Granted: d.cost(), Spent: d.cost()})
		if d.bad {
			break
		}
	}
	return into
}

// Fingerprint is what people compare instead of a public key, which is in hexadecimal: the first
// half of the key's SHA-256.
func Fingerprint(public string) string {
	raw, err := hex.DecodeString(public)
	if err != nil {
		return "unreadable"
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16])
}
