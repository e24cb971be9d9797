#!/bin/bash
# Makes a release in dist/: source archive, static programs, deb and rpm packages, their sums, and a signature.
#
#   scripts/release.sh [--key FILE] [--no-tag]
#
# The version is that of cmd/tutti/version.go; CHANGELOG.md must have a section for it. The tag is v and the version. --key is
# a private SSH key that signs SHA256SUMS and the tag. Users check with:
#
#   ssh-keygen -Y verify -f ALLOWED_SIGNERS -I NAME -n file -s SHA256SUMS.sig < SHA256SUMS && sha256sum -c SHA256SUMS
set -euo pipefail
export CGO_ENABLED=0 GOFLAGS=-trimpath
cd "$(dirname "$0")/.."
key='' tag=yes
while [ $# -gt 0 ]; do
    case $1 in
    --key) key=${2:?--key needs a file}; shift 2 ;;
    --no-tag) tag=no; shift ;;
    *) echo "usage: scripts/release.sh [--key FILE] [--no-tag]" >&2; exit 2 ;;
    esac
done

version=$(sed -n 's/^const version = "\(.*\)"$/\1/p' cmd/tutti/version.go)
[ -n "$version" ] || { echo "release: no version in cmd/tutti/version.go" >&2; exit 1; }
[ -z "$(git status --porcelain)" ] || { echo "release: commit or remove these changes first:" >&2; git status --short >&2; exit 1; }
if [ "$tag" = yes ]; then
    grep -qF "## $version" CHANGELOG.md || { echo "release: CHANGELOG.md has no section \"## $version\"" >&2; exit 1; }
    if [ -n "$key" ]; then
        git -c gpg.format=ssh -c user.signingkey="$key" tag -s "v$version" -m "tutti $version"
    else
        git tag -a "v$version" -m "tutti $version"
    fi
fi

rm -rf dist
mkdir -p dist/files
git archive --format=tar.gz --prefix="tutti-$version/" -o "dist/tutti-$version.tar.gz" HEAD
for arch in amd64 arm64; do
    name=tutti-$version-linux-$arch
    GOOS=linux GOARCH=$arch go build -ldflags '-s -w' -o "dist/$name" ./cmd/tutti
done

# What packages contain besides the program. The date is that of the commit, so that the same commit gives the same bytes.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
go run ./cmd/tutti man dist/files/man1
gzip -9n dist/files/man1/*
for shell in bash zsh fish; do go run ./cmd/tutti completion "$shell" > "dist/files/tutti.$shell"; done
sed '/^#   \(install\|useradd\)/d; s,/usr/local/bin/,/usr/bin/,' contrib/systemd/tutti.service > dist/files/tutti.service
for arch in amd64 arm64; do
    cp "dist/tutti-$version-linux-$arch" dist/files/tutti
    for kind in deb rpm; do
        VERSION=$version ARCH=$arch go tool -modfile=scripts/packages.mod nfpm package -f contrib/packages/nfpm.yaml -p "$kind" -t dist
    done
done
rm -r dist/files

(cd dist && sha256sum tutti* > SHA256SUMS)
if [ -n "$key" ]; then
    ssh-keygen -q -Y sign -f "$key" -n file dist/SHA256SUMS
fi
ls -l dist
