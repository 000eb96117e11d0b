package admission

import "context"

// What reading texts may take: what they are is known only when they are read, and one that cannot
// be read is no question. Honest clients send a few texts for each question, and hostile ones
// garbage on all of their connections.
const (
	readPlaces  = 2       // at once, and one for each user
	readWaiting = 200     // of one user, who may have a hundred connections
	readFactor  = 10      // so many texts for each question that an analyst may ask in a minute
	readLeast   = 6000    // texts a minute, where questions are few
	readBytes   = 4 << 10 // of a text that count as one
	// requestWorth is as how many texts a request of HTTP counts. Pages send some dozens at once.
	requestWorth = 5
)

// Read waits for a turn and reads a text of so many bytes. It counts against the user's texts a
// minute. Errors are a [*LimitError], ErrWithdrawn and ErrEnding.
func (d *Dispatcher) Read(ctx context.Context, user string, bytes int, read func()) error {
	if err := d.texts.wait(ctx, user, 1+bytes/readBytes, d.options.Patience, d.queue.gone); err != nil {
		return err
	}
	leave, err := place(ctx, d.reads, d.texts.who(user))
	if err != nil {
		return err
	}
	defer leave()
	read()
	return nil
}

// Came counts a request of HTTP of so many bytes, which takes more than to read a text, and does
// not read it.
func (d *Dispatcher) Came(ctx context.Context, user string, bytes int) error {
	return d.texts.wait(ctx, user, requestWorth+bytes/readBytes, d.options.Patience, d.queue.gone)
}
