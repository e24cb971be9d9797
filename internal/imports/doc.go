// Package imports checks the direction of imports. The test assigns
// each package to a tier and fails where a package imports a higher tier, where a parent
// imports its child, and where a reserved package is imported by an unlisted one.
//
// The test cache does not notice new folders, so run the test with
//
//	go test -count=1 ./internal/imports
package imports
