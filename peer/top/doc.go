// Package top shows what a peer answers on a whole terminal, and follows it: sites, jobs and their stories, as the
// commands of their names print them. What is shown changes by keys, answers and events alone (screen.go, keys.go);
// drawing (draw.go) keeps the selected row among those that there are. Only [Run] has a clock, a terminal and a peer.
package top
