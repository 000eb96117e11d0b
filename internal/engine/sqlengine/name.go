package sqlengine

import "github.com/discreet-dp/discreet/policy"

// CheckName returns what is wrong with a name that is to be printed and recorded.
func CheckName(text string) string { return policy.CheckVersionName(text) }
