package users

import "container/list"

// recent is a map that keeps so many of its keys and forgets the one that was not touched for
// longest: attackers choose names, and must not choose how much memory we take.
type recent[K comparable, V any] struct {
	most  int
	order *list.List // of held, the newest first
	keys  map[K]*list.Element
}

type held[K comparable, V any] struct {
	key   K
	value V
}

func newRecent[K comparable, V any](most int) *recent[K, V] {
	return &recent[K, V]{most, list.New(), map[K]*list.Element{}}
}

func (r *recent[K, V]) get(key K) (v V, ok bool) {
	e, ok := r.keys[key]
	if !ok {
		return v, false
	}
	r.order.MoveToFront(e)
	return e.Value.(*held[K, V]).value, true
}

func (r *recent[K, V]) put(key K, value V) {
	if e, ok := r.keys[key]; ok {
		e.Value.(*held[K, V]).value = value
		r.order.MoveToFront(e)
		return
	}
	r.keys[key] = r.order.PushFront(&held[K, V]{key, value})
	if len(r.keys) > r.most {
		r.drop(r.order.Back().Value.(*held[K, V]).key)
	}
}

func (r *recent[K, V]) drop(key K) {
	if e, ok := r.keys[key]; ok {
		r.order.Remove(e)
		delete(r.keys, key)
	}
}
