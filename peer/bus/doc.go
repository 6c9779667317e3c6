// Package bus carries messages between peers over NATS.
//
// # Links
//
// By default each peer embeds a NATS server and its partners connect to it as
// clients, over TLS with a certificate of their own nkey. An acceptor in front of the
// server does the TLS handshake and lets in who shows a partner's key. It keeps at
// most 256 connections of one address (of one /64 network with IPv6), 1024 in all, for
// at most 10 s until they log in, and sends the oldest away to make room for a new
// one; a partner has at most 4 connections. At the server the partner P of site S may only
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
//	            info:   "switchyard.v2 session")
//	= key of the opener (32) ‖ key of the answerer (32) ‖ session id (8)
//
// The answerer uses it from the first frame that proves that the opener has the
// key, so a replayed hello changes nothing. A new session replaces the old one
// for sending; frames still under way in the old one are read. A side that gets
// frames of no session it knows sends an empty "again", which makes the opener
// open once more. The opener also renews a session that is an hour old or has
// passed 2^36 bytes or 2^30 frames; the keys before are then forgotten after
// [Timing].Silence. A session that cannot be renewed seals nothing after 2^38
// bytes or 2^32 frames.
//
// A hello of another version is refused, and answered by a hello, so that its
// sender refuses it too and can say why.
//
// # Frames
//
// A frame goes to switchyard.v1.<to>.in.<from>.frame and is, in bytes,
//
//	version (1), 2 ‖ flags (1) ‖ session id (8) ‖ sequence (8) ‖ sealed ‖ tag (16)
//
// encrypted and authenticated by AES-256-GCM with the sender's key. The nonce is
// the sequence, which rises within a session and direction and never returns;
// authenticated beside it are the subject's length (2), the subject, and the
// header before the sealed bytes. Integers are big-endian. Sealed is
//
//	length of the op (1) ‖ op ‖ body
//
// Flag 1 marks a fragment: its body begins with index (2), count (2) and the size
// of the whole (4); fragments of one message follow one another without a gap.
//
// Ops: "msg.<kind>" a message of that kind, for evidence after a signature (64)
// over kind, sender, receiver and message; "fetch" and "chunk" a
// [peerv1.FetchRequest] and [peerv1.FetchReply]; "invite" asks to dial for files;
// "ping" keeps the link alive; "bye" ends the session. "hello" and "again" are not frames: they are the last
// tokens of subjects of their own.
//
// # Files
//
// Pieces of files are asked for by "fetch" and answered by "chunk", or, where one of the two
// sites can dial the other, over connections of their own: to the same listener, by the
// protocol [transfer.Protocol] of the TLS handshake (ALPN). A site that cannot dial sends
// "invite", and the partner dials. The questions and answers on them are a
// [peerv1.FetchRequest] and a [peerv1.FetchReply] as well.
//
// # What a broker sees
//
// Who speaks with whom, when, in frames of which size; and the hellos, which are
// signed and not encrypted: names, keys, versions and the site cards, with the
// sites' sizes, limits and software. Nothing of a job, its user or its output, and
// not which messages pass. It can hold up and drop frames and prevent sessions, but
// neither read, change, repeat nor invent one.
package bus
