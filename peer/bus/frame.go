package bus

import (
	"encoding/binary"
	"errors"
)

const (
	frameVersion = 2 // 1 was authenticated only
	sessionSize  = 8
	headerSize   = 2 + sessionSize + 8
	flagFragment = 1
)

type sessionID [sessionSize]byte

// frame is a frame as read: nothing in it is authenticated.
type frame struct {
	session  sessionID
	sequence uint64
	fragment bool
	header   []byte
	sealed   []byte // encrypted, with the tag at its end
}

// readFrame splits a frame; the slices share data.
func readFrame(data []byte) (frame, error) {
	if len(data) < headerSize+tagSize {
		return frame{}, errors.New("the frame is shorter than its header and tag")
	}
	if data[0] != frameVersion {
		return frame{}, reject(BadVersion, "the frame has version %d, this site speaks %d", data[0], frameVersion)
	}
	if data[1]&^flagFragment != 0 {
		return frame{}, errors.New("the frame has unknown flags")
	}
	return frame{
		session:  sessionID(data[2 : 2+sessionSize]),
		sequence: binary.BigEndian.Uint64(data[2+sessionSize : headerSize]),
		fragment: data[1]&flagFragment != 0,
		header:   data[:headerSize],
		sealed:   data[headerSize:],
	}, nil
}

func appendHeader(out []byte, id sessionID, sequence uint64, fragment bool) []byte {
	var flags byte
	if fragment {
		flags = flagFragment
	}
	out = append(out, frameVersion, flags)
	out = append(out, id[:]...)
	return binary.BigEndian.AppendUint64(out, sequence)
}
