package pace

import "context"

// Turns are what a question has of a server's queues.
type Turns interface {
	// Give gives the turn back, where the question has one; Take waits for one again.
	Give()
	Take(context.Context) error
	// Aside waits for a place for work on what was released. The function gives it back.
	Aside(context.Context) (leave func(), err error)
}

// Turns sets where the question has its turn.
func (p *Pace) Turns(t Turns) { p.turns = t }

// Await waits, by a function, for somebody else who does what the question of a context was about
// to do. It has no turn meanwhile and no part of the machine, so others need not wait for it.
func Await(ctx context.Context, wait func(context.Context) error) error {
	p := of(ctx)
	if p == nil || p.turns == nil {
		return wait(ctx)
	}
	return p.rest(func() error {
		p.turns.Give()
		p.leavePlace()
		if err := wait(ctx); err != nil {
			return err
		}
		return p.turns.Take(ctx)
	})
}

// Aside works by a function on what was released, which needs no turn of those who run on private
// data: a long query over an answer does not keep them waiting. The question has its place until
// the time of that work is over: else many that are done would each keep a part of the machine.
func Aside(ctx context.Context, do func(context.Context) error) error {
	p := of(ctx)
	if p == nil || p.turns == nil {
		return do(ctx)
	}
	err := p.rest(func() error {
		p.turns.Give()
		p.leavePlace()
		leave, err := p.turns.Aside(ctx)
		if err == nil {
			p.mu.Lock()
			p.place = leave
			p.mu.Unlock()
		}
		return err
	})
	if err != nil {
		return err
	}
	return do(ctx)
}

// leavePlace gives a place back that the question has for work on what was released.
func (p *Pace) leavePlace() {
	p.mu.Lock()
	leave := p.place
	p.place = nil
	p.mu.Unlock()
	if leave != nil {
		leave()
	}
}

// rest waits by a function, without a part of the machine.
func (p *Pace) rest(wait func() error) error {
	p.mu.Lock()
	_, open := p.close(0)
	p.mu.Unlock()
	err := wait()
	if open {
		p.mu.Lock()
		p.open()
		p.mu.Unlock()
	}
	return err
}
