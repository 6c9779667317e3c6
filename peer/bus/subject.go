package bus

import (
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// The ops. Of those of frames a subject shows nothing but frameToken.
const (
	opHello = "hello"
	opAgain = "again"

	frameToken = "frame"

	opPing  = "ping"
	opBye   = "bye"
	opFetch = "fetch"
	opChunk = "chunk"
	opMsg   = "msg."

	opInvite = "invite" // dial a connection for files, and answer on it
)

// inboxOf is the start of all subjects from one site to another, without the last
// dot.
func inboxOf(to, from protocol.SiteName) string {
	return "switchyard.v1." + string(to) + ".in." + string(from)
}

// splitSubject returns who sends, and the rest of a subject to the given site.
func splitSubject(to protocol.SiteName, subject string) (from protocol.SiteName, token string, ok bool) {
	rest, ok := strings.CutPrefix(subject, inboxOf(to, ""))
	if !ok {
		return "", "", false
	}
	name, token, ok := strings.Cut(rest, ".")
	return protocol.SiteName(name), token, ok
}
