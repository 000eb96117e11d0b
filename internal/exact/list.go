package exact

import (
	"errors"
	"fmt"
)

// List is a sealed list: of group keys, where these are private.
type List[T any] struct{ open func() []T }

// SealList takes ownership of v.
func SealList[T any](v []T) List[T] { return List[T]{func() []T { return v }} }

// Pick returns the elements at some places, which a mechanism has released.
func (l List[T]) Pick(places []int) []T {
	out := make([]T, len(places))
	if l.open != nil {
		all := l.open()
		for i, p := range places {
			out[i] = all[p]
		}
	}
	return out
}

// String hides the value.
func (List[T]) String() string { return sealed }

// Format hides the value from every verb.
func (List[T]) Format(f fmt.State, _ rune) { fmt.Fprint(f, sealed) }

// MarshalJSON refuses: an exact value in a document is a bug, not a format.
func (List[T]) MarshalJSON() ([]byte, error) {
	return nil, errors.New("an exact list cannot be encoded")
}

// GobEncode refuses for the same reason.
func (List[T]) GobEncode() ([]byte, error) { return nil, errors.New("an exact list cannot be encoded") }

// Coded turns a list into codes, with the numbers that stand beside it, both sealed. What has no
// code is left out, and how many those are is sealed too. The code is a function of one element and
// of nothing private.
func Coded[T any](l List[T], numbers Vector, code func(T) (int, bool)) (codes, kept Vector) {
	if l.open == nil {
		return Vector{}, Vector{}
	}
	var at, beside []int64
	all := numbers.Open()
	for i, x := range l.open() {
		if c, ok := code(x); ok && i < len(all) {
			at, beside = append(at, int64(c)), append(beside, all[i])
		}
	}
	return Seal(at), Seal(beside)
}
