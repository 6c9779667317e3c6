// Package mail sends the mails that users want about their jobs (--mail-type), by a command such as
// sendmail(8).
package mail
