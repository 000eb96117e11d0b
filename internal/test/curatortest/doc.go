// Package curatortest sets up what tests of the curator, of its parts and of sessions ask: a
// [World], which is a made-up hospital under a policy with a real engine, a real ledger in a file
// and the curator between them, and a [Recorder] around both that writes down calls and lets them
// fail. There are hospitals with streams, holdouts, teams and private keys, engines that misbehave,
// and questions of every kind.
package curatortest
