package passwd

import (
	"strings"
	"testing"
)

func FuzzRead(f *testing.F) {
	f.Add("root:x:0:0:root:/root:/bin/bash\nbob:x:7:8:Bob,,:/home/bob:/bin/sh\n", "bob")
	f.Add("bob:x:-1:0::/:\nbob:x:4294967296:0::/:\nbob\n", "bob")
	f.Add("\n\n:::", "")
	f.Fuzz(func(t *testing.T, lines, name string) {
		found, ok := read(lines, func(e *Entry) bool { return e.Name == name })
		if ok && (found.Name != name || !strings.Contains(lines, name)) {
			t.Errorf("asked for %q, found %+v", name, found)
		}
	})
}
