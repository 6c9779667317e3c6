package record

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// standIn is the payload without script, arguments and environment, which may be
// secret: the script tells their size and hash instead. The paths stay, since the
// peer reads them. A stand-in is its own stand-in.
func standIn(p protocol.Payload) protocol.Payload {
	if isStandIn(p) {
		return p
	}
	all := sha256.New()
	size := put(all, p.Script)
	for _, list := range [][]string{p.Args, p.Env} {
		put(all, binary.AppendUvarint(nil, uint64(len(list))))
		for _, one := range list {
			size += put(all, []byte(one))
		}
	}
	return protocol.Payload{
		Script: fmt.Appendf(nil, standInForm, size, all.Sum(nil)), WorkDir: p.WorkDir, Stdout: p.Stdout, Stderr: p.Stderr,
	}
}

const standInForm = "#switchyard-payload %d bytes sha256 %x"

// put hashes one piece behind its length, and returns that.
func put(h hash.Hash, piece []byte) int {
	_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(piece)))) // a hash takes everything
	_, _ = h.Write(piece)
	return len(piece)
}

func isStandIn(p protocol.Payload) bool {
	if len(p.Args)+len(p.Env) > 0 {
		return false
	}
	if len(p.Script) > len(standInForm)+20+2*sha256.Size { // spares scripts the scan
		return false
	}
	var size int
	var sum []byte
	_, err := fmt.Sscanf(string(p.Script), standInForm, &size, &sum)
	return err == nil && len(sum) == sha256.Size && string(p.Script) == fmt.Sprintf(standInForm, size, sum)
}
