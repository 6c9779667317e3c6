// Package fairness decides whose job of the grid queue is next, by what users and accounts have used, and
// whose have to wait, by their limits.
//
// What a user has used is what its jobs of this site have used anywhere, as their results say, and decays
// ([fairshare.Decay]). Jobs that are placed and have not ended count with the CPU time that they ask for. So
// a user who submits many jobs at once has less priority with each that is placed, and the next round
// takes the job of another user. Limits count placed jobs, which may start at any time.
//
// It is pure: the core states the time and keeps the rows.
package fairness
