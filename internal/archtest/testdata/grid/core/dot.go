package core

import . "time"

var _ = Second
