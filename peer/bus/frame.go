package bus

import (
	"encoding/binary"
	"errors"
)

const (
	frameVersion = 1
	macSize      = 32
	sessionSize  = 8
	authedSize   = 2 + sessionSize + 8 // of the header, the bytes before the MAC
	headerSize   = authedSize + macSize
	flagFragment = 1
)

type sessionID [sessionSize]byte

// frame is a frame as read: nothing in it is authenticated.
type frame struct {
	session  sessionID
	sequence uint64
	fragment bool
	authed   []byte // the header before the MAC
	mac      []byte
	body     []byte
}

// readFrame splits a frame; the slices share data.
func readFrame(data []byte) (frame, error) {
	if len(data) < headerSize {
		return frame{}, errors.New("the frame is shorter than its header")
	}
	if data[0] != frameVersion {
		return frame{}, errors.New("the frame has another version")
	}
	if data[1]&^flagFragment != 0 {
		return frame{}, errors.New("the frame has unknown flags")
	}
	return frame{
		session:  sessionID(data[2 : 2+sessionSize]),
		sequence: binary.BigEndian.Uint64(data[2+sessionSize : authedSize]),
		fragment: data[1]&flagFragment != 0,
		authed:   data[:authedSize],
		mac:      data[authedSize:headerSize],
		body:     data[headerSize:],
	}, nil
}

// appendHeader appends a header with room for the MAC.
func appendHeader(out []byte, id sessionID, sequence uint64, fragment bool) []byte {
	var flags byte
	if fragment {
		flags = flagFragment
	}
	out = append(out, frameVersion, flags)
	out = append(out, id[:]...)
	out = binary.BigEndian.AppendUint64(out, sequence)
	return append(out, make([]byte, macSize)...)
}
