module example.org/stats

go 1.26

require example.org/stray v0.0.0
