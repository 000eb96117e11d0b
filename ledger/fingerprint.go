package ledger

import (
	"crypto/sha256"
	"encoding/hex"
)

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
