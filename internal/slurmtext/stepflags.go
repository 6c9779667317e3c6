package slurmtext

import "slices"

// Why options of srun are not carried, or need not be.
const (
	ofTheJob   = "the job has it already"
	oneMachine = "all nodes of the job are this machine"
	allDevices = "each task sees all devices of the job; leave it out, and choose one by SLURM_LOCALID"
	notBound   = "tasks are not bound to CPUs or memory"
	likeNone   = "tasks are not bound, as by a Slurm that has no plugin for it"
	noPlugins  = "the built-in batch system has no such plugin"
	noPrograms = "run the program in the script, before or after srun"
	wholeJob   = "the memory of the job is limited as a whole"
)

// stepFlags are the options of srun(1) within a job.
func stepFlags() []Flag {
	return slices.Concat(carriedStepFlags(), mootStepFlags(), refusedStepFlags())
}

func carriedStepFlags() []Flag {
	return []Flag{
		{Long: "chdir", Letter: 'D', Argument: WithValue},
		{Long: "cpus-per-task", Letter: 'c', Argument: WithValue},
		{Long: "error", Letter: 'e', Argument: WithValue},
		{Long: "exact"},
		{Long: "exclusive", Argument: MaybeValue},
		{Long: "export", Argument: WithValue},
		{Long: "help"},
		{Long: "immediate", Letter: 'I', Argument: MaybeValue},
		{Long: "input", Letter: 'i', Argument: WithValue},
		{Long: "jobid", Argument: WithValue},
		{Long: "kill-on-bad-exit", Letter: 'K', Argument: MaybeValue},
		{Long: "label", Letter: 'l'},
		{Long: "mpi", Argument: WithValue},
		{Long: "multi-prog"},
		{Long: "nodes", Letter: 'N', Argument: WithValue},
		{Long: "ntasks", Letter: 'n', Argument: WithValue},
		{Long: "ntasks-per-node", Argument: WithValue},
		{Long: "open-mode", Argument: WithValue},
		{Long: "output", Letter: 'o', Argument: WithValue},
		{Long: "overcommit", Letter: 'O'},
		{Long: "overlap"},
		{Long: "quiet", Letter: 'Q'},
		{Long: "time", Letter: 't', Argument: WithValue},
		{Long: "unbuffered", Letter: 'u'},
		{Long: "usage"},
		{Long: "version", Letter: 'V'},
		{Long: "wait", Letter: 'W', Argument: WithValue},
	}
}

func mootStepFlags() []Flag {
	return []Flag{
		{Long: "account", Letter: 'A', Argument: WithValue, Moot: ofTheJob},
		{Long: "acctg-freq", Argument: WithValue, Noticed: "a job is measured as a whole"},
		{Long: "bcast", Argument: MaybeValue, Moot: oneMachine},
		{Long: "begin", Letter: 'b', Argument: WithValue, Moot: ofTheJob},
		{Long: "comment", Argument: WithValue, Moot: ofTheJob},
		{Long: "compress", Argument: MaybeValue, Moot: oneMachine},
		{Long: "constraint", Letter: 'C', Argument: WithValue, Moot: ofTheJob},
		{Long: "contiguous", Moot: oneMachine},
		{Long: "cpu-bind", Argument: WithValue, Moot: likeNone},
		{Long: "deadline", Argument: WithValue, Moot: ofTheJob},
		{Long: "delay-boot", Argument: WithValue, Moot: ofTheJob},
		{Long: "dependency", Letter: 'd', Argument: WithValue, Moot: ofTheJob},
		{Long: "disable-status", Letter: 'X', Moot: "a signal is passed on to the tasks at once"},
		{Long: "hint", Argument: WithValue, Moot: likeNone},
		{Long: "hold", Letter: 'H', Moot: ofTheJob},
		{Long: "job-name", Letter: 'J', Argument: WithValue, Moot: "steps are not listed"},
		{Long: "licenses", Letter: 'L', Argument: WithValue, Moot: ofTheJob},
		{Long: "mail-type", Argument: WithValue, Moot: ofTheJob},
		{Long: "mail-user", Argument: WithValue, Moot: ofTheJob},
		{Long: "mem", Argument: WithValue, Noticed: wholeJob},
		{Long: "mem-bind", Argument: WithValue, Moot: likeNone},
		{Long: "mem-per-cpu", Argument: WithValue, Noticed: wholeJob},
		{Long: "mem-per-gpu", Argument: WithValue, Noticed: wholeJob},
		{Long: "mincpus", Argument: WithValue, Moot: ofTheJob},
		{Long: "msg-timeout", Argument: WithValue, Moot: oneMachine},
		{Long: "nice", Argument: MaybeValue, Moot: ofTheJob},
		{Long: "no-kill", Letter: 'k', Argument: MaybeValue, Moot: oneMachine},
		{Long: "oversubscribe", Letter: 's', Moot: ofTheJob},
		{Long: "partition", Letter: 'p', Argument: WithValue, Moot: ofTheJob},
		{Long: "power", Argument: WithValue, Moot: ofTheJob},
		{Long: "priority", Argument: WithValue, Moot: ofTheJob},
		{Long: "propagate", Argument: MaybeValue, Moot: "tasks have the limits of the script"},
		{Long: "qos", Letter: 'q', Argument: WithValue, Moot: ofTheJob},
		{Long: "quit-on-interrupt", Moot: "a signal is passed on to the tasks at once"},
		{Long: "reboot", Moot: ofTheJob},
		{Long: "signal", Argument: WithValue, Moot: ofTheJob},
		{Long: "slurmd-debug", Argument: WithValue, Moot: oneMachine},
		{Long: "spread-job", Moot: oneMachine},
		{Long: "switches", Argument: WithValue, Moot: oneMachine},
		{Long: "threads", Letter: 'T', Argument: WithValue, Moot: oneMachine},
		{Long: "time-min", Argument: WithValue, Moot: ofTheJob},
		{Long: "tmp", Argument: WithValue, Moot: ofTheJob},
		{Long: "use-min-nodes", Moot: oneMachine},
		{Long: "verbose", Letter: 'v', Moot: "there is nothing more to say"},
		{Long: "whole", Moot: "it is so without --exact"},
	}
}

func refusedStepFlags() []Flag {
	return []Flag{
		{Long: "accel-bind", Argument: WithValue, Refused: allDevices},
		{Long: "clusters", Letter: 'M', Argument: WithValue, Refused: noClusters},
		{Long: "core-spec", Letter: 'S', Argument: WithValue, Refused: notBound},
		{Long: "cores-per-socket", Argument: WithValue, Refused: notBound},
		{Long: "cpu-freq", Argument: WithValue, Refused: "the frequency of CPUs is not set"},
		{Long: "cpus-per-gpu", Argument: WithValue, Refused: allDevices},
		{Long: "distribution", Letter: 'm', Argument: WithValue, Refused: "tasks are placed in blocks"},
		{Long: "epilog", Argument: WithValue, Refused: noPrograms},
		{Long: "exclude", Letter: 'x', Argument: WithValue, Refused: oneMachine},
		{Long: "extra-node-info", Letter: 'B', Argument: WithValue, Refused: notBound},
		{Long: "gpu-bind", Argument: WithValue, Refused: allDevices},
		{Long: "gpu-freq", Argument: WithValue, Refused: allDevices},
		{Long: "gpus", Letter: 'G', Argument: WithValue, Refused: allDevices},
		{Long: "gpus-per-node", Argument: WithValue, Refused: allDevices},
		{Long: "gpus-per-socket", Argument: WithValue, Refused: allDevices},
		{Long: "gpus-per-task", Argument: WithValue, Refused: allDevices},
		{Long: "gres", Argument: WithValue, Refused: allDevices},
		{Long: "gres-flags", Argument: WithValue, Refused: allDevices},
		{Long: "het-group", Argument: WithValue, Refused: "there are no heterogeneous jobs"},
		{Long: "network", Argument: WithValue, Refused: noPlugins},
		{Long: "no-allocate", Letter: 'Z', Refused: "tasks run in a job"},
		{Long: "nodefile", Letter: 'F', Argument: WithValue, Refused: oneMachine},
		{Long: "nodelist", Letter: 'w', Argument: WithValue, Refused: oneMachine},
		{Long: "ntasks-per-core", Argument: WithValue, Refused: notBound},
		{Long: "ntasks-per-gpu", Argument: WithValue, Refused: allDevices},
		{Long: "ntasks-per-socket", Argument: WithValue, Refused: notBound},
		{Long: "preserve-env", Letter: 'E', Refused: "set SLURM_NTASKS in the program if it needs another"},
		{Long: "profile", Argument: WithValue, Refused: noPlugins},
		{Long: "prolog", Argument: WithValue, Refused: noPrograms},
		{Long: "pty", Argument: MaybeValue, Refused: "a job has no terminal"},
		{Long: "relative", Letter: 'r', Argument: WithValue, Refused: oneMachine},
		{Long: "reservation", Argument: WithValue, Refused: noReservations},
		{Long: "resv-ports", Argument: MaybeValue, Refused: "start an MPI program with its own mpirun"},
		{Long: "sockets-per-node", Argument: WithValue, Refused: notBound},
		{Long: "task-epilog", Argument: WithValue, Refused: noPrograms},
		{Long: "task-prolog", Argument: WithValue, Refused: noPrograms},
		{Long: "thread-spec", Argument: WithValue, Refused: notBound},
		{Long: "threads-per-core", Argument: WithValue, Refused: notBound},
		{Long: "wckey", Argument: WithValue, Refused: noWCKeys},
	}
}
