package workload

import (
	"bufio"
	"io"
	"strings"
)

// WriteSWF writes a trace in the Standard Workload Format 2.2: the header as it
// is, then a line for each record with single spaces, with the 19th field if
// any record has one. What it writes reads back as the same header and records.
func WriteSWF(w io.Writer, t *Trace) error {
	out := bufio.NewWriterSize(w, swfMaxLine)
	var line []byte
	for _, comment := range (Header{}).With(t.Header...) {
		line = append(append(append(line[:0], ';'), comment...), '\n')
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	extra := false
	for i := range t.Records {
		extra = extra || t.Records[i].Extra >= 0
	}
	for i := range t.Records {
		line = t.Records[i].appendSWF(line[:0], extra)
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}

func (r *Record) appendSWF(b []byte, extra bool) []byte {
	values := [swfMaxFields]int64{
		r.ID, int64(r.Submit), int64(r.Wait), int64(r.Run), int64(r.CPUs), int64(r.CPUTime), r.Memory,
		int64(r.ReqCPUs), int64(r.ReqTime), r.ReqMemory, int64(r.Status), int64(r.User), int64(r.Group),
		int64(r.App), int64(r.Queue), int64(r.Partition), r.After, int64(r.Think), int64(r.Extra),
	}
	count := swfFields
	if extra {
		count = swfMaxFields
	}
	for n, value := range values[:count] {
		if n > 0 {
			b = append(b, ' ')
		}
		if swfTimes>>n&1 == 1 {
			b = swfAppendSeconds(b, value)
		} else {
			b = swfAppendWhole(b, value)
		}
	}
	return append(b, '\n')
}

// named returns the header with a line "key: number name" for each name, from
// number 1.
func (h Header) named(key string, names []string) Header {
	for i, name := range names {
		h = append(h, HeaderField(key, swfNumbered(i+1, name)))
	}
	return h
}

// swfNumbered is a number with its name, on one line whatever the name holds.
func swfNumbered(n int, name string) string {
	return string(swfAppendWhole(nil, int64(n))) + " " + strings.Join(strings.Fields(name), "_")
}
