// Package slurmtext reads the command lines of Slurm's commands and prints jobs, nodes and partitions as those do:
// the options of getopt_long(3), the formats of squeue(1), sinfo(1) and sacct(1), the records of scontrol(1), lists of
// host names, states and times. It follows Slurm 22.05, and knows the fields that later releases have added.
//
// A site of the grid stands for the nodes it has: nothing is known of the names of its nodes. All sites are in one
// partition, [Partition]. What Switchyard has no value for is printed as Slurm prints a value that is not set.
package slurmtext

// Partition is the one that all sites are in. A job that asks for other partitions of its sites is shown with those.
const Partition = "grid"
