package slurmtext

import "slices"

// Why options are not carried.
const (
	noClusters     = "Switchyard has one grid and no clusters of a Slurm database; sinfo lists its sites"
	noReservations = "there are no reservations of Slurm in Switchyard"
	noSteps        = "Switchyard has no job steps"
	noWCKeys       = "Switchyard has no keys of workloads"
	noYAML         = "use --json"
	allShown       = "all jobs and sites are shown anyway"
)

// general are options that all commands have.
func general() []Flag {
	return []Flag{
		{Long: "help"},
		{Long: "usage"},
		{Long: "version", Letter: 'V'},
		{Long: "verbose", Letter: 'v', Moot: "there is nothing more to say"},
	}
}

// CommandFlags are the options of the commands of Slurm that Switchyard has by their names, but for sbatch, which takes what
// switchyard submit takes. Those of srun are for jobs of the built-in batch system: under Slurm it passes them on.
func CommandFlags() map[string][]Flag {
	return map[string][]Flag{
		"squeue": queueFlags(), "scancel": cancelFlags(), "sinfo": infoFlags(), "sacct": accountingFlags(), "scontrol": controlFlags(),
		"srun": stepFlags(),
	}
}

func queueFlags() []Flag {
	return slices.Concat([]Flag{
		{Long: "account", Also: "accounts", Letter: 'A', Argument: WithValue, Selects: true},
		{Long: "all", Letter: 'a', Moot: allShown},
		{Long: "array", Letter: 'r'},
		{Long: "array-unique", Moot: "elements that have started have lines of their own"},
		{Long: "clusters", Also: "cluster", Letter: 'M', Argument: WithValue, Refused: noClusters},
		{Long: "federation", Moot: allShown},
		{Long: "Format", Letter: 'O', Argument: WithValue},
		{Long: "format", Letter: 'o', Argument: WithValue},
		{Long: "hide", Moot: allShown},
		{Long: "iterate", Letter: 'i', Argument: WithValue},
		{Long: "jobs", Letter: 'j', Argument: MaybeValue, Selects: true},
		{Long: "json", Argument: MaybeValue},
		{Long: "licenses", Letter: 'L', Argument: WithValue, Selects: true},
		{Long: "local", Moot: allShown},
		{Long: "long", Letter: 'l'},
		{Long: "me"},
		{Long: "name", Letter: 'n', Argument: WithValue, Selects: true},
		{Long: "noconvert"},
		{Long: "node", Also: "nodes nodelist", Letter: 'w', Argument: WithValue, Selects: true},
		{Long: "noheader", Letter: 'h'},
		{Long: "partition", Also: "partitions", Letter: 'p', Argument: WithValue, Selects: true},
		{Long: "priority", Letter: 'P', Moot: "a job has one line, with all its partitions"},
		{Long: "qos", Letter: 'q', Argument: WithValue, Selects: true},
		{Long: "reservation", Letter: 'R', Argument: WithValue, Refused: noReservations},
		{Long: "sibling", Moot: allShown},
		{Long: "sort", Letter: 'S', Argument: WithValue},
		{Long: "start"},
		{Long: "states", Letter: 't', Argument: WithValue, Selects: true},
		{Long: "steps", Letter: 's', Argument: MaybeValue, Refused: noSteps},
		{Long: "user", Also: "users", Letter: 'u', Argument: WithValue, Selects: true},
		{Long: "yaml", Argument: MaybeValue, Refused: noYAML},
	}, general())
}

func cancelFlags() []Flag {
	const whole = "the whole job is ended"
	return slices.Concat([]Flag{
		{Long: "account", Letter: 'A', Argument: WithValue, Selects: true},
		{Long: "batch", Letter: 'b', Noticed: whole},
		{Long: "clusters", Letter: 'M', Argument: WithValue, Refused: noClusters},
		{Long: "ctld", Moot: "the peer ends jobs in any case"},
		{Long: "cron", Moot: "there are no jobs of scrontab"},
		{Long: "full", Letter: 'f', Noticed: whole},
		{Long: "hurry", Letter: 'H', Noticed: "output that a job has left at another site is brought back"},
		{Long: "interactive", Letter: 'i'},
		{Long: "jobname", Also: "name", Letter: 'n', Argument: WithValue, Selects: true},
		{Long: "me"},
		{Long: "nodelist", Letter: 'w', Argument: WithValue, Selects: true},
		{Long: "partition", Letter: 'p', Argument: WithValue, Selects: true},
		{Long: "qos", Letter: 'q', Argument: WithValue, Selects: true},
		{Long: "quiet", Letter: 'Q'},
		{Long: "reservation", Letter: 'R', Argument: WithValue, Refused: noReservations},
		{Long: "sibling", Letter: 'S', Argument: WithValue, Refused: noClusters},
		{Long: "signal", Letter: 's', Argument: WithValue},
		{Long: "state", Letter: 't', Argument: WithValue, Selects: true},
		{Long: "user", Letter: 'u', Argument: WithValue, Selects: true},
		{Long: "verbose", Letter: 'v'},
		{Long: "wckey", Argument: WithValue, Refused: noWCKeys},
	}, general()[:3])
}

func infoFlags() []Flag {
	return slices.Concat([]Flag{
		{Long: "all", Letter: 'a', Moot: allShown},
		{Long: "clusters", Also: "cluster", Letter: 'M', Argument: WithValue, Refused: noClusters},
		{Long: "dead", Letter: 'd'},
		{Long: "exact", Letter: 'e'},
		{Long: "federation", Moot: allShown},
		{Long: "future", Letter: 'F', Moot: "there are no nodes to come"},
		{Long: "Format", Letter: 'O', Argument: WithValue},
		{Long: "format", Letter: 'o', Argument: WithValue},
		{Long: "hide", Moot: allShown},
		{Long: "iterate", Letter: 'i', Argument: WithValue},
		{Long: "json", Argument: MaybeValue},
		{Long: "list-reasons", Letter: 'R'},
		{Long: "local", Moot: allShown},
		{Long: "long", Letter: 'l'},
		{Long: "noconvert", Moot: "no unit is converted"},
		{Long: "Node", Letter: 'N'},
		{Long: "nodes", Letter: 'n', Argument: WithValue, Selects: true},
		{Long: "noheader", Letter: 'h'},
		{Long: "partition", Letter: 'p', Argument: WithValue, Selects: true},
		{Long: "reservation", Letter: 'T'},
		{Long: "responding", Letter: 'r'},
		{Long: "sort", Letter: 'S', Argument: WithValue},
		{Long: "states", Letter: 't', Argument: WithValue, Selects: true},
		{Long: "summarize", Letter: 's'},
		{Long: "yaml", Argument: MaybeValue, Refused: noYAML},
	}, general())
}

func accountingFlags() []Flag {
	return slices.Concat([]Flag{
		{Long: "accounts", Letter: 'A', Argument: WithValue, Selects: true},
		{Long: "allclusters", Letter: 'L', Moot: allShown},
		{Long: "allocations", Letter: 'X'},
		{Long: "allusers", Letter: 'a'},
		{Long: "array"},
		{Long: "associations", Letter: 'x', Argument: WithValue, Refused: "Switchyard has no numbers of associations"},
		{Long: "batch-script", Letter: 'B', Refused: "scripts of ended jobs are not kept"},
		{Long: "brief", Letter: 'b'},
		{Long: "clusters", Letter: 'M', Argument: WithValue, Refused: noClusters},
		{Long: "completion", Letter: 'c', Refused: "there is no file of completed jobs; leave the option out"},
		{Long: "constraints", Letter: 'C', Argument: WithValue, Refused: "jobs are not selected by features"},
		{Long: "delimiter", Argument: WithValue},
		{Long: "duplicates", Letter: 'D'},
		{Long: "endtime", Letter: 'E', Argument: WithValue},
		{Long: "env-vars", Refused: "environments of ended jobs are not kept"},
		{Long: "federation", Moot: allShown},
		{Long: "file", Letter: 'f', Argument: WithValue, Refused: "there is no file of completed jobs; leave the option out"},
		{Long: "flags", Letter: 'F', Argument: WithValue, Refused: "Switchyard has no flags of schedulers"},
		{Long: "format", Letter: 'o', Argument: WithValue},
		{Long: "group", Also: "gid", Letter: 'g', Argument: WithValue, Selects: true},
		{Long: "helpformat", Letter: 'e'},
		{Long: "jobs", Letter: 'j', Argument: WithValue, Selects: true},
		{Long: "json", Argument: MaybeValue},
		{Long: "local", Moot: allShown},
		{Long: "long", Letter: 'l'},
		{Long: "name", Argument: WithValue, Selects: true},
		{Long: "ncpus", Letter: 'I', Argument: WithValue, Refused: "jobs are not selected by numbers of CPUs"},
		{Long: "nnodes", Letter: 'i', Argument: WithValue, Refused: "jobs are not selected by numbers of nodes"},
		{Long: "noconvert"},
		{Long: "nodelist", Letter: 'N', Argument: WithValue, Selects: true},
		{Long: "noheader", Letter: 'n'},
		{Long: "parsable", Letter: 'p'},
		{Long: "parsable2", Letter: 'P'},
		{Long: "partition", Letter: 'r', Argument: WithValue, Selects: true},
		{Long: "qos", Letter: 'q', Argument: WithValue, Selects: true},
		{Long: "reason", Letter: 'R', Argument: WithValue, Refused: "jobs are not selected by reasons"},
		{Long: "starttime", Letter: 'S', Argument: WithValue},
		{Long: "state", Letter: 's', Argument: WithValue, Selects: true},
		{Long: "timelimit-max", Letter: 'K', Argument: WithValue, Refused: "jobs are not selected by time limits"},
		{Long: "timelimit-min", Letter: 'k', Argument: WithValue, Refused: "jobs are not selected by time limits"},
		{Long: "truncate", Letter: 'T', Refused: "times are those of the jobs, also outside the period"},
		{Long: "units", Argument: WithValue},
		{Long: "user", Also: "uid", Letter: 'u', Argument: WithValue, Selects: true},
		{Long: "use-local-uid", Moot: "users are those of this site"},
		{Long: "wckeys", Letter: 'W', Argument: WithValue, Refused: noWCKeys},
		{Long: "whole-hetjob", Argument: MaybeValue, Moot: "there are no heterogeneous jobs"},
		{Long: "yaml", Argument: MaybeValue, Refused: noYAML},
	}, general())
}

func controlFlags() []Flag {
	return slices.Concat([]Flag{
		{Long: "all", Letter: 'a', Moot: allShown},
		{Long: "clusters", Also: "cluster", Letter: 'M', Argument: WithValue, Refused: noClusters},
		{Long: "details", Letter: 'd'},
		{Long: "federation", Moot: allShown},
		{Long: "future", Letter: 'F', Moot: "there are no nodes to come"},
		{Long: "hide", Moot: allShown},
		{Long: "json", Argument: MaybeValue},
		{Long: "local", Moot: allShown},
		{Long: "oneliner", Letter: 'o'},
		{Long: "quiet", Letter: 'Q', Moot: "it prints nothing but what is asked for, and errors"},
		{Long: "sibling", Moot: allShown},
		{Long: "uid", Letter: 'u', Argument: WithValue, Refused: "it acts as the user who calls it"},
		{Long: "yaml", Argument: MaybeValue, Refused: noYAML},
	}, general())
}
