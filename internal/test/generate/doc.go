// Package generate makes up questions, databases and texts for audits: all that a policy allows to
// be asked and much that it does not, and people whom a system may forget something about. It reads
// a policy and never data. The same seed makes the same.
//
//   - [Maker.Question] makes a valid question, mostly: joins along paths, units and public tables,
//     WITH, subqueries, UNION ALL, EXISTS, aggregates per person, all kinds of keys, all
//     aggregates, what is above the noise, answers that limit others, lists of keys, public tables
//     alone, and names as tools write them. What expressions and aggregates there are stands in
//     two tables, a line each; a line that the planner does not know is left out when a Maker is
//     made, so that the tables may be ahead of it.
//   - [Make] makes a database of hard people, and [Database.Neighbour] the same database without
//     one of them, or with somebody else instead: in all tables, and in all rows that a path leads
//     to the person from.
//   - [Maker.Sharp] makes questions of extremes, as an attacker would who looks for what a proof
//     has forgotten; [Pair] makes neighbours for them, with a person whom questions can single out,
//     and [Extremes] are policies with hard columns.
//   - [Maker.Text] makes a text near the grammar, which must be refused or mean something, and
//     never break anything.
//   - [Attacks] are what hostile analysts ask, by family.
//   - [Worlds] are policies with something of everything.
//   - [DrawRows] draws rows of every type of column, and [DrawAny], [DrawNumber] and [DrawCondition]
//     expressions over them, often at the edges where databases disagree; [Declared] says what each
//     stored value is read as. Every engine is held against the same ones.
//
// Every name and every text constant that a question brings itself begins with [Mark], unless it is
// a sharp one. No engine may print one: names are the planner's, and constants are parameters.
package generate
