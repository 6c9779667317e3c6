package stats

import "example.org/stray"

// Mean leans on a module that nobody chose.
const Mean = stray.Name
