package bus

import (
	"strings"
	"testing"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// A peer that stops while its links come up has an empty card, of which nobody should read
// that a site has no name.
func TestNoHelloWithoutACard(t *testing.T) {
	t.Parallel()
	b := &Bus{cfg: Config{Card: func(protocol.SiteName) protocol.Card { return protocol.Card{} }}}
	_, err := b.newOpening("south", nil)
	if err == nil || !strings.Contains(err.Error(), "the peer is stopping") {
		t.Errorf("got %v", err)
	}
}
