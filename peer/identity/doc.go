// Package identity holds a site's Ed25519 key, in the form of NATS user nkeys,
// and everything that is signed with it or checked against a partner's.
//
// One key serves several purposes: it makes the certificate that the site shows
// its partners, as the server and as the client of a connection, and it signs
// hellos, site cards, gossip, evidence, statements, invitations, keyrings and rosters. A signature made for one purpose is
// never good for another: [Key.Sign] puts "switchyard.v1 <purpose>" and a NUL
// before what it signs, TLS puts 64 spaces and a context string before, and what
// is signed of a certificate begins with the byte 0x30.
//
// What is sealed for a site is encrypted to the X25519 key that corresponds to its key, with the
// purpose as the info of HPKE. That one scalar serves both Ed25519 and X25519 is known to be safe
// (E. Thormarker, On using the same key pair for Ed25519 and an X25519 based KEM, 2021).
//
// The key signs no NATS nonce, although nkeys are made for that: a nonce is not
// bound to the connection, so that a partner could hand the nonce of another
// site's server to a site that dials it, and log in there in its name. The
// certificate of a TLS 1.3 client cannot be handed on.
package identity
