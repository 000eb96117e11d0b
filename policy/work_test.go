package policy_test

import (
	"testing"

	"github.com/discreet-dp/discreet/policy"
)

func TestDefaultsOfWork(t *testing.T) {
	if (&policy.Dataset{}).Fanout() != 1000 || (&policy.Table{}).Joined() != 200 {
		t.Error("other defaults than the docs have")
	}
}
