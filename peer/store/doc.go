// Package store keeps the rows of a peer on a local disk, in one bbolt file.
//
// A row is opaque bytes under a table and a key. Whatever [Store.Commit] has
// acknowledged survives kill -9 and, on a disk that honours fdatasync, a power
// failure. One writer goroutine puts as many waiting requests as it finds into
// each transaction (group commit), in the order in which they arrived: a
// transaction costs two fdatasync calls, however many requests share it.
//
// Each row has a checksum over its table, key and value, and the file says how many
// rows each table has and what their checksums add up to. [Open] reads all of it, so
// that a peer never acts on rows that were not written, or on the lack of rows that
// were.
//
// # What a caller must know
//
//   - A request is all or nothing, and so is the transaction that it shares. A
//     failed transaction also fails the requests that were in line behind it,
//     because those may build upon rows that were never written.
//   - When the disk is full ([ErrFull]) nothing of the transaction is written,
//     and the store goes on working as soon as there is room.
//   - After any other write error ([ErrBroken]) the file is not touched again
//     until the process restarts: the kernel may have dropped dirty pages, so
//     that what a later fdatasync says means nothing.
package store
