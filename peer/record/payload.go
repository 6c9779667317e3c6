package record

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"strings"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// standIn is the payload without script, arguments and environment, which may be
// secret: the script tells their size and hash instead. The paths stay, since the
// peer reads them, and the variables that it sets itself: a stand-in must become what the
// payload becomes. A stand-in is its own stand-in.
func standIn(p protocol.Payload) protocol.Payload {
	told, rest := parted(p.Env)
	if isStandIn(p.Script, len(p.Args)+len(rest)) {
		return p
	}
	all := sha256.New()
	size := put(all, p.Script)
	for _, list := range [][]string{p.Args, rest} {
		put(all, binary.AppendUvarint(nil, uint64(len(list))))
		for _, one := range list {
			size += put(all, []byte(one))
		}
	}
	return protocol.Payload{
		Script: fmt.Appendf(nil, standInForm, size, all.Sum(nil)), Env: told,
		WorkDir: p.WorkDir, Stdout: p.Stdout, Stderr: p.Stderr,
	}
}

// parted parts the variables that the peer tells jobs from those of their users.
func parted(env []string) (told, rest []string) {
	for _, pair := range env {
		switch name, _, _ := strings.Cut(pair, "="); name {
		case "SWITCHYARD_APPLICATION", "SWITCHYARD_MHZ":
			told = append(told, pair)
		default:
			rest = append(rest, pair)
		}
	}
	return told, rest
}

const standInForm = "#switchyard-payload %d bytes sha256 %x"

// put hashes one piece behind its length, and returns that.
func put(h hash.Hash, piece []byte) int {
	_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(piece)))) // a hash takes everything
	_, _ = h.Write(piece)
	return len(piece)
}

// isStandIn says whether a script stands for a payload, beside so many arguments and
// variables of users.
func isStandIn(script []byte, others int) bool {
	if others > 0 || len(script) > len(standInForm)+20+2*sha256.Size { // spares scripts the scan
		return false
	}
	var size int
	var sum []byte
	_, err := fmt.Sscanf(string(script), standInForm, &size, &sum)
	return err == nil && len(sum) == sha256.Size && string(script) == fmt.Sprintf(standInForm, size, sum)
}
