// Package cgroup keeps the processes of a job together, in a control group of Linux: so
// that all of them are ended with the job, also those that have left its session, and so
// that they share limits of memory and of processes.
//
// [Open] finds out what the machine has:
//
//   - cgroup v2 (the unified hierarchy), where the peer may make groups below its own or
//     below one that it is given. cgroup.kill ends a group.
//   - cgroup v1, with a hierarchy for each of memory, pids and freezer. A group is ended by
//     forbidding it to fork, and killing what is in it until that is nothing.
//   - neither, or no right to make groups: then there are no groups, and the caller says so.
//
// The devices of other jobs are closed by the controller devices of cgroup v1 where there is one, else by a BPF
// program that is attached to the group in cgroup v2 ([Found.WithDevices]).
//
// A [Group] is nothing but paths, so that it can be written down and found again by a later
// peer. Its zero value is no group: all that is asked of it does nothing.
package cgroup
