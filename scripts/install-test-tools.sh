#!/bin/sh
# Installs the packages that the integration tests need, as root on Debian or Ubuntu. Elsewhere the tests without them skip
# and name the package; the REQUIRE_ variables of internal/testutil turn such skips into failures.
set -eu
packages="mpich libmpich-dev openmpi-bin libopenmpi-dev gcc g++ gfortran libc6-dev libsimgrid-dev
slurmctld slurmd slurm-client munge chromium-headless-shell nodejs
tcl environment-modules tcsh"
if [ "${TEST_ALL:-}" = 1 ]; then packages="$packages scalapack-mpi-test python3-mpi4py python3-numpy eztrace otf2-tools nginx"; fi
missing=""
for p in $packages; do
	if ! dpkg -s "$p" >/dev/null 2>&1; then missing="$missing $p"; fi
done
if [ -z "$missing" ]; then exit 0; fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
	echo "integration tests need:$missing; tests without them skip" >&2
	exit 0
fi
echo "installing for the integration tests:$missing" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086
apt-get install -y -qq --no-install-recommends $missing >/dev/null
