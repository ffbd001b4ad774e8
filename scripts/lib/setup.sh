# Sourced by the other scripts: goes to the root of the checkout, finds the Rust toolchain and the
# target folder, and installs what is missing. Says nothing when nothing is missing.

cd "$(dirname "${BASH_SOURCE[0]}")/../.."

export PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
# Outside the checkout, so that another clone finds the built libraries again.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/tidemill/target}"

say() { printf '%s\n' "$*" >&2; }

stop() {
  say "$@"
  exit 1
}

# install_debian PACKAGE...
install_debian() {
  command -v apt-get >/dev/null || stop "Please install with your package manager: $*"
  local as_root=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || stop "Please have an administrator run: apt-get install $*"
    as_root=(sudo)
  fi
  say "Installing $* ..."
  "${as_root[@]}" apt-get update -qq >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >&2
}

# The C compiler builds zstd and the stack switching of the SQL parser, and links.
need_compiler() {
  command -v cc >/dev/null || install_debian build-essential
  # Without certificates cargo can't reach the registry.
  [ -e /etc/ssl/certs/ca-certificates.crt ] || [ ! -e /etc/debian_version ] || install_debian ca-certificates
}

need_rust() {
  local needed found
  needed=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
  command -v cargo >/dev/null ||
    stop "Rust $needed or newer is needed, which Debian does not have: install it as https://rustup.rs says, then run this again."
  found=$(rustc --version | cut -d ' ' -f 2)
  [ "$(printf '%s\n' "$needed" "${found%%-*}" | sort -V | head -n 1)" = "$needed" ] ||
    stop "Rust $needed or newer is needed and this is $found: run 'rustup update stable', then run this again."
}

# What formats and lints; part of most toolchains, but not of rustup's minimal profile.
need_lints() {
  cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt >&2
  cargo clippy --version >/dev/null 2>&1 || rustup component add clippy >&2
}

# What the build flag `rocksdb` is built with, and the server that the tests of `redis` start.
need_state_backends() {
  local missing=()
  # Not libclang-cpp, which stands beside it and is another library.
  compgen -G '/usr/lib/llvm-*/lib/libclang[-.][s0-9]*' >/dev/null || ldconfig -p | grep -q 'libclang[-.][s0-9]' ||
    missing+=(libclang-dev)
  command -v redis-server >/dev/null || missing+=(redis-server)
  [ "${#missing[@]}" = 0 ] || install_debian "${missing[@]}"
}

need_nextest() {
  cargo nextest --version >/dev/null 2>&1 && return
  say "Installing cargo-nextest, the test runner (some minutes) ..."
  # Without the part that updates itself, which would take longest to build.
  cargo install --quiet --locked cargo-nextest --no-default-features --features default-no-update
}

# The systems that tests compare with, in a Python environment of their own; kept until another version is wanted.
need_oracles() {
  local wanted=tests/oracle oracle="${XDG_CACHE_HOME:-$HOME/.cache}/tidemill/oracle"
  cat "$wanted"/{,delta-}requirements.txt | cmp -s - "$oracle/requirements.txt" && return
  python3 -c 'import ensurepip' 2>/dev/null || install_debian python3-venv
  say "Installing DuckDB and moto, which the tests ask ..."
  python3 -m venv --clear "$oracle"
  "$oracle/bin/python" -m pip install --quiet --disable-pip-version-check -r "$wanted/requirements.txt" >&2
  # Beside the others: it brings a DuckDB of another version.
  "$oracle/bin/python" -m pip install --quiet --disable-pip-version-check --target "$oracle/delta" \
    -r "$wanted/delta-requirements.txt" >&2
  cat "$wanted"/{,delta-}requirements.txt >"$oracle/requirements.txt"
}

need_compiler
need_rust
