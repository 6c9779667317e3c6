package node

import (
	"testing"
	"time"
)

func TestRequestsAreAnsweredOnce(t *testing.T) {
	t.Parallel()
	var r requests
	at := time.Unix(1_800_000_000, 0)
	if _, ok := r.answered("there", 1, at); ok {
		t.Error("an answer without a request is counted")
	}
	r.sent("there", 1, at)
	r.sent("away", 1, at)
	if _, ok := r.answered("there", 2, at); ok {
		t.Error("an answer of another round is counted")
	}
	if after, ok := r.answered("there", 1, at.Add(3*time.Second)); !ok || after != 3*time.Second {
		t.Errorf("answered after %v, %v", after, ok)
	}
	if _, ok := r.answered("there", 1, at); ok {
		t.Error("an answer is counted twice")
	}
	r.sent("away", 2, at.Add(time.Minute))
	if _, ok := r.answered("away", 1, at.Add(time.Minute)); ok {
		t.Error("the answer to a request that was given up is counted")
	}
	if len(r.open) != 1 {
		t.Errorf("%d requests are open, not 1", len(r.open))
	}
}
