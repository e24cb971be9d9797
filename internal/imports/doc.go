// Package imports keeps the direction of imports: the rank of every folder and
// what only few packages may import. It has no symbols; its test reads the
// imports of the whole module and fails on an edge that goes up or sideways and
// on a folder without a rank.
//
// The test cache cannot see a new folder, so run it with
//
//	go test -count=1 ./internal/imports
package imports
