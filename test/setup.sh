#!/bin/sh
# Installs what building and testing needs on Debian 12, and nothing when all of it is there.
#
# usage: setup.sh [build|test]     (test also wants the tools that cases are recorded from, and clang)
set -eu
build="gcc cmake make pkg-config libc6-dev libpcre2-dev libxxhash-dev zlib1g-dev python3"
test="libssl-dev libbz2-dev liblzma-dev libzstd-dev libsqlite3-dev libxml2-dev gzip bzip2 xz-utils zstd tar zip unzip sqlite3 libxml2-utils xxhash clang libclang-rt-14-dev llvm libcmocka-dev libseccomp-dev gawk strace util-linux hostname findutils diffutils jq python3-venv locales"
test="$test bc bsdextrautils file tree dos2unix gettext-base moreutils time procps xxd uuid-runtime ncal binutils"
test="$test libyaml-dev"
test="$test libcurl4-openssl-dev libidn2-dev curl openssl wget nghttp2-server"
test="$test patch ripgrep mawk"
test="$test libedit-dev python3-jsonschema"
want="$build"
[ "${1:-build}" = test ] && want="$build $test"
[ "${1:-build}" = test ] && ! command -v npm >/dev/null 2>&1 && want="$want nodejs npm"
missing=""
for package in $want; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
done
[ -z "$missing" ] && exit 0
echo "installing:$missing"
sudo=""
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null 2>&1 || { echo "setup.sh: not root, and no sudo; install:$missing" >&2; exit 1; }
  sudo=sudo
fi
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -qq >/dev/null
# shellcheck disable=SC2086
$sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null
