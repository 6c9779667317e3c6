// Package oldnames has the flags and directives of versions before 0.1, so that an error can give their present
// names. It is a package of its own because the command line and batch scripts share it. The old keys of
// configurations are in internal/settings.
package oldnames

import "strings"

// submit is the command whose flags are directives of batch scripts, too.
const submit = "switchyard submit"

// Flag returns the present name of a flag of a command, both without hyphens, or "". The command
// is its path, such as "switchyard sim run". Flags are renamed in subcommands, too.
func Flag(command, name string) string {
	table := Flags()
	for command != "" {
		if now := table[command][name]; now != "" {
			return now
		}
		command = command[:max(0, strings.LastIndexByte(command, ' '))]
	}
	return ""
}

// Directive returns the present name of an option in a batch script, without hyphens, or "".
func Directive(name string) string { return Flags()[submit][name] }

// Flags returns the present names by the paths of commands and the old names.
func Flags() map[string]map[string]string {
	noTLS := map[string]string{"plain": "no-tls"}
	ofJobs := map[string]string{
		"alpha": "compute-weight", "beta": "wait-weight", "gamma": "energy-weight", "delta": "data-weight",
		"waiting": "waiting-cost", "data": "stage-in-size", "data-out": "stage-out-size",
		"sent": "words-sent", "messages": "messages-sent", "accesses": "memory-accesses",
	}
	return map[string]map[string]string{
		submit:                  ofJobs,
		"switchyard quote":      ofJobs,
		"switchyard queue":      {"finished": "recent"},
		"switchyard prices":     {"gaps": "allow-gaps"},
		"switchyard plugin":     noTLS,
		"switchyard sim run":    noTLS,
		"switchyard sim sweep":  noTLS,
		"switchyard sim replay": noTLS,
		"switchyard sim tune":   {"buy": "rank-candidates"},
		"switchyard sim fit":    {"from": "submitted-from", "to": "submitted-before"},
	}
}
