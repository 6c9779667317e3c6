// Package attic lies in no room.
package attic
