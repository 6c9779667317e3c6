package batchscript

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// Of the signal that a job gets before its limit, as sbatch(1) has it.
const (
	defaultSignalLead = protocol.Minute
	maxSignalLead     = 65535 // seconds
)

// setSignal takes a signal that the job gets before its time limit.
func setSignal(w *jobOptions, value string) error {
	s, err := ParseLimitSignal(value)
	if err == nil {
		w.limitSignal = s
	}
	return err
}

// checkSignal notes a signal that the script could not handle.
func (w *jobOptions) checkSignal(job *Job, script Script, r *report) {
	limit, before := job.Spec.WallTime, w.limitSignal.Before
	switch {
	case w.limitSignal.Signal == 0:
	case job.Spec.Container != "":
		w.fault(r, script, "signal", "it would reach the container command and not the script; leave out one of --signal and --container")
	case before >= limit && !w.wrong("time"):
		w.fault(r, script, "signal", "comes %s before the limit of %s; name a shorter time, as USR1@%d",
			before.Text(), limit.Text(), limit/protocol.Second/2)
	}
}

// ParseLimitSignal reads "[R|B:]signal[@seconds]", with R, B or both. The signal is a name, with
// or without SIG, or a number.
func ParseLimitSignal(value string) (s protocol.LimitSignal, err error) {
	flags, rest, flagged := strings.Cut(value, ":")
	if !flagged {
		flags, rest = "", value
	}
	for _, flag := range strings.ToUpper(flags) {
		switch {
		case flag == 'B' && !s.ScriptOnly:
			s.ScriptOnly = true
		case flag == 'R' && !s.OverlapReservation:
			s.OverlapReservation = true
		default:
			return protocol.LimitSignal{}, fmt.Errorf("%q: before the colon stands R, B or both", value)
		}
	}
	name, lead, timed := strings.Cut(rest, "@")
	s.Before = defaultSignalLead
	if timed {
		seconds, wrong := strconv.ParseUint(lead, 10, 16)
		if wrong != nil {
			return protocol.LimitSignal{}, fmt.Errorf("%q: the time after @ is a whole number of seconds from 0 to %d", value, maxSignalLead)
		}
		s.Before = protocol.Duration(seconds) * protocol.Second
	}
	if s.Signal, err = parseSignal(name); err != nil {
		return protocol.LimitSignal{}, fmt.Errorf("%q: %w", value, err)
	}
	return s, nil
}

// The numbers on Linux of the signals that no process can handle.
const (
	sigKill = 9
	sigStop = 19
)

// signals are the names that sbatch knows, with their numbers on Linux.
func signals() map[string]int {
	return map[string]int{
		"HUP": 1, "INT": 2, "QUIT": 3, "ABRT": 6, "KILL": sigKill, "USR1": 10, "USR2": 12, "ALRM": 14, "TERM": 15,
		"CONT": 18, "STOP": sigStop, "TSTP": 20, "TTIN": 21, "TTOU": 22, "URG": 23,
	}
}

// parseSignal is the number of a signal that a job can handle.
func parseSignal(name string) (int, error) {
	number, err := strconv.Atoi(name)
	if err != nil {
		number = signals()[strings.TrimPrefix(strings.ToUpper(name), "SIG")]
	}
	switch {
	case number < 1 || number > protocol.MaxSignal:
		return 0, fmt.Errorf("%q is no signal; give a name such as USR1, or a number from 1 to %d", name, protocol.MaxSignal)
	case number == sigKill || number == sigStop:
		return 0, errors.New("a process can handle neither KILL nor STOP; choose a signal that the job can act on, such as USR1")
	}
	return number, nil
}
