#!/bin/sh
# Puts TDLib's own library into target/tdlib and prints its path. Fails if it can neither be found nor
# be installed; the caller then says that it skipped.
set -eu
cd "$(dirname "$0")/../.."
version=0.1008067.0
dir="${CARGO_TARGET_DIR:-target}/tdlib"
library="$dir/node_modules/@prebuilt-tdlib/linux-x64-glibc/libtdjson.so"
if [ ! -f "$library" ]; then
    command -v npm >/dev/null || { echo "npm is not installed" >&2; exit 1; }
    mkdir -p "$dir"
    npm install --prefix "$dir" --no-audit --no-fund --loglevel=error \
        "@prebuilt-tdlib/linux-x64-glibc@$version" >&2
fi
[ -f "$library" ] || { echo "the package holds no library for this system" >&2; exit 1; }
echo "$library"
