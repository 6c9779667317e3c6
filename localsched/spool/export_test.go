package spool

// For tests of what the package keeps to itself.
var FindPasswd = findPasswd
