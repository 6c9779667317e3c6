module example.org/gossiper

go 1.26
