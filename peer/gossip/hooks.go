package gossip

import (
	"bytes"
	"context"
	"log"
	"log/slog"
	"strings"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/switchyard-hpc/switchyard/protocol"
)

// hooks are what memberlist calls, some of them under its own locks: none of
// them may block or call memberlist.
type hooks Gossip

func (h *hooks) g() *Gossip { return (*Gossip)(h) }

// NodeMeta gives this site's identity, whose size was checked.
func (h *hooks) NodeMeta(int) []byte { return h.meta }

// NotifyMsg takes in a broadcast.
func (h *hooks) NotifyMsg(b []byte) { h.g().receive(b) }

// GetBroadcasts gives what is to be sent.
func (h *hooks) GetBroadcasts(overhead, limit int) [][]byte {
	return h.queue.GetBroadcasts(overhead, limit)
}

// LocalState gives what is known, for an exchange of states.
func (h *hooks) LocalState(bool) []byte { return h.g().state() }

// MergeRemoteState takes in what another member knows.
func (h *hooks) MergeRemoteState(state []byte, _ bool) { h.g().merge(state) }

// NotifyAlive refuses members whose identity is not their own.
func (h *hooks) NotifyAlive(node *memberlist.Node) error {
	if node.Name == h.cfg.Self.PublicKey && bytes.Equal(node.Meta, h.meta) {
		return nil
	}
	h.mu.Lock()
	known, ok := h.members[node.Name]
	h.mu.Unlock()
	if ok && bytes.Equal(known.meta, node.Meta) { // spares the signature check
		return nil
	}
	id, err := decodeIdentity(node.Name, node.Meta, h.cfg.Verify)
	if err != nil {
		h.g().reject(badIdentity, "error", err)
		return err
	}
	if !ok && !h.g().hasRoom(id) {
		h.g().reject(tooMany, "site", id.Site)
		return errTooMany
	}
	return nil
}

// hasRoom says whether a new member is taken in. There is always room for partners:
// whoever has the key ring can invent members without end.
func (g *Gossip) hasRoom(id Identity) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.members) < maxMembers || g.trusts(id)
}

// NotifyConflict is called for two members with one key: a state directory was copied.
func (h *hooks) NotifyConflict(known, other *memberlist.Node) {
	if h.conflicts.Allow() {
		h.warnConflict(known, other)
	}
	h.box.reject(addressConflict)
}

func (h *hooks) warnConflict(known, other *memberlist.Node) {
	h.log.Warn("gossip_address_conflict", "public_key", known.Name,
		"address", known.Address(), "other_address", other.Address(),
		"advice", "two peers use this key: stop the one that is a copy, and see docs/operations.md, A database that is not what it was")
}

// NotifyJoin is called for a new member.
func (h *hooks) NotifyJoin(node *memberlist.Node) { h.NotifyUpdate(node) }

// NotifyUpdate is called for a changed member.
func (h *hooks) NotifyUpdate(node *memberlist.Node) {
	if node.Name == h.cfg.Self.PublicKey {
		return
	}
	id, err := decodeIdentity(node.Name, node.Meta, h.cfg.Verify)
	if err != nil { // NotifyAlive has let it pass
		h.g().reject(badIdentity, "error", err)
		return
	}
	h.mu.Lock()
	h.members[node.Name] = Member{Identity: id, Address: node.Address(), meta: bytes.Clone(node.Meta)}
	delete(h.lost, node.Name)
	h.mu.Unlock()
	h.box.put("member "+node.Name, func() { h.cfg.Handler.Alive(id) })
}

// NotifyLeave is called for a member that left or is declared dead.
func (h *hooks) NotifyLeave(node *memberlist.Node) {
	h.mu.Lock()
	member, ok := h.members[node.Name]
	delete(h.members, node.Name)
	impostor := ok && len(h.trusted[member.Site]) > 0 && !h.g().trusts(member.Identity)
	other := h.g().hasTrusted(member.Site) // the same site, by its other key
	if ok && len(h.lost) < maxLost {
		h.lost[node.Name] = member
	}
	h.mu.Unlock()
	if ok && !impostor && !other {
		h.box.put("member "+node.Name, func() { h.cfg.Handler.Gone(member.Site) })
	}
}

// digestBroadcast is a digest on its way; a newer one of the site replaces it.
type digestBroadcast struct {
	site    protocol.SiteName
	message []byte
}

// Invalidates is never asked of a broadcast with a name.
func (b digestBroadcast) Invalidates(memberlist.Broadcast) bool { return false }

// Name makes the queue keep one broadcast per site.
func (b digestBroadcast) Name() string { return string(b.site) }

// Message is what is sent.
func (b digestBroadcast) Message() []byte { return b.message }

// Finished is called when it was sent often enough or replaced.
func (b digestBroadcast) Finished() {}

// broadcast sends a digest to some members, who pass it on.
func (g *Gossip) broadcast(h heard) {
	g.queue.QueueBroadcast(digestBroadcast{site: h.Digest.Site, message: h.encode(h.age(time.Now()))})
}

// debugWriter passes memberlist's log on, with its own levels left in the text:
// it calls errors what is everyday life between sites.
type debugWriter struct{ log *slog.Logger }

func debugLogger(l *slog.Logger) *log.Logger { return log.New(debugWriter{l}, "", 0) }

// Write logs one line.
func (w debugWriter) Write(line []byte) (int, error) {
	w.log.LogAttrs(context.Background(), slog.LevelDebug, "memberlist_message",
		slog.String("text", strings.TrimSpace(string(line))))
	return len(line), nil
}
