// Package expr builds expressions of a tree. Every one is total: it has a value, perhaps NULL, for
// every row. Division by zero is NULL, and nothing overflows, which is proven while the tree is
// built: every number has an interval that it cannot leave ([tree.Type]), which starts from the
// bounds of columns or the 64 bits of their storage and is carried through each operation. What
// could exceed 120 bits, or 2^900 for a floating-point number, is refused.
//
// Functions are rows of one table, which names, checks, types and computes them. [Eval] is what an
// expression means, and the reference for what every engine must compute. [Normal] brings
// expressions that mean the same, in the common cases, to one tree.
package expr
