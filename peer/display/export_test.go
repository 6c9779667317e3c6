package display

// What stories are made of, for the tests.
var (
	OptionsText = objectivesText
)
