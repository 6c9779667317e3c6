package transfer

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"
)

const (
	// MaxFrame is the most bytes of a question or an answer.
	MaxFrame = 1 << 20

	maxQuestion = 8 << 10 // bytes
	headerSize  = 4
	// pieceSize is how many bytes have to move within Timing.Stall: the deadline is set again for
	// each piece.
	pieceSize = 64 << 10
)

// readFrame reads a frame of at most this number of bytes. It calls before ahead of each
// piece, to set its deadline.
func readFrame(conn net.Conn, most int, before func()) ([]byte, error) {
	var header [headerSize]byte
	before()
	if _, err := io.ReadFull(conn, header[:]); err != nil {
		return nil, err
	}
	size := int64(binary.BigEndian.Uint32(header[:]))
	if size == 0 || size > int64(most) {
		return nil, fmt.Errorf("a frame of %d bytes; 1 to %d are allowed", size, most)
	}
	// The buffer grows with what has arrived, not with what was announced.
	frame := make([]byte, 0, min(size, pieceSize))
	for int64(len(frame)) < size {
		before()
		begin, piece := len(frame), int(min(size-int64(len(frame)), pieceSize))
		if begin == pieceSize { // the sender keeps its word: the rest in one
			frame = append(make([]byte, 0, size), frame...)
		}
		frame = frame[:begin+piece]
		if _, err := io.ReadFull(conn, frame[begin:]); err != nil {
			return nil, fmt.Errorf("cut within a frame: %w", err)
		}
	}
	return frame, nil
}

// writeFrame writes a frame. Each piece of it has the span to be taken.
func writeFrame(conn net.Conn, frame []byte, span time.Duration) error {
	if len(frame) == 0 || len(frame) > MaxFrame {
		return fmt.Errorf("a frame of %d bytes; 1 to %d are allowed", len(frame), MaxFrame)
	}
	first := min(len(frame), pieceSize-headerSize)
	piece := make([]byte, headerSize, headerSize+first)
	binary.BigEndian.PutUint32(piece, uint32(len(frame))) //nolint:gosec // below MaxFrame
	piece, rest := append(piece, frame[:first]...), frame[first:]
	for {
		if err := conn.SetWriteDeadline(time.Now().Add(span)); err != nil {
			return err
		}
		if _, err := conn.Write(piece); err != nil {
			return err
		}
		if len(rest) == 0 {
			return nil
		}
		n := min(len(rest), pieceSize)
		piece, rest = rest[:n], rest[n:]
	}
}
