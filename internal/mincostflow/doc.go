// Package mincostflow places jobs on systems by min-cost max-flow [MC 3.2]: as
// many jobs as the systems' capacities admit, at the least total cost. It is
// exact, and [Certify] proves it.
//
// [Solve] knows the shape of this problem, many jobs and few systems, and never
// builds its graph. Its tests compare it with a network simplex, which solves any graph.
//
// How Solve works:
//
//   - haggle guesses prices of the systems from some jobs;
//   - a sample of every 4^k-th job is solved exactly, then ever larger ones up to all
//     jobs, each with the prices of the one before;
//   - to solve, a market puts each job where cost plus price is least. Prices that
//     are nearly right leave few jobs in excess;
//   - these move along shortest paths in a graph of systems only. The arc between two
//     of them is the cheapest job to move, known from queues of shortlisted pairs.
//     Lists are made so that what is not listed cannot matter until prices have moved
//     by some slack; then a survey of all pairs makes progress and new lists.
package mincostflow
