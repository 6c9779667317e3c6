// Package usage finds out what runs do: the System Information of [IS 4.1, 4.3], which
// "collects the application component data from all the databases built up by Ganglia on
// each node". Here the sources are the kernel, an exporter of node metrics, and the run
// itself; what they tell together is a [protocol.Usage].
//
//	[Meter]          CPU time, memory, clock and energy of a process's descendants
//	[ReadNode]       the same of a whole node, from what a node exporter tells of it
//	[ReadReport]     operations, accesses and messages, which only the program knows
//
// What could not be measured is 0, and never an error: a run counts for what it computed.
//
// # CPU time
//
// The CPU time of a tree of processes is what the kernel adds up when parents wait for
// their children, and what those that still run have used. It is in user and system mode
// together. It does not include children whose parent ignores SIGCHLD, and so does not wait
// for them, once they have ended, nor work that is handed to another service (a container
// engine, srun, ssh).
//
// # Memory
//
// The peak is the largest sum of the resident memory of all processes that was seen at a
// sample, and no less than the largest that one process had at any time. Pages that
// processes share count once in each. Peaks of several processes together that fall between
// two samples are missed. Of a run that no sample has seen it is the largest of a single
// process.
//
// # Energy
//
// The energy counters of the CPU packages (RAPL) are of the whole machine. Of what they
// count between two samples a run is given the share that it has of the time in which CPUs
// were busy. So the shares of all add up to all, and a run that is alone on a machine pays
// for its idle CPUs as well: that is what it made the machine draw. Main memory, disks,
// fans and losses of the power supply are not in it.
package usage
