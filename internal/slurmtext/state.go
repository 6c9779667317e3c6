package slurmtext

import (
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// stateLetters are the states of jobs by the letters that Slurm has for them.
func stateLetters() map[string]protocol.State {
	return map[string]protocol.State{
		"PD": protocol.Pending, "R": protocol.Running, "CD": protocol.Completed, "F": protocol.Failed,
		"CA": protocol.Cancelled, "TO": protocol.Timeout, "NF": protocol.NodeFail,
	}
}

// otherStates are states of Slurm that no job has here: tools ask for them among others.
const otherStates = " BF BOOT_FAIL CF CONFIGURING CG COMPLETING DL DEADLINE OOM OUT_OF_MEMORY PR PREEMPTED RD RESV_DEL_HOLD " +
	"RF REQUEUE_FED RH REQUEUE_HOLD RQ REQUEUED RS RESIZING RV REVOKED SE SPECIAL_EXIT SI SIGNALING SO STAGE_OUT ST STOPPED " +
	"S SUSPENDED "

// JobStates are all states of jobs in Slurm, as squeue lists them when it rejects one.
const JobStates = "PENDING,RUNNING,SUSPENDED,COMPLETED,CANCELLED,FAILED,TIMEOUT,NODE_FAIL,PREEMPTED,BOOT_FAIL,DEADLINE,OUT_OF_MEMORY," +
	"COMPLETING,CONFIGURING,RESIZING,RESV_DEL_HOLD,REQUEUED,REQUEUE_FED,REQUEUE_HOLD,REVOKED,SIGNALING,SPECIAL_EXIT,STAGE_OUT,STOPPED"

// ParseState is the state of a name or of Slurm's letters for it, 0 for one of Slurm's that does not
// exist here.
func ParseState(name string) (state protocol.State, known bool) {
	name = strings.ToUpper(name)
	if state, known = stateLetters()[name]; known {
		return state, true
	}
	if name != "" && strings.Contains(otherStates, " "+name+" ") {
		return 0, true
	}
	state, err := protocol.ParseState(name)
	return state, err == nil
}

// StateLetters are Slurm's letters for a state.
func StateLetters(state protocol.State) string {
	for letters, one := range stateLetters() {
		if one == state {
			return letters
		}
	}
	return state.String()
}
