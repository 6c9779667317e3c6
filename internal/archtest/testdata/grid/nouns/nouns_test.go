package nouns

import (
	"os"
	"time"

	"example.org/gossiper"
)

// Test files may do what the rules forbid.
var _, _, _ = os.Args, time.Now, gossiper.Name
