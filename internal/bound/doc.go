// Package bound limits what one person contributes to a grouped sum, exactly, and fast enough to
// stand beside a plain GROUP BY. It knows no database: rows come in batches, from any number of
// goroutines.
//
// # What it computes
//
// The rows of one person in one group are added up to a partial for every measure. A person keeps
// the Spec.MaxGroups groups with the smallest hash of (salt, person, group). Each kept partial is
// clamped to the measure's interval and added to the total of its group.
//
//  1. Which groups a person keeps depends on the salt and on that person's rows, and on nobody
//     else's. For one person the hash is a bijection of the group, so there are no ties.
//  2. Partials and totals are exact: 128 bits, or 64 where 2^39 rows cannot overflow them. A total
//     is clamped to 62 bits at the end, which moves no two totals apart.
//  3. The result depends on the rows as a set with repetitions: not on their order, not on batches,
//     goroutines, partitions, passes, or the limit on memory.
//  4. A person is the same person where the keys are equal, 64-bit integers or bytes. A hash
//     decides where a person is looked for, and never who it is: two people with one hash stay two.
//
// Where rows are picked and not added up ([Pick]), each kept group of a person hands on at most
// MaxRows rows, those with the smallest hash of (salt, person, values). Groups that were found in
// the data ([Private]) are kept by a hash of what they are, and not by their numbers, which are
// about other people.
//
// # How
//
// Rows are partitioned by a hash of the person, each partition is sorted by person in the cache,
// and one kernel takes each person's rows at once. The hash of an integer is a bijection, so it
// stands for the person: a partition needs no table of people, and a row is a word, which has the
// group in the bits that the partition knows, and its values. Texts are compared as such. Where
// partitions do not fit into memory they are compacted to partials of the groups kept so far: a
// group that is dropped then can never return, because as many groups with smaller hashes stay.
// Where that is not enough, only a part of the partitions is kept, and the source is read again for
// the others: a person is in one partition, and is counted in one pass. How many partitions a pass
// has follows from Spec.Rows, where that is given, before the first row is read.
//
// In a table that is stored by person most of a batch's people are in it as a whole, and go to the
// kernel at once; only the first and the last one of each ascending stretch may go on elsewhere,
// and are partitioned, and so are strays, who are known before (see [FindOrder]). That the
// stretches do not overlap is checked when all have been seen. Where they do, everything is
// computed again without this assumption.
package bound
