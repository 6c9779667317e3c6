// Package spool is the directory on disk in which a batch system keeps its jobs, each
// in a directory of its own, and what goes with them: the accounts as which they run,
// their records, their environment and their output.
//
//	<Dir>/lock                     held by the one peer that uses the spool
//	<Dir>/reservations/<job>.<epoch>  [Reservation]: an advance reservation of a job
//	<Dir>/jobs/<job>.<epoch>/
//	    job.json                   [Job]: the submission and its account
//	    script                     0500, of the account
//	    work/                      0700, of the account; a guest's working directory
//	    out, err                   0600, of the account; a guest's output
//	    usage                      0600, of the account; what the job reports of itself
//	    inputs                     0600; the files that have come with a guest, as they were put into work/
//	    verdict                    0600; how a job has ended whose files are being packed
//	    files.tar                  0600; the archive of files that go back with a guest's result
//	    files.tar.part             0600; that archive while it is packed, by the one process that does
//
// What else is in a job's directory is the batch system's business.
//
// # Durability
//
// A job's directory is filled under another name, synced, and renamed ([Spool.Add]);
// it is removed by renaming it first ([Spool.Remove]). Records are written beside
// their place, synced, and renamed or linked ([ReplaceFile], [CreateOnce]). After a
// crash at any instant each of them is there as a whole or not at all. Names that
// begin with a dot are what was half made or half removed; [Open] removes them.
//
// # Who may read and write
//
// The spool and the jobs' directories are the peer's, with mode 0711: accounts pass
// through them and can neither list them nor put anything in them. What is in a
// directory is readable for the peer alone, or for the account that owns it.
//
// A peer may be root, and an account does as it likes with its own files. So what an
// account could have written is opened by [OpenPlain] alone, which follows no link,
// waits for no pipe, and reads nothing of another owner.
package spool
