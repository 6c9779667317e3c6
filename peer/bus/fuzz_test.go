package bus

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/protocol"
)

func FuzzReadFrame(f *testing.F) {
	a, b := ends(f)
	opener, answerer := shake(f, a, b)
	f.Add(mustSeal(f, opener, "subject", "msg.offer", []byte("body"), false))
	f.Add(mustSeal(f, answerer, "subject", "ping", nil, true))
	f.Add(make([]byte, headerSize+tagSize))
	f.Add([]byte{frameVersion})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		fr, err := readFrame(data)
		if err != nil {
			return
		}
		again := append(appendHeader(nil, fr.session, fr.sequence, fr.fragment), fr.sealed...)
		if !bytes.Equal(again, data) || !bytes.Equal(fr.header, data[:headerSize]) {
			t.Fatalf("a frame reads two ways: %x and %x", data, again)
		}
		if op, body, err := answerer.open("invented", fr); err == nil {
			t.Fatalf("an invented frame opened as %q, %x", op, body)
		}
	})
}

// What the holder of the keys seals into a frame is read as an op and a body, or
// refused, whatever it is.
func FuzzSealed(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0})
	f.Add([]byte{200, 'x'})
	f.Add([]byte("\x04pingbody"))
	f.Fuzz(func(t *testing.T, plain []byte) {
		op, body, err := splitPlain(plain)
		if err != nil {
			return
		}
		if again := append(append([]byte{byte(len(op))}, op...), body...); !bytes.Equal(again, plain) {
			t.Fatalf("reads two ways: %x and %x", plain, again)
		}
	})
}

// A hostile partner sends any fragments in any order. The input is a list of
// frames: fragment or not, op, skipped sequence numbers, length, body.
func FuzzFragments(f *testing.F) {
	frames := func(parts ...[]byte) []byte {
		var out []byte
		for _, p := range parts {
			out = append(append(out, 1, 0, 0, byte(len(p))), p...)
		}
		return out
	}
	f.Add(frames(split([]byte("a message in three"), 7)...))
	f.Add(append(frames(split([]byte("a ping comes between"), 11)[0]), 0, 1, 0, 0))
	f.Add(frames(fragment(0, 2, maxBody, "a"), fragment(0, 2, maxBody, "b"), fragment(1, 2, maxBody, "c")))
	f.Add(frames(fragment(0, maxFragments, 1<<31, "a"), fragment(0xffff, 0xffff, 0xffffffff, "")))
	f.Fuzz(func(t *testing.T, data []byte) {
		var a assembler
		sequence, arrived := uint64(0), 0
		for len(data) >= 4 {
			flag, op, skip, size := data[0], data[1], data[2], min(int(data[3]), len(data)-4)
			body := data[4 : 4+size]
			data = data[4+size:]
			sequence += 1 + uint64(skip&1)
			fr := frame{fragment: flag&1 != 0, sequence: sequence}
			whole, err := a.add(string('a'+rune(op&1)), fr, body)
			arrived += size
			if err != nil && whole != nil {
				t.Fatal("a message beside an error")
			}
			if len(whole) > maxBody || len(whole) > arrived {
				t.Fatalf("%d bytes came of %d", len(whole), arrived)
			}
			if cap(a.body) > 2*arrived+64 || len(a.body) > a.total {
				t.Fatalf("%d bytes are held, in %d, after %d of %d arrived", len(a.body), cap(a.body), arrived, a.total)
			}
			if !fr.fragment && a.body != nil {
				t.Fatal("a frame of another message did not end the one before")
			}
		}
	})
}

func fragment(index, count uint16, total uint32, piece string) []byte {
	out := binary.BigEndian.AppendUint16(nil, index)
	out = binary.BigEndian.AppendUint16(out, count)
	return append(binary.BigEndian.AppendUint32(out, total), piece...)
}

func FuzzSubject(f *testing.F) {
	f.Add("cern", "switchyard.v1.cern.in.desy.frame")
	f.Add("cern", "switchyard.v1.cern.in.desy")
	f.Add("cern", "switchyard.v1.cern.in..")
	f.Add("", "switchyard.v1..in.desy.hello")
	f.Fuzz(func(t *testing.T, to, subject string) {
		me := protocol.SiteName(to)
		from, token, ok := splitSubject(me, subject)
		if !ok {
			return
		}
		if again := inboxOf(me, from) + "." + token; again != subject {
			t.Fatalf("%q reads as from %q for %q, which is %q", subject, from, token, again)
		}
		if strings.Contains(string(from), ".") {
			t.Fatalf("%q has a sender of two tokens, %q", subject, from)
		}
	})
}
