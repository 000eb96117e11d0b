// Package admission takes the questions of every listener. Whoever comes in by the wire or by HTTP
// asks here, so that there is one queue, one limit of questions a minute, one timeout, one clock
// that answers leave by, and one place to wait for what is paid when the server ends.
//
// # The queue
//
// At most [Options.Running] questions have a turn at once. The others wait, and are served in
// rounds by analyst: one who sends five hundred waits for their own, and another who sends one is
// next. An analyst has at most half of the turns, so that long questions of one leave turns for the
// others. Of one analyst at most Running and [Options.Waiting] are with the dispatcher at a time;
// one more gets a [*LimitError]. A question counts from when it comes until its answer leaves, so
// that the limit shows nothing that a tick hides. Whoever stops waiting leaves the queue, and
// nothing was charged.
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
// from when its analyst asked and from what it took to plan that, and from nothing else. Prices,
// descriptions, free answers and refused questions count like others. What takes longer to plan
// than is usual counts as more of them, in the steps of the schedule. Names that the policy does
// not list share one limit, so that what is remembered is bounded by the policy.
//
// # Texts
//
// What a text is is known only when it is read, and one that cannot be read is no question. Texts
// of a wire are read in turn by user ([Dispatcher.Read]), two at once and one of a user, and have a
// limit a minute of their own, far above what honest clients send: garbage on all connections of
// one user delays nobody else by more than one text. What comes by HTTP is read in its turn, after
// it was counted as a question.
//
// # How a question ends
//
// With what [discreet.DB.Ask] says, or with [ErrTimeout], [ErrCanceled], [ErrWithdrawn],
// [ErrEnding], [ErrInternal] or a [*LimitError]. An answer that is there is given, even where the
// time was over or the client had stopped it: it is paid for. A panic below becomes [ErrInternal],
// and its words are shown to nobody.
//
// # When answers leave
//
// How long a question takes can depend on the data: on how many rows pass a condition, and on
// whether one of them does, where one row switches on work for all others. Unless the policy of a
// dataset says otherwise, everything that comes of a question leaves at its deadline.
//
// The work begins on a tick, so that nobody chooses when within one. Ticks are multiples of a time,
// counted on the monotonic clock from when the dispatcher was made. Each run of the engine has a
// public time ([publictime]), and the schedule of package releaseclock says when that is over:
// questions that run at once share the machine in equal parts, which is computed and not measured.
// What comes of the question is written into the ledger, leaves, and gives its turn back on the
// next tick after that, and not before: so its own time and the times of those beside and behind it
// are functions of texts, of the sizes of tables and of when others asked. Nobody stops a question
// that has looked at data. Who cancels it, hangs up or has a timeout of their own is told so on the
// next tick, whether it is done by then or not, and it goes on to its deadline: the answer is kept,
// for when the same request is asked again. A question whose public time is beyond
// [Options.Timeout] is refused before anything is charged.
//
// Load is no failure. A question that is not done at its deadline goes on, and leaves at a doubling
// of its time. It has failed when it has worked for longer than its public time, by what processors
// did for this process, and once more when it had the machine to itself: that is told to whoever
// asked, as often as the policy bears failures. Noise is drawn in a training, so it does not run
// twice, and has failed the first time. On Trino it is the cluster that says what its processors
// worked: a question that is late has failed when that is half of its public time, and else it has
// waited, in a queue or for what others do there.
//
// With release: tick answers leave on the first tick after they are there, and the turn is given
// back before that. What stops a question does so on the next tick. Then how many ticks it was is
// seen, and one row can decide that. With release: immediate they leave at once.
//
// Prices, descriptions, refusals, budgets that do not admit a question, and answers from memory
// leave on a tick, in whichever way: they depend on the text, the policy, public tables, and on
// what was asked before, but the time that they take may depend on more. What is turned away before
// a question has a turn, by limits, by the end of the server, because its client is gone already or
// because there is no such dataset or session, leaves at once. Where the time that the owner gave
// the server to end is over, all that waits is let go, at one moment that nobody who asks has
// chosen.
//
// What was answered since the last tick is not used to make other answers, and prices do not speak
// of it: they would tell that it is there before it leaves. What a session has left is told when
// the answer that took it has left.
//
// What a deadline does not cover:
//
//   - A failure. That a question worked for longer than its public time is one bit, told as often as
//     the policy bears failures.
//   - A machine that is so busy with what is not on the schedule (other processes, handshakes,
//     passwords) that a question gets less than half of what it would have alone. Then it is late,
//     and by how many doublings depends on what it has to do.
//   - Waiting by itself. What waits for a disk works for a quarter of that time, so a question that
//     reads or spills more because of one row may leave at a doubling, twice at most, uncounted.
//   - A flood of clients beside a question. Goroutines that wait for each other are taken to be the
//     question's too, for three quarters of its time at most, because load must not be a failure. So
//     beside such a flood one that works for up to four times its public time because of one row may
//     leave at a doubling, twice at most, uncounted.
//   - The sizes of tables, which public times tell. Where the policy declares them they are its
//     owner's word, and data that has outgrown them makes answers late. Where it does not they are
//     counted, and rounded up to half-octaves. Then one person's rows matter to them where a number is
//     next to such a step, or where that person has a good part of all rows, of the bytes of a text
//     column or of its different values: nothing cuts these before they are counted.
//   - What else the server does meanwhile. Texts that are read, prices, descriptions, queries over
//     answers and the catalogue are on the schedule by one and a half times their processor time, in
//     doublings. But a processor is slower while another one uses their caches and memory, and what
//     is not on the schedule (a handshake, a page, a password) comes a little later on a busy machine:
//     who asks very often sees some of how long a question works. Where that matters, the listeners run
//     on other processors than the engine.
//   - The order of records. The ledger numbers charges and answers as they come, so the sequences
//     of two receipts can say whether the answer to one question was kept before the other was
//     charged. With deadlines both moments are public.
//   - Holdouts, boards and synthetic tables. What a holdout has left, what is on its board and what
//     a stream predicts change when an answer is made, and so can show before that answer's own
//     tick that it was made. What making one does beside noise is decided by the question and by
//     what the answer says. Of streams, prices say only what was so at the last tick.
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
