// Package admission takes the questions of every door. Whoever comes in by the wire or by HTTP asks
// here, so that there is one queue, one limit of questions a minute, one timeout, one clock that
// answers leave by, and one place to wait for what is paid when the server ends.
//
// # The queue
//
// At most [Options.Running] questions are with the engine at once. The others wait, and are served
// in turn by analyst: one who sends five hundred waits for their own, and another who sends one is
// next. Where there is more than one turn, an analyst has at most all of them but one, so that long
// questions of one leave a turn for the others. Of one analyst at most Running and
// [Options.Waiting] are with the dispatcher at a time; one more gets a [*LimitError]. A question
// counts from when it comes until its answer leaves, so that the limit shows nothing that a tick
// hides. Whoever stops waiting leaves the queue, and nothing was charged.
//
// What is in memory needs no turn. A question that would have to wait for one, or for which there
// is no room, is looked for once, on a tick, among what was kept by then, which is what a price
// says too. Where it is there it is answered, and else it waits on, or is turned away on a tick.
// Prices and descriptions are made in the same way while others have the turns.
//
// # The limit
//
// An analyst may ask [Options.Rate] questions a minute, and a sixth of them at once (ten at least,
// where there are as many). What comes too early waits, up to [Options.Patience]; how long follows
// from when its analyst asked, and from nothing else. Prices, descriptions, free answers and
// refused questions count like others. Names that the policy does not list share one limit, so that
// what is remembered is bounded by the policy.
//
// # How a question ends
//
// With what [discreet.DB.Ask] says, or with [ErrTimeout], [ErrCanceled], [ErrWithdrawn],
// [ErrEnding], [ErrInternal] or a [*LimitError]. An answer that is there is given, even where the
// time was over or the client had stopped it: it is paid for. A panic below becomes [ErrInternal],
// and its words are shown to nobody.
//
// # The tick
//
// How long a question takes can depend on the data. Unless the policy of a dataset says release:
// immediate, everything that comes of a question leaves at a multiple of the tick, counted on the
// monotonic clock from when the dispatcher was made, and never earlier: answers, free answers,
// prices, descriptions, budgets that do not admit it, failures of the engine, timeouts,
// cancellations, and refusals too. The work begins at a multiple of the tick as well: whoever could
// choose how much of a tick is left for it would read how long it takes to the millisecond, by
// asking a few times. So as many questions begin on a tick as may run at once. Refusals depend on
// the text, the policy and public tables alone, their sizes among it, but the time that they take
// does not: checking a question can read public tables, which opens the data. The engine's place is
// given back before the wait, and the wait is not cut short by a client that goes away. What stops
// a question, a cancel, a lost connection or a timeout, does so at the next tick too: otherwise
// whoever cancels at a moment of their choice would learn from what comes of it whether the engine
// was done by then. What is turned away before a question has a turn, by limits, by the end of the
// server, because its client is gone already or because there is no such dataset or session, leaves
// at once. Where the time that the owner gave the server to end is over before a tick comes, all
// that waits for one is let go, at one moment that nobody who asks has chosen.
//
// What was answered since the last tick is not used to make other answers, and prices do not speak
// of it: they would tell that it is there before it leaves. What a session has left is told when
// the answer that took it has left.
//
// What a tick does not cover:
//
//   - How many ticks it was. A question that takes three is told from one that takes four, and one
//     that takes nearly as long as a number of ticks shows a small difference, asked often. A tick
//     should be longer than nearly all questions need; one that nobody set is chosen by the size of
//     the data ([policy.Release]).
//   - Load. Who runs beside a question notices how busy the machine is, by how long their own take;
//     and who waits behind it, by when their turn comes.
//   - The order of records. The ledger numbers charges and answers as they come, so the sequences
//     of two receipts can say whether the answer to one question was kept before the other was
//     charged.
//   - Timeouts. That a question reached the server's limit of time is told to whoever asked, as
//     often as the policy bears failures.
//   - Holdouts, boards and synthetic tables. What a holdout has left, what is on its board and what
//     a stream predicts change when an answer is made, and so can show before that answer's own
//     tick that it was made. What making one does beside noise is decided by the question and by
//     what the answer says. Of streams, prices say only what was so at the last tick.
//   - Balances. What is left of a budget is that of now. A question to a stream can charge more
//     than once, the second time after the engine has counted the cells for the first, so whoever
//     reads balances all the time learns about when that was.
//   - The size of what is sent, and the time that sending takes. Both depend on what was released,
//     and on nothing else.
//   - Anybody who can measure on the machine: caches of the processor, memory, disks, power.
//   - The owner's log, which says how long questions took.
//   - Who asks past the dispatcher: the library and the command line.
//
// # Sessions
//
// A session of an interactive mechanism has a name of 128 random bits, belongs to the analyst who
// opened it, and does not exist for anybody else: the error is the same ([ErrNoSession]). It ends
// when it is closed, when it is used up, when nobody asked it for [Options.Idle], and with the
// process. What it cost stays.
//
// A sparse session is all that there is of it: when it ends, it is gone. A session on a stream or
// on a holdout is only a way to it. The policy declares these, all analysts of the dataset share
// them, and what they know is in the ledger: whoever opens a session on the same name again goes on
// where it was, and a question that was asked before has the same answer, free. So they need no
// names for retries.
//
// # Models
//
// A training ([Dispatcher.Train]) is a question that lasts and that keeps all cores busy, so at
// most [Options.Training] run at once; others wait before they take a turn, so that short questions
// go on beside them. All else is as with questions: what it costs stays, whatever stops it, and on
// its tick it leaves. Models that were trained before, lists of them and predictions are made of
// what was released, and are looks ([Dispatcher.Look]); a model whose training has not left on its
// tick is not there for them either.
//
// # The end
//
// After [Dispatcher.Drain] began, who comes and who waits gets [ErrEnding]. Who has their turn is
// waited for.
package admission
