#!/bin/sh
# usage: find_python.sh [PREFIX...]
# Prints the path of a Python that can run the set-up, and says on stderr which one it is.
# Candidates are run, not trusted by name: a shim may refuse to run, a Python may lack venv, ssl or sqlite3.
# Looks through PATH, through the versions that pyenv and its like keep, and into bin/ of each PREFIX.
# Remembers its choice in build/setup/python. As a last resort lets uv fetch a Python into build/python.
set -u

HOME=${HOME:-/nonexistent}
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
remembered_in=$root/build/setup/python
version_to_fetch=3.13
[ $# -gt 0 ] || set -- /usr/local /opt/homebrew /opt/local /usr "$HOME/.local"

# Runs on any Python since 2.7. Prints version and path, the latter of the Python behind a virtual environment.
check='
import sys
if sys.version_info < (3, 12):
    sys.exit("is Python %d.%d, too old" % sys.version_info[:2])
try:
    import ensurepip, sqlite3, ssl, venv
except ImportError as error:
    sys.exit("is Python %d.%d without %s" % (sys.version_info[0], sys.version_info[1], error.name))
print("%d.%d.%d %s" % (sys.version_info[0], sys.version_info[1], sys.version_info[2], sys._base_executable))
'

passed_over=''
tried=:
newline='
'

accept() { # PATH: true if it will do; then $version and $found are set
    case $tried in *:"$1":*) return 1 ;; esac
    tried=$tried$1:
    [ -f "$1" ] && [ -x "$1" ] || return 1
    if answer=$("$1" -c "$check" 2>&1 </dev/null); then
        answer=$(printf '%s\n' "$answer" | sed -n '$p') # a warning may stand above
        version=${answer%% *} found=${answer#* }
        [ -x "$found" ] && return 0
        answer='did not say where it is'
    fi
    reason=$(printf '%s\n' "$answer" | sed -n '/./{p;q;}')
    passed_over="$passed_over$newline  $1: ${reason:-did not run}"
    return 1
}

search_path() { # NAME: look in every folder of PATH, not only in the first that has it
    saved_ifs=$IFS
    IFS=:
    for folder in $PATH; do
        IFS=$saved_ifs
        accept "${folder:-.}/$1" && return 0
    done
    IFS=$saved_ifs
    return 1
}

search_versions() { # ROOT: the folders that pyenv, uv, asdf and mise keep one Python each in, newest first
    for pattern in 3.14 3.13 3.12 cpython-3.14 cpython-3.13 cpython-3.12 ''; do
        for candidate in "$1/$pattern"*/bin/python3; do
            accept "$candidate" && return 0
        done
    done
    return 1
}

search() { # PREFIX...
    for name in python3.14 python3.13 python3.12 python3 python; do
        search_path "$name" && return 0
    done
    for versions in "${PYENV_ROOT:-$HOME/.pyenv}/versions" "$HOME/.pyenv/versions" \
        "$HOME/.local/share/uv/python" "$HOME/.asdf/installs/python" "$HOME/.local/share/mise/installs/python" \
        "$root/build/python"; do
        search_versions "$versions" && return 0
    done
    for prefix in "$@"; do
        for name in python3.14 python3.13 python3.12 python3; do
            accept "$prefix/bin/$name" && return 0
        done
    done
    return 1
}

find_uv() { # sets $uv; installs it with any Python that has pip
    uv=$(command -v uv) && "$uv" --version >/dev/null 2>&1 && return 0
    uv=$root/build/uv/bin/uv
    [ -x "$uv" ] && return 0
    for name in python3 python python3.11 python3.10 python3.9 python3.8; do
        fresh=$root/build/uv.$$
        if "$name" -m pip install --quiet --require-hashes --target "$fresh" -r "$root/scripts/uv.lock" \
            >/dev/null 2>&1; then
            rm -rf "$root/build/uv" && mv "$fresh" "$root/build/uv" && return 0
        fi
        rm -rf "$fresh"
    done
    return 1
}

fetch_with_uv() {
    find_uv || return 1
    echo "No Python 3.12 or newer here; uv fetches $version_to_fetch …" >&2
    "$uv" python install --install-dir "$root/build/python" --no-bin "$version_to_fetch" >&2 || return 1
    search_versions "$root/build/python"
}

remembered=
[ -r "$remembered_in" ] && remembered=$(cat "$remembered_in")

if { [ -n "$remembered" ] && accept "$remembered"; } || search "$@" || fetch_with_uv; then
    if [ "$found" != "$remembered" ]; then
        mkdir -p "${remembered_in%/*}"
        printf '%s\n' "$found" >"$remembered_in.$$" && mv "$remembered_in.$$" "$remembered_in"
    fi
    echo "Using Python $version ($found)." >&2
    printf '%s\n' "$found"
    exit 0
fi

{
    echo 'No Python 3.12 or newer with venv, ssl and sqlite3 was found, and uv could not fetch one.'
    [ -n "$passed_over" ] && echo "Looked at and passed over:$passed_over"
    echo 'Install one (Debian 13, Ubuntu 24.04 or newer: apt-get install python3-venv; macOS: brew install python;'
    echo 'anywhere: https://www.python.org/downloads/), then run the same command again.'
} >&2
exit 1
