package ledger_test

import (
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/ledger"
)

func TestKeys(t *testing.T) {
	if got := ledger.Keys("hospital v1 0a"); !slices.Equal(got, []string{"hospital v1 0a"}) {
		t.Errorf("one key is %q", got)
	}
	joined := ledger.JoinKeys("hospital v1 0a", "hospital v1 0b")
	if got := ledger.Keys(joined); !slices.Equal(got, []string{"hospital v1 0a", "hospital v1 0b", joined}) {
		t.Errorf("two keys are %q", got)
	}
	if err := ledger.ValidateKey(joined); err != nil {
		t.Error(err)
	}
}
