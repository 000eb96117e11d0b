// Package testcpu tells a test how much processor time its process has used. What others on the
// machine do changes that little, and a clock on the wall a lot: a test that bounds work by a clock
// fails where the machine is busy.
package testcpu
