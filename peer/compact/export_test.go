package compact

import "unsafe"

// Own is how many bytes of texts are kept for one payload alone, beside another one.
func (k Payload) Own(beside Payload) (bytes int) {
	if k.content == beside.content {
		return 0
	}
	if k.script != "" && unsafe.StringData(k.script) != unsafe.StringData(beside.script) {
		bytes += len(k.script)
	}
	for i, pair := range k.env {
		if unsafe.StringData(pair) != unsafe.StringData(beside.env[i]) {
			bytes += len(pair)
		}
	}
	for _, v := range k.other {
		bytes += len(v.pair)
	}
	return bytes
}

// Kept is how many bytes are kept besides those of jobs.
func (a *Store) Kept() (bytes int) {
	for text := range a.texts {
		bytes += len(text)
	}
	for _, c := range a.last {
		bytes += len(c.script)
	}
	return bytes
}
