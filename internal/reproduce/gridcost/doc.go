// Package gridcost makes the figures and numbers of [IS] again: the rates of its cost function by the clock, the
// frequency of CPUs, the Γ of its machines, and what a component costs on each of them.
//
// Nothing is drawn or simulated: exhibits compute with the packages cost and gamma, as sites do.
// The paper draws its figures without numbers. Where its text has a number, it stands beside ours.
package gridcost
