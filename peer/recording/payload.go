package recording

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"slices"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// standIn is the payload without script, arguments and values of variables, which may be
// secret: the script states the size and hash of the first two instead. The paths and the
// names of variables stay, since the peer reads them, and the variables that it sets itself:
// a stand-in must become what the payload becomes. A stand-in is its own stand-in.
func standIn(p protocol.Payload) protocol.Payload {
	env := make([]string, len(p.Env))
	for i, pair := range p.Env {
		env[i] = withoutValue(pair)
	}
	if isStandIn(p.Script, len(p.Args)) && slices.Equal(env, p.Env) {
		return p
	}
	all := sha256.New()
	size := put(all, p.Script)
	put(all, binary.AppendUvarint(nil, uint64(len(p.Args))))
	for _, one := range p.Args {
		size += put(all, []byte(one))
	}
	short := protocol.Payload{
		Script: fmt.Appendf(nil, standInForm, size, all.Sum(nil)), WorkDir: p.WorkDir, Stdout: p.Stdout, Stderr: p.Stderr,
		Input: p.Input, AppendOutput: p.AppendOutput, LimitSignal: p.LimitSignal, Staging: p.Staging.Abroad(), Shell: p.Shell,
	}
	if len(env) > 0 {
		short.Env = env
	}
	return short
}

// withoutValue is a variable without its value, unless the peer has set it.
func withoutValue(pair string) string {
	name, _, _ := strings.Cut(pair, "=")
	if name == "SWITCHYARD_APPLICATION" || name == "SWITCHYARD_MHZ" || protocol.IsArrayVariable(name) {
		return pair
	}
	return name + "="
}

const standInForm = "#switchyard-payload %d bytes sha256 %x"

// put hashes one piece behind its length, and returns that.
func put(h hash.Hash, piece []byte) int {
	_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(piece)))) // a hash takes everything
	_, _ = h.Write(piece)
	return len(piece)
}

// isStandIn reports whether a script stands for a payload with this number of arguments.
func isStandIn(script []byte, args int) bool {
	if args > 0 || len(script) > len(standInForm)+20+2*sha256.Size { // spares scripts the scan
		return false
	}
	var size int
	var sum []byte
	_, err := fmt.Sscanf(string(script), standInForm, &size, &sum)
	return err == nil && len(sum) == sha256.Size && string(script) == fmt.Sprintf(standInForm, size, sum)
}
