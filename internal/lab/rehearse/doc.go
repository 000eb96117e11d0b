// Package rehearse shows the owner of data what a question would come to: the exact answer, what
// limits and bounds cut of it, and how far off answers with noise are, over many draws.
//
// All that it returns is exact and private. It is for the owner alone, at the machine that has the
// data: it stands above the server, which cannot import it, and it has neither a ledger nor an
// analyst. What is drawn goes the whole way of a question, through a curator whose ledger is in
// memory and is forgotten.
//
// The exact answer is that of the same question under a policy that limits nothing: each person
// counts with all rows, in all groups, and bounds are as wide as the data. An engine computes it in
// the exact integers that noise is added to otherwise.
package rehearse
