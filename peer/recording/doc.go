// Package recording keeps all inputs of a live peer in a file, and replays it:
// the same configuration, rows and events must give the same decisions.
//
// # The file
//
// A recording is text, one entry on a line:
//
//	switchyard-recording 1 switchyard 0.3.0
//	8f3c21aa {"Header":{"Software":…,"Seed":…,"Config":{…},"Rows":2}}
//	0b77d01e {"Row":{"Table":"site","Key":"site","Value":"{…}"}}
//	51ce9a40 {"Step":{"N":1,"Now":1767225600000,"Event":{"Tick":{}},"Print":{…}}}
//	ee0412b9 {"End":{"Steps":1,"Reason":"the peer stopped"}}
//
// The first line tells the format's version and the software that wrote it. Each
// other line begins with the CRC-32C of its JSON. Values have Go's field names;
// what is zero is left out; a value of a closed set is an object with the kind's
// name as its only key; a map is an object, in the order of its keys; a string that is
// no UTF-8 is {"base64":…}. Messages are in the form of protocol/peer/v1, rows in that of
// [row.Encode].
//
// Lines are only appended, so that kill -9 at any instant costs the last line at
// most: the reader tells it from damage inside the file, and all before it can be
// used. [Open] reads files compressed with gzip as well.
//
// # Fingerprints
//
// A step's [Print] has the FNV-1a of each part of the [event.Ready] in its canonical
// form, which is the form above; numbers with a fraction, which only people are shown,
// count with six digits. A payload counts there as its stand-in: its size and hash in
// place of script and arguments, and variables without values, but for those that the peer
// itself sets. So a recording without the bodies, which is the default, has the same fingerprints
// as one with them.
//
// # Code
//
// [rules.Accounts], [pricing.Costs] and [rules.WaitingCost] are code. Each step holds the answers
// that they gave in that step, and those of the reader's Config give them again.
package recording
