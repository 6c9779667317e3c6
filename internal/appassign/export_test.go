package appassign

// Tries is how often [Alternatives] places all components anew.
func Tries(p *Problem, chosen []int) int {
	_, tries := alternatives(p, chosen)
	return tries
}
