// Package bus carries messages between peers over NATS.
//
// # Links
//
// By default each peer embeds a NATS server and its partners connect to it as
// clients, over TLS with a certificate of their own nkey. There the partner P of site S may only
// publish below switchyard.v1.S.in.P and subscribe below switchyard.v1.P.in.S,
// so it sees and touches nothing of the others, and one reachable side is enough
// for both directions. Two peers that dial each other have two links; a message
// takes the dialled one while it is up. With [External] both go through a NATS
// system of the user, on the same subjects, and nothing of that system is
// trusted: all that follows protects the messages from it as well.
//
// # Sessions
//
// Each link has its own session. The side that dials (the lower name, when
// neither does) sends a [peerv1.Hello] until it is answered by another; both are
// signed by the site's key and carry its signed site card. The session is
//
//	HKDF-SHA256(secret: X25519 of the two ephemeral keys,
//	            salt:   SHA-256(hello ‖ answer),
//	            info:   "switchyard.v1 session")
//	= key of the opener (32) ‖ key of the answerer (32) ‖ session id (8)
//
// The answerer uses it from the first frame that proves that the opener has the
// key, so a replayed hello changes nothing. A new session replaces the old one
// for sending; frames still under way in the old one are read. A side that gets
// frames of no session it knows sends an empty "again", which makes the opener
// open once more.
//
// # Frames
//
// A frame goes to switchyard.v1.<to>.in.<from>.<op> and is, in bytes,
//
//	version (1) ‖ flags (1) ‖ session id (8) ‖ sequence (8) ‖ MAC (32) ‖ body
//
// with HMAC-SHA256 over the subject's length (2) and the subject, the header
// before the MAC, and the body. Integers are big-endian. The sequence rises
// within a session and direction. Flag 1 marks a fragment: its body begins with
// index (2), count (2) and the size of the whole (4); fragments of one message
// follow one another without a gap.
//
// Ops: "msg.<kind>" a message of that kind, for evidence after a signature (64)
// over kind, sender, receiver and message; "fetch" and "chunk" a
// [peerv1.FetchRequest] and [peerv1.FetchReply]; "ping" keeps the link alive;
// "bye" ends the session. "hello" and "again" are not frames.
package bus
