// Package admission judges what users submit, or ask about without submitting it: whether any site
// may run it and all that its users want can be granted, and if not, why; and what rows a submission
// becomes. It is pure; the core asks it and acts.
package admission
