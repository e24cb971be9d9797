#!/bin/sh
# Runs every fuzz target of the module for DURATION.
#
#   scripts/fuzz.sh [DURATION]
set -eu
duration=${1:-20s}
go list ./... | while read -r package; do
	for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
		echo "$package $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$duration" -fuzzminimizetime 1s "$package"
	done
done
