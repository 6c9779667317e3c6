module example.org/grid

go 1.26

require (
	example.org/gossiper v0.0.0
	example.org/stats v0.0.0
	example.org/stray v0.0.0
)

replace (
	example.org/gossiper => ./third/gossiper
	example.org/stats => ./third/stats
	example.org/stray => ./third/stray
)
