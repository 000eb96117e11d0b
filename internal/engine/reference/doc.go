// Package reference is an engine that is as simple as it can be: it walks the tree of a question
// over rows in memory. It is the specification that every other engine is held against, and audits
// run it on made-up databases by the ten thousand. Nobody's data belongs here: it is slow, and it
// keeps everything in memory.
//
// # What every engine computes
//
//  1. A stored value is read as the policy declares it ([Declared]): cast, rounded to the lattice,
//     clamped to the bounds. What cannot be cast is NULL. An identity is read as it is stored.
//  2. Whose a row is, its unit, is the value of the table's unit column; where the policy's path
//     has several steps, that of the row at the end of the path; where every row is a person, the
//     row itself. A path that ends nowhere leads to nobody.
//  3. A row of nobody, whose unit is NULL, counts nowhere.
//  4. Where [tree.Query.Bounded] says that somebody may have several rows, a person's rows are
//     first reduced to one partial for each group: a count, a sum, at most MaxRows different
//     values, at most MaxRows values. Of the partials at most MaxGroups are kept, and each is
//     clamped to [tree.Query.Interval].
//  5. Which groups and which values of a person are kept is the engine's choice, and depends on the
//     question, on the person's name and on the person's own rows, and on nothing else: not on
//     other people, and not on the order of rows. A row's number in its table depends on the rows
//     before it. So where every row is a person, a number is no name that a choice may be made by.
//  6. Where it says that nobody has, rows are added up as they are. Then everything rests on
//     [tree.Relation.Single].
//  7. A group is a combination of public values and, where there are private keys, of what is
//     found. MaxGroups bounds both together. A combination of private keys is found where
//     somebody's partial was kept in it, and its Persons are those people.
//  8. Totals are clamped to 62 bits.
//
// A [tree.Cut] that is Sorted is there for engines that put a person's rows into an order, and may
// be left out: what is above it bounds the person anyway.
//
// The choice of 5 is a parameter here, [Engine.Order]. Two engines agree exactly where nobody
// exceeds a limit; where somebody does, both must stand the comparison of neighbours in package
// neighbours.
package reference
