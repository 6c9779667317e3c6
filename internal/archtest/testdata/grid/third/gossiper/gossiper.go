package gossiper

// Name names it.
const Name = "gossiper"
