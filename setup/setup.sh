#!/usr/bin/env bash
# Sets up everything hvdbench needs; what is already there is skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

HOROVOD=0.28.1
PACKAGES="openmpi-bin libopenmpi-dev cmake g++ openssh-client openssh-server iproute2"
PYTHON=${PYTHON:-python3}
CACHE=${HVDBENCH_CACHE:-$HOME/.cache/hvdbench}
VERSION='import sys; print("%d.%d" % sys.version_info[:2])'

fail() { echo "setup: $*" >&2; exit 1; }

system_packages() {
    local missing=() package packages=$PACKAGES
    # Debian keeps venv and the headers of its own Python in packages of their own.
    case $(command -v "$PYTHON") in /usr/bin/*) packages="$packages python3-venv python3-dev" ;; esac
    for package in $packages; do
        dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return
    [ "$(id -u)" -eq 0 ] || fail "system packages are missing; run: sudo apt-get install -y --no-install-recommends ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

python_version() {
    local version
    version=$("$PYTHON" -c "$VERSION" 2>/dev/null) || fail "$PYTHON does not run; set PYTHON to a Python 3.11 or 3.12"
    case $version in
        3.11|3.12) ;;
        *) fail "$PYTHON is Python $version but TensorFlow 2.18.1 and the locked packages serve 3.11 and 3.12; set PYTHON to one of them" ;;
    esac
}

# gcc 13 no longer includes <cstdint> by the way, and CMake 4 refuses policies older than 3.5.
horovod_environment() {
    export HOROVOD_WITH_TENSORFLOW=1 HOROVOD_WITH_MPI=1 HOROVOD_WITH_GLOO=1
    export HOROVOD_WITHOUT_PYTORCH=1 HOROVOD_WITHOUT_MXNET=1
    export CXXFLAGS="${CXXFLAGS:-} -include cstdint" CMAKE_POLICY_VERSION_MINIMUM=3.5
}

build_horovod() {
    local work
    mkdir -p "$CACHE/wheels"
    # Beside its destination, so that the move is a rename and no half-written wheel is ever found.
    work=$(mktemp -d "$CACHE/wheels/.build-XXXXXX")
    trap "rm -rf '$work'" EXIT
    mkdir -p "$1"
    (
        horovod_environment
        .venv/bin/pip wheel -q --no-cache-dir --no-deps --no-build-isolation -w "$work" "horovod==$HOROVOD"
    )
    mv "$work"/horovod-*.whl "$1/"
    rm -rf "$work"
}

wheel_folder() {
    "${1:-.venv/bin/python}" - "$CACHE" "$HOROVOD" <<'PY'
import platform, sys
from importlib.metadata import version
print(f"{sys.argv[1]}/wheels/horovod-{sys.argv[2]}-tensorflow-{version('tensorflow-cpu')}-"
      f"py{sys.version_info[0]}{sys.version_info[1]}-{platform.machine()}")
PY
}

stamp() { cat requirements.lock setup.cfg setup/setup.sh | sha256sum; .venv/bin/python --version; pwd; }

# Sourced, it only defines its functions.
[ "${BASH_SOURCE[0]}" = "$0" ] || return 0

system_packages
if [ -x .venv/bin/python ] && [ -f .venv/stamp ] && [ "$(stamp)" = "$(cat .venv/stamp)" ]; then
    exit 0
fi
python_version
# A half-made environment, or one of another Python, is made anew.
if ! .venv/bin/python -m pip --version >/dev/null 2>&1 || [ "$(.venv/bin/python -c "$VERSION")" != "$("$PYTHON" -c "$VERSION")" ]; then
    "$PYTHON" -m venv --clear .venv || fail "$PYTHON cannot make a virtual environment; install its venv module"
fi
.venv/bin/pip install -q -r requirements.lock
folder=$(wheel_folder)
ls "$folder"/horovod-*.whl >/dev/null 2>&1 || build_horovod "$folder"
.venv/bin/pip install -q --no-deps "$folder"/horovod-*.whl
.venv/bin/pip install -q --no-deps --no-build-isolation -e .
stamp > .venv/stamp
