package batchscript

import (
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/internal/problems"
	"github.com/switchyard-hpc/switchyard/protocol"
)

// traceparent is the span below which a job's spans are, as the program says that submits it: in its environment.
func traceparent(env []string, r *report) protocol.Traceparent {
	prefix := protocol.TraceparentVariable + "="
	at := slices.IndexFunc(env, func(pair string) bool { return strings.HasPrefix(pair, prefix) })
	if at < 0 || env[at] == prefix {
		return ""
	}
	text := env[at][len(prefix):]
	parent, err := protocol.ReadTraceparent(text)
	if err != nil {
		r.notice(problems.Place{File: "the environment", Key: protocol.TraceparentVariable},
			"%.80q is no traceparent of W3C Trace Context: %v; it is ignored, and the job begins a trace of its own", text, err)
	}
	return parent
}
