// Package planted has bugs that break a promise of docs/researcher.md, or what holds behind it
// (docs/enforcement.md), one patch a bug. The text before the diff says which promise that is, and
// which tests of the short run fail then:
//
//	Promise: filter: costs are rounded up
//	Test: ./dp/account -run 'TestChargesKnown$'
//
// .ci/planted plants each and demands that these tests fail. The tests of this package only hold
// that every patch still applies, and that the tests it names are there.
package planted
