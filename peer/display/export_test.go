package display

// What stories are made of, for the tests.
var (
	Sentence    = sentence
	OptionsText = objectivesText
)
