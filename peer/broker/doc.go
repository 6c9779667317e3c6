// Package broker is what the core knows of applications [IS 4]: how their components ran before and
// will run (Prologue and Epilogue), and which sites have room for those that start together. It is
// pure and reads rows; the core asks it and acts.
package broker
