// Package audit keeps the audit log of a peer: who changed what, over which way, with what result, and what
// partners did here. It is a file of JSON lines that only grows, until it is set aside for a new one.
//
// Texts of users and partners are JSON strings in which nothing but printable characters stands, so that no text
// can look like another entry, or act on a terminal. Secrets of tokens never come here.
package audit
