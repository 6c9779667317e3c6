// Package invitation holds the texts by which a site joins a grid: the invitation
// that a member signs, and the answer of the site that was invited.
//
// They are JSON. What is signed is the JSON of the same struct without the signature,
// so that a mail program may wrap lines between values, but changes nothing in them. The
// invitation contains a secret, which both administrators keep; the answer has a code
// made with it, and does not contain it. Whoever has the answer alone can neither change it
// nor write one, and the site that gets it knows that the holder of its invitation wrote it.
//
// A third text gives the keyring of the gossip to a partner: it is sealed for the partner's key, and signed.
//
// No text says which of its site's jobs may run at the other one: that is in the
// configuration of each, by its own administrator.
package invitation
