package api

import (
	"testing"
	"time"
)

// Each piece of what comes has a minute, and all of it comes at 64 KiB in a second once a minute is over.
func TestPieceBy(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	for _, c := range []struct {
		after time.Duration
		come  int64
		want  time.Duration
	}{
		{0, 0, time.Minute},
		{59 * time.Second, 59, time.Minute}, // a byte in a second
		{59 * time.Second, 10 << 16, 70 * time.Second},
		{time.Minute, 1 << 30, 2 * time.Minute},
	} {
		if got := pieceBy(begun, begun.Add(c.after), c.come); !got.Equal(begun.Add(c.want)) {
			t.Errorf("%d bytes after %v: until %v", c.come, c.after, got.Sub(begun))
		}
	}
}
