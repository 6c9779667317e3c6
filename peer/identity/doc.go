// Package identity holds a site's Ed25519 key, in the form of NATS user nkeys,
// and everything that is signed with it or checked against a partner's.
//
// One key serves several purposes: it makes the certificate that the site shows
// its partners, as the server and as the client of a connection, and it signs
// hellos, site cards, gossip, evidence, statements and invitations. A signature made for one purpose is
// never good for another: [Key.Sign] puts "switchyard.v1 <purpose>" and a NUL
// before what it signs, TLS puts 64 spaces and a context string before, and what
// is signed of a certificate begins with the byte 0x30.
//
// The key signs no NATS nonce, although nkeys are made for that: a nonce is not
// bound to the connection, so that a partner could hand the nonce of another
// site's server to a site that dials it, and log in there in its name. The
// certificate of a TLS 1.3 client cannot be handed on.
package identity
