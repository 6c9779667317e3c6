// Package staging finds, packs and unpacks the files that go with a job to another site, and those that come
// back. Either way they are one archive, in the format of tar(1), whose size and SHA-256 are known before
// anything of it moves, so that it travels like an output file.
//
// Names come from another site, which may lie. [Unpack] takes files and directories alone, with names as
// [protocol.CheckStagedName] has them, follows no link out of the directory but the user's own that the user
// has named, and writes each file under another name first, so that it is there as a whole or not at all. [Collect] reads what a job has left,
// which may have put anything in the place of anything: it follows no link, and reads no file of another
// account.
package staging
