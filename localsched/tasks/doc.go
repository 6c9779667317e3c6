// Package tasks runs the tasks of a job on this machine, as srun(1) of Slurm 22.05 does within an allocation. It is for
// jobs of the built-in batch system, all of whose nodes are this machine.
//
// A step is what one srun starts: some tasks on some of the job's nodes. [Allocation.Place] places it, [Allocation.Begin]
// waits for the CPUs that it takes from other steps of the job and gives it its number, and [Step.Run] runs it.
//
// # The file of the steps
//
// The peer makes each job an empty file of its account, and names it in [FileVariable]. It has the number of the next
// step. The CPUs that steps use are locks on its bytes, one for each, which the kernel takes back from a step that ends,
// whatever it ends by.
//
// # Processes
//
// Each task has a process group of its own, and is killed if srun is. When all tasks have ended, so do their groups. What has left its
// group ends with the job, see localsched/process.
package tasks
