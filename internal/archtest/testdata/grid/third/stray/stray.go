package stray

// Name names it.
const Name = "stray"
