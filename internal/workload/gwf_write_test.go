package workload

import (
	"bufio"
	"bytes"
	"io"
)

// WriteGWF writes a trace in the Grid Workload Format, its fields separated by
// tabs. What it writes reads back as the same comments and records.
func WriteGWF(w io.Writer, t *GridTrace) error {
	out := bufio.NewWriterSize(w, swfMaxLine)
	var line []byte
	for _, comment := range (Header{}).With(t.Comments...) {
		line = append(append(append(line[:0], '#'), comment...), '\n')
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	for i := range t.Records {
		line = t.Records[i].appendGWF(line[:0])
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}

func (r *GridRecord) appendGWF(b []byte) []byte {
	values := [gwfNumbers]int64{
		r.ID, int64(r.Submit), int64(r.Wait), int64(r.Run), int64(r.CPUs), int64(r.CPUTime), r.Memory,
		int64(r.ReqCPUs), int64(r.ReqTime), r.ReqMemory, int64(r.Status),
	}
	for n, value := range values {
		if swfTimes>>n&1 == 1 {
			b = swfAppendSeconds(b, value)
		} else {
			b = swfAppendWhole(b, value)
		}
		b = append(b, '\t')
	}
	for n, word := range r.Words {
		if n > 0 {
			b = append(b, '\t')
		}
		b = append(b, gwfWord(word)...)
	}
	return append(b, '\n')
}

// gwfWord keeps a word on its line and in its field.
func gwfWord(word string) []byte {
	plain := []byte(word)
	for i, c := range plain {
		if gwfControl(c) {
			plain[i] = ' '
		}
	}
	plain = bytes.Trim(plain, " ")
	if len(plain) == 0 {
		return []byte(gwfUnknown)
	}
	return plain
}
