package ownersocket

import (
	"crypto/ed25519"
	"testing"

	"github.com/discreet-dp/discreet/ledger"
)

// TestNoKeyLeaves: no entry is packed together with the key that signs it.
func TestNoKeyLeaves(t *testing.T) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	if _, _, err := pack(ledger.Renewal{Dataset: "d", From: 1, Reason: "r", Signer: key}); err == nil {
		t.Error("a renewal is packed with its key")
	}
	if p, _, err := pack(ledger.TopUp{Reason: "r", Signer: key}); err != nil || p.TopUp.Signer != nil {
		t.Error("a top-up is packed with its key", err)
	}
	if p, _, err := pack(ledger.Release{Reason: "r", Signer: key}); err != nil || p.Release.Signer != nil {
		t.Error("a release is packed with its key", err)
	}
}
