// Package publictime says how long a question may take, from what everybody may know: its finished
// tree, the sizes of the tables, declared or rounded up, and how fast the machine is. Answers leave
// when that time is over, and not when the work happens to be done, so that what one row switches
// on or off cannot be read from a clock.
//
// The time is a sum over the operators of the tree: so many rows, times what a row costs there and
// what is computed for it. All that a row could switch on is on:
//
//   - every row passes every condition, every branch of a CASE and every term of an OR is computed,
//     every text that could be a number is one;
//   - no side of a join is empty. Which of them a table of hashes is made of follows from public
//     sizes where the printer decides it, and is the larger one where the database does;
//   - no vector is constant and no column a dictionary; rows are stored in no order;
//   - people are as many, and a person's rows as many, as the sizes and the cuts of the tree allow,
//     and package bound reads as often as its memory may make it.
//
// What cannot be bounded closely is estimated: how many rows meet where a person's rows are joined
// with the same person's. A question that is made to take longer than its time fails as one that
// reaches its time limit does; what is here decides how often honest ones do.
//
// The constants are nanoseconds of one thread. They were chosen so that questions of the corpora,
// probes that do one thing, questions with switches and made-up ones take about a third to a half
// of their time, as processor time (docs/researcher.md says how).
package publictime
