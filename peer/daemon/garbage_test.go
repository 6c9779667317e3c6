package daemon

import "testing"

func TestGCPercent(t *testing.T) {
	t.Parallel()
	for live, want := range map[uint64]int{0: 100, 100 << 20: 100, 125 << 20: 80, 200 << 20: 50, 10 << 30: 50, 1 << 60: 50} {
		if got := gcPercent(live); got != want {
			t.Errorf("with %d bytes in use at %d %%, want %d %%", live, got, want)
		}
	}
}
