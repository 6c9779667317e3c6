module example.org/stray

go 1.26
